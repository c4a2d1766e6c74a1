package limit

import "time"

// Usage is the use of a limit in the window that ends now.
type Usage struct {
	Path  string // path of the counted requests; "": all requests
	Used  int
	Rule  Rule
	Reset time.Time // when the oldest counted request leaves the window
}

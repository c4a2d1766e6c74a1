package limit

import "time"

// Usage says how much of a rate limit is used in the window that ends now.
type Usage struct {
	Path  string // path of the counted requests; "": all requests
	Used  int
	Rule  Rule
	Reset time.Time // when the oldest counted request leaves the window
}

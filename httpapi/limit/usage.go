package limit

import "time"

// Usage is what was used of a limit within the window that ends now.
type Usage struct {
	Path  string // of the requests that count; "": all
	Used  int
	Rule  Rule
	Reset time.Time // when the oldest counted request leaves the window
}

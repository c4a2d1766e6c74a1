//go:build failpoints && !(linux && amd64)

package clockshift

import "os"

// Start panics if FAILPOINT_CLOCK is set: the clock can be shifted on Linux amd64 only.
func Start() {
	if os.Getenv("FAILPOINT_CLOCK") != "" {
		panic("FAILPOINT_CLOCK needs Linux on amd64")
	}
}

//go:build failpoints && !(linux && amd64)

package main

import "os"

// shiftClock is built for one kind of machine only.
func shiftClock() {
	if os.Getenv("FAILPOINT_CLOCK") != "" {
		panic("FAILPOINT_CLOCK needs Linux on amd64")
	}
}

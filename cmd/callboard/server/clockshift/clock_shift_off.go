//go:build !failpoints

// Package clockshift shifts the time of day of the process, in test builds with the tag failpoints.
package clockshift

// Start does nothing in builds without the tag failpoints.
func Start() {}

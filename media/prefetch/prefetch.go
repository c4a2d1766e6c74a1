// Package prefetch asks the processor to bring memory near before it is needed. Whoever serves a thousand calls in turn finds
// nothing of a call in the caches, and waits for main memory at each step; asked for beforehand, all of it comes at once.
// It reads nothing: whatever lies at an address, if anything does, may be another's by now.
package prefetch

import "unsafe"

// Of asks for a value.
func Of[T any](v *T) { Bytes(Place(v), int(unsafe.Sizeof(*v))) }

// Place is where a value lies, for Bytes. It does not keep the value alive.
func Place[T any](v *T) uintptr { return uintptr(unsafe.Pointer(v)) } //nolint:gosec // nobody reads by it

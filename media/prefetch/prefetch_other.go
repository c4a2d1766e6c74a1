//go:build !amd64

package prefetch

// Bytes does nothing: it would only be faster.
func Bytes(uintptr, int) {}

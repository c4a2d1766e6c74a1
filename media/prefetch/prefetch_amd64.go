package prefetch

// Bytes asks for n bytes from an address on, and the rest of their lines.
func Bytes(at uintptr, n int)

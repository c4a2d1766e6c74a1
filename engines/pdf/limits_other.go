//go:build !linux

package pdf

import "runtime/debug"

const heap = 256 << 20 // bytes

func confine() { debug.SetMemoryLimit(heap) }

//go:build unix

package webhook

import (
	"errors"
	"syscall"
)

// quiet says whether an idle connection is open and nothing has come on it: what
// comes unasked is its end, or nothing that an answer may begin with.
func quiet(raw syscall.RawConn) bool {
	if raw == nil {
		return true
	}
	still := false
	err := raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, err := syscall.Read(int(fd), b[:])
		still = errors.Is(err, syscall.EAGAIN)
		return true
	})
	return err == nil && still
}

//go:build !linux

// Package mediatest measures what packets cost at least, for benchmarks to compare with. It knows no session and no codec.
package mediatest

import (
	"errors"
	"time"
)

// BePeer is false: there is no far end of Floor here.
func BePeer() bool { return false }

// Floor fails with errors.ErrUnsupported: the loop needs Linux.
func Floor(int) (cores float64, p99 time.Duration, err error) { return 0, 0, errors.ErrUnsupported }

// Sockets fails as Floor does.
func Sockets(int) (cores float64, p99 time.Duration, err error) { return 0, 0, errors.ErrUnsupported }

//go:build !linux

// Package mediatest measures the minimum CPU cost of RTP packets, as a baseline for the benchmarks of package
// media. It also builds RTP packets for tests.
package mediatest

import (
	"errors"
	"time"
)

// RunPeerIfStarted returns false, because MeasurePacketFloor and MeasureSocketFloor start peer processes on Linux only.
func RunPeerIfStarted() bool { return false }

// MeasurePacketFloor returns errors.ErrUnsupported, because its system calls need Linux.
func MeasurePacketFloor(int) (cores float64, p99 time.Duration, err error) {
	return 0, 0, errors.ErrUnsupported
}

// MeasureSocketFloor returns errors.ErrUnsupported, because its system calls need Linux.
func MeasureSocketFloor(int) (cores float64, p99 time.Duration, err error) {
	return 0, 0, errors.ErrUnsupported
}

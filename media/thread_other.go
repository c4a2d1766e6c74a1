//go:build !linux

package media

import "time"

func precede() {}

func rest(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the clock has a goroutine of its own, no mailbox

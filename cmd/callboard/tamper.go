//go:build !failpoints

package main

import (
	"time"

	"github.com/callboard/callboard/actors"
)

// tamper hands the store on as it is; tests of what must fail build another.
func tamper(s actors.Store) actors.Store { return s }

// linger is how long dialogs that are over are kept; 0: as long as they must be.
func linger() time.Duration { return 0 }

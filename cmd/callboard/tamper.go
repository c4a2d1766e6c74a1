//go:build !failpoints

package main

import "github.com/callboard/callboard/actors"

// tamper hands the store on as it is; tests of what must fail build another.
func tamper(s actors.Store) actors.Store { return s }

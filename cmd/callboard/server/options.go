package server

import (
	"github.com/callboard/callboard/domain/access"
)

// Options are what a command adds to a configuration.
type Options struct {
	Version string // of this program
	RootCA  []byte // PEM; of the demo
	Allow   []access.Rule
	wait    *startWait // nil: a store that is away ends the start
}

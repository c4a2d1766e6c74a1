package calls

import (
	"time"
)

// InboundTest orders a call from the built-in carrier to a number of the
// workspace.
type InboundTest struct {
	To     string        // E.164
	From   string        // E.164 or anonymous
	Name   string        // shown beside it
	Digits string        // pressed one by one as the agent pauses
	Says   string        // once the agent pauses
	HangUp time.Duration // after so long; 0: when the agent does
}

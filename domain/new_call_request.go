package domain

import (
	"time"
)

// NewCall is a request for one outbound call.
type NewCall struct {
	To           string // E.164, or national in the workspace's default country
	From         string // E.164; empty: the service chooses
	AgentID      string
	PathwayID    string
	Context      Context
	Metadata     map[string]string
	RingTimeout  time.Duration
	MaxDuration  time.Duration // 0: the limit of the agent, or 30 minutes
	Record       bool
	Overrides    *CallOverrides // nil: none
	AMD          *CallAMD       // nil: the settings of the agent
	CallingHours *CallingHours  // nil: no restriction
}

package domain

import "time"

// TrunkState is the stored state of a trunk. It is written periodically while calls are active and when the service
// stops, so that a restarted service continues with this state.
type TrunkState struct {
	TrunkID          string               `json:"trunk_id"`
	WorkspaceID      string               `json:"workspace_id"`
	Targets          []TargetState        `json:"targets,omitempty"`
	BackoffUntil     time.Time            `json:"backoff,omitzero"` // no calls before this time
	BackoffDelay     time.Duration        `json:"wait,omitempty"`   // length of the last backoff
	LastError        string               `json:"last_error,omitempty"`
	ActiveAlarms     map[string]time.Time `json:"raised,omitempty"` // active alarms by measure, with their start
	AlarmsReportedAt map[string]time.Time `json:"told,omitempty"`   // time of the last event of each alarm
	Minutes          []TrunkMinute        `json:"minutes,omitempty"`
	InboundCalls     uint64               `json:"arrived,omitempty"`
	InboundRefusals  map[string]int       `json:"refused,omitempty"` // rejected inbound calls by reason
}

// TargetState is the stored state of one target of a trunk.
type TargetState struct {
	Key        string    `json:"key"`
	Failures   int       `json:"failures,omitempty"` // consecutive failures
	Good       bool      `json:"good,omitempty"`
	OutUntil   time.Time `json:"out,omitzero"`   // tried after other targets until this time
	RestsUntil time.Time `json:"rests,omitzero"` // not tried until this time
	LastError  string    `json:"last_error,omitempty"`
}

// TrunkMinute counts the calls of a trunk in one minute.
type TrunkMinute struct {
	Minute   int64          `json:"minute"` // Unix time divided by 60
	Attempts int            `json:"attempts,omitempty"`
	Answered int            `json:"answered,omitempty"`
	Ended    int            `json:"ended,omitempty"`
	Short    int            `json:"short,omitempty"`
	Talked   time.Duration  `json:"talked,omitempty"`
	Refusals map[string]int `json:"refusals,omitempty"`
}

// Key returns the key of the trunk state in the store.
func (s *TrunkState) Key() Key { return Key{"trunk_state", s.WorkspaceID, s.TrunkID} }

// Indexes returns no indexes: the trunk states of a workspace are read by key prefix.
func (s *TrunkState) Indexes() []string { return nil }

// Sort returns a sort key that is unused, because the trunk state has no index.
func (s *TrunkState) Sort() string { return "" }

// Spending is the amount that a workspace spent on outbound calls of one day and that the billing ledger does not
// contain. It covers transfer legs and calls that were live when the record was written. A workspace has one Spending.
type Spending struct {
	WorkspaceID string `json:"workspace_id"`
	Day         int64  `json:"day"` // days since 1970 in UTC
	Micros      Amount `json:"micros"`
	// Live holds the amounts of live calls within Micros, by call ID. A process that resumes a call subtracts the amount of
	// the call and counts the call again from its answer.
	Live map[string]Amount `json:"live,omitempty"`
}

// Key returns the key of the spending counter in the store.
func (s *Spending) Key() Key { return Key{"spending", s.WorkspaceID, "today"} }

// Indexes returns nil: the spending counter is read by key or key prefix only.
func (s *Spending) Indexes() []string { return nil }

// Sort returns an unused sort key, because a workspace has one Spending.
func (s *Spending) Sort() string { return "" }

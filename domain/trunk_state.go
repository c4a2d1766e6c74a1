package domain

import "time"

// TrunkState is how a trunk does, as it was known when the row was written: now
// and then while calls run, and when the service stops. A start goes on from it.
type TrunkState struct {
	TrunkID          string               `json:"trunk_id"`
	WorkspaceID      string               `json:"workspace_id"`
	Targets          []TargetState        `json:"targets,omitempty"`
	BackoffUntil     time.Time            `json:"backoff,omitzero"` // no call before
	BackoffDelay     time.Duration        `json:"wait,omitempty"`   // of the last back-off
	LastError        string               `json:"last_error,omitempty"`
	ActiveAlarms     map[string]time.Time `json:"raised,omitempty"` // alarms that are on, by measure
	AlarmsReportedAt map[string]time.Time `json:"told,omitempty"`   // when they were told of last
	Minutes          []TrunkMinute        `json:"minutes,omitempty"`
	InboundCalls     uint64               `json:"arrived,omitempty"` // calls that came in
	InboundRefusals  map[string]int       `json:"refused,omitempty"` // and those that were not taken, by reason
}

// TargetState is the health of one target of a trunk.
type TargetState struct {
	Key        string    `json:"key"`
	Failures   int       `json:"failures,omitempty"` // in a row
	Good       bool      `json:"good,omitempty"`
	OutUntil   time.Time `json:"out,omitzero"`   // tried last until then
	RestsUntil time.Time `json:"rests,omitzero"` // not tried until then
	LastError  string    `json:"last_error,omitempty"`
}

// TrunkMinute counts the calls of one minute.
type TrunkMinute struct {
	Minute   int64          `json:"minute"` // Unix time by 60
	Attempts int            `json:"attempts,omitempty"`
	Answered int            `json:"answered,omitempty"`
	Ended    int            `json:"ended,omitempty"`
	Short    int            `json:"short,omitempty"`
	Talked   time.Duration  `json:"talked,omitempty"`
	Refusals map[string]int `json:"refusals,omitempty"`
}

// Key names the row.
func (s *TrunkState) Key() Key { return Key{"trunk_state", s.WorkspaceID, s.TrunkID} }

// Indexes: none; all of a workspace are read by the key's beginning.
func (s *TrunkState) Indexes() []string { return nil }

// Sort is of no use.
func (s *TrunkState) Sort() string { return "" }

// Spending is what a workspace has spent on outbound calls on one day outside the
// billing ledger: transfer legs, and calls that were live when the row was written.
// A workspace has one row.
type Spending struct {
	WorkspaceID string `json:"workspace_id"`
	Day         int64  `json:"day"` // days since 1970 in UTC
	Micros      Amount `json:"micros"`
	// Live holds the parts of Micros that belong to live calls, by call ID. A
	// process that resumes such a call subtracts the part and counts the call from
	// its answer.
	Live map[string]Amount `json:"live,omitempty"`
}

// Key names the row.
func (s *Spending) Key() Key { return Key{"spending", s.WorkspaceID, "today"} }

// Indexes: none.
func (s *Spending) Indexes() []string { return nil }

// Sort is of no use: there is one.
func (s *Spending) Sort() string { return "" }

package billing

import (
	"github.com/callboard/callboard/domain"
)

// LedgerLine is a ledger row with its price.
type LedgerLine struct {
	domain.LedgerRow
	Plan     domain.Plan
	Included bool // covered by the quota of the month
	Amount   domain.Money
}

// LedgerCheck is the result of a comparison of the usage counters with the ledger.
type LedgerCheck struct {
	WorkspaceID string            `json:"workspace_id"`
	From        string            `json:"from"`
	To          string            `json:"to"`
	Days        int               `json:"days"` // days on which either counted anything
	Rows        int               `json:"rows"` // rows of the ledger
	Wrong       []CounterMismatch `json:"wrong"`
	Repaired    bool              `json:"repaired"`
}

// CounterMismatch is a day on which the counters differ from the ledger.
type CounterMismatch struct {
	Day     string  `json:"day"`
	Tariff  int     `json:"tariff"`
	Counted []int64 `json:"counted"` // attempts, outbound seconds, inbound calls, inbound seconds
	Ledger  []int64 `json:"ledger"`
}

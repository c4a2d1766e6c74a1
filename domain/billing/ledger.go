package billing

import (
	"github.com/callboard/callboard/domain"
)

// LedgerLine is a row of the ledger with its price.
type LedgerLine struct {
	domain.LedgerRow
	Plan     domain.Plan
	Included bool // within the month's quota
	Amount   domain.Money
}

// LedgerCheck compares the counters with the ledger.
type LedgerCheck struct {
	WorkspaceID string            `json:"workspace_id"`
	From        string            `json:"from"`
	To          string            `json:"to"`
	Days        int               `json:"days"` // on which something was counted, by either
	Rows        int               `json:"rows"` // of the ledger
	Wrong       []CounterMismatch `json:"wrong"`
	Repaired    bool              `json:"repaired"`
}

// CounterMismatch is a day on which the counters do not say what the ledger says.
type CounterMismatch struct {
	Day     string  `json:"day"`
	Tariff  int     `json:"tariff"`
	Counted []int64 `json:"counted"` // attempts, outbound seconds, inbound calls, inbound seconds
	Ledger  []int64 `json:"ledger"`
}

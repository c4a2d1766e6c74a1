package billing

import (
	"github.com/callboard/callboard/domain"
)

// LedgerLine is an entry of the usage ledger, which is the billing record of one call attempt, with its price.
type LedgerLine struct {
	domain.LedgerRow
	Plan     domain.Plan
	Included bool // covered by the quota of the month
	Amount   domain.Money
}

// LedgerCheck is the result of comparing the usage counters of a workspace with its usage ledger.
type LedgerCheck struct {
	WorkspaceID string            `json:"workspace_id"`
	From        string            `json:"from"`
	To          string            `json:"to"`
	Days        int               `json:"days"` // days on which either counted anything
	Rows        int               `json:"rows"` // entries of the usage ledger
	Wrong       []CounterMismatch `json:"wrong"`
	Repaired    bool              `json:"repaired"`
}

// CounterMismatch is a day on which the usage counters differ from the usage ledger.
type CounterMismatch struct {
	Day     string  `json:"day"`
	Tariff  int     `json:"tariff"`
	Counted []int64 `json:"counted"` // attempts, outbound seconds, inbound calls, inbound seconds
	Ledger  []int64 `json:"ledger"`
}

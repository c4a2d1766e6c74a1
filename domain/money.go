package domain

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Money is an amount in a currency, as decimal text.
type Money struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

// LedgerRow is the bill of one attempt: written at most once, in the commit
// that closes it, guarded to be absent. A call that came in has one too, for
// its minutes; it costs nothing.
type LedgerRow struct {
	AttemptID   string      `json:"attempt_id"`
	WorkspaceID string      `json:"workspace_id"`
	Environment Environment `json:"environment"`
	CallID      string      `json:"call_id"`
	CampaignID  string      `json:"campaign_id,omitempty"`
	Direction   Direction   `json:"direction,omitempty"` // "": outbound
	Tariff      int         `json:"tariff,omitempty"`    // of the opening
	OpenedAt    time.Time   `json:"opened_at"`           // sets the day and the month
	ClosedAt    time.Time   `json:"closed_at"`
	Seconds     int         `json:"seconds"`
	Priced      bool        `json:"priced,omitempty"`      // the trunk names a cost for the number
	CostMicros  int64       `json:"cost_micros,omitempty"` // by it, in millionths of a dollar
}

// Key names the row.
func (l *LedgerRow) Key() Key { return Key{"ledger", l.WorkspaceID, l.AttemptID} }

// Indexes: by month of opening.
func (l *LedgerRow) Indexes() []string {
	return []string{"month=" + l.OpenedAt.UTC().Format("2006-01")}
}

// Sort is by time of opening.
func (l *LedgerRow) Sort() string {
	return l.OpenedAt.UTC().Format("20060102T150405.000000000") + l.CallID
}

// Usage is the row of counts that the ledger's row belongs to, counting it
// alone.
func (l *LedgerRow) Usage() *Usage {
	u := &Usage{WorkspaceID: l.WorkspaceID, Day: Day(l.OpenedAt), Tariff: l.Tariff}
	u.Count(l)
	return u
}

// micro is a dollar's millionths.
const micro = 1_000_000

// Micros reads an amount of decimal text, not below zero, as millionths; what
// is finer is refused.
func Micros(text string) (int64, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	if len(text) == 0 || len(whole) > 12 || len(fraction) > 6 || whole+fraction == "" {
		return 0, fmt.Errorf("%q is no amount of money", text)
	}
	n, err := strconv.ParseInt("0"+whole+(fraction + "000000")[:6], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no amount of money", text)
	}
	return n, nil
}

// Dollars spells millionths of a dollar as decimal text with two places, more
// where needed.
func Dollars(micros int64) Money {
	sign := ""
	if micros < 0 {
		sign, micros = "-", -micros
	}
	fraction := strconv.FormatInt(micro+micros%micro, 10)[1:]
	fraction = fraction[:2] + strings.TrimRight(fraction[2:], "0")
	return Money{Amount: sign + strconv.FormatInt(micros/micro, 10) + "." + fraction, Currency: "USD"}
}

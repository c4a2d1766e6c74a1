package domain

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Money is an amount in a currency as decimal text.
type Money struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

// LedgerRow is the billing record of one call attempt. The commit that closes the attempt writes it once, with a guard
// that no record exists. Inbound calls also have a record, for their minutes, without cost.
type LedgerRow struct {
	AttemptID   string      `json:"attempt_id"`
	WorkspaceID string      `json:"workspace_id"`
	Environment Environment `json:"environment"`
	CallID      string      `json:"call_id"`
	CampaignID  string      `json:"campaign_id,omitempty"`
	Direction   Direction   `json:"direction,omitempty"` // empty: outbound
	Tariff      int         `json:"tariff,omitempty"`    // tariff number when the attempt was opened
	OpenedAt    time.Time   `json:"opened_at"`           // decides the day and month of billing
	ClosedAt    time.Time   `json:"closed_at"`
	Seconds     int         `json:"seconds"`
	Priced      bool        `json:"priced,omitempty"`      // the trunk has a cost for the number
	CostMicros  Amount      `json:"cost_micros,omitempty"` // cost of the call, if Priced
}

// Key returns the key of the billing record in the store.
func (l *LedgerRow) Key() Key { return Key{"ledger", l.WorkspaceID, l.AttemptID} }

// Indexes returns the index of the month in which the attempt was opened.
func (l *LedgerRow) Indexes() []string {
	return []string{"month=" + l.OpenedAt.UTC().Format("2006-01")}
}

// Sort returns a sort key that orders billing records by the time at which the attempt was opened.
func (l *LedgerRow) Sort() string {
	return l.OpenedAt.UTC().Format("20060102T150405.000000000") + l.CallID
}

// Usage returns the usage counters that this billing record adds to its day.
func (l *LedgerRow) Usage() *Usage {
	u := &Usage{WorkspaceID: l.WorkspaceID, Day: Day(l.OpenedAt), Tariff: l.Tariff}
	u.AddLedgerRow(l)
	return u
}

// microsPerDollar is the number of Amount units in a dollar.
const microsPerDollar = 1_000_000

// Amount is a sum of money in millionths of a dollar, from 0 to MaxAmount. Its methods stay within these bounds and
// cannot overflow.
type Amount int64

const (
	// MaxAmount is the largest amount, a trillion dollars.
	MaxAmount Amount = 1_000_000_000_000 * microsPerDollar
	// MaxPrice limits the price of a call minute, an attempt and a message segment.
	MaxPrice Amount = 1000 * microsPerDollar
)

func (a Amount) bounded() Amount { return min(max(a, 0), MaxAmount) }

// Plus returns the sum of two amounts, at most MaxAmount.
func (a Amount) Plus(b Amount) Amount { return min(a.bounded()+b.bounded(), MaxAmount) }

// Minus returns the difference of two amounts, at least 0.
func (a Amount) Minus(b Amount) Amount { return max(a.bounded()-b.bounded(), 0) }

// Times returns n times the amount, at most MaxAmount.
func (a Amount) Times(n int) Amount {
	switch a = a.bounded(); {
	case n <= 0:
		return 0
	case a > MaxAmount/Amount(n):
		return MaxAmount
	}
	return a * Amount(n)
}

// ParseAmount parses decimal text with up to six decimals. Negative amounts are rejected.
func ParseAmount(text string) (Amount, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	if len(text) == 0 || len(whole) > 12 || len(fraction) > 6 || whole+fraction == "" {
		return 0, fmt.Errorf("%q is not an amount of money", text)
	}
	n, err := strconv.ParseInt("0"+whole+(fraction + "000000")[:6], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not an amount of money", text)
	}
	return Amount(n), nil
}

// Dollars formats an amount as decimal text with two decimals, or more if needed.
func Dollars(a Amount) Money {
	a = a.bounded()
	fraction := strconv.FormatInt(int64(microsPerDollar+a%microsPerDollar), 10)[1:]
	fraction = fraction[:2] + strings.TrimRight(fraction[2:], "0")
	return Money{Amount: strconv.FormatInt(int64(a/microsPerDollar), 10) + "." + fraction, Currency: "USD"}
}

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
	CostMicros  Amount      `json:"cost_micros,omitempty"` // by it
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
	u.AddLedgerRow(l)
	return u
}

// micro is a dollar's millionths.
const microsPerDollar = 1_000_000

// Amount is a sum of money in millionths of a dollar, from 0 to MaxAmount. Its
// methods stay within these bounds: no sum overflows.
type Amount int64

const (
	// MaxAmount is the largest sum, a trillion dollars.
	MaxAmount Amount = 1_000_000_000_000 * microsPerDollar
	// MaxPrice bounds a minute of a call, an attempt and a segment of a message.
	MaxPrice Amount = 1000 * microsPerDollar
)

func (a Amount) bounded() Amount { return min(max(a, 0), MaxAmount) }

// Plus is the sum of two amounts.
func (a Amount) Plus(b Amount) Amount { return min(a.bounded()+b.bounded(), MaxAmount) }

// Minus is what is left of an amount, 0 at least.
func (a Amount) Minus(b Amount) Amount { return max(a.bounded()-b.bounded(), 0) }

// Times is an amount n times.
func (a Amount) Times(n int) Amount {
	switch a = a.bounded(); {
	case n <= 0:
		return 0
	case a > MaxAmount/Amount(n):
		return MaxAmount
	}
	return a * Amount(n)
}

// ParseAmount reads an amount of decimal text, not below zero; what is finer than
// millionths is refused.
func ParseAmount(text string) (Amount, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	if len(text) == 0 || len(whole) > 12 || len(fraction) > 6 || whole+fraction == "" {
		return 0, fmt.Errorf("%q is no amount of money", text)
	}
	n, err := strconv.ParseInt("0"+whole+(fraction + "000000")[:6], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no amount of money", text)
	}
	return Amount(n), nil
}

// Dollars spells an amount as decimal text with two places, more where needed.
func Dollars(a Amount) Money {
	a = a.bounded()
	fraction := strconv.FormatInt(int64(microsPerDollar+a%microsPerDollar), 10)[1:]
	fraction = fraction[:2] + strings.TrimRight(fraction[2:], "0")
	return Money{Amount: strconv.FormatInt(int64(a/microsPerDollar), 10) + "." + fraction, Currency: "USD"}
}

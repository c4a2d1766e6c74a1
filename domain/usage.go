package domain

import "time"

// CounterRecord is a record of counters to which commits add. It is never overwritten. Its JSON ends with the
// counters in brackets and "}", and the text before them is the same in every commit.
type CounterRecord interface {
	Record
	// Counters returns the values to add, or the stored values.
	Counters() []int64
}

// Positions of the counters in Usage. The order is stored, so new counters are appended.
const (
	usedAttempts = iota
	usedOutboundSeconds
	usedInboundCalls
	usedInboundSeconds
	usedSMS
	usedSegments
	usedNumbers
)

// Usage counts what a workspace used in the live environment on one day under one tariff. It changes in the commit
// that writes the ledger row.
type Usage struct {
	WorkspaceID string             `json:"workspace_id"`
	Day         string             `json:"day"` // YYYY-MM-DD in UTC, of the opening of the attempt
	Tariff      int                `json:"tariff"`
	Counts      [usedNumbers]int64 `json:"counts"`
}

// Key returns the store key: day and tariff, in chronological order.
func (u *Usage) Key() Key { return Key{"usage", u.WorkspaceID, u.Day + "/" + sortableNumber(u.Tariff)} }

// Indexes returns no indexes: days are listed by key prefix.
func (u *Usage) Indexes() []string { return nil }

// Sort returns an unused sort key.
func (u *Usage) Sort() string { return "" }

// Counters returns the counters.
func (u *Usage) Counters() []int64 { return u.Counts[:] }

// Attempts returns the number of billed attempts.
func (u *Usage) Attempts() int { return int(u.Counts[usedAttempts]) }

// OutboundSeconds returns the length of the outbound calls in seconds.
func (u *Usage) OutboundSeconds() int { return int(u.Counts[usedOutboundSeconds]) }

// InboundCalls returns the number of answered inbound calls.
func (u *Usage) InboundCalls() int { return int(u.Counts[usedInboundCalls]) }

// InboundSeconds returns the length of the inbound calls in seconds.
func (u *Usage) InboundSeconds() int { return int(u.Counts[usedInboundSeconds]) }

// SMS returns the number of sent messages.
func (u *Usage) SMS() int { return int(u.Counts[usedSMS]) }

// AddLedgerRow counts a row of the ledger.
func (u *Usage) AddLedgerRow(l *LedgerRow) {
	if l.Direction == Inbound {
		u.Counts[usedInboundCalls]++
		u.Counts[usedInboundSeconds] += int64(l.Seconds)
		return
	}
	u.Counts[usedAttempts]++
	u.Counts[usedOutboundSeconds] += int64(l.Seconds)
}

// Segments returns the number of segments of the sent messages.
func (u *Usage) Segments() int { return int(u.Counts[usedSegments]) }

// AddMessage counts a text message that a carrier accepted.
func (u *Usage) AddMessage(segments int) {
	u.Counts[usedSMS]++
	u.Counts[usedSegments] += int64(segments)
}

// Add adds the counters of another row.
func (u *Usage) Add(v *Usage) {
	for i, n := range v.Counts {
		u.Counts[i] += n
	}
}

// LedgerCounters returns the counters for which the ledger has rows.
func (u *Usage) LedgerCounters() []int64 { return u.Counts[:usedSMS:usedSMS] }

// LedgerDifference returns what has to be added to v so that its ledger counters equal those of u. It returns nil
// if they are equal.
func (u *Usage) LedgerDifference(v *Usage) *Usage {
	d := &Usage{WorkspaceID: u.WorkspaceID, Day: u.Day, Tariff: u.Tariff}
	same := true
	for i := range usedSMS {
		d.Counts[i] = u.Counts[i] - v.Counts[i]
		same = same && d.Counts[i] == 0
	}
	if same {
		return nil
	}
	return d
}

// Day returns the UTC day of a time.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Tariff is the price of attempts from a time on: the terms of a plan, or individual terms. Each change of the plan
// creates a new tariff.
type Tariff struct {
	WorkspaceID string    `json:"workspace_id"`
	Number      int       `json:"number"` // from 0
	Plan        Plan      `json:"plan"`
	Included    int       `json:"included"`          // attempts per month
	Micros      Amount    `json:"micros"`            // price of each further attempt
	Segment     Amount    `json:"segment,omitempty"` // price of each segment of a text message
	From        time.Time `json:"from"`
}

// Key returns the store key.
func (t *Tariff) Key() Key { return Key{"tariff", t.WorkspaceID, sortableNumber(t.Number)} }

// Indexes returns no indexes: tariffs are listed by key prefix.
func (t *Tariff) Indexes() []string { return nil }

// Sort returns an unused sort key.
func (t *Tariff) Sort() string { return "" }

// Pricing holds the individual terms of an account with the plan enterprise.
type Pricing struct {
	IncludedAttempts int   `json:"included_attempts"` // per month
	PricePerAttempt  Money `json:"price_per_attempt"`
}

package domain

import "time"

// CounterRecord is a record of counters. A commit adds to the stored counters and never overwrites them. The JSON ends
// with the counters in brackets and "}", and the text before the counters is the same in every commit.
type CounterRecord interface {
	Record
	// Counters returns the values that a commit adds, or the stored values of a record that was read.
	Counters() []int64
}

// Positions of the counters in Usage.Counts. Stored records depend on the order, so new counters are appended.
const (
	usedAttempts = iota
	usedOutboundSeconds
	usedInboundCalls
	usedInboundSeconds
	usedSMS
	usedSegments
	usedNumbers
)

// Usage counts the attempts, calls and messages of a workspace in the live environment on one day under one tariff. It
// changes in the same commit as the billing ledger.
type Usage struct {
	WorkspaceID string             `json:"workspace_id"`
	Day         string             `json:"day"` // YYYY-MM-DD in UTC, of the opening of the attempt
	Tariff      int                `json:"tariff"`
	Counts      [usedNumbers]int64 `json:"counts"`
}

// Key returns the store key, which contains day and tariff, so that keys are in chronological order.
func (u *Usage) Key() Key { return Key{"usage", u.WorkspaceID, u.Day + "/" + sortableNumber(u.Tariff)} }

// Indexes returns no indexes: the days of a workspace are listed by key prefix.
func (u *Usage) Indexes() []string { return nil }

// Sort returns a sort key that is unused, because the usage counters have no index.
func (u *Usage) Sort() string { return "" }

// Counters returns the counters in the order of their positions.
func (u *Usage) Counters() []int64 { return u.Counts[:] }

// Attempts returns the number of billed attempts.
func (u *Usage) Attempts() int { return int(u.Counts[usedAttempts]) }

// OutboundSeconds returns the length of the outbound calls in seconds.
func (u *Usage) OutboundSeconds() int { return int(u.Counts[usedOutboundSeconds]) }

// InboundCalls returns the number of answered inbound calls.
func (u *Usage) InboundCalls() int { return int(u.Counts[usedInboundCalls]) }

// InboundSeconds returns the length of the inbound calls in seconds.
func (u *Usage) InboundSeconds() int { return int(u.Counts[usedInboundSeconds]) }

// SMS returns the number of sent text messages.
func (u *Usage) SMS() int { return int(u.Counts[usedSMS]) }

// AddLedgerRow adds the attempt or inbound call of a billing record to the counters.
func (u *Usage) AddLedgerRow(l *LedgerRow) {
	if l.Direction == Inbound {
		u.Counts[usedInboundCalls]++
		u.Counts[usedInboundSeconds] += int64(l.Seconds)
		return
	}
	u.Counts[usedAttempts]++
	u.Counts[usedOutboundSeconds] += int64(l.Seconds)
}

// Segments returns the number of segments of the sent text messages.
func (u *Usage) Segments() int { return int(u.Counts[usedSegments]) }

// AddMessage counts a text message that a carrier accepted.
func (u *Usage) AddMessage(segments int) {
	u.Counts[usedSMS]++
	u.Counts[usedSegments] += int64(segments)
}

// Add adds the counters of v.
func (u *Usage) Add(v *Usage) {
	for i, n := range v.Counts {
		u.Counts[i] += n
	}
}

// LedgerCounters returns the counters that can be computed from the billing ledger: all except those of messages.
func (u *Usage) LedgerCounters() []int64 { return u.Counts[:usedSMS:usedSMS] }

// LedgerDifference returns the counters to add to v so that its LedgerCounters equal those of u. It returns nil if they
// are equal.
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

// Day returns the UTC day of a time as YYYY-MM-DD.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Tariff is the price of call attempts from a time on, by the terms of a plan or by individual terms. Each change of
// the plan creates another Tariff.
type Tariff struct {
	WorkspaceID string    `json:"workspace_id"`
	Number      int       `json:"number"` // from 0
	Plan        Plan      `json:"plan"`
	Included    int       `json:"included"`          // attempts per month
	Micros      Amount    `json:"micros"`            // price of each further attempt
	Segment     Amount    `json:"segment,omitempty"` // price of each segment of a text message
	From        time.Time `json:"from"`
}

// Key returns the key of the tariff in the store.
func (t *Tariff) Key() Key { return Key{"tariff", t.WorkspaceID, sortableNumber(t.Number)} }

// Indexes returns no indexes: tariffs are listed by key prefix.
func (t *Tariff) Indexes() []string { return nil }

// Sort returns a sort key that is unused, because the tariff has no index.
func (t *Tariff) Sort() string { return "" }

// Pricing holds the individual prices of a workspace with the plan enterprise.
type Pricing struct {
	IncludedAttempts int   `json:"included_attempts"` // per month
	PricePerAttempt  Money `json:"price_per_attempt"`
}

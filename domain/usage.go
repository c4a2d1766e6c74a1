package domain

import "time"

// CounterRecord is a noun that is a row of numbers to which commits add; it is never
// put. Its JSON ends with the numbers in brackets and "}", and what stands
// before them is the same in every commit that adds to the row.
type CounterRecord interface {
	Record
	// Tally are the numbers: what is to be added, or what was read.
	Counters() []int64
}

// The numbers of a Usage, in the order of its counts. The order is stored:
// new ones go to the end.
const (
	usedAttempts = iota
	usedOutboundSeconds
	usedInboundCalls
	usedInboundSeconds
	usedSMS
	usedSegments
	usedNumbers
)

// Usage counts what a workspace used in production on one day under one
// tariff. It changes in the commit that writes the ledger's row.
type Usage struct {
	WorkspaceID string             `json:"workspace_id"`
	Day         string             `json:"day"` // YYYY-MM-DD in UTC, of the opening
	Tariff      int                `json:"tariff"`
	Counts      [usedNumbers]int64 `json:"counts"`
}

// Key names the row: in the order of days.
func (u *Usage) Key() Key { return Key{"usage", u.WorkspaceID, u.Day + "/" + sortableNumber(u.Tariff)} }

// Indexes: none; days are listed by the key's beginning.
func (u *Usage) Indexes() []string { return nil }

// Sort is by day.
func (u *Usage) Sort() string { return "" }

// Counters are the counts.
func (u *Usage) Counters() []int64 { return u.Counts[:] }

// Attempts is the number of billed attempts.
func (u *Usage) Attempts() int { return int(u.Counts[usedAttempts]) }

// OutboundSeconds is how long they were talked on.
func (u *Usage) OutboundSeconds() int { return int(u.Counts[usedOutboundSeconds]) }

// InboundCalls is the number of calls that were taken.
func (u *Usage) InboundCalls() int { return int(u.Counts[usedInboundCalls]) }

// InboundSeconds is how long they were talked on.
func (u *Usage) InboundSeconds() int { return int(u.Counts[usedInboundSeconds]) }

// SMS is the number of messages sent.
func (u *Usage) SMS() int { return int(u.Counts[usedSMS]) }

// AddLedgerRow adds what a row of the ledger says.
func (u *Usage) AddLedgerRow(l *LedgerRow) {
	if l.Direction == Inbound {
		u.Counts[usedInboundCalls]++
		u.Counts[usedInboundSeconds] += int64(l.Seconds)
		return
	}
	u.Counts[usedAttempts]++
	u.Counts[usedOutboundSeconds] += int64(l.Seconds)
}

// Segments is the number of segments that the messages sent were in.
func (u *Usage) Segments() int { return int(u.Counts[usedSegments]) }

// AddMessage adds a text message that a carrier took.
func (u *Usage) AddMessage(segments int) {
	u.Counts[usedSMS]++
	u.Counts[usedSegments] += int64(segments)
}

// Add adds what another row counts.
func (u *Usage) Add(v *Usage) {
	for i, n := range v.Counts {
		u.Counts[i] += n
	}
}

// LedgerCounters are those of the counts that the ledger has rows for.
func (u *Usage) LedgerCounters() []int64 { return u.Counts[:usedSMS:usedSMS] }

// LedgerDifference is what has to be added to v so that it counts what u counts, of what
// the ledger has rows for; nil: nothing.
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

// Day is the day in UTC that a moment belongs to.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Tariff is what attempts cost from a moment on: the terms of a plan, or those
// that were agreed with an account. Each change of the plan begins a new one.
type Tariff struct {
	WorkspaceID string    `json:"workspace_id"`
	Number      int       `json:"number"` // from 0
	Plan        Plan      `json:"plan"`
	Included    int       `json:"included"`          // attempts per month
	Micros      Amount    `json:"micros"`            // of each further one
	Segment     Amount    `json:"segment,omitempty"` // of each segment of a text message
	From        time.Time `json:"from"`
}

// Key names the row.
func (t *Tariff) Key() Key { return Key{"tariff", t.WorkspaceID, sortableNumber(t.Number)} }

// Indexes: none; they are listed by the key.
func (t *Tariff) Indexes() []string { return nil }

// Sort is of no use.
func (t *Tariff) Sort() string { return "" }

// Pricing is what an account on the plan enterprise has agreed to.
type Pricing struct {
	IncludedAttempts int   `json:"included_attempts"` // per month
	PricePerAttempt  Money `json:"price_per_attempt"`
}

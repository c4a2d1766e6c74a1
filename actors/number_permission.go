package actors

import (
	"context"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
)

// grantFor is how long a number is kept for a single call until that begins.
const grantFor = 15 * time.Second

// mayAgain is when the owner of the numbers is asked again.
const mayAgain = 500 * time.Millisecond

// mayRing asks the owner of the numbers right before the opening of a single
// call. Phones of the workspace are nobody's number.
func (d *Desk) mayRing(ctx context.Context, t *tree, c *domain.Call, inside bool) (numbers.Granted, error) {
	if inside {
		return numbers.Granted{}, nil
	}
	got, err := d.askNumbers(ctx, t, numbers.May{
		CallID: c.ID, Number: c.To, Environment: c.Environment, Scrub: dnc.ScrubAll(c.WorkspaceID, c.Environment),
		Until: time.Now().Add(grantFor),
	})
	if err != nil {
		return numbers.Granted{}, err
	}
	switch m := got.(type) {
	case numbers.Granted:
		return m, nil
	case numbers.Denied:
		return numbers.Granted{}, denial(m)
	}
	return numbers.Granted{}, domain.Errorf(domain.CodeUnavailable, "it is not known whether this number may be called; try again").With("retry_after", 1)
}

// askNumbers asks until there is an answer: an owner of the numbers that fails
// has forgotten what it was asked.
func (d *Desk) askNumbers(ctx context.Context, t *tree, m numbers.May) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, slotWait)
	defer cancel()
	for {
		m.Generation++
		bound, stop := context.WithTimeout(ctx, mayAgain)
		got, err := mailbox.Ask[any](bound, d.node.sys, t.numbers, m)
		silent := bound.Err() != nil
		stop()
		if err == nil || !silent || ctx.Err() != nil {
			return got, err
		}
	}
}

func denial(m numbers.Denied) error {
	switch m.By {
	case numbers.DNC:
		return dnc.Blocked()
	case numbers.Frequency:
		return domain.Errorf(domain.CodeFrequencyCap, "this number has been called %d times today; the workspace allows %d", m.Count, m.Cap).
			With("limit", m.Cap).With("next_allowed_at", m.Until.UTC())
	case numbers.Busy, numbers.Unknown:
	}
	return domain.Errorf(domain.CodeUnavailable, "it is not known whether this number may be called; try again").With("retry_after", 1)
}

package actors

import (
	"context"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/service/record"
)

// scrubber says whether a number is on the lists that hold for a campaign. It
// answers nearly every number from memory; an error means that nobody knows.
func (d *Desk) scrubber(c *domain.Campaign) func(ctx context.Context, e164 string) (listed bool, err error) {
	scrub := dnc.ScrubOf(c)
	return func(ctx context.Context, e164 string) (bool, error) {
		hit, err := d.node.dnc.Check(ctx, c.WorkspaceID, scrub, e164)
		return hit != nil, record.StoreError(err)
	}
}

// dncListExists refuses the id of a list that is not there; "" is the default
// one.
func (d *Desk) dncListExists(ctx context.Context, p domain.Principal, param, id string) error {
	if id == "" {
		return nil
	}
	_, _, err := record.Get[domain.DNCList](ctx, d.store, p, domain.PrefixDNC, id)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return record.FieldError(param, domain.CodeValidation, "there is no such do-not-call list")
	}
	return err
}

// listsAllow refuses a number that is on the workspace's list, before anything
// is taken for its call.
func (d *Desk) listsAllow(ctx context.Context, p domain.Principal, e164 string) error {
	hit, err := d.node.dnc.Check(ctx, p.WorkspaceID, dnc.ScrubAll(p.WorkspaceID, p.Environment), e164)
	if err != nil {
		return record.StoreError(err)
	}
	if hit != nil {
		return blocked()
	}
	return nil
}

func blocked() error {
	return domain.Errorf(domain.CodeDNCBlocked, "this number is on the do-not-call list of the workspace")
}

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
		return blocked()
	case numbers.Frequency:
		return domain.Errorf(domain.CodeFrequencyCap, "this number has been called %d times today; the workspace allows %d", m.Count, m.Cap).
			With("limit", m.Cap).With("next_allowed_at", m.Until.UTC())
	case numbers.Busy, numbers.Unknown:
	}
	return domain.Errorf(domain.CodeUnavailable, "it is not known whether this number may be called; try again").With("retry_after", 1)
}

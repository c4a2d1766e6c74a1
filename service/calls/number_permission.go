package calls

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
)

// numberGrantFor is how long the number of a call is reserved until the call opens.
const numberGrantFor = 15 * time.Second

// permitNumber asks the actor of the numbers, right before a call opens, whether its
// number may be called. Phones of the workspace have no number.
func (s *Service) permitNumber(ctx context.Context, owner *actor.PID, c *domain.Call, toPhone bool) (numbers.NumberGranted, error) {
	if toPhone {
		return numbers.NumberGranted{}, nil
	}
	bound, cancel := context.WithTimeout(ctx, slotTimeout)
	defer cancel()
	got, err := numbers.RequestPermission(bound, s.cfg.System, owner, numbers.RequestNumber{
		CallID: c.ID, Number: c.To, Environment: c.Environment, Scrub: dnc.ScrubAll(c.WorkspaceID, c.Environment),
		Until: time.Now().Add(numberGrantFor),
	})
	if err != nil {
		return numbers.NumberGranted{}, err
	}
	switch m := got.(type) {
	case numbers.NumberGranted:
		return m, nil
	case numbers.NumberDenied:
		return numbers.NumberGranted{}, deniedError(m)
	}
	return numbers.NumberGranted{}, permissionUnknown()
}

func deniedError(m numbers.NumberDenied) error {
	switch m.Reason {
	case numbers.DNC:
		return dnc.Blocked()
	case numbers.Frequency:
		return domain.Errorf(domain.CodeFrequencyCap, "this number has been called %d times today; the workspace allows %d", m.DayCount, m.DayLimit).
			With("limit", m.DayLimit).With("next_allowed_at", m.Until.UTC())
	case numbers.Busy, numbers.Unknown:
	}
	return permissionUnknown()
}

func permissionUnknown() error {
	return domain.Errorf(domain.CodeUnavailable, "it is not known whether this number may be called; try again").With("retry_after", 1)
}

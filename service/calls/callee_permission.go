package calls

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
)

// numberReservation is how long the numbers actor reserves a number for a call that is not committed yet.
const numberReservation = 15 * time.Second

// requestNumberPermission asks the numbers actor, right before the call is committed, whether the number may be called.
// Phones of the workspace need no permission.
func (s *Service) requestNumberPermission(ctx context.Context, owner *actor.PID, c *domain.Call, toPhone bool) (numbers.NumberGranted, error) {
	if toPhone {
		return numbers.NumberGranted{}, nil
	}
	permissionCtx, cancel := context.WithTimeout(ctx, slotTimeout)
	defer cancel()
	answer, err := numbers.RequestPermission(permissionCtx, s.cfg.System, owner, numbers.RequestNumber{
		CallID: c.ID, Number: c.To, Environment: c.Environment, Scrub: dnc.DefaultScrub(c.WorkspaceID, c.Environment),
		Until: time.Now().Add(numberReservation),
	})
	if err != nil {
		return numbers.NumberGranted{}, err
	}
	switch m := answer.(type) {
	case numbers.NumberGranted:
		return m, nil
	case numbers.NumberDenied:
		return numbers.NumberGranted{}, permissionDeniedError(m)
	}
	return numbers.NumberGranted{}, permissionUnknownError()
}

func permissionDeniedError(m numbers.NumberDenied) error {
	switch m.Reason {
	case numbers.DNC:
		return dnc.NewBlockedError()
	case numbers.Frequency:
		return domain.Errorf(domain.CodeFrequencyCap, "this number has been called %d times today; the workspace allows %d", m.DayCount, m.DayLimit).
			With("limit", m.DayLimit).With("next_allowed_at", m.Until.UTC())
	case numbers.Busy, numbers.Unknown:
	}
	return permissionUnknownError()
}

func permissionUnknownError() error {
	return domain.Errorf(domain.CodeUnavailable, "the service cannot check now whether this number may be called; try again").With("retry_after", 1)
}

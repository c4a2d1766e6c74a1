package calls

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
)

// slotTimeout bounds how long a placement waits for its trunk slot, and for the
// permission of its number.
const slotTimeout = 8 * time.Second

// trunkSlot takes a slot of a trunk that reaches the callee. A phone of the
// workspace needs none.
func (s *Service) trunkSlot(ctx context.Context, trunks *actor.PID, c *domain.Call, who *parties) (trunk.Slot, error) {
	if who.toPhone() {
		return trunk.Slot{CallID: c.ID, Target: who.contacts[0].Target, Phone: &who.media}, nil
	}
	bound, cancel := context.WithTimeout(ctx, slotTimeout)
	defer cancel()
	got, err := mailbox.Ask[any](bound, s.cfg.System, trunks, trunk.RequestSlot{
		To: c.To, From: c.From, Environment: c.Environment, CallID: c.ID, DestinationChecked: true,
	})
	if err != nil {
		return trunk.Slot{}, err
	}
	switch m := got.(type) {
	case trunk.Slot:
		return m, nil
	case trunk.SlotDenied:
		return trunk.Slot{}, noSlotError(m)
	}
	return trunk.Slot{}, domain.Errorf(domain.CodeUnavailable, "the trunks did not answer; try again")
}

func noSlotError(m trunk.SlotDenied) error {
	if m.Err != nil {
		return m.Err
	}
	if m.Reason == trunk.ReasonNoTrunk || m.Reason == trunk.ReasonExhausted {
		return domain.Errorf(domain.CodeNoTrunk, "no trunk takes this number; create one with POST /v1/trunks")
	}
	wait := 1
	if left := time.Until(m.Until); left > 0 {
		wait = int(left/time.Second) + 1
	}
	return domain.Errorf(domain.CodeUnavailable, "every trunk for this number is busy (%s); try again", m.Reason).With("retry_after", wait)
}

package calls

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
)

// slotTimeout is how long a new call waits for its trunk slot, and for the permission to call its number.
const slotTimeout = 8 * time.Second

// requestTrunkSlot requests a slot of a trunk that reaches the callee. A call to a phone of the workspace gets a
// slot without a trunk.
func (s *Service) requestTrunkSlot(ctx context.Context, trunks *actor.PID, c *domain.Call, callee *parties) (trunk.Slot, error) {
	if callee.toPhone() {
		return trunk.Slot{CallID: c.ID, Target: callee.contacts[0].Target, Phone: &callee.media}, nil
	}
	slotCtx, cancel := context.WithTimeout(ctx, slotTimeout)
	defer cancel()
	answer, err := mailbox.Ask[any](slotCtx, s.cfg.System, trunks, trunk.RequestSlot{
		To: c.To, From: c.From, Environment: c.Environment, CallID: c.ID, DestinationChecked: true,
	})
	if err != nil {
		return trunk.Slot{}, err
	}
	switch m := answer.(type) {
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

package call

import (
	"context"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	lists "github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/sip"
)

// mayRingOn asks for a leg that follows another one; nil: nobody has to.
func (c *call) mayRingOn() func(context.Context) error {
	if c.leg < 2 || len(c.contacts) > 0 {
		return nil
	}
	cfg, scrub, to := c.cfg, c.scrub, c.call.To
	return func(ctx context.Context) error { return leg.CheckDoNotCall(ctx, cfg.Listed, scrub, to) }
}

// notRungOn ends a call whose next leg the lists do not let ring: it is over
// with what the leg before it said.
func (c *call) notRungOn(ctx actor.Context, err error) {
	c.log.Info("a further leg was not placed", slog.Any("error", err))
	now := time.Now().UTC()
	l := c.record()
	l.Reason, l.EndedAt = leg.FailureReason(err), &now
	c.row().Closed = true
	v := c.verdict
	if c.hangup {
		v = cancelled()
	}
	c.over(ctx, v, byService)
}

// cleared says what the lists say of whom our REFER would have rung.
type cleared struct {
	generation int
	err        error
}

// Control admits it always.
func (cleared) Control() {}

// referOn asks the lists, then the far end.
func (c *call) referOn(ctx actor.Context) {
	t := c.transfer
	t.stage = referring
	cfg, generation, to := c.cfg, c.asked, t.way.To
	scrub := lists.ScrubAll(c.call.WorkspaceID, c.call.Environment)
	mailbox.Work(ctx, reachLimit, func(bound context.Context) any {
		return cleared{generation, leg.CheckDoNotCall(bound, cfg.Listed, scrub, to)}
	})
}

func (c *call) cleared(ctx actor.Context, m cleared) {
	t := c.transfer
	if t == nil || m.generation != c.asked || t.stage != referring {
		return
	}
	if m.err != nil {
		c.failTransfer(ctx, leg.FailureReason(m.err))
		return
	}
	uri, err := c.referURI(t.way)
	if err != nil {
		c.failTransfer(ctx, string(domain.CodeDestination))
		return
	}
	c.refer(ctx, sip.ReferTo{URI: uri})
}

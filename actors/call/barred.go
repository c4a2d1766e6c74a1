package call

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	lists "github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/sip"
)

// Listed says whether a number is on the do-not-call lists that hold for a
// call. It may block; an error means that nobody knows: then nobody is rung.
type Listed func(ctx context.Context, s lists.Scrub, e164 string) (bool, error)

// Whoever starts a call has asked the lists right before its first leg. A leg
// that follows, and whoever a caller is handed to, may come seconds or minutes
// after that, so the lists are asked again, right before the INVITE or REFER.

// barred is why a number must not be rung.
type barred struct{ unknown error }

// Error tells which of the two it is.
func (b *barred) Error() string {
	if b.unknown != nil {
		return fmt.Sprintf("call: the do-not-call lists could not be asked: %v", b.unknown)
	}
	return "call: the number is on a do-not-call list"
}

// code is how a transfer's record names it.
func (b *barred) code() domain.Code {
	if b.unknown != nil {
		return domain.CodeUnavailable
	}
	return domain.CodeDNCBlocked
}

// bars asks the lists. Its error is a *barred.
func (cfg *Config) bars(ctx context.Context, s lists.Scrub, e164 string) error {
	if cfg.Listed == nil {
		return nil
	}
	listed, err := cfg.Listed(ctx, s, e164)
	if err != nil {
		return &barred{err}
	}
	if listed {
		return &barred{}
	}
	return nil
}

// mayRingOn asks for a leg that follows another one; nil: nobody has to.
func (c *call) mayRingOn() func(context.Context) error {
	if c.leg < 2 || len(c.contacts) > 0 {
		return nil
	}
	cfg, scrub, to := c.cfg, c.scrub, c.call.To
	return func(ctx context.Context) error { return cfg.bars(ctx, scrub, to) }
}

// notRungOn ends a call whose next leg the lists do not let ring: it is over
// with what the leg before it said.
func (c *call) notRungOn(ctx actor.Context, err error) {
	c.log.Info("a further leg was not placed", slogErr(err))
	now := time.Now().UTC()
	l := c.record()
	l.Reason, l.EndedAt = whyNot(err), &now
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
		return cleared{generation, cfg.bars(bound, scrub, to)}
	})
}

func (c *call) cleared(ctx actor.Context, m cleared) {
	t := c.transfer
	if t == nil || m.generation != c.asked || t.stage != referring {
		return
	}
	if m.err != nil {
		c.failTransfer(ctx, whyNot(m.err))
		return
	}
	uri, err := c.referURI(t.way)
	if err != nil {
		c.failTransfer(ctx, string(domain.CodeDestination))
		return
	}
	c.refer(ctx, sip.ReferTo{URI: uri})
}

// whyNot names in a transfer's record why somebody was not rung.
func whyNot(err error) string {
	if b, ok := errors.AsType[*barred](err); ok {
		return string(b.code())
	}
	return string(domain.ReasonNotSent)
}

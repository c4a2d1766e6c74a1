package call

import (
	"context"
	"log/slog"
	"strings"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// transferRequested handles a transfer that the pathway or the agent wants.
func (c *call) transferRequested(ctx actor.Context, m conversation.Transfer) {
	if c.stage != talking {
		return
	}
	c.reportEscalation(ctx, m)
	c.agent.pausedBy |= pausedByTransfer // the conversation waits already
	c.findTarget(ctx, TransferDestination{Destination: m.Destination}, transferWish{mode: m.Mode, summary: m.Summary, recordedSummary: m.Kept, by: byAgent})
}

// findTarget looks up the target of a transfer, beside the actor.
func (c *call) findTarget(ctx actor.Context, who TransferDestination, w transferWish) {
	find, call, may := c.cfg.FindTarget, c.call, c.script.Transfer
	c.transfers.generation++
	generation := c.transfers.generation
	if find == nil {
		c.targetFound(ctx, targetFound{generation: generation, wish: w, err: domain.Errorf(domain.CodeDestination, "nobody can be reached")})
		return
	}
	mailbox.Work(ctx, reachLimit, func(bound context.Context) any {
		m := targetFound{generation: generation, wish: w}
		m.target, m.err = find(bound, &call, &may, who)
		return m
	})
}

func (c *call) targetFound(ctx actor.Context, m targetFound) {
	if m.generation != c.transfers.generation || c.stage != talking {
		if m.wish.refer != nil {
			m.wish.refer.Refuse(sipForbidden)
		}
		return
	}
	err := m.err
	if err == nil {
		err = c.startTransfer(ctx, m.target, m.wish)
	}
	if err == nil {
		return
	}
	c.log.Warn("a transfer could not begin", slog.Any("error", err))
	if m.wish.refer != nil {
		m.wish.refer.Refuse(sipForbidden)
		return
	}
	c.fault(ctx, conversation.Fault{
		Stage: "transfer", Code: string(codeOf(err)), Message: "the caller could not be handed on", Recovered: true,
	})
	c.agent.resume(ctx, pausedByTransfer, false)
}

func codeOf(err error) domain.Code {
	if code := domain.CodeOf(err); code != "" {
		return code
	}
	return domain.CodeInternal
}

// targetURI is where the other side of a dialog is reached.
func targetURI(s sip.DialogState) string {
	if s.RemoteTarget != "" {
		uri, _, _ := strings.Cut(s.RemoteTarget, "?")
		return uri
	}
	return s.RemoteURI
}

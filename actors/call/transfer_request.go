package call

import (
	"context"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
)

// onTransferRequested handles a transfer that the pathway or the agent requests.
func (c *call) onTransferRequested(ctx actor.Context, m conversation.RequestTransfer) {
	if c.stage != talking {
		return
	}
	c.reportEscalation(ctx, m)
	c.agent.pausedBy |= pausedByTransfer // the conversation is paused already
	c.findTarget(ctx, TransferDestination{Destination: m.Destination}, transferOptions{mode: m.Mode, summary: m.Summary, recordedSummary: m.RedactedSummary, by: byAgent})
}

// findTarget calls Config.FindTarget outside the actor. The reply is a targetFound message.
func (c *call) findTarget(ctx actor.Context, who TransferDestination, w transferOptions) {
	find, call, may := c.cfg.FindTarget, c.call, c.script.Transfer
	c.transfers.generation++
	generation := c.transfers.generation
	if find == nil {
		c.onTargetFound(ctx, targetFound{generation: generation, options: w, err: domain.Errorf(domain.CodeDestinationNotAllowed, "transfers are not available")})
		return
	}
	mailbox.RunTask(ctx, transferStepTimeout, func(bound context.Context) any {
		m := targetFound{generation: generation, options: w}
		m.target, m.err = find(bound, &call, &may, who)
		return m
	})
}

func (c *call) onTargetFound(ctx actor.Context, m targetFound) {
	if m.generation != c.transfers.generation || c.stage != talking {
		if m.options.refer != nil {
			m.options.refer.Refuse(sipForbidden)
		}
		return
	}
	err := m.err
	if err == nil {
		err = c.startTransfer(ctx, m.target, m.options)
	}
	if err == nil {
		return
	}
	c.log.Warn("transfer could not start", slog.Any("error", err))
	if m.options.refer != nil {
		m.options.refer.Refuse(sipForbidden)
		return
	}
	c.reportFault(ctx, conversation.Fault{
		Stage: "transfer", Code: string(errorCode(err)), Message: "the caller could not be transferred", Recovered: true,
	})
	c.agent.resume(ctx, pausedByTransfer, false)
}

func errorCode(err error) domain.Code {
	if code := domain.CodeOf(err); code != "" {
		return code
	}
	return domain.CodeInternal
}

// startTransfer starts a transfer to the target way. The API shows the returned error.
func (c *call) startTransfer(ctx actor.Context, way transferleg.Target, w transferOptions) error {
	switch {
	case c.stage != talking || c.hangup.reason != "":
		return domain.Errorf(domain.CodeInvalidState, "only an answered call can be transferred").With("current_status", c.call.Status)
	case c.transfers.current != nil:
		return domain.Errorf(domain.CodeInvalidState, "the call is being transferred already").With("current_status", c.call.Status)
	case len(c.call.Transfers) >= domain.MaxTransfers:
		return domain.Errorf(domain.CodeInvalidState, "the call has been transferred %d times already", domain.MaxTransfers)
	case way.Phone != nil && w.mode != domain.TransferBridge && w.refer == nil:
		return domain.Errorf(domain.CodeInvalidState, "a phone is reached in mode bridge only")
	}
	if way.Mode != "" && w.refer == nil {
		w.mode = way.Mode
	}
	c.transfers.generation++
	c.transfers.current = &transfer{transferOptions: w, target: way, index: len(c.call.Transfers)}
	t := domain.Transfer{
		To: way.To, Name: way.Name, Mode: w.mode, Status: domain.TransferStarted, By: w.by, Summary: w.recordedSummary, StartedAt: time.Now().UTC(),
	}
	c.call.Transfers = append(append([]domain.Transfer(nil), c.call.Transfers...), t)
	if w.refer == nil {
		c.agent.pause(ctx, pausedByTransfer)
	}
	c.call.Status = domain.CallTransferring
	c.commitTransfer(ctx, func(ctx actor.Context, durable bool) { c.beginTransfer(ctx, durable) })
	return nil
}

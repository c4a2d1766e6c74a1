package dnc

import (
	"context"
	"errors"
	"log/slog"
	"time"

	register "github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

const (
	optOutTimeout    = 5 * time.Second // limit of one attempt to store an opt-out
	optOutRetryDelay = 500 * time.Millisecond
)

// background runs functions on this node until the node stops.
type background interface {
	// RunInBackground runs f in a goroutine. When the node stops, it waits until f has returned.
	RunInBackground(f func())
	// IsStopping reports whether the node is stopping.
	IsStopping() bool
}

// OptOuts adds the remote parties of calls who opt out to the default do-not-call list of their workspace.
type OptOuts struct {
	register   *register.Registry
	outbox     record.Outbox
	background background
	log        *slog.Logger
}

// NewOptOuts returns the OptOuts of a node.
func NewOptOuts(r *register.Registry, outbox record.Outbox, b background, log *slog.Logger) *OptOuts {
	return &OptOuts{register: r, outbox: outbox, background: b, log: log}
}

// OptOut adds the remote party of a call to the default do-not-call list of its workspace. channel is speech, dtmf
// or pathway. keyword is the spoken keyword or the digits. The opt-out is effective when OptOut returns. A background
// function stores it, with retries.
func (o *OptOuts) OptOut(c domain.Call, channel, keyword string) {
	phone := c.To
	if c.Direction == domain.Inbound {
		phone = c.From
	}
	number, err := dnc.PackNumber(phone)
	if err != nil {
		return // the remote party has no number that could be called
	}
	list, now := domain.DefaultDNCID(c.WorkspaceID, c.Environment), record.Now()
	o.register.AddPendingOptOut(c.WorkspaceID, list, number)
	unit := domain.UnitID(c.WorkspaceID)
	if c.AgentID != "" {
		unit = domain.UnitID(c.AgentID)
	}
	draft := outbox.NewEvent(&c.Meta, event.ContactOptedOut, c.ID, unit, event.OptedOutData{
		Phone: phone, Channel: channel, Keyword: keyword, CallID: c.ID, CampaignID: c.CampaignID, ContactID: c.ContactID, ListID: list,
	})
	draft.Attributes = event.CallAttributes(&c)
	origin := dnc.Origin{Source: domain.DNCOptOut, At: now, CallID: c.ID}
	o.background.RunInBackground(func() {
		retry := time.NewTicker(optOutRetryDelay)
		defer retry.Stop()
		for {
			storeCtx, cancel := context.WithTimeout(context.Background(), optOutTimeout)
			_, err := o.register.AddNumbers(storeCtx, c.WorkspaceID, list, []uint64{number}, origin, draft)
			cancel()
			if err == nil {
				o.register.RemovePendingOptOut(c.WorkspaceID, list, number)
				o.outbox.Committed(c.WorkspaceID)
				return
			}
			o.log.Error("storing an opt-out failed; it is tried again", slog.String("call_id", c.ID), slog.Any("error", err))
			if errors.Is(err, domain.ErrFenced) || o.background.IsStopping() {
				return
			}
			<-retry.C
		}
	})
}

package actors

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
)

const (
	optOutLimit = 5 * time.Second // of one try to store an opt-out
	optOutAgain = 500 * time.Millisecond
)

// optOut puts the far end of a call onto the default list of its workspace. It
// holds for every attempt from now on, whether or not the store answers; until
// the store has it, it is tried again. It never blocks.
func (n *Node) optOut(c domain.Call, channel, keyword string) {
	phone := c.To
	if c.Direction == domain.Inbound {
		phone = c.From
	}
	number, err := dnc.Number(phone)
	if err != nil {
		return // nobody can be rung there anyway
	}
	list, now := domain.DefaultDNCID(c.WorkspaceID, c.Environment), domain.Timestamp(time.Now())
	n.dnc.OptOut(c.WorkspaceID, list, number)
	unit := domain.Unit(c.WorkspaceID)
	if c.AgentID != "" {
		unit = domain.Unit(c.AgentID)
	}
	told := outbox.NewEvent(&c.Meta, event.ContactOptedOut, c.ID, unit, event.OptedOutData{
		Phone: phone, Channel: channel, Keyword: keyword, CallID: c.ID, CampaignID: c.CampaignID, ContactID: c.ContactID, ListID: list,
	})
	told.About = event.AboutCall(&c)
	origin := dnc.Origin{Source: domain.DNCOptOut, At: now, CallID: c.ID}
	n.RunInBackground(func() {
		wait := time.NewTicker(optOutAgain)
		defer wait.Stop()
		for {
			bound, cancel := context.WithTimeout(context.Background(), optOutLimit)
			_, err := n.dnc.Add(bound, c.WorkspaceID, list, []uint64{number}, origin, told)
			cancel()
			if err == nil {
				n.dnc.Opted(c.WorkspaceID, list, number)
				n.Committed(c.WorkspaceID)
				return
			}
			n.cfg.Log.Error("an opt-out is not stored yet", slog.String("call_id", c.ID), slog.Any("error", err))
			if errors.Is(err, domain.ErrFenced) || n.Draining() {
				return
			}
			<-wait.C
		}
	})
}

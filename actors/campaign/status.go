package campaign

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialplan"
)

// Show is told the status of a campaign after it was asked for it: it holds
// until the next message, which begins with nil. What it is told is shared and
// must not be changed.
type Show func(*domain.CampaignStatusObject)

func (a *Campaign) status(ctx actor.Context) {
	if ctx.Sender() == nil {
		return
	}
	switch {
	case a.cVersion == 0 && a.phase == loading:
		a.askers = append(a.askers, ctx.Sender())
	case a.cVersion == 0: // gone before it was read
		ctx.Respond(domain.Errorf(domain.CodeUnavailable, "the campaign is over or was deleted").With("retry_after", 1))
	default:
		ctx.Respond(a.object(time.Now()))
	}
}

// object is the status object of now.
func (a *Campaign) object(now time.Time) domain.CampaignStatusObject {
	s := domain.StatusObject(&a.campaign, &a.progress)
	if a.campaign.Status == domain.CampaignRunning || a.campaign.Status == domain.CampaignScheduled {
		s.Waiting = dialplan.Next(a.view(now), now).Waiting
	}
	s.Timing.EstimatedCompletion = a.estimate(now)
	return s
}

// tellStatus answers, and shows what holds after it.
func (a *Campaign) tellStatus(ctx actor.Context) {
	a.status(ctx)
	a.advance(ctx)
	a.show()
}

// show tells what holds until the next message.
func (a *Campaign) show() {
	if a.cfg.Show == nil || a.phase != ready {
		return
	}
	s := a.object(time.Now())
	a.cfg.Show(&s)
	a.shown = true
}

func (a *Campaign) unshow() {
	if a.shown {
		a.cfg.Show(nil)
		a.shown = false
	}
}

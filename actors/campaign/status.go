package campaign

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
)

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
		s.Waiting = dialer.Next(a.view(now), now).Waiting
	}
	s.Timing.EstimatedCompletion = a.estimate(now)
	return s
}

package campaign

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
)

// estimateAge is how long an estimate is reused: computing one takes about a millisecond.
const estimateAge = 5 * time.Second

// statusPublisher knows when campaign.progress is due, and keeps the last estimate of the campaign's end.
type statusPublisher struct {
	changed bool // since the last campaign.progress

	computedAt time.Time
	status     domain.CampaignStatus // of the estimate
	completion *time.Time
}

// adopt starts from the counters of the store.
func (p *statusPublisher) adopt(progress *domain.Progress) {
	p.changed = p.changed || int(progress.Percent()) != progress.ReportedPercent
}

// due says whether campaign.progress is due, or when it will be; zero: after the next change.
func (p *statusPublisher) due(progress *domain.Progress, now time.Time) (bool, time.Time) {
	return dialer.CheckProgressReport(progress, p.changed, now)
}

// committed notes a durable commit that changed contacts, or carried campaign.progress.
func (p *statusPublisher) committed(changed, published bool) {
	p.changed = (p.changed || changed) && !published
}

// estimate is when all contacts will have been called; nil: not known. outlook is asked only if the last estimate is
// too old or of another status.
func (p *statusPublisher) estimate(status domain.CampaignStatus, now time.Time, outlook func(time.Time) dialer.EstimateInput) *time.Time {
	if status != p.status || now.Sub(p.computedAt) >= estimateAge {
		p.computedAt, p.status, p.completion = now, status, dialer.Estimate(outlook(now), now)
	}
	return p.completion
}

func (a *Campaign) onStatus(ctx actor.Context) {
	if ctx.Sender() == nil {
		return
	}
	switch {
	case a.rows.campaignVersion == 0 && a.phase == loading:
		a.requests.status = append(a.requests.status, ctx.Sender())
	case a.rows.campaignVersion == 0: // gone before it was read
		ctx.Respond(domain.Errorf(domain.CodeUnavailable, "the campaign is over or was deleted").With("retry_after", 1))
	default:
		ctx.Respond(a.statusObject(time.Now()))
	}
}

// statusObject is the status object of now.
func (a *Campaign) statusObject(now time.Time) domain.CampaignStatusObject {
	s := domain.StatusObject(&a.rows.campaign, &a.rows.progress)
	if a.rows.running() || a.rows.campaign.Status == domain.CampaignScheduled {
		s.Waiting = dialer.Next(a.view(now), now).Waiting
	}
	s.Timing.EstimatedCompletion = a.publisher.estimate(a.rows.campaign.Status, now, a.outlook)
	return s
}

// outlook is what an estimate depends on.
func (a *Campaign) outlook(now time.Time) dialer.EstimateInput {
	v := a.view(now)
	live := time.Duration(0)
	for _, t := range a.open.attempts {
		live += now.Sub(t.row.OpenedAt)
	}
	o := a.contacts.observed.EstimateInput(live)
	o.Retries = a.contacts.cohorts.All()
	o.Status, o.ScheduleStart, o.ScheduleEnd, o.NotBefore = v.Status, v.ScheduleStart, v.ScheduleEnd, v.TrunkUntil
	o.Pacing, o.Retry = v.Pacing, a.rows.campaign.Retried()
	o.Pending = max(0, a.rows.progress.Remaining()-a.rows.progress.Waits)
	byZone := a.open.byZone()
	o.OpenAttempts = byZone[nil]
	o.Groups = a.contacts.crowds(byZone)
	return o
}

package campaign

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
)

// estimateAge is how long the estimated end of the campaign is reused. Computing a new one takes about a millisecond.
const estimateAge = 5 * time.Second

// statusPublisher decides when campaign.progress is due and caches the estimated end of the campaign.
type statusPublisher struct {
	changed bool // something has changed since the last campaign.progress

	computedAt time.Time
	status     domain.CampaignStatus // status of the campaign at the time of the estimate
	completion *time.Time
}

// adopt initializes the publisher from the stored progress. If the percentage differs from the reported one, something has
// changed.
func (p *statusPublisher) adopt(progress *domain.Progress) {
	p.changed = p.changed || int(progress.Percent()) != progress.ReportedPercent
}

// due reports whether campaign.progress is due now. If not, it returns the time at which it will be due, or zero if only the
// next change makes it due.
func (p *statusPublisher) due(progress *domain.Progress, now time.Time) (bool, time.Time) {
	return dialer.CheckProgressReport(progress, p.changed, now)
}

// committed records a commit. changed says that it changed contacts, and published that it contained campaign.progress.
func (p *statusPublisher) committed(changed, published bool) {
	p.changed = (p.changed || changed) && !published
}

// estimate returns the time by which all contacts will have been called, or nil if it is unknown. It calls outlook only if
// the cached estimate is too old or was made for another status.
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
	case a.rows.campaignVersion == 0: // deleted before it was read
		ctx.Respond(domain.Errorf(domain.CodeUnavailable, "the campaign has ended or was deleted").With("retry_after", 1))
	default:
		ctx.Respond(a.statusObject(time.Now()))
	}
}

// statusObject returns the campaign's status as the API shows it.
func (a *Campaign) statusObject(now time.Time) domain.CampaignStatusObject {
	s := domain.NewStatusObject(&a.rows.campaign, &a.rows.progress)
	if a.rows.isRunning() || a.rows.campaign.Status == domain.CampaignScheduled {
		s.Waiting = dialer.Next(a.view(now), now).Waiting
	}
	s.Timing.EstimatedCompletion = a.publisher.estimate(a.rows.campaign.Status, now, a.outlook)
	return s
}

// outlook returns the input for estimating the campaign's end.
func (a *Campaign) outlook(now time.Time) dialer.EstimateInput {
	v := a.view(now)
	live := time.Duration(0)
	for _, t := range a.open.attempts {
		live += now.Sub(t.row.OpenedAt)
	}
	o := a.contacts.observed.EstimateInput(live)
	o.Retries = a.contacts.cohorts.All()
	o.Status, o.ScheduleStart, o.ScheduleEnd, o.NotBefore = v.Status, v.ScheduleStart, v.ScheduleEnd, v.TrunkUntil
	o.Pacing, o.Retry = v.Pacing, a.rows.campaign.RealTimeRetry()
	o.Pending = max(0, a.rows.progress.Remaining()-a.rows.progress.RetryWaiting)
	byZone := a.open.countByZone()
	o.OpenAttempts = byZone[nil]
	o.Groups = a.contacts.contactGroups(byZone)
	return o
}

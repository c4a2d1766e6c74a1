package campaign

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialplan"
)

// guessFor is how long an estimate is told again: to work one out takes about
// a millisecond.
const guessFor = 5 * time.Second

// guess is an estimate and when it was made.
type guess struct {
	made   time.Time
	status domain.CampaignStatus
	at     *time.Time
}

// estimate is when everybody will have been rung; nil where nobody can tell.
func (a *Campaign) estimate(now time.Time) *time.Time {
	if a.campaign.Status != a.guess.status || now.Sub(a.guess.made) >= guessFor {
		a.guess = guess{made: now, status: a.campaign.Status, at: dialplan.Estimate(a.outlook(now), now)}
	}
	return a.guess.at
}

func (a *Campaign) outlook(now time.Time) dialplan.Outlook {
	v := a.view(now)
	o := a.people.seen.Outlook()
	o.Status, o.Begins, o.Ends, o.From = v.Status, v.Begins, v.Ends, v.TrunkUntil
	o.Pacing, o.Retry = v.Pacing, a.campaign.Retry
	o.Pending = max(0, a.progress.Remaining()-a.progress.Waits)
	for _, t := range a.open {
		for len(o.Live) <= t.row.Number {
			o.Live = append(o.Live, 0)
		}
		o.Live[t.row.Number]++
	}
	o.Crowds = a.people.crowds()
	return o
}

// crowds are the contacts by their hours, as far as they have been looked at.
func (p *people) crowds() []dialplan.Crowd {
	var all []dialplan.Crowd
	for _, z := range p.zones {
		if p.rules.Local() && (p.ends || !z.opens.IsZero()) { // else they are skipped
			all = append(all, dialplan.Crowd{Window: z.window, Waiting: len(z.wait), Weight: z.seen})
		}
	}
	if len(all) == 0 {
		return []dialplan.Crowd{{Window: p.rules.Global(), Weight: 1}}
	}
	return all
}

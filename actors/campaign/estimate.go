package campaign

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
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
		a.guess = guess{made: now, status: a.campaign.Status, at: dialer.Estimate(a.outlook(now), now)}
	}
	return a.guess.at
}

func (a *Campaign) outlook(now time.Time) dialer.Outlook {
	v := a.view(now)
	live := time.Duration(0)
	for _, t := range a.open {
		live += now.Sub(t.row.OpenedAt)
	}
	o := a.people.seen.Outlook(live)
	o.Waits = a.people.cohorts.All()
	o.Status, o.Begins, o.Ends, o.From = v.Status, v.Begins, v.Ends, v.TrunkUntil
	o.Pacing, o.Retry = v.Pacing, a.campaign.Retried()
	o.Pending = max(0, a.progress.Remaining()-a.progress.Waits)
	byZone := make(map[*zone][]int)
	for _, t := range a.open {
		n := byZone[t.zone]
		for len(n) <= t.row.Number {
			n = append(n, 0)
		}
		n[t.row.Number]++
		byZone[t.zone] = n
	}
	o.Live = byZone[nil]
	o.Crowds = a.people.crowds(byZone)
	return o
}

// crowds are the contacts by their hours, as far as they have been looked at.
func (p *people) crowds(live map[*zone][]int) []dialer.Crowd {
	var all []dialer.Crowd
	for _, z := range p.zones {
		if p.ends || !z.opens.IsZero() { // else they are skipped
			all = append(all, dialer.Crowd{
				Window: z.window, Waiting: len(z.wait), Weight: z.seen, Waits: z.cohorts.All(), Live: live[z],
			})
		}
	}
	if len(all) == 0 {
		return []dialer.Crowd{{Window: p.rules.Global(), Weight: 1}}
	}
	return all
}

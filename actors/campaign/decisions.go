package campaign

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	lists "github.com/callboard/callboard/domain/dnc"
)

// heldMost bounds the contacts of whom it is remembered what holds them.
const heldMost = 10_000

// zonesNamed bounds what the decision about all who are left says.
const zonesNamed = 32

// The rules as the log of decisions names them.
const (
	ruleSchedule    = "schedule"
	ruleHours       = "calling_hours"
	ruleDNC         = "dnc"
	ruleFrequency   = "frequency"
	ruleDestination = "destination"
	ruleLine        = "line" // the number talks to somebody else
	ruleCancelled   = "cancelled"
	ruleRemoved     = "removed"
	ruleUnknown     = "unknown"
)

// holds notes that a rule holds a contact: again and again is one note.
func (a *Campaign) holds(ordinal int, r domain.Ruling, now time.Time) {
	now = now.UTC()
	notes := a.heldBy[ordinal]
	for i := range notes {
		if notes[i].Rule == r.Rule {
			notes[i].Held++
			notes[i].Last, notes[i].Count, notes[i].Limit = &now, r.Count, r.Limit
			return
		}
	}
	if notes == nil && len(a.heldBy) >= heldMost {
		if !a.heldFull {
			a.heldFull = true
			a.log.Warn("more contacts are held at once than the log of decisions can say why", slog.Int("remembered", heldMost))
		}
		return
	}
	r.Held, r.First, r.Last = 1, &now, &now
	a.heldBy[ordinal] = append(notes, r)
}

// rulings takes what held a contact so far.
func (a *Campaign) rulings(ordinal int) []domain.Ruling {
	notes := a.heldBy[ordinal]
	delete(a.heldBy, ordinal)
	return notes
}

// dialled is why a contact is rung.
func (a *Campaign) dialled(t *try, now time.Time) domain.Decision {
	c, z := &a.campaign, t.who.zone
	closed, held := a.closedTo(&t.who, now)
	rules := make([]domain.Ruling, 0, 6+len(a.heldBy[t.who.ordinal]))
	if held {
		rules = append(rules, closed)
	}
	rules = append(rules, a.rulings(t.who.ordinal)...)
	rules = append(rules, domain.Ruling{Rule: ruleSchedule, Passed: true, Zone: c.Schedule.Timezone, Local: a.clock(c.Schedule.Timezone, now)})
	if h := c.Compliance.CallingHours; h.Start != h.End {
		rules = append(rules, a.hoursOf(z, now, true))
	}
	scrub := a.scrub()
	rules = append(rules, domain.Ruling{Rule: ruleDestination, Passed: true, Country: t.who.country}, domain.Ruling{Rule: ruleDNC, Passed: true, Lists: scrub.Lists()})
	if g := &t.grant; g.Cap > 0 {
		rules = append(rules, domain.Ruling{Rule: ruleFrequency, Passed: true, Count: g.Count, Limit: g.Cap})
	}
	return domain.Decision{
		At: now, Ordinal: t.who.ordinal, Phone: t.who.contact.Phone, Verdict: domain.DecidedDial, Attempt: t.row.Number,
		CallID: t.id, Rules: rules,
	}
}

// leftOut is why a contact is left out.
func (a *Campaign) leftOut(s skip, now time.Time) domain.Decision {
	return domain.Decision{
		At: now, Ordinal: s.ordinal, Phone: s.phone, Verdict: domain.DecidedSkip,
		Attempt: int(a.people.attempts[s.ordinal]), Rules: append(a.rulings(s.ordinal), s.why),
	}
}

// removed is why a contact is taken out: somebody wanted it.
func (a *Campaign) removed(r revision, now time.Time) domain.Decision {
	phone := r.phone
	if phone == "" {
		phone = a.phoneOf(r.ordinal)
	}
	return domain.Decision{
		At: now, Ordinal: r.ordinal, Phone: phone, Verdict: domain.DecidedCancel, Attempt: int(a.people.attempts[r.ordinal]),
		Rules: append(a.rulings(r.ordinal), domain.Ruling{Rule: ruleRemoved}),
	}
}

// leftBehind is why all those are not rung any more who wait at the end: one
// decision, however many they are. The zones that are closed just now are named,
// as far as there are few.
func (a *Campaign) leftBehind(verdict string, n int, now time.Time) domain.Decision {
	c := &a.campaign
	d := domain.Decision{At: now, Verdict: verdict, Contacts: n, Rules: []domain.Ruling{{Rule: ruleCancelled}}}
	if verdict == domain.DecidedExpire {
		d.Rules[0] = domain.Ruling{Rule: ruleSchedule, Zone: c.Schedule.Timezone, Local: a.clock(c.Schedule.Timezone, now)}
		if c.Schedule.End != nil {
			end := c.Schedule.End.UTC()
			d.Rules[0].Last = &end
		}
	}
	for _, key := range slices.Sorted(maps.Keys(a.people.zones)) {
		if z := a.people.zones[key]; !z.empty() && !z.window.Allows(now) && len(d.Rules) < zonesNamed {
			d.Rules = append(d.Rules, a.hoursOf(z, now, false))
		}
	}
	return d
}

func (a *Campaign) scrub() lists.Scrub { return lists.ScrubOf(&a.campaign) }

// hoursOf are the calling hours of a zone.
func (a *Campaign) hoursOf(z *zone, now time.Time, passed bool) domain.Ruling {
	h := a.campaign.Compliance.CallingHours
	r := domain.Ruling{Rule: ruleHours, Passed: passed, Window: h.Start + "-" + h.End, Zone: h.Timezone}
	if a.people.rules.Local() {
		r.Zone = z.key
	}
	first, _, _ := strings.Cut(r.Zone, " ")
	r.Local = a.clock(first, now)
	return r
}

// shown is a time of day, worked out once in a minute.
type shown struct {
	minute int64
	text   string
}

// clock is the time of day in a zone, by the campaign's clock.
func (a *Campaign) clock(zone string, now time.Time) string {
	at := a.campaign.Clock().Shown(now)
	minute := at.Unix() / 60
	if s, ok := a.times[zone]; ok && s.minute == minute {
		return s.text
	}
	l := a.clocks.Load(zone)
	if l == nil {
		return ""
	}
	s := shown{minute, at.In(l).Format("Mon 15:04")}
	a.times[zone] = s
	return s.text
}

// why words the rule that leaves a contact out, where nothing more is known.
func (a *Campaign) why(ordinal int, by Skip) domain.Ruling {
	switch by {
	case SkipDNC:
		r := domain.Ruling{Rule: ruleDNC}
		if c := a.people.chunks[ordinal/domain.ChunkSize]; c != nil {
			if hit := c.hits[ordinal%domain.ChunkSize]; hit != nil {
				r.Lists, r.Source = []string{hit.ListID}, hit.Origin.Source
			}
		}
		return r
	case SkipHours:
		h := a.campaign.Compliance.CallingHours
		r := domain.Ruling{Rule: ruleHours, Window: h.Start + "-" + h.End, Zone: h.Timezone}
		if c := a.people.chunks[ordinal/domain.ChunkSize]; c != nil && a.people.rules.Local() {
			r.Zone = c.zones[ordinal%domain.ChunkSize]
		}
		return r
	case SkipInvalid:
	}
	r := domain.Ruling{Rule: ruleDestination}
	if c := a.people.chunks[ordinal/domain.ChunkSize]; c != nil {
		r.Country = c.countries[ordinal%domain.ChunkSize]
	}
	return r
}

// phoneOf is the number of a contact whose body is at hand.
func (a *Campaign) phoneOf(ordinal int) string {
	c := a.people.chunks[ordinal/domain.ChunkSize]
	if i := ordinal % domain.ChunkSize; c != nil && i < len(c.contacts) {
		return c.contacts[i].Phone
	}
	return ""
}

// deniedBy words what the owner of the numbers said.
func deniedBy(m numbers.Denied) domain.Ruling {
	switch m.By {
	case numbers.DNC:
		r := domain.Ruling{Rule: ruleDNC}
		if m.Hit != nil {
			r.Lists, r.Source = []string{m.Hit.ListID}, m.Hit.Origin.Source
		}
		return r
	case numbers.Frequency:
		return domain.Ruling{Rule: ruleFrequency, Count: m.Count, Limit: m.Cap}
	case numbers.Busy:
		return domain.Ruling{Rule: ruleLine}
	case numbers.Unknown:
	}
	return domain.Ruling{Rule: ruleUnknown}
}

// logging adds the decisions of a batch to the campaign's log, each row bound
// to the one before.
func (a *Campaign) logging(b *batch) {
	for from := 0; from < len(b.decisions); from += domain.DecisionsPerPage {
		page := &domain.DecisionPage{
			WorkspaceID: a.cfg.Workspace, CampaignID: a.campaign.ID, Seq: b.progress.DecisionPages + 1, Prev: b.progress.DecisionHead,
			Decisions: b.decisions[from:min(from+domain.DecisionsPerPage, len(b.decisions))],
		}
		page.Hash = page.Sum(a.cfg.Key)
		b.progress.DecisionPages, b.progress.DecisionHead = page.Seq, page.Hash
		b.put(page)
	}
}

package campaign

import (
	"log/slog"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// maxHeld is the maximum number of waiting contacts for which the rules that delay them are recorded.
const maxHeld = 10_000

// Names of the rules that the decision log uses.
const (
	ruleSchedule    = "schedule"
	ruleHours       = "calling_hours"
	ruleDNC         = "dnc"
	ruleFrequency   = "frequency"
	ruleDestination = "destination"
	ruleLine        = "line" // the number is in another call
	ruleCancelled   = "cancelled"
	ruleRemoved     = "removed"
	ruleUnknown     = "unknown"
)

// decisionLog records which rules delay each waiting contact, until the decision about the contact is committed. It also
// describes the rules for the log.
type decisionLog struct {
	rows *storedRows
	log  *slog.Logger

	held  map[int][]domain.Ruling // rules that delay a contact, by its position in the contact list
	full  bool                    // held has reached maxHeld
	zones *calendar.Zones
	times map[string]localTime // formatted times by zone
}

func newDecisionLog(rows *storedRows, log *slog.Logger) *decisionLog {
	return &decisionLog{rows: rows, log: log, held: make(map[int][]domain.Ruling), zones: calendar.NewZones(), times: make(map[string]localTime)}
}

// addHold records that a rule delays a contact. If the same rule delays the contact again, only a count increases.
func (d *decisionLog) addHold(ordinal int, r domain.Ruling, now time.Time) {
	now = now.UTC()
	notes := d.held[ordinal]
	for i := range notes {
		if notes[i].Rule == r.Rule {
			notes[i].Held++
			notes[i].Last, notes[i].Count, notes[i].Limit = &now, r.Count, r.Limit
			return
		}
	}
	if notes == nil && len(d.held) >= maxHeld {
		if !d.full {
			d.full = true
			d.log.Warn("too many contacts are held: the decision log omits the rules of some", slog.Int("remembered", maxHeld))
		}
		return
	}
	r.Held, r.First, r.Last = 1, &now, &now
	d.held[ordinal] = append(notes, r)
}

// takeHolds removes and returns the recorded rules that delayed a contact.
func (d *decisionLog) takeHolds(ordinal int) []domain.Ruling {
	notes := d.held[ordinal]
	delete(d.held, ordinal)
	return notes
}

// hoursRuling describes the calling hours of a zone. If local is set, each contact has the hours of its own time zone.
func (d *decisionLog) hoursRuling(z *zone, local bool, now time.Time, passed bool) domain.Ruling {
	h := d.rows.campaign.Compliance.CallingHours
	r := domain.Ruling{Rule: ruleHours, Passed: passed, Window: h.Start + "-" + h.End, Zone: h.Timezone}
	if local {
		r.Zone = z.key
	}
	first, _, _ := strings.Cut(r.Zone, " ")
	r.Local = d.timeIn(first, now)
	return r
}

// closedRuling describes the closed calling hours during which a contact has waited. Before a first attempt it counts all
// closures since the campaign started. Before a retry it describes the last closure, if the retry was due by the end of it.
func (d *decisionLog) closedRuling(contact *candidate, local bool, now time.Time) (domain.Ruling, bool) {
	start, z := d.rows.campaign.StartedAt, contact.zone
	if start == nil {
		return domain.Ruling{}, false
	}
	z.closed.update(&z.window, *start, now)
	c := &z.closed
	from, held := c.first, c.count
	if contact.retry {
		if c.until.Before(contact.since) {
			return domain.Ruling{}, false
		}
		from, held = c.from, min(1, c.count)
	}
	if held == 0 {
		return domain.Ruling{}, false
	}
	r := d.hoursRuling(z, local, from, false)
	first, last := from.UTC(), c.until.UTC()
	r.Held, r.First, r.Last = held, &first, &last
	return r, true
}

// localTime is a formatted time of day, cached for one minute.
type localTime struct {
	minute int64
	text   string
}

// timeIn returns the time of day in a time zone according to the campaign's clock, which may run faster than real time.
func (d *decisionLog) timeIn(zone string, now time.Time) string {
	at := d.rows.campaign.Clock().CampaignTime(now)
	minute := at.Unix() / 60
	if s, ok := d.times[zone]; ok && s.minute == minute {
		return s.text
	}
	l := d.zones.Load(zone)
	if l == nil {
		return ""
	}
	s := localTime{minute, at.In(l).Format("Mon 15:04")}
	d.times[zone] = s
	return s.text
}

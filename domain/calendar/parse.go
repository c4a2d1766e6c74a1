package calendar

import (
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

const maxExcluded = 1000

var weekdays = map[string]time.Weekday{ //nolint:gochecknoglobals // a table
	"sunday": time.Sunday, "monday": time.Monday, "tuesday": time.Tuesday, "wednesday": time.Wednesday,
	"thursday": time.Thursday, "friday": time.Friday, "saturday": time.Saturday,
}

func parseRules(s domain.Schedule, h domain.CallingHours, z *Zones, p *domain.Problems) Rules {
	var r Rules
	r.schedule = parseSchedule(s, z, p)
	if h.Start == "" && h.End == "" && h.Timezone == "" {
		return r
	}
	const at = "compliance.calling_hours."
	var ok bool
	if r.from, ok = parseClock(h.Start); !ok || r.from == day {
		p.Add(at+"start", domain.CodeValidation, "must be a time HH:MM from 00:00 to 23:59")
	}
	if r.to, ok = parseClock(h.End); !ok {
		p.Add(at+"end", domain.CodeValidation, "must be a time HH:MM from 00:00 to 24:00")
	} else if r.to == r.from {
		p.Add(at+"end", domain.CodeValidation, "must differ from start; the whole day is 00:00 to 24:00")
	}
	if r.to == day && r.from == 0 {
		r.to = 0 // the whole day is no restriction
	}
	if r.local = h.Timezone == "local"; r.local {
		return r
	}
	if r.zone = z.Load(h.Timezone); r.zone == nil {
		p.Add(at+"timezone", domain.CodeValidation, "must be a time zone like Europe/Berlin, or local")
	}
	return r
}

func parseSchedule(s domain.Schedule, z *Zones, p *domain.Problems) Window {
	var w Window
	if s.Start != nil {
		w.start = *s.Start
	}
	if s.End != nil {
		w.end = *s.End
		if s.Start != nil && !s.End.After(*s.Start) {
			p.Add("schedule.end", domain.CodeValidation, "must be after schedule.start")
		}
	}
	name := s.Timezone
	if name == "" {
		name = "UTC"
	}
	if w.zone = z.Load(name); w.zone == nil {
		p.Add("schedule.timezone", domain.CodeValidation, "must be a time zone like Europe/Berlin")
	}
	for _, d := range s.Days {
		n, ok := weekdays[d]
		if !ok {
			p.Add("schedule.days", domain.CodeValidation, "must be lowercase names of weekdays, monday to sunday")
			break
		}
		w.days[n], w.restrictsDays = true, true
	}
	if len(s.ExcludedDates) > maxExcluded {
		p.Add("schedule.excluded_dates", domain.CodeValidation, "must be at most %d dates", maxExcluded)
		return w
	}
	for _, text := range s.ExcludedDates {
		t, err := time.Parse(time.DateOnly, text)
		if err != nil {
			p.Add("schedule.excluded_dates", domain.CodeValidation, "must be dates YYYY-MM-DD")
			break
		}
		if w.excluded == nil {
			w.excluded = make(map[date]bool)
		}
		y, m, d := t.Date()
		w.excluded[date{y, m, d}] = true
	}
	return w
}

// parseClock parses HH:MM from 00:00 to 24:00 as seconds of the day.
func parseClock(text string) (seconds int, ok bool) {
	if len(text) != 5 || text[2] != ':' {
		return 0, false
	}
	for _, i := range []int{0, 1, 3, 4} {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
	}
	h := int(text[0]-'0')*10 + int(text[1]-'0')
	m := int(text[3]-'0')*10 + int(text[4]-'0')
	if m > 59 || h > 24 || h == 24 && m > 0 {
		return 0, false
	}
	return h*3600 + m*60, true
}

// loadZone loads a time zone. "Local" and "" are rejected.
func loadZone(name string) *time.Location {
	if name == "" || name == "Local" || len(name) > 64 || strings.HasPrefix(name, "Etc/Unknown") {
		return nil
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return l
}

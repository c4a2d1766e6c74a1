package dashboard

import (
	"encoding/json"
	"strings"
	"time"
)

// zonedTime is a time in a resource of the API, in the time zone of the visitor.
type zonedTime struct {
	time.Time

	text string // as in the API
}

// String returns the time as the API has it.
func (m zonedTime) String() string { return m.text }

// MarshalJSON returns the time as the API has it.
func (m zonedTime) MarshalJSON() ([]byte, error) { return json.Marshal(m.text) }

// setTimeZones replaces the times in a resource by moments in a time zone. Times are the members whose names end in "at" or
// are until or hour.
func setTimeZones(v any, zone *time.Location) {
	switch v := v.(type) {
	case object:
		for name, one := range v {
			s, ok := one.(string)
			if !ok {
				setTimeZones(one, zone)
				continue
			}
			if name != "at" && !strings.HasSuffix(name, "_at") && name != "until" && name != "hour" && name != "estimated_completion" {
				continue
			}
			if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
				v[name] = zonedTime{t.In(zone), s}
			}
		}
	case []any:
		for _, one := range v {
			setTimeZones(one, zone)
		}
	}
}

// displayTime is a time as a page shows it: relative if it is recent, with the full time in its title.
type displayTime struct{ ISO, Short, Full string }

// displayTimeOf returns how pages show a zonedTime, nil if it is none.
func displayTimeOf(now time.Time) func(v any) *displayTime {
	return func(v any) *displayTime {
		m, ok := v.(zonedTime)
		if !ok {
			s, _ := v.(string)
			t, err := time.Parse(time.RFC3339Nano, s)
			if err != nil {
				return nil
			}
			m = zonedTime{t.UTC(), s}
		}
		return &displayTime{
			ISO: m.UTC().Format(time.RFC3339), Short: shortTime(m.Time, now),
			Full: m.Format("Monday 2 January 2006, 15:04:05 MST") + " (" + m.UTC().Format("2006-01-02 15:04:05") + " UTC)",
		}
	}
}

// shortTime returns a time as people say it: how long ago within a day, else the date.
func shortTime(t, now time.Time) string {
	ago := now.Sub(t)
	switch {
	case ago < 0 && ago > -24*time.Hour:
		return "in " + roughDuration(-ago)
	case ago >= 0 && ago < time.Minute:
		return "just now"
	case ago >= 0 && ago < 24*time.Hour:
		return roughDuration(ago) + " ago"
	case t.Year() == now.In(t.Location()).Year():
		return t.Format("2 Jan, 15:04")
	}
	return t.Format("2 Jan 2006, 15:04")
}

func roughDuration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return number(float64(int(d.Seconds()))) + " s"
	case d < time.Hour:
		return number(float64(int(d.Minutes()))) + " min"
	}
	return number(float64(int(d.Hours()))) + " h"
}

package booking

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// ParseLocalTime parses a time in RFC 3339, or a local time in zone without a UTC offset. It returns an error for a local
// time that occurs twice or never because clocks are changed, and for a time with seconds. The error names no request
// field.
func ParseLocalTime(text string, zone *time.Location) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return requireWholeMinute(t.UTC())
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		wall, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		switch all := WallClockInstants(wall, zone); len(all) {
		case 0:
			return time.Time{}, domain.Errorf(domain.CodeValidation, "does not exist in %s: clocks are put forward then", zone)
		case 1:
			return requireWholeMinute(all[0])
		default:
			return time.Time{}, domain.Errorf(domain.CodeValidation, "comes twice in %s: clocks are put back then; send it with an offset", zone)
		}
	}
	return time.Time{}, domain.Errorf(domain.CodeValidation, "must be a time like 2026-04-01T09:30:00+02:00, or 2026-04-01T09:30 in the provider's zone")
}

func requireWholeMinute(t time.Time) (time.Time, error) {
	if t.Second() != 0 || t.Nanosecond() != 0 {
		return t, domain.Errorf(domain.CodeValidation, "must be on the minute")
	}
	return t, nil
}

// WallClockInstants returns the instants at which clocks in a zone show a local time, earliest first. There is one
// instant, except when clocks are changed: then there may be none or two.
func WallClockInstants(wall time.Time, zone *time.Location) []time.Time {
	asUTC := wall.Unix()
	var out []time.Time
	for _, near := range []time.Duration{-26 * time.Hour, 26 * time.Hour} { // before and after any change of that day
		_, offset := time.Unix(asUTC, 0).Add(near).In(zone).Zone()
		t := time.Unix(asUTC-int64(offset), 0).UTC()
		if _, has := t.In(zone).Zone(); has == offset && (len(out) == 0 || !out[0].Equal(t)) {
			out = append(out, t)
		}
	}
	return out
}

// ParseRangeBound parses the start or the end of a time range: a time as ParseLocalTime accepts it, or a day. A day means
// its first midnight or, if clocks skip midnight, the instant of the change.
func ParseRangeBound(text string, zone *time.Location) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		for wall := day; wall.Before(day.Add(24 * time.Hour)); wall = wall.Add(30 * time.Minute) {
			if all := WallClockInstants(wall, zone); len(all) > 0 {
				return all[0], nil
			}
		}
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.UTC(), nil
	}
	t, err := ParseLocalTime(text, zone)
	if err != nil {
		return t, domain.Errorf(domain.CodeValidation, "must be a time like 2026-04-01T09:30:00+02:00 or a day like 2026-04-01")
	}
	return t, nil
}

package calendar

import (
	"time"
)

// DayBounds returns the earliest start and the latest end of the current calendar day in several zones. Without zones it
// uses the zones of the earth with the largest and the smallest UTC offset.
func DayBounds(zones []*time.Location, now time.Time) (since, until time.Time) {
	if len(zones) == 0 {
		zones = []*time.Location{time.FixedZone("", 14*3600), time.FixedZone("", -12*3600)}
	}
	for i, z := range zones {
		y, m, d := now.In(z).Date()
		begins, ends := time.Date(y, m, d, 0, 0, 0, 0, z), time.Date(y, m, d+1, 0, 0, 0, 0, z)
		if i == 0 || begins.Before(since) {
			since = begins
		}
		if i == 0 || ends.After(until) {
			until = ends
		}
	}
	return since, until
}

// DayBounds returns the earliest start and the latest end of the current day in the possible zones of a phone number.
func (s *SharedZones) DayBounds(e164 string, now time.Time) (since, until time.Time) {
	return DayBounds(s.numberZones(e164), now)
}

// numberZones returns the possible time zones of a phone number, or nil for an invalid number.
func (s *SharedZones) numberZones(e164 string) []*time.Location {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.zones.NumberFromE164(e164)
	if err != nil {
		return nil
	}
	_, zones := s.zones.NumberZones(n)
	return zones
}

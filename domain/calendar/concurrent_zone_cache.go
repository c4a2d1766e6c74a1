package calendar

import (
	"sync"

	"github.com/callboard/callboard/domain"
)

// SharedZones wraps Zones for concurrent use.
type SharedZones struct {
	mu    sync.Mutex
	zones *Zones
}

// NewSharedZones returns an empty cache.
func NewSharedZones() *SharedZones { return &SharedZones{zones: NewZones()} }

// HoursWindow returns the times at which calling hours allow calls to a phone number.
func (s *SharedZones) HoursWindow(hours domain.CallingHours, number domain.Number) (Window, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rules, err := New(domain.Schedule{Timezone: "UTC"}, hours, s.zones)
	if err != nil {
		return Window{}, err
	}
	_, zones := s.zones.NumberZones(number)
	return rules.WindowForZones(zones), nil
}

// ParseNumber parses a phone number as domain.ParseNumber does, and caches the data of its exchange.
func (s *SharedZones) ParseNumber(text, defaultCountry string) (domain.Number, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.zones.numbers.ParseNumber(text, defaultCountry)
}

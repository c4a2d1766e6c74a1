package calendar

import (
	"sync"

	"github.com/callboard/callboard/domain"
)

// SharedZones is Zones for many goroutines.
type SharedZones struct {
	mu    sync.Mutex
	zones *Zones
}

// NewSharedZones is an empty cache.
func NewSharedZones() *SharedZones { return &SharedZones{zones: NewZones()} }

// HoursWindow is when a number may be called by calling hours alone.
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

// ParseNumber is domain.ParseNumber, which takes a walk through the tables of all
// countries only once for an exchange.
func (s *SharedZones) ParseNumber(text, defaultCountry string) (domain.Number, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.zones.numbers.ParseNumber(text, defaultCountry)
}

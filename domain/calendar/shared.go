package calendar

import (
	"sync"

	"github.com/callboard/callboard/domain"
)

// Shared is Zones for many goroutines.
type Shared struct {
	mu    sync.Mutex
	zones *Zones
}

// NewShared is an empty cache.
func NewShared() *Shared { return &Shared{zones: NewZones()} }

// Window is when a number may be called by calling hours alone.
func (s *Shared) Window(hours domain.CallingHours, number domain.Number) (Window, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rules, err := New(domain.Schedule{Timezone: "UTC"}, hours, s.zones)
	if err != nil {
		return Window{}, err
	}
	_, zones := s.zones.OfNumber(number)
	return rules.For(zones), nil
}

// Number is domain.ReadNumber, which takes a walk through the tables of all
// countries only once for an exchange.
func (s *Shared) Number(text, defaultCountry string) (domain.Number, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.zones.numbers.Read(text, defaultCountry)
}

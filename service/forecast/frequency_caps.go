package forecast

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/simulation"
)

// frequencyCaps tells a simulation how often the numbers of its contacts have been
// rung, and by which zones their days go.
type frequencyCaps struct {
	store commit.Store
	of    *domain.Campaign
	plan  *simulation.Plan
	zones *calendar.Zones
	days  map[string]int32 // by the zones' key: index of the plan's Days
}

// addCallHistory completes a person, where there is a cap.
func (f *frequencyCaps) addCallHistory(ctx context.Context, phone string, who *simulation.Person) error {
	if f.plan.Cap <= 0 {
		return nil
	}
	var key string
	var zones []*time.Location
	if n, err := f.zones.Number(phone); err == nil {
		key, zones = f.zones.OfNumber(n)
	}
	at, known := f.days[key]
	if !known {
		at = int32(len(f.plan.Days)) //nolint:gosec // a few hundred
		f.days[key] = at
		f.plan.Days = append(f.plan.Days, zones)
	}
	who.Days = at
	row := &domain.NumberDays{WorkspaceID: f.of.WorkspaceID, Environment: f.of.Environment, Number: phone}
	if _, err := f.store.Get(ctx, row); err != nil {
		if errors.Is(err, domain.ErrNotFound) {
			return nil
		}
		return commit.StoreError(err)
	}
	for _, r := range row.Rings {
		who.Rung = append(who.Rung, r.At)
	}
	return nil
}

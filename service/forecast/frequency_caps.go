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

// frequencyCaps adds the recent calls of each number to the plan of a simulation, which applies the workspace's cap
// on calls per number and day.
type frequencyCaps struct {
	store    commit.Store
	campaign *domain.Campaign
	plan     *simulation.Plan
	zones    *calendar.Zones
	days     map[string]int32 // time zone key to index in the plan's Days
}

// addCallHistory adds the recent calls of a number to its simulated contact, if the workspace has a frequency cap.
func (f *frequencyCaps) addCallHistory(ctx context.Context, phone string, person *simulation.Contact) error {
	if f.plan.DailyCap <= 0 {
		return nil
	}
	var key string
	var zones []*time.Location
	if n, err := f.zones.NumberFromE164(phone); err == nil {
		key, zones = f.zones.NumberZones(n)
	}
	at, known := f.days[key]
	if !known {
		at = int32(len(f.plan.Days)) //nolint:gosec // a few hundred
		f.days[key] = at
		f.plan.Days = append(f.plan.Days, zones)
	}
	person.Days = at
	row := &domain.NumberAttempts{WorkspaceID: f.campaign.WorkspaceID, Environment: f.campaign.Environment, Number: phone}
	if _, err := f.store.Get(ctx, row); err != nil {
		if errors.Is(err, domain.ErrNotFound) {
			return nil
		}
		return commit.StoreError(err)
	}
	for _, ring := range row.Attempts {
		person.DialedAt = append(person.DialedAt, ring.At)
	}
	return nil
}

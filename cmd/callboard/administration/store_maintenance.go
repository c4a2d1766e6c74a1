package administration

import (
	"context"

	"github.com/callboard/callboard/cmd/callboard/backup"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/restorequarantine"
	"github.com/callboard/callboard/service/usage"
)

// StoreRequirement returns the program version that is required to open the store.
func (s *storeAdministration) StoreRequirement(ctx context.Context) (persistence.Requirement, error) {
	return persistence.StoreRequirement(ctx, s.store.Driver.Get)
}

func (s *storeAdministration) Quarantine(ctx context.Context) (*restorequarantine.Quarantine, error) {
	return restorequarantine.LoadState(ctx, s.store.Records)
}

// ReleaseQuarantine ends the quarantine of a store that was restored from a backup.
func (s *storeAdministration) ReleaseQuarantine(ctx context.Context) (*restorequarantine.Quarantine, error) {
	q, err := restorequarantine.Release(ctx, s.store.Records)
	if err == nil {
		q.Active = false
	}
	return q, err
}

func (s *storeAdministration) Recount(ctx context.Context, o RecountRequest) ([]billing.LedgerCheck, error) {
	all, err := record.AllWorkspaces(ctx, s.store.Records)
	if err != nil {
		return nil, err
	}
	out := []billing.LedgerCheck{}
	for _, w := range all {
		if o.Workspace != "" && w.ID != o.Workspace {
			continue
		}
		one, err := usage.Recount(ctx, s.store.Records, w.ID, billing.UsageQuery{From: o.From, To: o.To}, o.Repair)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func (s *storeAdministration) Backup(ctx context.Context, o BackupRequest) (backup.Manifest, error) {
	return backup.Write(ctx, s.store, o.To)
}

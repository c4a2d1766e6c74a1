package administration

import (
	"context"
	"errors"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

func (s *storeAdministration) CreateWorkspace(ctx context.Context, n NewWorkspace) (created CreatedWorkspace, err error) {
	w, err := n.workspace()
	if err == nil {
		err = s.openOffline(ctx)
	}
	if err != nil {
		return created, err
	}
	var key *domain.APIKey
	if s.running != nil {
		created.Workspace, key, created.Key, err = s.running.Workspaces.Local().CreateWorkspace(ctx, w)
	} else {
		created.Workspace, key, created.Key, err = s.offline.CreateWorkspace(ctx, w, s.testCarrier)
	}
	if err == nil {
		created.KeyID = key.ID
	}
	return created, err
}

func (s *storeAdministration) ListWorkspaces(ctx context.Context) ([]*domain.Workspace, error) {
	return record.AllWorkspaces(ctx, s.store.Records)
}

func (s *storeAdministration) DeleteWorkspace(ctx context.Context, id string) error {
	_, err := WorkspaceID(ctx, s.store, id)
	if err != nil {
		return err
	}
	keys, err := s.ListKeys(ctx, "")
	if err != nil {
		return err
	}
	operatorKey := slices.IndexFunc(keys, func(k *domain.APIKey) bool { return k.Operator && k.WorkspaceID != id && KeyState(k) == keyActive })
	if operatorKey < 0 {
		return errors.New("no operator key would remain: create one in another workspace first (callboard keys create --operator --workspace …)")
	}
	if s.running != nil {
		return s.running.Workspaces.Local().DeleteWorkspace(ctx, id, keys[operatorKey].WorkspaceID)
	}
	if err = s.openOffline(ctx); err != nil {
		return err
	}
	return s.offline.DeleteWorkspace(ctx, id, keys[operatorKey].WorkspaceID)
}

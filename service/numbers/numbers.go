// Package numbers is the service for the phone numbers of workspaces. It creates, approves and deletes them, and tells
// other services which numbers are live and may be shown as caller IDs.
package numbers

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Store is a store that counts changes per workspace. Cached values are valid until the count rises.
type Store interface {
	commit.Store
	// Changes returns the number of changes of a workspace's agents, pathways, numbers and trunks.
	Changes(workspace string) uint64
}

// node applies changed numbers to the call routing of this node.
type node interface {
	// ReloadTrunks applies the stored trunks and numbers of a workspace to the routing.
	ReloadTrunks(ctx context.Context, workspaceID string) error
	// HasSeveralWorkspaces reports whether the installation has, or may have, more than one workspace.
	HasSeveralWorkspaces() bool
}

// Service creates, changes, approves, finds and deletes numbers.
type Service struct {
	store     Store
	node      node
	log       *slog.Logger
	live      storecache.Cache[[]*domain.PhoneNumber] // by environment
	callerIDs storecache.Cache[[]string]              // by environment
}

// New returns a Service.
func New(store Store, node node, log *slog.Logger) *Service {
	return &Service{store: store, node: node, log: log}
}

// validate returns an error if the agent or the trunk of a number does not exist. In the live environment it also
// refuses reserved test numbers.
func (s *Service) validate(ctx context.Context, p domain.Principal, n *domain.PhoneNumber) error {
	if err := record.CheckAgent(ctx, s.store, p, n.AgentID); err != nil {
		return err
	}
	if p.Environment == domain.Live {
		var problems domain.Problems
		if record.RefuseTestNumber(&problems, "number", n.Number); len(problems) > 0 {
			return problems.Err()
		}
	}
	if n.TrunkID == "" {
		return nil
	}
	_, _, err := record.Get[domain.Trunk](ctx, s.store, p, domain.PrefixTrunk, n.TrunkID)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return domain.FieldError("trunk_id", domain.CodeValidation, "there is no such trunk")
	}
	return err
}

// CreateNumber creates a number. A number is unique in the installation. Errors: already_exists, validation_failed.
func (s *Service) CreateNumber(ctx context.Context, p domain.Principal, n *domain.PhoneNumber) (*domain.PhoneNumber, error) {
	if created, err := record.CreatedBySameRequest[domain.PhoneNumber](ctx, s.store, p, domain.PrefixNumber); created != nil || err != nil {
		return created, err
	}
	if err := s.validate(ctx, p, n); err != nil {
		return nil, err
	}
	n.Init("phone_number", p, record.RequestResourceID(ctx, domain.PrefixNumber), record.Now())
	n.Status = s.initialStatus(p)
	claim := n.Claim()
	err := record.Create(ctx, s.store, n, func(c *commit.Change) {
		c.Guards = append(c.Guards, commit.Absent(claim.Key()))
		c.Puts = append(c.Puts, claim)
	})
	if errors.Is(err, domain.ErrConflict) {
		return nil, &domain.Error{Code: domain.CodeAlreadyExists, Param: "number", Message: "this number is already registered in the installation"}
	}
	if err != nil {
		return nil, err
	}
	return n, s.node.ReloadTrunks(ctx, p.WorkspaceID)
}

// Number returns one number. Errors: not_found.
func (s *Service) Number(ctx context.Context, p domain.Principal, id string) (*domain.PhoneNumber, error) {
	n, _, err := record.Get[domain.PhoneNumber](ctx, s.store, p, domain.PrefixNumber, id)
	return n, err
}

// ListNumbers returns a page of numbers.
func (s *Service) ListNumbers(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.PhoneNumber], error) {
	return record.List[domain.PhoneNumber](ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixNumber, q, nil)
}

// UpdateNumber changes the settings of a number. The phone number itself cannot be changed.
func (s *Service) UpdateNumber(ctx context.Context, p domain.Principal, id string, change func(*domain.PhoneNumber) error) (*domain.PhoneNumber, error) {
	n, err := record.Update(ctx, s.store, p, domain.PrefixNumber, id, func(n *domain.PhoneNumber) error {
		number, trunkID := n.Number, n.TrunkID
		if err := change(n); err != nil {
			return err
		}
		if n.Number != number {
			return domain.FieldError("number", domain.CodeValidation, "a number cannot be changed; delete it and create another one")
		}
		if number == "*" && n.TrunkID != trunkID {
			return domain.FieldError("trunk_id", domain.CodeValidation, "the rest of a trunk cannot be moved; delete it and create another one")
		}
		return s.validate(ctx, p, n)
	})
	if err != nil {
		return nil, err
	}
	return n, s.node.ReloadTrunks(ctx, p.WorkspaceID)
}

// DeleteNumber deletes a number. Afterwards any workspace may create it again.
func (s *Service) DeleteNumber(ctx context.Context, p domain.Principal, id string) error {
	err := record.Delete(ctx, s.store, p, domain.PrefixNumber, id, func(c *commit.Change, n *domain.PhoneNumber) error {
		c.Deletes = append(c.Deletes, n.Claim().Key())
		return nil
	})
	if err != nil {
		return err
	}
	return s.node.ReloadTrunks(ctx, p.WorkspaceID)
}

// LiveNumbers returns the numbers of a workspace that an operator has approved or that need no approval.
func (s *Service) LiveNumbers(ctx context.Context, workspaceID string, env domain.Environment) ([]*domain.PhoneNumber, error) {
	return s.live.Current(s.store, workspaceID, string(env), func() ([]*domain.PhoneNumber, error) {
		numbers, err := trunk.LiveNumbers(ctx, s.store, workspaceID, env)
		return numbers, commit.StoreError(err)
	})
}

// CallerIDs returns the numbers that a workspace may show as caller ID: its live numbers and the caller IDs of its trunks.
func (s *Service) CallerIDs(ctx context.Context, p domain.Principal) ([]string, error) {
	return s.callerIDs.Current(s.store, p.WorkspaceID, string(p.Environment), func() ([]string, error) {
		numbers, err := s.LiveNumbers(ctx, p.WorkspaceID, p.Environment)
		if err != nil {
			return nil, err
		}
		var out []string
		for _, n := range numbers {
			out = append(out, n.Number)
		}
		err = commit.ForEachRow(ctx, s.store, "trunk", p.WorkspaceID, record.EnvironmentIndex(p), func(t *domain.Trunk) { out = append(out, t.CallerIDs...) })
		return slices.Clip(out), commit.StoreError(err)
	})
}

// CheckCallerID returns caller_id_not_allowed if the workspace may not show a number as caller ID. It allows all numbers
// in the test environment. It does not check which trunk may show the number, because the routing does.
func (s *Service) CheckCallerID(ctx context.Context, p domain.Principal, from string) error {
	if from == "" || p.Environment == domain.Test {
		return nil
	}
	own, err := s.CallerIDs(ctx, p)
	if err != nil || slices.Contains(own, from) {
		return err
	}
	return domain.FieldError("from", domain.CodeCallerIDNotAllowed, from+" is neither a number of the workspace nor in caller_ids of a trunk: add it there, or register it with POST /v1/phone-numbers")
}

// LiveNumber returns the live number of a workspace that equals e164, or nil if there is none.
func (s *Service) LiveNumber(ctx context.Context, workspaceID string, env domain.Environment, e164 string) (own *domain.PhoneNumber, err error) {
	if e164 == "" {
		return nil, nil //nolint:nilnil // no such number is not an error
	}
	q := commit.Query{Kind: "number", Workspace: workspaceID, Index: "number=" + e164, Oldest: true, Limit: 10}
	_, err = s.store.List(ctx, q, func() domain.Record { return &domain.PhoneNumber{} }, func(r domain.Record) error {
		if n, ok := r.(*domain.PhoneNumber); ok && n.Environment == env && n.Status == domain.NumberLive && own == nil {
			own = n
		}
		return nil
	})
	return own, commit.StoreError(err)
}

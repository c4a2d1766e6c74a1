// Package dnc manages the do-not-call lists of a workspace.
package dnc

import (
	"context"
	"strings"

	register "github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/service/record"
)

// Service manages do-not-call lists.
type Service struct {
	store      commit.Store
	register   *register.Registry
	workspaces record.Workspaces
	imports    numberImports
}

// New returns a service on the register of a node.
func New(store commit.Store, r *register.Registry, workspaces record.Workspaces) *Service {
	return &Service{store: store, register: r, workspaces: workspaces}
}

// Scrubber returns a function that says whether a number is on a list that holds
// for the campaign. It answers nearly every number from memory; on an error it is
// unknown.
func (s *Service) Scrubber(c *domain.Campaign) func(ctx context.Context, e164 string) (listed bool, err error) {
	scrub := dnc.CampaignScrub(c)
	return func(ctx context.Context, e164 string) (bool, error) {
		hit, err := s.register.MatchPhone(ctx, c.WorkspaceID, scrub, e164)
		return hit != nil, commit.StoreError(err)
	}
}

// ListExists returns an error with the field param for an unknown list. "" is
// the default list.
func (s *Service) ListExists(ctx context.Context, p domain.Principal, param, id string) error {
	if id == "" {
		return nil
	}
	_, _, err := record.Get[domain.DNCList](ctx, s.store, p, domain.PrefixDNC, id)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return domain.FieldError(param, domain.CodeValidation, "there is no such do-not-call list")
	}
	return err
}

// CheckNotListed returns dnc_blocked for a number on the workspace's list.
func (s *Service) CheckNotListed(ctx context.Context, p domain.Principal, e164 string) error {
	hit, err := s.register.MatchPhone(ctx, p.WorkspaceID, dnc.DefaultScrub(p.WorkspaceID, p.Environment), e164)
	if err != nil {
		return commit.StoreError(err)
	}
	if hit != nil {
		return dnc.NewBlockedError()
	}
	return nil
}

// parsePathNumber reads a phone number of a URL path: E.164 with or without its
// plus, or as it is dialled in the country.
func parsePathNumber(text, country string) (e164 string, n uint64, err error) {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "0123456789") == "" {
		if e164, err = domain.E164("+"+text, ""); err == nil {
			text = e164
		}
	}
	return dnc.ParseNumber(text, country)
}

// Country is the default country of the workspace; "" if that is unknown.
func (s *Service) Country(p domain.Principal) string {
	if w := s.workspaces.Workspace(p.WorkspaceID); w != nil {
		return w.DefaultCountry
	}
	return ""
}

// Package dnc is the service for the do-not-call lists of a workspace, and for opt-outs in calls.
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

// Service manages, imports and checks do-not-call lists.
type Service struct {
	store      commit.Store
	register   *register.Registry
	workspaces record.Workspaces
	imports    numberImports
}

// New returns a Service. r holds the do-not-call lists of all workspaces.
func New(store commit.Store, r *register.Registry, workspaces record.Workspaces) *Service {
	return &Service{store: store, register: r, workspaces: workspaces}
}

// Scrubber returns a function that reports whether a number is on a do-not-call list that applies to the campaign.
// The function checks most numbers in memory. If it returns an error, the result is unknown.
func (s *Service) Scrubber(c *domain.Campaign) func(ctx context.Context, e164 string) (listed bool, err error) {
	scrub := dnc.CampaignScrub(c)
	return func(ctx context.Context, e164 string) (bool, error) {
		hit, err := s.register.MatchPhone(ctx, c.WorkspaceID, scrub, e164)
		return hit != nil, commit.StoreError(err)
	}
}

// ListExists returns a validation error for the field param if the list does not exist. An empty id names the
// default list.
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

// CheckNotListed returns dnc_blocked if the number is on the default list of the workspace.
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

// parsePathNumber parses a phone number in a URL path. The number is in E.164 with or without the plus sign, or is a
// national number of the country.
func parsePathNumber(text, country string) (e164 string, n uint64, err error) {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "0123456789") == "" {
		if e164, err = domain.E164("+"+text, ""); err == nil {
			text = e164
		}
	}
	return dnc.ParseNumber(text, country)
}

// DefaultCountry returns the default country of the principal's workspace, or "" if the workspace is unknown.
func (s *Service) DefaultCountry(p domain.Principal) string {
	if w := s.workspaces.Workspace(p.WorkspaceID); w != nil {
		return w.DefaultCountry
	}
	return ""
}

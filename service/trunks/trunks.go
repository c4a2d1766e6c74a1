// Package trunks is the service for SIP trunks: it creates, changes, tests and deletes them, and shows their
// health.
package trunks

import (
	"context"
	"log/slog"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
)

// Time limits for waiting within one API request.
const (
	healthWait = 2 * time.Second
	checkWait  = 5 * time.Second
)

// router is the workspace's routing of calls over trunks.
type router interface {
	// ReloadTrunks applies the stored trunks and numbers of a workspace to the routing.
	ReloadTrunks(ctx context.Context, workspaceID string) error
	// TrunkHealth returns the health and quality of a workspace's trunks.
	TrunkHealth(ctx context.Context, workspaceID string) (trunk.Health, error)
}

// userAgent is the SIP user agent.
type userAgent interface {
	Resolve(ctx context.Context, t resolve.Target) ([]resolve.Target, error)
	// Ping sends a SIP OPTIONS request.
	Ping(ctx context.Context, env domain.Environment, t resolve.Target) (sip.PingResult, error)
}

// Config holds the dependencies of a Service.
type Config struct {
	Store       commit.Store
	Workspaces  record.Workspaces
	Router      router
	SIP         userAgent
	SIPURI      string                        // SIP URI to which carriers send calls
	MayReach    func(netip.AddrPort) bool     // reports whether an address may be contacted; nil: all addresses
	TestCarrier func() (resolve.Target, bool) // address of the test carrier
	Log         *slog.Logger
}

// Service creates, changes, tests and deletes trunks.
type Service struct {
	store commit.Store
	cfg   Config
}

// New returns a Service.
func New(cfg Config) *Service { return &Service{store: cfg.Store, cfg: cfg} }

// CreateTrunk creates a trunk. Errors: operator_required, validation_failed.
func (s *Service) CreateTrunk(ctx context.Context, p domain.Principal, t *domain.Trunk) (*domain.Trunk, error) {
	if created, err := record.CreatedBySameRequest[domain.Trunk](ctx, s.store, p, domain.PrefixTrunk); created != nil || err != nil {
		return created, err
	}
	if err := s.checkOperatorRights(p, &domain.Trunk{}, t); err != nil {
		return nil, err
	}
	t.Init("trunk", p, record.RequestResourceID(ctx, domain.PrefixTrunk), record.Now()) // Init sets the environment that validate needs
	if err := s.validate(ctx, t); err != nil {
		return nil, err
	}
	t.CreatedBy = p.Creator()
	if err := record.Create(ctx, s.store, t); err != nil {
		return nil, err
	}
	if err := s.cfg.Router.ReloadTrunks(ctx, p.WorkspaceID); err != nil {
		return nil, err
	}
	s.addState(ctx, p, t)
	return t, nil
}

// Trunk returns one trunk with its health. Errors: not_found.
func (s *Service) Trunk(ctx context.Context, p domain.Principal, id string) (*domain.Trunk, error) {
	t, _, err := record.Get[domain.Trunk](ctx, s.store, p, domain.PrefixTrunk, id)
	if err != nil {
		return nil, err
	}
	s.addState(ctx, p, t)
	return t, nil
}

// ListTrunks returns a page of trunks.
func (s *Service) ListTrunks(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Trunk], error) {
	l, err := record.List[domain.Trunk](ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixTrunk, q, nil)
	if err == nil {
		s.addState(ctx, p, l.Data...)
	}
	return l, err
}

// UpdateTrunk changes a trunk. Live calls are not affected. change may set RewriteApproved to request the approval
// of number_strip and number_add; an update by an operator grants it. Errors: operator_required.
func (s *Service) UpdateTrunk(ctx context.Context, p domain.Principal, id string, change func(*domain.Trunk) error) (*domain.Trunk, error) {
	allowed := func(t *domain.Trunk) error {
		before := *t
		if err := change(t); err != nil {
			return err
		}
		return s.checkOperatorRights(p, &before, t)
	}
	t, err := record.Update(ctx, s.store, p, domain.PrefixTrunk, id, allowed, func(_ *commit.Change, t *domain.Trunk) error { return s.validate(ctx, t) })
	if err != nil {
		return nil, err
	}
	if err = s.cfg.Router.ReloadTrunks(ctx, p.WorkspaceID); err != nil {
		return nil, err
	}
	s.addState(ctx, p, t)
	return t, nil
}

// DeleteTrunk deletes a trunk to which no phone number is assigned. Errors: not_found, invalid_state.
func (s *Service) DeleteTrunk(ctx context.Context, p domain.Principal, id string) error {
	err := record.Delete(ctx, s.store, p, domain.PrefixTrunk, id, func(_ *commit.Change, t *domain.Trunk) error {
		users, err := record.List(ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixNumber, record.PageQuery{Limit: 1}, func(n *domain.PhoneNumber) bool { return n.TrunkID == t.ID })
		if err != nil || len(users.Data) == 0 {
			return err
		}
		return domain.Errorf(domain.CodeInvalidState, "phone number %s is assigned to this trunk; move or delete the number first", users.Data[0].ID)
	})
	if err != nil {
		return err
	}
	return s.cfg.Router.ReloadTrunks(ctx, p.WorkspaceID)
}

// addState adds health, quality, warnings and the SIP URI to trunks. Health and quality are missing if the trunks
// actor does not answer in time.
func (s *Service) addState(ctx context.Context, p domain.Principal, list ...*domain.Trunk) {
	w := s.cfg.Workspaces.Workspace(p.WorkspaceID)
	if w == nil || len(list) == 0 {
		return
	}
	healthCtx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	now, err := s.cfg.Router.TrunkHealth(healthCtx, p.WorkspaceID)
	if err != nil {
		s.cfg.Log.Warn("the trunks actor did not return the health of the trunks", slog.Any("error", err))
	}
	for _, x := range list {
		x.Warnings = trunkWarnings(w, x)
		if !x.Simulator && !x.IsTestOnly() {
			x.SIPURI = s.cfg.SIPURI
		}
		if s, ok := now.Trunks[x.ID]; ok {
			x.Health, x.Quality = &s.Health, &s.Quality
		}
	}
}

// validate returns an error for caller IDs of the test environment, and for hosts without an address that may be
// contacted. A name that cannot be resolved now is accepted, because each connection is checked again.
func (s *Service) validate(ctx context.Context, t *domain.Trunk) error {
	if t.Environment == domain.Live && !t.Simulator {
		var problems domain.Problems
		for i, number := range t.CallerIDs {
			record.RefuseTestNumber(&problems, "caller_ids["+strconv.Itoa(i)+"]", number)
		}
		if err := problems.Err(); err != nil {
			return err
		}
	}
	mayReach := s.cfg.MayReach
	if mayReach == nil || t.Simulator {
		return nil
	}
	resolveCtx, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	var problems domain.Problems
	check := func(param string, p domain.Proxy) {
		found := []resolve.Target{{Host: p.Host, Port: p.Port, Transport: p.Transport}}
		if _, err := netip.ParseAddr(strings.Trim(p.Host, "[]")); err != nil {
			if found, err = s.cfg.SIP.Resolve(resolveCtx, found[0]); err != nil {
				return
			}
		}
		for _, f := range found {
			if a, err := netip.ParseAddr(strings.Trim(f.Host, "[]")); err == nil && mayReach(netip.AddrPortFrom(a.Unmap(), uint16(f.Port&0xFFFF))) {
				return
			}
		}
		problems.Add(param+".host", domain.CodeValidation, "%s resolves to no address that this service may contact; use a public address or ask the operator to allow it", p.Host)
	}
	for i, p := range t.Proxies {
		check("proxies["+strconv.Itoa(i)+"]", p)
	}
	if t.OutboundProxy != nil {
		check("outbound_proxy", *t.OutboundProxy)
	}
	return problems.Err()
}

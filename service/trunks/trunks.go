// Package trunks manages SIP trunks: their settings, health and tests.
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

// Limits of waiting while a request is answered.
const (
	healthWait = 2 * time.Second
	checkWait  = 5 * time.Second
)

// router routes calls over the trunks of workspaces.
type router interface {
	// ReloadTrunks applies the stored trunks and numbers of a workspace.
	ReloadTrunks(ctx context.Context, workspaceID string) error
	// TrunkHealth returns the health and quality of a workspace's trunks.
	TrunkHealth(ctx context.Context, workspaceID string) (trunk.Health, error)
}

// userAgent is the SIP user agent.
type userAgent interface {
	Resolve(ctx context.Context, t resolve.Target) ([]resolve.Target, error)
	// Ping sends OPTIONS.
	Ping(ctx context.Context, env domain.Environment, t resolve.Target) (sip.PingResult, error)
}

// Config is what the service needs.
type Config struct {
	Store       commit.Store
	Workspaces  record.Workspaces
	Router      router
	SIP         userAgent
	SIPURI      string                        // where carriers send calls
	MayReach    func(netip.AddrPort) bool     // nil: any address
	TestCarrier func() (resolve.Target, bool) // where the built-in test carrier listens
	Log         *slog.Logger
}

// Service creates, changes, tests and deletes trunks.
type Service struct {
	store commit.Store
	cfg   Config
}

// New returns the service.
func New(cfg Config) *Service { return &Service{store: cfg.Store, cfg: cfg} }

// CreateTrunk creates a trunk.
func (s *Service) CreateTrunk(ctx context.Context, p domain.Principal, t *domain.Trunk) (*domain.Trunk, error) {
	if created, err := record.CreatedBySameRequest[domain.Trunk](ctx, s.store, p, domain.PrefixTrunk); created != nil || err != nil {
		return created, err
	}
	if err := s.checkOperatorRights(p, &domain.Trunk{}, t); err != nil {
		return nil, err
	}
	t.Init("trunk", p, record.RequestResourceID(ctx, domain.PrefixTrunk), record.Now()) // validate depends on the environment
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

// Trunk returns a trunk.
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

// UpdateTrunk changes a trunk; live calls are not affected. change sets
// RewriteApproved to ask for the approval of number_strip and number_add; the
// update of an operator grants it. Errors: operator_required.
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

// DeleteTrunk deletes a trunk that no number is registered with.
func (s *Service) DeleteTrunk(ctx context.Context, p domain.Principal, id string) error {
	err := record.Delete(ctx, s.store, p, domain.PrefixTrunk, id, func(_ *commit.Change, t *domain.Trunk) error {
		users, err := record.List(ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixNumber, record.PageQuery{Limit: 1}, func(n *domain.PhoneNumber) bool { return n.TrunkID == t.ID })
		if err != nil || len(users.Data) == 0 {
			return err
		}
		return domain.Errorf(domain.CodeInvalidState, "phone number %s stands on this trunk; move or delete it first", users.Data[0].ID)
	})
	if err != nil {
		return err
	}
	return s.cfg.Router.ReloadTrunks(ctx, p.WorkspaceID)
}

// addState adds health, quality, warnings and the SIP URI to trunks. Health and
// quality are left out if the trunks actor does not answer in time.
func (s *Service) addState(ctx context.Context, p domain.Principal, list ...*domain.Trunk) {
	w := s.cfg.Workspaces.Workspace(p.WorkspaceID)
	if w == nil || len(list) == 0 {
		return
	}
	bound, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	now, err := s.cfg.Router.TrunkHealth(bound, p.WorkspaceID)
	if err != nil {
		s.cfg.Log.Warn("the trunks did not tell their health", slog.Any("error", err))
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

// validate refuses a trunk with caller IDs of the test environment, or with a host
// that resolves to no address that may be reached. A name that cannot be resolved now
// is accepted: each connection is checked again.
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
	may := s.cfg.MayReach
	if may == nil || t.Simulator {
		return nil
	}
	bound, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	var problems domain.Problems
	check := func(param string, p domain.Proxy) {
		found := []resolve.Target{{Host: p.Host, Port: p.Port, Transport: p.Transport}}
		if _, err := netip.ParseAddr(strings.Trim(p.Host, "[]")); err != nil {
			if found, err = s.cfg.SIP.Resolve(bound, found[0]); err != nil {
				return
			}
		}
		for _, f := range found {
			if a, err := netip.ParseAddr(strings.Trim(f.Host, "[]")); err == nil && may(netip.AddrPortFrom(a.Unmap(), uint16(f.Port&0xFFFF))) {
				return
			}
		}
		problems.Add(param+".host", domain.CodeValidation, "%s may not be reached from here: only public addresses, and what the operator allows", p.Host)
	}
	for i, p := range t.Proxies {
		check("proxies["+strconv.Itoa(i)+"]", p)
	}
	if t.OutboundProxy != nil {
		check("outbound_proxy", *t.OutboundProxy)
	}
	return problems.Err()
}

package trunks_test

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
	"github.com/callboard/callboard/service/trunks"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
)

// node is a fake trunks actor and SIP user agent. silent.example does not answer.
type node struct {
	reloaded int
	health   trunk.Health
	err      error // error of the trunks actor
}

func (n *node) ReloadTrunks(context.Context, string) error { n.reloaded++; return nil }
func (n *node) TrunkHealth(context.Context, string) (trunk.Health, error) {
	return n.health, n.err
}

func (*node) Resolve(_ context.Context, t resolve.Target) ([]resolve.Target, error) {
	switch t.Host {
	case "private.example":
		t.Host = "10.0.0.1"
	case "carrier.example", "silent.example":
		t.Host = "192.0.2.1"
	default:
		return nil, errors.New("no such name")
	}
	return []resolve.Target{t}, nil
}

func (*node) Ping(_ context.Context, _ domain.Environment, t resolve.Target) (sip.PingResult, error) {
	if t.Name == "silent.example" {
		return sip.PingResult{}, context.DeadlineExceeded
	}
	return sip.PingResult{Code: 200, Phrase: "OK"}, nil
}

func setUp(t *testing.T) (*trunks.Service, *node, *pebbletest.Store) {
	t.Helper()
	n, store := &node{}, pebbletest.OpenStore(t)
	return trunks.New(trunks.Config{
		Store: store, Workspaces: recordtest.Workspaces{recordtest.Workspace: {DefaultCountry: "US"}}, Router: n, SIP: n, SIPURI: "sip:callboard.example",
		MayReach: func(a netip.AddrPort) bool { return !a.Addr().IsPrivate() }, Log: slog.New(slog.DiscardHandler),
	}), n, store
}

func proxies(hosts ...string) (all []domain.Proxy) {
	for _, host := range hosts {
		all = append(all, domain.Proxy{Host: host, Port: 5060})
	}
	return all
}

func TestTrunkWithPrivateHostOrTestNumberIsRefused(t *testing.T) {
	t.Parallel()
	s, n, _ := setUp(t)
	p := recordtest.Live(recordtest.Workspace)
	for param, one := range map[string]*domain.Trunk{
		"proxies[1].host":     {Proxies: proxies("carrier.example", "private.example")},
		"outbound_proxy.host": {Proxies: proxies("carrier.example"), OutboundProxy: &domain.Proxy{Host: "10.1.2.3", Port: 5060}},
		"costs":               {Costs: []domain.Rate{{}}},
		"caller_ids[0]":       {Proxies: proxies("carrier.example"), CallerIDs: []string{domain.TestCarrierPrefix + "0100"}},
	} {
		_, err := s.CreateTrunk(t.Context(), p, one)
		assert.Equal(t, param, recordtest.ErrorField(err))
	}
	assert.Zero(t, n.reloaded)
	one, err := s.CreateTrunk(t.Context(), p, &domain.Trunk{Proxies: proxies("unknown.example", "carrier.example")})
	require.NoError(t, err, "a name that does not resolve now is accepted")
	_, err = s.UpdateTrunk(t.Context(), p, one.ID, func(one *domain.Trunk) error { one.Proxies = proxies("private.example"); return nil })
	assert.Equal(t, "proxies[0].host", recordtest.ErrorField(err))
	_, err = s.UpdateTrunk(t.Context(), p, one.ID, func(one *domain.Trunk) error { one.CallerIDs = []string{domain.TestCarrierPrefix + "0100"}; return nil })
	assert.Equal(t, "caller_ids[0]", recordtest.ErrorField(err))
	assert.Equal(t, 1, n.reloaded)
}

func TestTrunkHasNoHealthWithoutAnswerOfActor(t *testing.T) {
	t.Parallel()
	s, n, _ := setUp(t)
	p := recordtest.Live(recordtest.Workspace)
	one, err := s.CreateTrunk(t.Context(), p, &domain.Trunk{Proxies: proxies("carrier.example")})
	require.NoError(t, err)
	n.health.Trunks = map[string]trunk.State{one.ID: {Health: domain.TrunkHealth{Status: "up"}}}
	shown, err := s.Trunk(t.Context(), p, one.ID)
	require.NoError(t, err)
	assert.Equal(t, []string{"up", "sip:callboard.example"}, []string{shown.Health.Status, shown.SIPURI})
	n.health, n.err = trunk.Health{}, errors.New("no answer")
	shown, err = s.Trunk(t.Context(), p, one.ID)
	require.NoError(t, err)
	assert.Nil(t, shown.Health)
	_, err = s.Trunk(t.Context(), recordtest.Live(recordtest.OtherWorkspace), one.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}

func TestTrunkWithPhoneNumberCannotBeDeleted(t *testing.T) {
	t.Parallel()
	s, n, store := setUp(t)
	p := recordtest.Live(recordtest.Workspace)
	one, err := s.CreateTrunk(t.Context(), p, &domain.Trunk{Proxies: proxies("carrier.example")})
	require.NoError(t, err)
	number := &domain.PhoneNumber{Number: "+12025550170", TrunkID: one.ID}
	number.Init("phone_number", p, record.RequestResourceID(t.Context(), domain.PrefixNumber), record.Now())
	require.NoError(t, record.Create(t.Context(), store, number))
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(s.DeleteTrunk(t.Context(), p, one.ID)))
	require.NoError(t, record.Delete[domain.PhoneNumber](t.Context(), store, p, domain.PrefixNumber, number.ID))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(s.DeleteTrunk(t.Context(), recordtest.Live(recordtest.OtherWorkspace), one.ID)))
	require.NoError(t, s.DeleteTrunk(t.Context(), p, one.ID))
	assert.Equal(t, 2, n.reloaded, "creation and deletion reload the trunks")
}

func TestTrunkTestPingsAllTargets(t *testing.T) {
	t.Parallel()
	s, _, _ := setUp(t)
	p := recordtest.Live(recordtest.Workspace)
	one, err := s.CreateTrunk(t.Context(), p, &domain.Trunk{Proxies: proxies("carrier.example", "silent.example", "unknown.example")})
	require.NoError(t, err)
	got, err := s.TestTrunk(t.Context(), p, one.ID)
	require.NoError(t, err)
	require.Len(t, got.Targets, 3)
	assert.True(t, got.OK)
	assert.Equal(t, []any{true, 200, "OK", ""}, []any{got.Targets[0].Reachable, got.Targets[0].Code, got.Targets[0].Reason, got.Targets[0].Error})
	assert.Equal(t, []string{"no answer", "the host name does not resolve"}, []string{got.Targets[1].Error, got.Targets[2].Error})
}

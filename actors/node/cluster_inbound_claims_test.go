package node_test

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
)

// claimQueryKey is the context key by which readCountingStore recognizes the reads of a claim query.
type claimQueryKey struct{}

// readCountingStore counts the reads of claim queries. While away is set, these reads fail.
type readCountingStore struct {
	storecache.Backend
	reads atomic.Int64
	away  atomic.Bool
}

func (c *readCountingStore) Get(ctx context.Context, into domain.Record) (uint64, error) {
	if ctx.Value(claimQueryKey{}) != nil {
		if c.reads.Add(1); c.away.Load() {
			return 0, errors.New("the store is away")
		}
	}
	return c.Backend.Get(ctx, into)
}

func TestNodeClaimRanksByTrunkAndNumber(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	d, ctx := h.services(), t.Context()
	trunk := func(name, from string, auth *domain.TrunkAuth) *domain.Trunk {
		created, err := d.Trunks.CreateTrunk(ctx, h.live, &domain.Trunk{
			Name: name, Proxies: []domain.Proxy{{Host: "192.0.2.1", Port: 5060, Transport: "udp"}}, NumberCountry: "GB",
			Inbound: domain.TrunkInbound{AllowedIPs: []string{from}, Auth: auth},
		})
		require.NoError(t, err)
		return created
	}
	number := func(text string, of *domain.Trunk) {
		_, err := d.Numbers.CreateNumber(ctx, h.live, &domain.PhoneNumber{Number: text, AgentID: h.createAgent(h.live, keyMenuPathway()), TrunkID: of.ID})
		require.NoError(t, err)
	}
	open, rest := trunk("open", "198.51.100.0/24", nil), trunk("rest", "198.51.100.7", nil)
	closed := trunk("closed", "203.0.113.0/24", &domain.TrunkAuth{Username: "carrier", Password: "proof"})
	trunk("gated", "203.0.113.0/24", &domain.TrunkAuth{Username: "other", Password: "proof"})
	number("+442079460001", open)
	number("*", rest)
	number("+442079460002", closed)
	number("*", closed)
	both, one, proofs := netip.MustParseAddrPort("198.51.100.7:5060"), netip.MustParseAddrPort("198.51.100.8:5060"), netip.MustParseAddrPort("203.0.113.9:5060")
	h.waitUntil(10*time.Second, "the trunks are loaded", func() bool {
		return len(h.node.TrunkSources().TrunksAt(both)) == 2 && len(h.node.TrunkSources().TrunksAt(proofs)) == 2
	})

	var board node.Router
	board.Add(h.node)
	for name, c := range map[string]struct {
		query node.MatchQuery
		rank  domain.ClaimRank
		trunk *domain.Trunk
	}{
		"number":                                  {node.MatchQuery{To: "+442079460001", Source: both}, domain.ClaimNumber, open},
		"number without country code":             {node.MatchQuery{To: "02079460001", Source: one}, domain.ClaimNumber, open},
		"catch-all number":                        {node.MatchQuery{To: "+442079460009", Source: both}, domain.ClaimCatchAll, rest},
		"number of no trunk":                      {node.MatchQuery{To: "+442079460009", Source: one}, domain.ClaimSource, open},
		"known source":                            {node.MatchQuery{Source: both}, domain.ClaimSource, open},
		"number of a trunk with digest":           {node.MatchQuery{To: "02079460002", Source: proofs}, domain.ClaimUnauthenticatedNumber, closed},
		"catch-all number of a trunk with digest": {node.MatchQuery{To: "+442079460009", Source: proofs}, domain.ClaimUnauthenticated, closed},
		"number, stated user":                     {node.MatchQuery{To: "02079460002", User: "carrier", Source: proofs}, domain.ClaimNumber, closed},
		"catch-all number, stated user":           {node.MatchQuery{To: "1", User: "carrier", Source: proofs}, domain.ClaimCatchAll, closed},
		"user of another trunk":                   {node.MatchQuery{To: "02079460002", User: "other", Source: proofs}, domain.ClaimSource, nil},
		"unknown user":                            {node.MatchQuery{To: "02079460002", User: "guess", Source: proofs}, domain.ClaimUnauthenticatedNumber, closed},
	} {
		got, all := board.FindClaim(ctx, c.query)
		assert.True(t, all, name)
		assert.Equal(t, c.rank, got.Rank, name)
		assert.Equal(t, c.query.User == "carrier" || c.query.User == "other", got.NamedByCredentials, name)
		if c.trunk != nil {
			assert.Equal(t, c.trunk.ID, got.TrunkID, name)
			assert.True(t, c.trunk.CreatedAt.Equal(got.Since), name)
		}
	}
}

func TestTrunkWithHeaderMatchReceivesCallsWithItsHeader(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	d, ctx := h.services(), t.Context()
	trunk := func(p domain.Principal, name string, match *domain.TrunkMatch) *domain.Trunk {
		created, err := d.Trunks.CreateTrunk(ctx, p, &domain.Trunk{
			Name: name, Proxies: []domain.Proxy{{Host: "192.0.2.1", Port: 5060, Transport: "udp"}},
			Inbound: domain.TrunkInbound{AllowedIPs: []string{"198.51.100.7"}, Match: match},
		})
		require.NoError(t, err)
		return created
	}
	number := func(p domain.Principal, text string, of *domain.Trunk) {
		n := &domain.PhoneNumber{Number: text, AgentID: h.createAgent(p, keyMenuPathway())}
		if of != nil {
			n.TrunkID = of.ID
		}
		_, err := d.Numbers.CreateNumber(ctx, p, n)
		require.NoError(t, err)
	}
	other, _, _, err := d.Workspaces.CreateWorkspace(ctx, &domain.Workspace{Name: "other", Plan: domain.Enterprise, Limits: domain.DefaultEnterpriseLimits(), DefaultCountry: "US"})
	require.NoError(t, err)
	theirs := domain.Principal{WorkspaceID: other.ID, Environment: domain.Live, Operator: true, Permissions: h.live.Permissions}
	plain := trunk(h.live, "plain", nil)
	acme := trunk(h.live, "acme", &domain.TrunkMatch{Header: "X-Trunk-ID", Value: "acme"})
	group := trunk(h.live, "group", &domain.TrunkMatch{Header: "Contact", Parameter: "tgrp", Value: "tg-7"})
	foreign := trunk(theirs, "foreign", &domain.TrunkMatch{Header: "X-Trunk-ID", Value: "foreign"})
	forged := trunk(theirs, "forged", &domain.TrunkMatch{Header: "X-Trunk-ID", Value: "acme"}) // another workspace configures the same header match
	number(h.live, "+442079460001", plain)
	number(h.live, "+442079460002", nil)
	number(h.live, "+442079460003", acme)
	number(h.live, "*", acme)
	number(h.live, "*", group)
	number(theirs, "*", foreign)
	number(theirs, "*", forged)
	source := netip.MustParseAddrPort("198.51.100.7:5060")
	h.waitUntil(10*time.Second, "the trunks are loaded", func() bool { return len(h.node.TrunkSources().TrunksAt(source)) == 5 })
	var board node.Router
	board.Add(h.node)
	id := func(value string) map[string]string { return map[string]string{"x-trunk-id": value} }
	check := func(to string, fields map[string]string, from netip.AddrPort, rank domain.ClaimRank, want *domain.Trunk) {
		t.Helper()
		got, all := board.FindClaim(ctx, node.MatchQuery{To: to, Source: from, MatchFields: fields})
		assert.True(t, all)
		assert.Equal(t, rank, got.Rank, "%s %v", to, fields)
		if want != nil {
			assert.Equal(t, want.ID, got.TrunkID, "%s %v", to, fields)
			assert.True(t, got.ByHeader)
		}
	}
	check("+442079460001", nil, source, domain.ClaimNumber, plain)
	check("+442079460001", id("acme"), source, domain.ClaimNumber, plain)
	check("+442079460002", nil, source, domain.ClaimNumber, plain)
	check("+442079460002", id("ACME"), source, domain.ClaimNumber, acme)
	check("+442079460002", map[string]string{"contact": ";tgrp=tg-7"}, source, domain.ClaimNumber, group)
	check("+442079460003", id("acme"), source, domain.ClaimNumber, acme)
	check("+442079460003", id("foreign"), source, domain.ClaimCatchAll, foreign) // the header of the request selects the trunk foreign
	check("+442079460009", id("acme"), source, domain.ClaimCatchAll, acme)       // of the trunks with this header the older one gets the call
	check("+442079460009", id("foreign"), source, domain.ClaimCatchAll, foreign)
	check("+442079460009", id("nobody"), source, domain.ClaimSource, nil)
	check("+442079460009", nil, source, domain.ClaimSource, nil)
	check("+442079460009", id("acme"), netip.MustParseAddrPort("198.51.100.8:5060"), domain.ClaimNone, nil)
	number(h.live, "*", plain)
	check("+442079460008", id("acme"), source, domain.ClaimCatchAll, acme)
	check("+442079460008", nil, source, domain.ClaimCatchAll, plain)
	got, _ := board.FindClaim(ctx, node.MatchQuery{To: "+442079460008", Source: source, MatchFields: id("acme")})
	assert.True(t, plain.CreatedAt.Equal(got.Since), "the age of the oldest trunk with a catch-all number decides between workspaces")
	number(theirs, "+442079460004", foreign)
	check("+442079460004", id("foreign"), source, domain.ClaimNumber, foreign)
	check("+442079460004", id("acme"), source, domain.ClaimCatchAll, acme)
	check("+442079460004", nil, source, domain.ClaimSource, nil)               // a number of another workspace is not for plain's catch-all number
	check("+442079460008", id("foreign"), source, domain.ClaimCatchAll, plain) // plain is older, so a later workspace takes none of its calls
}

func TestClaimQueryOfAnUnknownSourceReadsNoStore(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	var store *readCountingStore
	h.wrapStore = func(s storecache.Backend) storecache.Backend { store = &readCountingStore{Backend: s}; return store }
	h.shutdown()
	h.start()
	_, err := h.services().Trunks.CreateTrunk(t.Context(), h.live, &domain.Trunk{Name: "t", Proxies: []domain.Proxy{{Host: "192.0.2.1", Port: 5060, Transport: "udp"}}})
	require.NoError(t, err)
	known, stranger := netip.MustParseAddrPort("192.0.2.1:5060"), netip.MustParseAddrPort("192.0.2.2:5060")
	h.waitUntil(10*time.Second, "the trunk is loaded", func() bool { return len(h.node.TrunkSources().TrunksAt(known)) == 1 })
	var board node.Router
	board.Add(h.node)
	ctx := context.WithValue(t.Context(), claimQueryKey{}, true)
	got, all := board.FindClaim(ctx, node.MatchQuery{To: "+442079460001", Source: stranger})
	assert.True(t, all)
	assert.Equal(t, domain.CallClaim{}, got)
	assert.Zero(t, store.reads.Load())
	_, all = board.FindClaim(ctx, node.MatchQuery{To: "+442079460001", Source: known})
	assert.True(t, all)
	assert.Positive(t, store.reads.Load())
	store.away.Store(true)
	_, all = board.FindClaim(ctx, node.MatchQuery{To: "+442079460002", Source: known})
	assert.False(t, all)
	got, all = board.FindClaim(ctx, node.MatchQuery{To: "+442079460002", Source: stranger})
	assert.True(t, all, "without the store, too")
	assert.Equal(t, domain.CallClaim{}, got)
}

func TestClaimErrorOfOneShardLeavesTheClaimsOfOthers(t *testing.T) {
	t.Parallel()
	mute, other := newFixture(t, nil), newFixture(t, nil)
	var store *readCountingStore
	mute.wrapStore = func(s storecache.Backend) storecache.Backend { store = &readCountingStore{Backend: s}; return store }
	mute.shutdown()
	mute.start()
	source := netip.MustParseAddrPort("192.0.2.1:5060")
	var created *domain.Trunk
	for _, h := range []*fixture{mute, other} {
		trunk, err := h.services().Trunks.CreateTrunk(t.Context(), h.live, &domain.Trunk{Name: "t", Proxies: []domain.Proxy{{Host: "192.0.2.1", Port: 5060, Transport: "udp"}}})
		require.NoError(t, err)
		h.waitUntil(10*time.Second, "the trunk is loaded", func() bool { return len(h.node.TrunkSources().TrunksAt(source)) == 1 })
		created = trunk
	}
	_, err := other.services().Numbers.CreateNumber(t.Context(), other.live, &domain.PhoneNumber{Number: "*", AgentID: other.createAgent(other.live, keyMenuPathway()), TrunkID: created.ID})
	require.NoError(t, err)
	ctx := context.WithValue(t.Context(), claimQueryKey{}, true)
	for to, order := range map[string][]*fixture{"+442079460001": {mute, other}, "+442079460002": {other, mute}} { // the fixture caches what it has read
		var board node.Router
		for _, h := range order {
			board.Add(h.node)
		}
		store.away.Store(true)
		got, all := board.FindClaim(ctx, node.MatchQuery{To: to, Source: source})
		assert.False(t, all, to)
		assert.Equal(t, domain.ClaimCatchAll, got.Rank, to)
		assert.Equal(t, created.ID, got.TrunkID, to)
		store.away.Store(false)
		_, all = board.FindClaim(ctx, node.MatchQuery{To: to, Source: source})
		assert.True(t, all, to)
	}
}

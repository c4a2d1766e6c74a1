package location

import (
	"context"
	"errors"
	"net/netip"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/sip/cluster"
	"github.com/callboard/callboard/sip/transport"
)

// fakeCluster is a cluster of the nodes "here", "b" and "c". owner owns the workspace "wb".
type fakeCluster struct {
	names   map[string]string // workspaces by stored name
	claims  map[string]domain.CallClaim
	silent  map[string]bool // nodes that do not answer
	owner   string          // owner of the workspace wb
	queries int             // number of queries to nodes
	unknown bool            // no trunk here knows the source
}

func (f *fakeCluster) Self() string { return "here" }
func (f *fakeCluster) LiveNodes() []lease.Node {
	return []lease.Node{f.node("here"), f.node("b"), f.node("c")}
}

func (f *fakeCluster) node(id string) lease.Node {
	return lease.Node{ID: id, Addr: id, SIP: map[string]string{"here": "192.0.2.1:5060", "b": "192.0.2.2:5060", "c": "192.0.2.3:5060"}[id]}
}

func (f *fakeCluster) OwnerOf(string) (lease.Node, bool) { return f.node(f.owner), f.owner != "" }
func (f *fakeCluster) HasTrunkTo(netip.AddrPort) bool    { return !f.unknown }

func (f *fakeCluster) StoredClaim(_ context.Context, name string) (string, error) {
	return f.names[name], nil
}

func (f *fakeCluster) LocalClaim(context.Context, actornode.MatchQuery) Claim {
	return Claim{CallClaim: f.claims["here"]}
}

func (f *fakeCluster) QueryNode(_ context.Context, addr string, _ actornode.MatchQuery) (Claim, error) {
	if f.queries++; f.silent[addr] {
		return Claim{}, errors.New("no answer")
	}
	return Claim{CallClaim: f.claims[addr]}, nil
}

func (f *fakeCluster) QueryNodes(ctx context.Context, q actornode.MatchQuery) (out []domain.NodeClaim, err error) {
	for _, id := range []string{"b", "c"} {
		c, queryErr := f.QueryNode(ctx, id, q)
		out, err = append(out, domain.NodeClaim{CallClaim: c.CallClaim, Node: id}), errors.Join(err, queryErr)
	}
	return out, err
}

func TestFindRanksStoredClaimsAndTrunkClaims(t *testing.T) {
	invite := cluster.OwnerQuery{Method: "INVITE", To: "+447700900001", From: "anonymous", CallID: "1", Source: transport.Source{Addr: netip.MustParseAddrPort("198.51.100.1:5060")}}
	phone, number := map[string]string{"panonymous": "wb"}, map[string]string{"n+447700900001": "wb"}
	at := func(here, b, c domain.ClaimRank) map[string]domain.CallClaim {
		return map[string]domain.CallClaim{"here": {Rank: here}, "b": {Rank: b}, "c": {Rank: c}}
	}
	const nowhere = "no node"
	for name, c := range map[string]struct {
		nodes     fakeCluster
		isLimited bool
		want      string
		queries   int
	}{
		"caller named like a phone":                                       {fakeCluster{names: phone}, false, "b", 2},
		"caller named like a phone, catch-all number of another node":     {fakeCluster{names: phone, claims: at(0, 0, domain.ClaimCatchAll)}, false, "c", 2},
		"caller named like a phone, catch-all number here":                {fakeCluster{names: phone, claims: at(domain.ClaimCatchAll, 0, 0)}, false, "here", 2},
		"caller named like a phone, trunk with digest":                    {fakeCluster{names: phone, claims: at(0, 0, domain.ClaimUnauthenticated)}, false, "c", 2},
		"caller named like a phone, a node is silent":                     {fakeCluster{names: phone, silent: map[string]bool{"c": true}}, false, "b", 2},
		"unknown caller, a node is silent":                                {fakeCluster{silent: map[string]bool{"c": true}}, false, nowhere, 2},
		"number of another node":                                          {fakeCluster{names: number, claims: at(domain.ClaimSource, domain.ClaimNumber, 0)}, false, "b", 0},
		"number of another node, source unknown here":                     {fakeCluster{names: number, unknown: true}, false, "b", 0},
		"number of another node, catch-all number here":                   {fakeCluster{names: number, claims: at(domain.ClaimCatchAll, domain.ClaimNumber, 0)}, false, "b", 1},
		"number without a trunk, catch-all number here":                   {fakeCluster{names: number, claims: at(domain.ClaimCatchAll, domain.ClaimSource, 0)}, false, "here", 3},
		"number without a trunk, two catch-all numbers":                   {fakeCluster{names: number, claims: at(domain.ClaimCatchAll, 0, domain.ClaimUnauthenticatedNumber)}, false, "c", 3},
		"number of a silent node":                                         {fakeCluster{names: number, claims: at(domain.ClaimCatchAll, 0, 0), silent: map[string]bool{"b": true}}, false, "b", 1},
		"number of a shard without an owner":                              {fakeCluster{names: number, claims: at(domain.ClaimCatchAll, 0, 0), owner: "none"}, false, nowhere, 0},
		"number of this node":                                             {fakeCluster{names: number, claims: at(domain.ClaimNumber, 0, 0), owner: "here"}, false, "here", 0},
		"number of this node without a trunk, catch-all number elsewhere": {fakeCluster{names: number, claims: at(0, 0, domain.ClaimCatchAll), owner: "here"}, false, "c", 2},
		"number of this node without a trunk":                             {fakeCluster{names: number, owner: "here"}, false, "here", 2},
		"query limit reached, catch-all number here":                      {fakeCluster{claims: at(domain.ClaimCatchAll, domain.ClaimNumber, 0)}, true, "here", 0},
		"query limit reached":                                             {fakeCluster{claims: at(domain.ClaimSource, domain.ClaimNumber, 0)}, true, nowhere, 0},
		"query limit reached, number of another node":                     {fakeCluster{names: number, claims: at(domain.ClaimCatchAll, 0, 0)}, true, "b", 0},
		"query limit reached, caller named like a phone":                  {fakeCluster{names: phone}, true, "b", 0},
	} {
		switch f := &c.nodes; f.owner {
		case "":
			f.owner = "b"
		case "none":
			f.owner = ""
		}
		w, a := New(&c.nodes), invite
		a.AllowQuery = func() bool { return !c.isLimited }
		to := func(at netip.AddrPort, elsewhere bool) string {
			for _, n := range c.nodes.LiveNodes() {
				if elsewhere && n.SIP == at.String() {
					return n.ID
				}
			}
			return map[bool]string{true: nowhere, false: "here"}[elsewhere]
		}
		assert.Equal(t, c.want, to(w.Find(a)), name)
		assert.Equal(t, c.queries, c.nodes.queries, name)
		if where, elsewhere, sure := w.FindCached(a); sure {
			assert.Equal(t, c.want, to(where, elsewhere), "%s, from memory", name)
		} else {
			assert.True(t, c.isLimited || len(c.nodes.silent) > 0, "%s is cached", name)
		}
	}
}

func TestHeaderMatchIsCachedForCallsWithTheSameHeaderOnly(t *testing.T) {
	f := &fakeCluster{owner: "b", claims: map[string]domain.CallClaim{"b": {Rank: domain.ClaimCatchAll, ByHeader: true}}}
	w := New(f)
	a := cluster.OwnerQuery{
		Method: "INVITE", To: "1", CallID: "1", Source: transport.Source{Addr: netip.MustParseAddrPort("198.51.100.1:5060")},
		MatchFields: map[string]string{"x-trunk-id": "acme"},
	}
	at, _ := w.Find(a)
	assert.Equal(t, "192.0.2.2:5060", at.String())
	cancel := a
	cancel.Method, cancel.MatchFields = "CANCEL", nil
	at, _, sure := w.FindCached(cancel)
	assert.True(t, sure, "the CANCEL has no header")
	assert.Equal(t, "192.0.2.2:5060", at.String())
	_, _, sure = w.FindCached(a)
	assert.True(t, sure)
	other := a
	other.CallID, other.MatchFields = "2", map[string]string{"x-trunk-id": "other"}
	_, _, sure = w.FindCached(other)
	assert.False(t, sure)
	f.claims = map[string]domain.CallClaim{"c": {Rank: domain.ClaimCatchAll, ByHeader: true}}
	at, _ = w.Find(other)
	assert.Equal(t, "192.0.2.3:5060", at.String())
}

func TestCancelIsRoutedToTheNodeOfItsCallForThreeMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeCluster{owner: "b", claims: map[string]domain.CallClaim{"b": {Rank: domain.ClaimCatchAll}}}
		w := New(f)
		a := cluster.OwnerQuery{Method: "INVITE", To: "1", User: "carrier", CallID: "1", Source: transport.Source{Addr: netip.MustParseAddrPort("198.51.100.1:5060")}}
		_, elsewhere := w.Find(a)
		assert.True(t, elsewhere)
		f.claims = nil
		for i := range 3 * maxCachedAnswers { // entries of other calls
			w.store("n"+strconv.Itoa(i), location{})
		}
		time.Sleep(cancelLifetime - time.Second)
		a.Method, a.User = "CANCEL", ""
		at, elsewhere, sure := w.FindCached(a)
		assert.Equal(t, []any{"192.0.2.2:5060", true, true}, []any{at.String(), elsewhere, sure})
		time.Sleep(time.Second)
		_, _, sure = w.FindCached(a)
		assert.False(t, sure, "the alert is resolved")
	})
}

func TestLocationCacheDropsTheOldestEntriesFirst(t *testing.T) {
	l, now := locationCache{lifetime: time.Minute}, time.Now()
	for i := range 5*maxCachedAnswers + 1 {
		l.put(strconv.Itoa(i), location{workspace: "w"}, now)
	}
	assert.LessOrEqual(t, len(l.young)+len(l.old), 2*maxCachedAnswers)
	_, stored := l.get(strconv.Itoa(5*maxCachedAnswers-1), now)
	assert.True(t, stored)
	_, stored = l.get("0", now)
	assert.False(t, stored)
	for i := range 4 { // a rarely filled cache keeps entries until they expire
		at := now.Add(time.Duration(i+1) * 50 * time.Second)
		l.put("few", location{node: strconv.Itoa(i)}, at)
		c, stored := l.get("few", at.Add(time.Minute-1))
		assert.True(t, stored)
		assert.Equal(t, strconv.Itoa(i), c.node)
		_, stored = l.get("few", at.Add(time.Minute))
		assert.False(t, stored)
	}
	_, stored = l.get(strconv.Itoa(5*maxCachedAnswers-1), now)
	assert.False(t, stored, "expired entries are dropped")
}

func TestPendingNumberHasNoOwner(t *testing.T) {
	for status, want := range map[domain.NumberStatus]string{domain.NumberLive: "ws", domain.NumberPending: ""} {
		got, err := ReadWorkspaceClaim(t.Context(), numberRows{status}, 'n', "+447700900001")
		require.NoError(t, err)
		assert.Equal(t, want, got, status)
	}
}

// numberRows is a store that contains one phone number with the given status.
type numberRows struct{ status domain.NumberStatus }

func (r numberRows) Get(_ context.Context, into domain.Record) (uint64, error) {
	switch row := into.(type) {
	case *domain.NumberClaim:
		row.WorkspaceID, row.NumberID = "ws", "num"
	case *domain.PhoneNumber:
		row.Status = r.status
	}
	return 1, nil
}

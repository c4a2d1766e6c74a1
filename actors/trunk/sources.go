package trunk

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// lookupLimit bounds one name look-up of a proxy.
const lookupLimit = 5 * time.Second

// Sources knows from which addresses calls may come, over all workspaces. It is
// read for every message of a stranger, so it is one map behind a pointer.
type Sources struct {
	mu     sync.Mutex // guards the writing side
	of     map[string][]source
	turn   uint64
	turns  map[string]uint64 // by which each workspace stands there
	byAddr atomic.Pointer[index]
	// Resolve looks the names of proxies up; nil: names admit nobody.
	Resolve func(context.Context, resolve.Target) ([]resolve.Target, error)
	// Carrier is where the built-in carrier sends from; nil: there is none. It
	// is set before the first message.
	TestCarrier func() netip.AddrPort
}

// Entry is a trunk and whose it is.
type Entry struct {
	WorkspaceID string
	Trunk       domain.Trunk
}

// source is where a trunk's calls come from.
type source struct {
	entry    Entry
	addrs    []netip.Addr
	networks []netip.Prefix
}

type index struct {
	exact    map[netip.Addr][]Entry
	networks []network
	// simulated are the trunks of the built-in carrier.
	simulated []Entry
}

type network struct {
	prefix netip.Prefix
	entry  Entry
}

// NewSources makes an empty one: it admits nobody.
func NewSources() *Sources {
	b := &Sources{of: make(map[string][]source), turns: make(map[string]uint64)}
	b.byAddr.Store(&index{exact: make(map[netip.Addr][]Entry)})
	return b
}

// NextUpdate is taken before trunks are read for Set.
func (b *Sources) NextUpdate() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn++
	return b.turn
}

// Set replaces a workspace's trunks, unless others did whose turn was later.
// Names of proxies are looked up here, so it may take seconds: call it beside
// an actor.
func (b *Sources) Set(ctx context.Context, turn uint64, workspaceID string, trunks []domain.Trunk) {
	sources := make([]source, 0, len(trunks))
	for _, t := range trunks {
		if t.IsTestOnly() {
			continue
		}
		t.Auth = nil
		e := Entry{WorkspaceID: workspaceID, Trunk: t}
		if t.Simulator {
			sources = append(sources, source{entry: e})
			continue
		}
		sources = append(sources, b.sourceOf(ctx, e))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if turn < b.turns[workspaceID] {
		return
	}
	b.turns[workspaceID] = turn
	b.of[workspaceID] = sources
	ix := &index{exact: make(map[netip.Addr][]Entry)}
	for _, list := range b.of {
		for _, s := range list {
			if s.entry.Trunk.Simulator {
				ix.simulated = append(ix.simulated, s.entry)
				continue
			}
			ix.add(s)
		}
	}
	for _, found := range ix.exact {
		slices.SortFunc(found, older)
	}
	slices.SortFunc(ix.simulated, older)
	b.byAddr.Store(ix)
}

// older puts who came first first: where several workspaces claim one source,
// a later trunk takes no calls from those that were there.
func older(a, b Entry) int {
	return cmp.Or(a.Trunk.CreatedAt.Compare(b.Trunk.CreatedAt), cmp.Compare(a.Trunk.ID, b.Trunk.ID))
}

func (b *Sources) sourceOf(ctx context.Context, e Entry) source {
	s := source{entry: e}
	for _, text := range e.Trunk.Inbound.AllowedIPs {
		if p, err := netip.ParsePrefix(text); err == nil {
			s.networks = append(s.networks, p.Masked())
		} else if a, err := netip.ParseAddr(text); err == nil {
			s.addrs = append(s.addrs, a.Unmap())
		}
	}
	if len(e.Trunk.Inbound.AllowedIPs) > 0 {
		return s
	}
	proxies := e.Trunk.Proxies
	if p := e.Trunk.OutboundProxy; p != nil {
		proxies = append(slices.Clip(proxies), *p)
	}
	for _, p := range proxies {
		for _, a := range b.addresses(ctx, p) {
			if !slices.Contains(s.addrs, a) {
				s.addrs = append(s.addrs, a)
			}
		}
	}
	return s
}

func (ix *index) add(s source) {
	for _, a := range s.addrs {
		ix.exact[a] = append(ix.exact[a], s.entry)
	}
	for _, p := range s.networks {
		ix.networks = append(ix.networks, network{p, s.entry})
	}
}

func (b *Sources) addresses(ctx context.Context, p domain.Proxy) []netip.Addr {
	if a, err := netip.ParseAddr(strings.Trim(p.Host, "[]")); err == nil {
		return []netip.Addr{a.Unmap()}
	}
	if b.Resolve == nil {
		return nil
	}
	bound, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	found, err := b.Resolve(bound, resolve.Target{Host: p.Host, Port: p.Port, Transport: p.Transport})
	if err != nil {
		return nil
	}
	out := make([]netip.Addr, 0, len(found))
	for _, t := range found {
		if a, err := netip.ParseAddr(t.Host); err == nil {
			out = append(out, a.Unmap())
		}
	}
	return out
}

// TrunksAt are the trunks whose calls may come from an address, the oldest first.
func (b *Sources) TrunksAt(from netip.AddrPort) []Entry {
	ix, a := b.byAddr.Load(), from.Addr().Unmap()
	if b.TestCarrier != nil && len(ix.simulated) > 0 && b.TestCarrier() == netip.AddrPortFrom(a, from.Port()) {
		return ix.simulated
	}
	out, more := ix.exact[a], false
	for _, n := range ix.networks {
		if n.prefix.Contains(a) {
			out, more = append(slices.Clip(out), n.entry), true
		}
	}
	if more {
		slices.SortFunc(out, older)
	}
	return out
}

// Admit is sip's question about a source. Where a trunk wants a proof, so does
// it; where every one does, nobody calls from there without.
func (b *Sources) Admit(s transport.Source) sip.Admission {
	found := b.TrunksAt(s.Addr)
	if len(found) == 0 {
		return sip.Admission{}
	}
	a := sip.Admission{Allow: true, TrunkID: found[0].Trunk.ID, RequireAuthentication: true}
	for i := range found {
		digest := found[i].Trunk.Inbound.Auth
		if digest == nil {
			a.RequireAuthentication = false
		} else if a.Account == nil {
			a.Realm = digest.Realm
			a.Account = func(user string) (auth.Account, bool) { return accountOf(found, user) }
		}
	}
	return a
}

// accountOf is the trunk at a source that a user of digest belongs to.
func accountOf(found []Entry, user string) (auth.Account, bool) {
	for i := range found {
		if digest := found[i].Trunk.Inbound.Auth; digest != nil && digest.Username == user {
			return auth.Account{ID: found[i].Trunk.ID, User: user, Password: digest.Password}, true
		}
	}
	return auth.Account{}, false
}

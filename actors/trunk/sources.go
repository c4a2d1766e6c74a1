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

// lookupLimit limits one DNS look-up of a proxy.
const lookupLimit = 5 * time.Second

// Sources holds the source addresses of the trunks of all workspaces. The SIP user agent reads it for every message
// from an unknown source address, so reads use an immutable index. Its methods are safe for concurrent use.
type Sources struct {
	mu                sync.Mutex // serializes updates
	byWorkspace       map[string][]trunkSource
	lastUpdate        uint64
	updateByWorkspace map[string]uint64 // update that set each workspace's trunks
	index             atomic.Pointer[sourceIndex]
	// Resolve looks up the host names of proxies. If it is nil, host names admit no source address.
	Resolve func(context.Context, resolve.Target) ([]resolve.Target, error)
	// TestCarrier returns the source address of the built-in test carrier. It is nil if there is no test carrier, and
	// must be set before the first SIP message arrives.
	TestCarrier func() netip.AddrPort
}

// Entry is a trunk and its workspace.
type Entry struct {
	WorkspaceID string
	Trunk       domain.Trunk
}

// trunkSource is the set of addresses from which a trunk's calls come.
type trunkSource struct {
	entry    Entry
	addrs    []netip.Addr
	networks []netip.Prefix
}

type sourceIndex struct {
	exact    map[netip.Addr][]Entry
	networks []network
	// testCarrier lists the trunks of the built-in test carrier.
	testCarrier []Entry
}

type network struct {
	prefix netip.Prefix
	entry  Entry
}

// NewSources returns Sources without trunks, which admit no source address.
func NewSources() *Sources {
	b := &Sources{byWorkspace: make(map[string][]trunkSource), updateByWorkspace: make(map[string]uint64)}
	b.index.Store(&sourceIndex{exact: make(map[netip.Addr][]Entry)})
	return b
}

// NextUpdate returns the number of a new update for Set. The caller calls it before it reads the trunks from the store.
func (b *Sources) NextUpdate() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lastUpdate++
	return b.lastUpdate
}

// Set replaces a workspace's trunks. turn is the number from NextUpdate: Set does nothing if an update with a higher
// number has already been applied. Set looks up host names and may take seconds, so an actor must call it in a
// background goroutine.
func (b *Sources) Set(ctx context.Context, turn uint64, workspaceID string, trunks []domain.Trunk) {
	sources := make([]trunkSource, 0, len(trunks))
	for _, t := range trunks {
		if t.IsTestOnly() {
			continue
		}
		t.Auth = nil
		e := Entry{WorkspaceID: workspaceID, Trunk: t}
		if t.Simulator {
			sources = append(sources, trunkSource{entry: e})
			continue
		}
		sources = append(sources, b.sourceOf(ctx, e))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if turn < b.updateByWorkspace[workspaceID] {
		return
	}
	b.updateByWorkspace[workspaceID] = turn
	b.byWorkspace[workspaceID] = sources
	ix := &sourceIndex{exact: make(map[netip.Addr][]Entry)}
	for _, list := range b.byWorkspace {
		for _, s := range list {
			if s.entry.Trunk.Simulator {
				ix.testCarrier = append(ix.testCarrier, s.entry)
				continue
			}
			ix.add(s)
		}
	}
	for _, found := range ix.exact {
		slices.SortFunc(found, compareAge)
	}
	slices.SortFunc(ix.testCarrier, compareAge)
	b.index.Store(ix)
}

// compareAge orders entries by the age of their trunks. If trunks of several workspaces have the same source address,
// the oldest trunk gets its calls.
func compareAge(a, b Entry) int {
	return cmp.Or(a.Trunk.CreatedAt.Compare(b.Trunk.CreatedAt), cmp.Compare(a.Trunk.ID, b.Trunk.ID))
}

func (b *Sources) sourceOf(ctx context.Context, e Entry) trunkSource {
	s := trunkSource{entry: e}
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
		for _, a := range b.lookUpProxy(ctx, p) {
			if !slices.Contains(s.addrs, a) {
				s.addrs = append(s.addrs, a)
			}
		}
	}
	return s
}

func (ix *sourceIndex) add(s trunkSource) {
	for _, a := range s.addrs {
		ix.exact[a] = append(ix.exact[a], s.entry)
	}
	for _, p := range s.networks {
		ix.networks = append(ix.networks, network{p, s.entry})
	}
}

func (b *Sources) lookUpProxy(ctx context.Context, p domain.Proxy) []netip.Addr {
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

// TrunksAt returns the trunks whose calls may come from an address, oldest first.
func (b *Sources) TrunksAt(from netip.AddrPort) []Entry {
	ix, a := b.index.Load(), from.Addr().Unmap()
	if b.TestCarrier != nil && len(ix.testCarrier) > 0 && b.TestCarrier() == netip.AddrPortFrom(a, from.Port()) {
		return ix.testCarrier
	}
	out, more := ix.exact[a], false
	for _, n := range ix.networks {
		if n.prefix.Contains(a) {
			out, more = append(slices.Clip(out), n.entry), true
		}
	}
	if more {
		slices.SortFunc(out, compareAge)
	}
	return out
}

// Admit decides whether the user agent accepts a message from a source address. The sender must authenticate if all
// trunks at the address have inbound.auth.
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

// accountOf returns the digest account with a user name of one of the found trunks.
func accountOf(found []Entry, user string) (auth.Account, bool) {
	for i := range found {
		if digest := found[i].Trunk.Inbound.Auth; digest != nil && digest.Username == user {
			return auth.Account{ID: found[i].Trunk.ID, User: user, Password: digest.Password}, true
		}
	}
	return auth.Account{}, false
}

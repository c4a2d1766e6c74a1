package trunk

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// lookupLimit bounds one name look-up of a proxy.
const lookupLimit = 5 * time.Second

// Book knows from which addresses calls may come, over all workspaces. It is
// read for every message of a stranger, so it is one map behind a pointer.
type Book struct {
	mu     sync.Mutex // guards the writing side
	of     map[string][]source
	byAddr atomic.Pointer[index]
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
}

type network struct {
	prefix netip.Prefix
	entry  Entry
}

// NewBook makes an empty one: it admits nobody.
func NewBook() *Book {
	b := &Book{of: make(map[string][]source)}
	b.byAddr.Store(&index{exact: make(map[netip.Addr][]Entry)})
	return b
}

// Set replaces a workspace's trunks. Names of proxies are looked up here, so
// it may take seconds: call it beside an actor.
func (b *Book) Set(ctx context.Context, workspaceID string, trunks []domain.Trunk) {
	sources := make([]source, 0, len(trunks))
	for _, t := range trunks {
		if !t.Simulator {
			t.Auth = nil
			sources = append(sources, sourceOf(ctx, Entry{WorkspaceID: workspaceID, Trunk: t}))
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of[workspaceID] = sources
	ix := &index{exact: make(map[netip.Addr][]Entry)}
	for _, list := range b.of {
		for _, s := range list {
			ix.add(s)
		}
	}
	b.byAddr.Store(ix)
}

func sourceOf(ctx context.Context, e Entry) source {
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
	for _, p := range e.Trunk.Proxies {
		for _, a := range addresses(ctx, p.Host) {
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

func addresses(ctx context.Context, host string) []netip.Addr {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}
	}
	bound, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(bound, "ip", host)
	if err != nil {
		return nil
	}
	for i := range found {
		found[i] = found[i].Unmap()
	}
	return found
}

// Of are the trunks whose calls may come from an address.
func (b *Book) Of(a netip.Addr) []Entry {
	ix := b.byAddr.Load()
	out := ix.exact[a.Unmap()]
	for _, n := range ix.networks {
		if n.prefix.Contains(a.Unmap()) {
			out = append(slices.Clip(out), n.entry)
		}
	}
	return out
}

// Admit is sip's question about a source.
func (b *Book) Admit(s sip.Source) sip.Admission {
	found := b.Of(s.Addr.Addr())
	if len(found) == 0 {
		return sip.Admission{}
	}
	return sip.Admission{Allow: true, TrunkID: found[0].Trunk.ID}
}

package sip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	maxFound  = 16 // addresses of one target
	badFor    = 30 * time.Second
	badAtMost = 10 * time.Minute
	maxBad    = 4096
)

var errNoAddress = errors.New("no address")

// ResolverConfig may stay zero.
type ResolverConfig struct {
	Servers []netip.AddrPort // name servers; nil: those of /etc/resolv.conf
	Hosts   string           // file with names that need no server; "": /etc/hosts
}

// Resolver finds the addresses of targets by NAPTR, SRV, A and AAAA
// (RFC 3263). It keeps what it found as long as the servers allow, and
// remembers which addresses failed of late: they come last.
type Resolver struct {
	cache *dnsCache
	mu    sync.Mutex
	bad   map[badKey]badUntil
}

type badKey struct {
	network string
	addr    netip.AddrPort
}

type badUntil struct {
	until time.Time
	wait  time.Duration
}

// NewResolver reads the configuration of the machine where cfg leaves it open.
func NewResolver(cfg ResolverConfig) *Resolver {
	return &Resolver{cache: newDNSCache(newDNSClient(cfg).lookup), bad: make(map[badKey]badUntil)}
}

// Resolve turns a target into those to be tried, best first: by priority, by
// weight, addresses that failed of late last. Host of each is an IP address,
// Port and Transport are set, and Name is what a certificate must carry. It
// waits for the name servers; ctx bounds that.
func (r *Resolver) Resolve(ctx context.Context, t Target) ([]Target, error) {
	return r.resolve(t, func(q dns.Question) ([]dns.RR, error) { return r.cache.get(ctx, q) })
}

// known is Resolve from memory alone.
func (r *Resolver) known(t Target) []Target {
	found, err := r.resolve(t, r.cache.cached)
	if err != nil {
		return nil
	}
	return found
}

// Failed remembers that an address of Resolve did not answer.
func (r *Resolver) Failed(t Target) {
	key, ok := badKeyOf(t)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.bad) >= maxBad {
		clear(r.bad)
	}
	wait := min(max(badFor, 2*r.bad[key].wait), badAtMost)
	r.bad[key] = badUntil{time.Now().Add(wait), wait}
}

// Worked forgets that an address failed.
func (r *Resolver) Worked(t Target) {
	if key, ok := badKeyOf(t); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.bad, key)
	}
}

func badKeyOf(t Target) (badKey, bool) {
	ip, err := netip.ParseAddr(t.Host)
	return badKey{t.Transport, netip.AddrPortFrom(ip.Unmap(), uint16(t.Port&0xFFFF))}, err == nil
}

func (r *Resolver) isBad(t Target, now time.Time) bool {
	key, _ := badKeyOf(t)
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Before(r.bad[key].until)
}

// queryFunc returns the records of a question; none: there are none.
type queryFunc func(dns.Question) ([]dns.RR, error)

func (r *Resolver) resolve(t Target, query queryFunc) ([]Target, error) {
	host := strings.TrimSuffix(strings.ToLower(strings.Trim(t.Host, "[]")), ".")
	if t.Transport == networkTLS && t.Name == "" {
		t.Name = host
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return []Target{settledTarget(t, ip)}, nil
	}
	found, err := r.services(t, host, query)
	if err == nil && len(found) == 0 {
		found, err = hosts(t, host, query)
	}
	if err != nil {
		return nil, fmt.Errorf("sip: resolve %s: %w", host, err)
	}
	now := time.Now()
	slices.SortStableFunc(found, func(a, b Target) int { return rank(r.isBad(a, now)) - rank(r.isBad(b, now)) })
	return found[:min(len(found), maxFound)], nil
}

func rank(bad bool) int {
	if bad {
		return 1
	}
	return 0
}

func settledTarget(t Target, ip netip.Addr) Target {
	t.Host = ip.Unmap().WithZone("").String()
	if t.Transport == "" {
		t.Transport = networkUDP
	}
	if t.Port == 0 {
		t.Port = portOf(t.Transport)
	}
	return t
}

func portOf(network string) int {
	if network == networkTLS {
		return defaultTLSPort
	}
	return defaultPort
}

// service is an SRV name and the transport it stands for.
type service struct{ network, name string }

func srvName(network, host string) service {
	switch network {
	case networkTLS:
		return service{network, "_sips._tcp." + host}
	case networkTCP:
		return service{network, "_sip._tcp." + host}
	default:
		return service{networkUDP, "_sip._udp." + host}
	}
}

// services are the targets by NAPTR and SRV: none where a port is given
// (RFC 3263 4.1, 4.2) or the domain has no such records.
func (r *Resolver) services(t Target, host string, query queryFunc) ([]Target, error) {
	if t.Port != 0 {
		return nil, nil
	}
	names := []service{srvName(t.Transport, host)}
	byNAPTR := false
	if t.Transport == "" {
		records, err := query(newQuestion(host, dns.TypeNAPTR))
		if err != nil {
			return nil, err
		}
		if names = preferred(records); len(names) > 0 {
			byNAPTR = true
		} else {
			names = []service{srvName(networkUDP, host), srvName(networkTCP, host), srvName(networkTLS, host)}
		}
	}
	var found []Target
	for _, s := range names {
		one, err := servers(t, host, s, query)
		if err != nil {
			return nil, err
		}
		if found = append(found, one...); len(found) > 0 && !byNAPTR {
			break
		}
	}
	return found, nil
}

// preferred sorts NAPTR records by order and preference (RFC 3403 §4.1), and
// keeps those that lead to an SRV name over a transport of Callboard's.
func preferred(records []dns.RR) []service {
	networks := map[string]string{"sip+d2u": networkUDP, "sip+d2t": networkTCP, "sips+d2t": networkTLS}
	naptrs := recordsOf[*dns.NAPTR](records)
	slices.SortStableFunc(naptrs, func(a, b *dns.NAPTR) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Preference, b.Preference))
	})
	var names []service
	for _, n := range naptrs {
		network := networks[strings.ToLower(n.Service)]
		if network != "" && strings.EqualFold(n.Flags, "s") && hostOf(n.Replacement) != "" {
			names = append(names, service{network, n.Replacement})
		}
	}
	return names
}

func recordsOf[T dns.RR](records []dns.RR) []T {
	var found []T
	for _, rr := range records {
		if r, ok := rr.(T); ok {
			found = append(found, r)
		}
	}
	return found
}

// hostOf is a domain name without its final dot: "" for the root.
func hostOf(name string) string { return strings.TrimSuffix(name, ".") }

// servers are the targets of one SRV name in the order of RFC 2782.
func servers(t Target, host string, s service, query queryFunc) ([]Target, error) {
	records, err := query(newQuestion(s.name, dns.TypeSRV))
	if err != nil {
		return nil, err
	}
	var found []Target
	var last error
	for _, srv := range byWeight(recordsOf[*dns.SRV](records)) {
		if hostOf(srv.Target) == "" || srv.Port == 0 || len(found) >= maxFound {
			continue // "." says that the service is not offered
		}
		one := t
		one.Transport, one.Port = s.network, int(srv.Port)
		if one.Name == "" && s.network == networkTLS {
			one.Name = host
		}
		addrs, err := hosts(one, srv.Target, query)
		if err != nil {
			last = err
			continue
		}
		found = append(found, addrs...)
	}
	if len(found) == 0 && len(records) > 0 {
		return nil, errors.Join(errNoAddress, last)
	}
	return found, nil
}

// byWeight sorts by priority, and draws by weight among equals (RFC 2782).
func byWeight(left []*dns.SRV) []*dns.SRV {
	slices.SortStableFunc(left, func(a, b *dns.SRV) int { return cmp.Compare(a.Priority, b.Priority) })
	sorted := make([]*dns.SRV, 0, len(left))
	for len(left) > 0 {
		total, end := 0, 0
		for end < len(left) && left[end].Priority == left[0].Priority {
			total += int(left[end].Weight) + 1 // so that a weight of 0 has its small chance
			end++
		}
		drawn, at := rand.IntN(total), 0 //nolint:gosec // spreads load, guards nothing
		for drawn -= int(left[0].Weight) + 1; drawn >= 0; drawn -= int(left[at].Weight) + 1 {
			at++
		}
		sorted = append(sorted, left[at])
		left = slices.Delete(left, at, at+1)
	}
	return sorted
}

// hosts are the addresses of a name, IPv4 first.
func hosts(t Target, host string, query queryFunc) ([]Target, error) {
	var found []Target
	var errs error
	for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
		records, err := query(newQuestion(host, qtype))
		errs = errors.Join(errs, err)
		for _, rr := range records {
			if ip, ok := addressOf(rr); ok {
				found = append(found, settledTarget(t, ip))
			}
		}
	}
	if len(found) == 0 {
		return nil, errors.Join(errNoAddress, errs)
	}
	return found, nil
}

// addressOf reads an A or AAAA record. Its data may be empty.
func addressOf(rr dns.RR) (netip.Addr, bool) {
	switch r := rr.(type) {
	case *dns.A:
		return netip.AddrFromSlice(r.A)
	case *dns.AAAA:
		return netip.AddrFromSlice(r.AAAA)
	}
	return netip.Addr{}, false
}

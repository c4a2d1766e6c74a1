package sip

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	maxFound  = 16 // addresses of one target
	badFor    = 30 * time.Second
	badAtMost = 10 * time.Minute
	maxBad    = 4096
)

var (
	errNoAddress = errors.New("no address")
	errNotKnown  = errors.New("not in memory")
)

// ResolverConfig may stay zero.
type ResolverConfig struct {
	Servers []netip.AddrPort // name servers; nil: those of /etc/resolv.conf
	Hosts   string           // file with names that need no server; "": /etc/hosts
}

// Resolver finds the addresses of targets by NAPTR, SRV, A and AAAA
// (RFC 3263). It keeps what it found as long as the servers allow, and
// remembers which addresses failed of late: they come last.
type Resolver struct {
	dns *dnsClient
	mu  sync.Mutex
	bad map[badKey]badUntil
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
	return &Resolver{dns: newDNS(cfg), bad: make(map[badKey]badUntil)}
}

// Resolve turns a target into those to be tried, best first: by priority, by
// weight, addresses that failed of late last. Host of each is an IP address,
// Port and Transport are set, and Name is what a certificate must carry. It
// waits for the name servers; ctx bounds that.
func (r *Resolver) Resolve(ctx context.Context, t Target) ([]Target, error) {
	return r.resolve(t, func(q question) ([]record, error) { return r.dns.ask(ctx, q) })
}

// known is Resolve from memory alone.
func (r *Resolver) known(t Target) []Target {
	found, err := r.resolve(t, r.dns.remembered)
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

type asker func(question) ([]record, error)

func (r *Resolver) resolve(t Target, ask asker) ([]Target, error) {
	host := strings.TrimSuffix(strings.ToLower(strings.Trim(t.Host, "[]")), ".")
	if t.Transport == networkTLS && t.Name == "" {
		t.Name = host
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return []Target{settledTarget(t, ip)}, nil
	}
	found, err := r.services(t, host, ask)
	if err == nil && len(found) == 0 {
		found, err = hosts(t, host, ask)
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
func (r *Resolver) services(t Target, host string, ask asker) ([]Target, error) {
	if t.Port != 0 {
		return nil, nil
	}
	names := []service{srvName(t.Transport, host)}
	byNAPTR := false
	if t.Transport == "" {
		records, err := ask(question{host, typeNAPTR})
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
		one, err := servers(t, host, s, ask)
		if err != nil {
			return nil, err
		}
		if found = append(found, one...); len(found) > 0 && !byNAPTR {
			break
		}
	}
	return found, nil
}

// preferred reads NAPTR records in their order: those that lead to an SRV
// name by a transport of ours.
func preferred(records []record) []service {
	known := map[string]string{"sip+d2u": networkUDP, "sip+d2t": networkTCP, "sips+d2t": networkTLS}
	records = slices.Clone(records)
	slices.SortStableFunc(records, func(a, b record) int {
		return (int(a.order)-int(b.order))<<16 + int(a.preference) - int(b.preference)
	})
	var names []service
	for _, n := range records {
		if network := known[n.service]; network != "" && n.flags == "s" && n.target != "" {
			names = append(names, service{network, n.target})
		}
	}
	return names
}

// servers are the targets of one SRV name in the order of RFC 2782.
func servers(t Target, host string, s service, ask asker) ([]Target, error) {
	records, err := ask(question{s.name, typeSRV})
	if err != nil {
		return nil, err
	}
	var found []Target
	var last error
	for _, srv := range byWeight(records) {
		if srv.target == "" || srv.port == 0 || len(found) >= maxFound {
			continue // "." says that the service is not offered
		}
		one := t
		one.Transport, one.Port = s.network, int(srv.port)
		if one.Name == "" && s.network == networkTLS {
			one.Name = host
		}
		addrs, err := hosts(one, srv.target, ask)
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

// byWeight sorts by priority, and draws by weight among equals.
func byWeight(records []record) []record {
	left := slices.Clone(records)
	slices.SortStableFunc(left, func(a, b record) int { return int(a.order) - int(b.order) })
	sorted := make([]record, 0, len(left))
	for len(left) > 0 {
		total, end := 0, 0
		for end < len(left) && left[end].order == left[0].order {
			total += int(left[end].weight) + 1 // so that a weight of 0 has its small chance
			end++
		}
		drawn, at := rand.IntN(total), 0 //nolint:gosec // spreads load, guards nothing
		for drawn -= int(left[0].weight) + 1; drawn >= 0; drawn -= int(left[at].weight) + 1 {
			at++
		}
		sorted = append(sorted, left[at])
		left = slices.Delete(left, at, at+1)
	}
	return sorted
}

// hosts are the addresses of a name, IPv4 first.
func hosts(t Target, host string, ask asker) ([]Target, error) {
	var found []Target
	var errs error
	for _, kind := range []recordType{typeA, typeAAAA} {
		records, err := ask(question{host, kind})
		errs = errors.Join(errs, err)
		for _, a := range records {
			found = append(found, settledTarget(t, a.addr))
		}
	}
	if len(found) == 0 {
		return nil, errors.Join(errNoAddress, errs)
	}
	return found, nil
}

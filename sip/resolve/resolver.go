// Package resolve finds the addresses of SIP targets by DNS (RFC 3263).
//
// It queries the configured name servers itself, caches responses as long as their TTLs allow, and puts addresses
// that failed recently last.
package resolve

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
	maxFound     = 16 // addresses of one target
	failedFor    = 30 * time.Second
	maxFailedFor = 10 * time.Minute
	maxFailed    = 4096
)

var errNoAddress = errors.New("no address")

// Config configures a Resolver. The zero value uses the configuration of the machine.
type Config struct {
	Servers []netip.AddrPort // name servers; nil: those of /etc/resolv.conf
	Hosts   string           // path of a hosts file; "": /etc/hosts
}

// Resolver finds the addresses of targets by NAPTR, SRV, A and AAAA records (RFC 3263). It caches answers as long
// as their TTLs allow, and puts addresses that failed recently last.
type Resolver struct {
	cache  *dnsCache
	mu     sync.Mutex
	failed map[failedKey]failedUntil
}

type failedKey struct {
	network string
	addr    netip.AddrPort
}

type failedUntil struct {
	until time.Time
	wait  time.Duration
}

// New returns a resolver.
func New(cfg Config) *Resolver {
	return &Resolver{cache: newDNSCache(newDNSClient(cfg).lookup), failed: make(map[failedKey]failedUntil)}
}

// Resolve returns the addresses of a target in the order in which to try them: by priority and weight, with recently
// failed addresses last. In each result Host is an IP address, Port and Transport are set, and Name is the name that a
// TLS certificate must carry. Resolve waits for the name servers until ctx ends.
func (r *Resolver) Resolve(ctx context.Context, t Target) ([]Target, error) {
	return r.resolve(t, func(q dns.Question) ([]dns.RR, error) { return r.cache.get(ctx, q) })
}

// ResolveCached returns the same as Resolve, but only from cached answers. It returns nil if a lookup would be needed.
func (r *Resolver) ResolveCached(t Target) []Target {
	found, err := r.resolve(t, r.cache.cached)
	if err != nil {
		return nil
	}
	return found
}

// MarkFailed records that an address which Resolve returned did not answer.
func (r *Resolver) MarkFailed(t Target) {
	key, ok := failedKeyOf(t)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failed) >= maxFailed {
		clear(r.failed)
	}
	wait := min(max(failedFor, 2*r.failed[key].wait), maxFailedFor)
	r.failed[key] = failedUntil{time.Now().Add(wait), wait}
}

// MarkReachable records that an address which Resolve returned answered.
func (r *Resolver) MarkReachable(t Target) {
	if key, ok := failedKeyOf(t); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.failed, key)
	}
}

func failedKeyOf(t Target) (failedKey, bool) {
	ip, err := netip.ParseAddr(t.Host)
	return failedKey{t.Transport, netip.AddrPortFrom(ip.Unmap(), uint16(t.Port&0xFFFF))}, err == nil
}

// FailedRecently reports whether MarkFailed was called recently for the address of a target.
func (r *Resolver) FailedRecently(t Target, now time.Time) bool {
	key, _ := failedKeyOf(t)
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Before(r.failed[key].until)
}

// queryFunc returns the records that answer a DNS question. An empty result means that no such records exist.
type queryFunc func(dns.Question) ([]dns.RR, error)

func (r *Resolver) resolve(t Target, query queryFunc) ([]Target, error) {
	host := strings.TrimSuffix(strings.ToLower(strings.Trim(t.Host, "[]")), ".")
	if t.Transport == TLS && t.Name == "" {
		t.Name = host
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return []Target{WithAddress(t, ip)}, nil
	}
	found, err := r.services(t, host, query)
	if err == nil && len(found) == 0 {
		found, err = hosts(t, host, query)
	}
	if err != nil {
		return nil, fmt.Errorf("sip: resolve %s: %w", host, err)
	}
	now := time.Now()
	slices.SortStableFunc(found, func(a, b Target) int {
		return rankFailed(r.FailedRecently(a, now)) - rankFailed(r.FailedRecently(b, now))
	})
	return found[:min(len(found), maxFound)], nil
}

func rankFailed(bad bool) int {
	if bad {
		return 1
	}
	return 0
}

// service is the name of an SRV record and the transport that the record is for.
type service struct{ network, name string }

func srvName(network, host string) service {
	switch network {
	case TLS:
		return service{network, "_sips._tcp." + host}
	case TCP:
		return service{network, "_sip._tcp." + host}
	default:
		return service{UDP, "_sip._udp." + host}
	}
}

// services returns the targets that the NAPTR and SRV records of a domain name. It returns none if a port is given (RFC
// 3263 §4.1, §4.2) or if the domain has no such records.
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
		if names = preferredServices(records); len(names) > 0 {
			byNAPTR = true
		} else {
			names = []service{srvName(UDP, host), srvName(TCP, host), srvName(TLS, host)}
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

// preferredServices sorts NAPTR records by order and preference (RFC 3403 §4.1). It keeps the records that name an SRV
// record and a supported transport.
func preferredServices(records []dns.RR) []service {
	networks := map[string]string{"sip+d2u": UDP, "sip+d2t": TCP, "sips+d2t": TLS}
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

// hostOf returns a domain name without its final dot; "" for the root.
func hostOf(name string) string { return strings.TrimSuffix(name, ".") }

// servers returns the targets of the SRV records with one name, in the order of RFC 2782.
func servers(t Target, host string, s service, query queryFunc) ([]Target, error) {
	records, err := query(newQuestion(s.name, dns.TypeSRV))
	if err != nil {
		return nil, err
	}
	var found []Target
	var last error
	for _, srv := range sortByWeight(recordsOf[*dns.SRV](records)) {
		if hostOf(srv.Target) == "" || srv.Port == 0 || len(found) >= maxFound {
			continue // the target "." means that the service is not offered
		}
		one := t
		one.Transport, one.Port = s.network, int(srv.Port)
		if one.Name == "" && s.network == TLS {
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

// sortByWeight sorts SRV records by priority, and randomly by weight within a priority (RFC 2782).
func sortByWeight(left []*dns.SRV) []*dns.SRV {
	slices.SortStableFunc(left, func(a, b *dns.SRV) int { return cmp.Compare(a.Priority, b.Priority) })
	sorted := make([]*dns.SRV, 0, len(left))
	for len(left) > 0 {
		total, end := 0, 0
		for end < len(left) && left[end].Priority == left[0].Priority {
			total += int(left[end].Weight) + 1 // so that a record with weight 0 has a small chance
			end++
		}
		drawn, at := rand.IntN(total), 0 //nolint:gosec // for load balancing, not for security
		for drawn -= int(left[0].Weight) + 1; drawn >= 0; drawn -= int(left[at].Weight) + 1 {
			at++
		}
		sorted = append(sorted, left[at])
		left = slices.Delete(left, at, at+1)
	}
	return sorted
}

// hosts returns the addresses of a name, IPv4 first.
func hosts(t Target, host string, query queryFunc) ([]Target, error) {
	var found []Target
	var errs error
	for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
		records, err := query(newQuestion(host, qtype))
		errs = errors.Join(errs, err)
		for _, rr := range records {
			if ip, ok := addressOf(rr); ok {
				found = append(found, WithAddress(t, ip))
			}
		}
	}
	if len(found) == 0 {
		return nil, errors.Join(errNoAddress, errs)
	}
	return found, nil
}

// addressOf returns the address in an A or AAAA record. It returns false if the record has no valid address.
func addressOf(rr dns.RR) (netip.Addr, bool) {
	switch r := rr.(type) {
	case *dns.A:
		return netip.AddrFromSlice(r.A)
	case *dns.AAAA:
		return netip.AddrFromSlice(r.AAAA)
	}
	return netip.Addr{}, false
}

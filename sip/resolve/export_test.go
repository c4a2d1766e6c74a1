package resolve

import (
	"context"
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

// IsCached reports whether a target can be resolved from cached answers within their TTL.
func (r *Resolver) IsCached(t Target) bool { return len(r.ResolveCached(t)) > 0 }

// ReadResponse parses a response of a name server as the resolver does. It returns the records that answer a question,
// and the name at the end of the CNAME chain.
func ReadResponse(b []byte, name string, qtype uint16) (records []dns.RR, last string, err error) {
	m := new(dns.Msg)
	if err = m.Unpack(b); err != nil {
		return nil, "", err
	}
	q := newQuestion(name, qtype)
	if err = checkResponse(m, q); err != nil {
		return nil, "", err
	}
	chain := cnameChain{name: q.Name, ttl: maxTTL}
	chain.follow(m, qtype)
	preferredServices(chain.records)
	sortByWeight(recordsOf[*dns.SRV](chain.records))
	for _, rr := range chain.records {
		addressOf(rr)
	}
	return chain.records, chain.name, nil
}

// LookupDNS looks up the records of a name without a cache.
func LookupDNS(ctx context.Context, cfg Config, name string, qtype uint16) ([]dns.RR, time.Duration, error) {
	answer, err := newDNSClient(cfg).lookup(ctx, newQuestion(name, qtype))
	return answer.records, answer.ttl, err
}

// ReadResolvConf returns the name servers of a resolv.conf(5) file.
func ReadResolvConf(path string) []netip.AddrPort { return readResolvConf(path) }

// DNSCache wraps the cache of a resolver for tests.
type DNSCache struct{ cache *dnsCache }

// NewDNSCache returns a cache that calls lookup instead of querying name servers.
func NewDNSCache(lookup func(context.Context, string) ([]dns.RR, time.Duration, error)) DNSCache {
	return DNSCache{newDNSCache(func(ctx context.Context, q dns.Question) (dnsAnswer, error) {
		records, ttl, err := lookup(ctx, q.Name)
		return dnsAnswer{records, ttl}, err
	})}
}

// Get returns the A records of a name.
func (c DNSCache) Get(ctx context.Context, name string) ([]dns.RR, error) {
	return c.cache.get(ctx, newQuestion(name, dns.TypeA))
}

// Len returns the number of names in the cache.
func (c DNSCache) Len() int { return c.cache.entries.Len() }

package sip

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxSources is how many sources a limiter tells apart.
const maxSources = 4096

// limiter is a token bucket per source, an IPv6 source being its /64. It keeps
// the buckets that may lack tokens and nothing else, so a source never gets
// tokens because of others. While maxSources buckets lack tokens, new sources
// share the bucket of their wide network, and beyond as many networks one.
type limiter struct {
	mu       sync.Mutex
	rate     float64 // tokens per second
	burst    float64
	each     *buckets
	networks *buckets
	rest     bucket
}

// buckets are in the order of their last use.
type buckets = simplelru.LRU[netip.Addr, *bucket]

// bucket had so many tokens at that time.
type bucket struct {
	tokens float64
	at     time.Time
}

func newLimiter(rate, burst float64) *limiter {
	return &limiter{rate: rate, burst: burst, each: newLRU[netip.Addr, *bucket](), networks: newLRU[netip.Addr, *bucket](), rest: bucket{tokens: burst}}
}

// newLRU has room for maxSources.
func newLRU[K comparable, V any]() *simplelru.LRU[K, V] {
	l, err := simplelru.NewLRU[K, V](maxSources, nil)
	if err != nil { // only for a size below 1
		panic(err)
	}
	return l
}

// spend takes cost tokens if the source has them. A cost of 0 takes nothing and
// reports whether the source has a token.
func (l *limiter) spend(a netip.Addr, cost float64, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(a, cost > 0, now)
	b.tokens = min(l.burst, b.tokens+max(now.Sub(b.at).Seconds(), 0)*l.rate)
	b.at = now
	if b.tokens < max(cost, 1) {
		return false
	}
	b.tokens -= cost
	return true
}

// bucket is the one that a source takes tokens from. A new bucket is kept only
// where tokens are taken.
func (l *limiter) bucket(a netip.Addr, keep bool, now time.Time) *bucket {
	if b := l.among(l.each, subnet(a), keep, now); b != nil {
		return b
	}
	if b := l.among(l.networks, wideNetwork(a), keep, now); b != nil {
		return b
	}
	return &l.rest
}

// among finds or adds a bucket; nil: all the buckets may lack tokens.
func (l *limiter) among(all *buckets, key netip.Addr, keep bool, now time.Time) *bucket {
	if b, ok := all.Get(key); ok {
		return b
	}
	full := time.Duration(l.burst / l.rate * float64(time.Second))
	for {
		_, oldest, ok := all.GetOldest()
		if !ok || now.Sub(oldest.at) < full {
			break
		}
		all.RemoveOldest()
	}
	if all.Len() >= maxSources {
		return nil
	}
	b := &bucket{tokens: l.burst, at: now}
	if keep {
		all.Add(key, b)
	}
	return b
}

// subnet is what counts as one source: an address, and of IPv6 its /64.
func subnet(a netip.Addr) netip.Addr { return prefixOf(a, 32, 64) }

// wideNetwork is what sources share while there are too many of them: of IPv4
// the /16, of IPv6 the /32, which registries give to one network operator.
func wideNetwork(a netip.Addr) netip.Addr { return prefixOf(a, 16, 32) }

func prefixOf(a netip.Addr, bits4, bits6 int) netip.Addr {
	bits := bits6
	if a = a.Unmap().WithZone(""); a.Is4() {
		bits = bits4
	}
	p, err := a.Prefix(bits)
	if err != nil { // of no address
		return a
	}
	return p.Addr()
}

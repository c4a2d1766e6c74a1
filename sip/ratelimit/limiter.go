// Package ratelimit limits how many messages each source may send.
//
// Its memory is bounded, whatever the number of sources. While fewer than maxSources sources have sent messages
// recently, each source has its own tokens, and no source affects another one.
package ratelimit

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxSources is the maximum number of sources that have their own token bucket in a limiter.
const maxSources = 4096

// Limiter has a token bucket per source: per IPv4 address and per IPv6 /64. It stores only buckets that may lack
// tokens. While maxSources buckets are stored, new sources share a bucket per network (IPv4 /16, IPv6 /32). While
// maxSources networks are stored too, all further sources share one bucket.
type Limiter struct {
	mu       sync.Mutex
	rate     float64 // tokens per second
	burst    float64
	bySource *buckets
	networks *buckets
	overflow bucket
}

// buckets are token buckets by address or network, in order of their last use.
type buckets = simplelru.LRU[netip.Addr, *bucket]

// bucket is a token bucket.
type bucket struct {
	tokens float64
	at     time.Time // time at which the bucket had these tokens
}

// NewLimiter returns a limiter with a rate in tokens per second and a burst for each source.
func NewLimiter(rate, burst float64) *Limiter {
	return &Limiter{rate: rate, burst: burst, bySource: newBuckets(), networks: newBuckets(), overflow: bucket{tokens: burst}}
}

func newBuckets() *buckets {
	l, _ := simplelru.NewLRU[netip.Addr, *bucket](maxSources, nil) // fails for a size below 1
	return l
}

// Len returns the number of stored buckets.
func (l *Limiter) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bySource.Len() + l.networks.Len()
}

// Spend takes cost tokens if the source has them. With a cost of 0 it takes nothing and reports whether the source
// has a token.
func (l *Limiter) Spend(a netip.Addr, cost float64, now time.Time) bool {
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

// bucket returns the token bucket of a source. It stores a new bucket only if keep is true.
func (l *Limiter) bucket(a netip.Addr, keep bool, now time.Time) *bucket {
	if b := l.findOrAdd(l.bySource, Subnet(a), keep, now); b != nil {
		return b
	}
	if b := l.findOrAdd(l.networks, wideNetwork(a), keep, now); b != nil {
		return b
	}
	return &l.overflow
}

// findOrAdd returns the bucket with a key, or a new full bucket, which it stores only if keep is true. It first removes
// buckets that are full again. It returns nil if maxSources other buckets are stored.
func (l *Limiter) findOrAdd(all *buckets, key netip.Addr, keep bool, now time.Time) *bucket {
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

// Subnet returns the source that an address belongs to: the IPv4 address or the IPv6 /64.
func Subnet(a netip.Addr) netip.Addr { return prefixOf(a, 32, 64) }

// wideNetwork returns the network whose sources share a bucket when bySource is full: the IPv4 /16 or the IPv6 /32.
// Registries allocate an IPv6 /32 to one network operator.
func wideNetwork(a netip.Addr) netip.Addr { return prefixOf(a, 16, 32) }

func prefixOf(a netip.Addr, bits4, bits6 int) netip.Addr {
	bits := bits6
	if a = a.Unmap().WithZone(""); a.Is4() {
		bits = bits4
	}
	p, err := a.Prefix(bits)
	if err != nil { // not an address
		return a
	}
	return p.Addr()
}

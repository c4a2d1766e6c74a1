package resolve

import (
	"context"
	"errors"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/miekg/dns"
	"golang.org/x/sync/singleflight"
)

const (
	maxTTL         = time.Hour
	minTTL         = time.Second
	negativeTTL    = 30 * time.Second // of a response without a SOA record
	maxNegativeTTL = 5 * time.Minute
	failureTTL     = 2 * time.Second // no server answered
	localTTL       = time.Minute     // names of the hosts file and of the operating system
	staleFor       = time.Hour       // how long an expired answer is used while no server responds (RFC 8767)
	staleDelay     = 1800 * time.Millisecond
	maxNames       = 2048
	lookupLimit    = 10 * time.Second
)

var errNotCached = errors.New("not in the cache")

// dnsCache stores DNS answers in memory as long as their TTLs allow. Concurrent lookups of the same question share one
// lookup.
type dnsCache struct {
	lookup  func(context.Context, dns.Question) (dnsAnswer, error)
	entries *lru.Cache[dns.Question, dnsEntry]
	flights singleflight.Group
}

type dnsEntry struct {
	records    []dns.RR
	err        error
	expires    time.Time
	staleUntil time.Time
}

func newDNSCache(lookup func(context.Context, dns.Question) (dnsAnswer, error)) *dnsCache {
	entries, _ := lru.New[dns.Question, dnsEntry](maxNames) // fails for a size below 1
	return &dnsCache{lookup: lookup, entries: entries}
}

// cached returns an unexpired answer from memory. If there is none, it returns errNotCached.
func (c *dnsCache) cached(q dns.Question) ([]dns.RR, error) {
	e, _ := c.entries.Get(q)
	if !time.Now().Before(e.expires) {
		return nil, errNotCached
	}
	return e.records, e.err
}

// get returns the answer from memory, or waits for a lookup. The lookup continues for other callers when ctx of one
// caller ends. If the cache has an expired answer, get returns it after staleDelay at the latest.
func (c *dnsCache) get(ctx context.Context, q dns.Question) ([]dns.RR, error) {
	if records, err := c.cached(q); !errors.Is(err, errNotCached) {
		return records, err
	}
	flight := c.flights.DoChan(q.String(), func() (any, error) {
		if records, err := c.cached(q); !errors.Is(err, errNotCached) { // another lookup has just ended
			return records, err
		}
		shared, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupLimit)
		defer cancel()
		return c.refresh(shared, q)
	})
	stale, _ := c.entries.Get(q)
	isStale := time.Now().Before(stale.staleUntil)
	wait, cancel := ctx, func() {}
	if isStale {
		wait, cancel = context.WithTimeout(ctx, staleDelay)
	}
	defer cancel()
	select {
	case result := <-flight:
		records, _ := result.Val.([]dns.RR)
		return records, result.Err
	case <-wait.Done():
		if isStale {
			return stale.records, nil
		}
		return nil, ctx.Err()
	}
}

func (c *dnsCache) refresh(ctx context.Context, q dns.Question) ([]dns.RR, error) {
	answer, err := c.lookup(ctx, q)
	now := time.Now()
	e, _ := c.entries.Get(q)
	switch {
	case err == nil:
		e = dnsEntry{records: answer.records, expires: now.Add(answer.ttl), staleUntil: now.Add(answer.ttl + staleFor)}
	case now.Before(e.staleUntil):
		e.expires = now.Add(failureTTL)
	default:
		e = dnsEntry{err: err, expires: now.Add(failureTTL)}
	}
	c.entries.Add(q, e)
	return e.records, e.err
}

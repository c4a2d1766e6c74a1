package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/resolve"
)

// fakeResolver is an in-memory name server.
type fakeResolver struct {
	records []dns.RR
	ttl     time.Duration
	err     error
	took    time.Duration
	count   atomic.Int64
}

func (l *fakeResolver) lookup(context.Context, string) ([]dns.RR, time.Duration, error) {
	l.count.Add(1)
	time.Sleep(l.took)
	return l.records, l.ttl, l.err
}

func newAddressRecord(t *testing.T) []dns.RR {
	t.Helper()
	rr, err := dns.NewRR("a.example. 60 IN A 192.0.2.1")
	require.NoError(t, err)
	return []dns.RR{rr}
}

func TestDNSCacheStoresRecordsForTheirTTL(t *testing.T) {
	for name, records := range map[string][]dns.RR{"an answer": newAddressRecord(t), "no such name": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &fakeResolver{records: records, ttl: time.Minute}
				c := resolve.NewDNSCache(l.lookup)
				for _, step := range []struct {
					wait time.Duration
					want int64
				}{{0, 1}, {59 * time.Second, 1}, {time.Second, 2}, {59 * time.Second, 2}, {time.Second, 3}} {
					time.Sleep(step.wait)
					got, err := c.Get(t.Context(), "a.example")
					require.NoError(t, err)
					assert.Equal(t, records, got)
					assert.Equal(t, step.want, l.count.Load())
				}
				_, err := c.Get(t.Context(), "A.Example.")
				require.NoError(t, err)
				assert.EqualValues(t, 3, l.count.Load(), "names are compared without regard to case")
			})
		})
	}
}

// While no name server responds, expired answers are used for an hour. This includes the answer that a name has no
// records, because without it a lookup of absent NAPTR records would fail.
func TestDNSCacheUsesStaleAnswersForAnHour(t *testing.T) {
	for name, records := range map[string][]dns.RR{"records": newAddressRecord(t), "no such name": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &fakeResolver{records: records, ttl: time.Minute}
				c := resolve.NewDNSCache(l.lookup)
				_, err := c.Get(t.Context(), "a.example")
				require.NoError(t, err)
				l.err = errors.New("no server responds")
				time.Sleep(time.Minute)
				for range 3600 {
					got, err := c.Get(t.Context(), "a.example")
					require.NoError(t, err)
					require.Equal(t, records, got)
					time.Sleep(time.Second)
				}
				assert.EqualValues(t, 1+1800, l.count.Load(), "the servers are queried every two seconds")
				_, err = c.Get(t.Context(), "a.example")
				require.ErrorIs(t, err, l.err)
				l.err = nil
				_, err = c.Get(t.Context(), "a.example")
				require.Error(t, err, "a failure is cached")
				time.Sleep(2 * time.Second)
				got, err := c.Get(t.Context(), "a.example")
				require.NoError(t, err)
				assert.Equal(t, records, got)
			})
		})
	}
}

func TestDNSCacheUsesStaleAnswerWhileServersAreSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeResolver{records: newAddressRecord(t), ttl: time.Minute}
		c := resolve.NewDNSCache(l.lookup)
		_, err := c.Get(t.Context(), "a.example")
		require.NoError(t, err)
		l.err, l.took = errors.New("no server responds"), 6*time.Second
		time.Sleep(time.Minute)
		for _, step := range []struct{ limit, want time.Duration }{{time.Minute, 1800 * time.Millisecond}, {time.Second, time.Second}} {
			ctx, cancel := context.WithTimeout(t.Context(), step.limit)
			start := time.Now()
			got, err := c.Get(ctx, "a.example")
			cancel()
			require.NoError(t, err)
			assert.Len(t, got, 1)
			assert.Equal(t, step.want, time.Since(start))
		}
		time.Sleep(6 * time.Second)
		assert.EqualValues(t, 2, l.count.Load(), "both callers waited for the same lookup")
	})
}

func TestDNSCacheSharesLookupBetweenCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeResolver{records: newAddressRecord(t), ttl: time.Minute, took: 3 * time.Second}
		c := resolve.NewDNSCache(func(ctx context.Context, name string) ([]dns.RR, time.Duration, error) {
			records, ttl, _ := l.lookup(ctx, name)
			deadline, ok := ctx.Deadline()
			assert.True(t, ok)
			assert.Equal(t, 7*time.Second, time.Until(deadline), "every lookup has a time limit")
			return records, ttl, ctx.Err()
		})
		var callers sync.WaitGroup
		callers.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start := time.Now()
			_, err := c.Get(ctx, "a.example")
			assert.Equal(t, time.Second, time.Since(start))
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
		synctest.Wait()
		for range 50 {
			callers.Go(func() {
				got, err := c.Get(t.Context(), "a.example")
				assert.Len(t, got, 1)
				assert.NoError(t, err)
			})
		}
		callers.Wait()
		assert.EqualValues(t, 1, l.count.Load())
	})
}

func TestDNSCacheStores2048Names(t *testing.T) {
	l := &fakeResolver{records: newAddressRecord(t), ttl: time.Hour}
	c := resolve.NewDNSCache(l.lookup)
	for i := range 3000 {
		_, err := c.Get(t.Context(), fmt.Sprintf("n%d.example", i))
		require.NoError(t, err)
		_, err = c.Get(t.Context(), "used.example")
		require.NoError(t, err)
	}
	assert.Equal(t, 2048, c.Len())
	assert.EqualValues(t, 3001, l.count.Load(), "a recently used name stays")
}

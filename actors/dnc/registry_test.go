package dnc_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	register "github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/persistence/redis"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

const ws, env = "ws_01J00000000000000000000000", domain.Live

var (
	defaultList = domain.DefaultDNCID(ws, env)
	scrub       = dnc.DefaultScrub(ws, env)
	origin      = dnc.Origin{Source: domain.DNCImport, At: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}
)

// store is a real store that counts its reads and can inject failures.
type store struct {
	*persistence.Store
	reads       atomic.Int64
	loseReplies atomic.Bool // commits succeed, but their replies are lost
	down        atomic.Bool
}

var errLostReply = errors.New("the answer was lost")

func (s *store) Get(ctx context.Context, into domain.Record) (uint64, error) {
	s.reads.Add(1)
	if s.down.Load() {
		return 0, errLostReply
	}
	return s.Store.Get(ctx, into)
}

func (s *store) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	e, err := s.Store.Apply(ctx, c)
	if err == nil && s.loseReplies.Load() {
		return nil, errLostReply
	}
	return e, err
}

// forEachDriver runs a test on both storage drivers.
func forEachDriver(t *testing.T, f func(t *testing.T, s *store)) {
	t.Helper()
	on := func(t *testing.T, d persistence.Driver, err error) {
		require.NoError(t, err)
		s, err := persistence.NewStore(t.Context(), d, make([]byte, persistence.MasterKeySize), "me")
		require.NoError(t, err)
		f(t, &store{Store: s})
		require.NoError(t, d.Close())
	}
	t.Run("pebble", func(t *testing.T) {
		d, err := pebble.Open(t.TempDir(), pebble.Options{})
		on(t, d, err)
	})
	t.Run("redis", func(t *testing.T) {
		url, _ := redistest.Start(t)
		d, err := redis.Open(t.Context(), url, redis.Options{})
		on(t, d, err)
	})
}

func isListed(t *testing.T, r *register.Registry, n uint64) bool {
	t.Helper()
	hit, err := r.FindMatch(t.Context(), ws, scrub, n)
	require.NoError(t, err)
	return hit != nil
}

func TestAddedNumbersAreFoundAtOnceAndAfterRestart(t *testing.T) {
	forEachDriver(t, func(t *testing.T, s *store) {
		r := register.New(s, fakeHash, nil)
		require.NoError(t, r.LoadList(t.Context(), ws, defaultList))
		var numbers []uint64
		for i := range uint64(5000) {
			numbers = append(numbers, 12025000000+i)
		}
		added, err := r.AddNumbers(t.Context(), ws, defaultList, numbers, origin)
		require.NoError(t, err)
		assert.Equal(t, 5000, added)
		added, err = r.AddNumbers(t.Context(), ws, defaultList, numbers[:10], origin)
		require.NoError(t, err)
		assert.Zero(t, added)
		next := register.New(s, fakeHash, nil) // another process, before and after it has loaded the list
		for _, of := range []*register.Registry{r, next} {
			for _, n := range []uint64{12025000000, 12025004999} {
				require.True(t, of.MayBeListed(ws, scrub, n))
				require.True(t, isListed(t, of, n))
			}
			require.False(t, isListed(t, of, 12026000000))
		}
		require.NoError(t, next.LoadList(t.Context(), ws, defaultList))
		reads, wrong := s.reads.Load(), 0
		for i := range uint64(5000) {
			require.True(t, next.MayBeListed(ws, scrub, 12025000000+i))
			if next.MayBeListed(ws, scrub, 12026000000+i) {
				wrong++
			}
		}
		assert.Less(t, wrong, 100, "nearly all others are answered from memory")
		assert.Equal(t, reads, s.reads.Load())
		n, err := next.CountEntries(t.Context(), ws, defaultList)
		require.NoError(t, err)
		assert.Equal(t, 5000, n)
	})
}

func TestRemovedNumberMayBeCalledAgain(t *testing.T) {
	forEachDriver(t, func(t *testing.T, s *store) {
		r := register.New(s, fakeHash, nil)
		_, err := r.AddNumbers(t.Context(), ws, defaultList, []uint64{12025550123, 12025550124}, origin)
		require.NoError(t, err)
		removed, err := r.RemoveNumber(t.Context(), ws, defaultList, 12025550123)
		require.NoError(t, err)
		assert.True(t, removed)
		assert.False(t, isListed(t, r, 12025550123))
		assert.True(t, isListed(t, r, 12025550124))
		removed, err = r.RemoveNumber(t.Context(), ws, defaultList, 12025550123)
		require.NoError(t, err)
		assert.False(t, removed)
	})
}

func TestListIsPagedAndDeleted(t *testing.T) {
	forEachDriver(t, func(t *testing.T, s *store) {
		r := register.New(s, fakeHash, nil)
		var numbers []uint64
		for i := range uint64(1000) {
			numbers = append(numbers, 12025000000+i)
		}
		_, err := r.AddNumbers(t.Context(), ws, defaultList, numbers, origin)
		require.NoError(t, err)
		seen := make(map[string]bool)
		bucket, after := 0, uint64(0)
		for {
			page, nextBucket, nextAfter, err := r.ListEntries(t.Context(), ws, defaultList, bucket, after, 7, nil)
			require.NoError(t, err)
			require.LessOrEqual(t, len(page), 7)
			for _, e := range page {
				require.False(t, seen[e.Phone], "twice: %s", e.Phone)
				seen[e.Phone] = true
			}
			if nextAfter == 0 {
				break
			}
			bucket, after = nextBucket, nextAfter
		}
		assert.Len(t, seen, 1000)
		require.NoError(t, r.DeleteEntries(t.Context(), ws, defaultList))
		n, err := r.CountEntries(t.Context(), ws, defaultList)
		require.NoError(t, err)
		assert.Zero(t, n)
		assert.False(t, isListed(t, r, 12025000000))
	})
}

func TestPartlyDeletedListIsReadFromStore(t *testing.T) {
	forEachDriver(t, func(t *testing.T, s *store) {
		r := register.New(s, fakeHash, nil)
		require.NoError(t, r.LoadList(t.Context(), ws, defaultList))
		_, err := r.AddNumbers(t.Context(), ws, defaultList, []uint64{12025550123}, origin)
		require.NoError(t, err)
		s.loseReplies.Store(true)
		require.Error(t, r.DeleteEntries(t.Context(), ws, defaultList))
		assert.True(t, r.MayBeListed(ws, scrub, 12025550999), "memory knows nothing any more")
		assert.False(t, isListed(t, r, 12025550123))
	})
}

func TestRepeatedOptOutAfterLostReplyHasOneEvent(t *testing.T) {
	forEachDriver(t, func(t *testing.T, s *store) {
		r := register.New(s, fakeHash, nil)
		require.NoError(t, r.LoadList(t.Context(), ws, defaultList))
		add := func(call string) error {
			draft := event.Draft{ID: "event_" + call, Type: event.ContactOptedOut, WorkspaceID: ws, Environment: env, Subject: call, CreatedAt: origin.At}
			_, err := r.AddNumbers(t.Context(), ws, defaultList, []uint64{12025550123}, dnc.Origin{Source: domain.DNCOptOut, At: origin.At, CallID: call}, draft)
			return err
		}
		s.loseReplies.Store(true)
		require.ErrorIs(t, add("call_1"), errLostReply)
		s.loseReplies.Store(false)
		require.NoError(t, add("call_1"))
		require.NoError(t, add("call_1"))
		assert.True(t, isListed(t, r, 12025550123))
		events, err := s.Events(t.Context(), ws, 0, 100)
		require.NoError(t, err)
		assert.Len(t, events, 1)
		require.NoError(t, add("call_2"))
	})
}

func TestConcurrentAddsLoseNoNumber(t *testing.T) {
	forEachDriver(t, func(t *testing.T, s *store) {
		r := register.New(s, fakeHash, nil)
		require.NoError(t, r.LoadList(t.Context(), ws, defaultList))
		same := numbersInOneBucket(40)
		var wait sync.WaitGroup
		for _, n := range same {
			wait.Go(func() {
				_, err := r.AddNumbers(t.Context(), ws, defaultList, []uint64{n}, origin)
				hit, errCheck := r.MatchPhone(t.Context(), ws, scrub, dnc.UnpackNumber(n))
				assert.NotNil(t, hit, "found at once: %v, %v", err, errCheck)
			})
		}
		wait.Wait()
		n, err := r.CountEntries(t.Context(), ws, defaultList)
		require.NoError(t, err)
		assert.Equal(t, len(same), n)
	})
}

func numbersInOneBucket(n int) []uint64 {
	var out []uint64
	for i := uint64(12025550000); len(out) < n; i++ {
		if dnc.BucketOf(i) == dnc.BucketOf(12025550000) {
			out = append(out, i)
		}
	}
	return out
}

func TestChangeOfUnknownOutcomeIsReadFromStore(t *testing.T) {
	forEachDriver(t, func(t *testing.T, s *store) {
		r := register.New(s, fakeHash, nil)
		require.NoError(t, r.LoadList(t.Context(), ws, defaultList))
		require.False(t, r.MayBeListed(ws, scrub, 12025550123))
		s.loseReplies.Store(true)
		_, err := r.AddNumbers(t.Context(), ws, defaultList, []uint64{12025550123}, origin)
		require.ErrorIs(t, err, errLostReply)
		require.True(t, r.MayBeListed(ws, scrub, 12025550123), "the outcome is unknown")
		assert.True(t, isListed(t, r, 12025550123))
	})
}

func TestUnknownBucketIsNeverTreatedAsUnlisted(t *testing.T) {
	forEachDriver(t, func(t *testing.T, s *store) {
		r := register.New(s, fakeHash, nil)
		require.True(t, r.MayBeListed(ws, scrub, 12025550123), "nothing was read yet")
		s.down.Store(true)
		_, err := r.FindMatch(t.Context(), ws, scrub, 12025550123)
		require.ErrorIs(t, err, errLostReply)
		s.down.Store(false)
		assert.False(t, isListed(t, r, 12025550123))
		require.NoError(t, r.LoadList(t.Context(), ws, defaultList))
		assert.False(t, r.MayBeListed(ws, scrub, 12025550123))
	})
}

func TestFilterSnapshotIsInvalidatedByLaterListing(t *testing.T) {
	forEachDriver(t, func(t *testing.T, s *store) {
		r := register.New(s, fakeHash, nil)
		require.NoError(t, r.LoadList(t.Context(), ws, defaultList))
		mark, may := r.SnapshotFilters(ws, scrub, 12025550123)
		require.False(t, may)
		assert.True(t, r.IsStillUnlisted(ws, scrub, 12025550123, mark))
		_, err := r.AddNumbers(t.Context(), ws, defaultList, []uint64{12025550123}, origin)
		require.NoError(t, err)
		assert.False(t, r.IsStillUnlisted(ws, scrub, 12025550123, mark))
		mark, _ = r.SnapshotFilters(ws, scrub, 12025550999)
		r.AddPendingOptOut(ws, defaultList, 12025550999)
		assert.False(t, r.IsStillUnlisted(ws, scrub, 12025550999, mark), "an opt-out holds before the store has it")
		assert.True(t, isListed(t, r, 12025550999))
		r.RemovePendingOptOut(ws, defaultList, 12025550999)
		assert.False(t, isListed(t, r, 12025550999))
	})
}

func TestOptOutsOnlyScrubIgnoresOtherEntries(t *testing.T) {
	forEachDriver(t, func(t *testing.T, s *store) {
		r := register.New(s, fakeHash, nil)
		_, err := r.AddNumbers(t.Context(), ws, defaultList, []uint64{12025550123}, origin)
		require.NoError(t, err)
		_, err = r.AddNumbers(t.Context(), ws, defaultList, []uint64{12025550124}, dnc.Origin{Source: domain.DNCOptOut, At: origin.At})
		require.NoError(t, err)
		loose := dnc.ScrubRules{Default: defaultList, OptOutsOnly: true}
		hit, err := r.FindMatch(t.Context(), ws, loose, 12025550123)
		require.NoError(t, err)
		assert.Nil(t, hit)
		hit, err = r.FindMatch(t.Context(), ws, loose, 12025550124)
		require.NoError(t, err)
		assert.NotNil(t, hit)
	})
}

// fakeHash replaces the keyed hash of numbers by readable text.
func fakeHash(workspace string, n uint64) string {
	return fmt.Sprintf("hash of %d in %s", n^0x5555, workspace)
}

func TestErasedNumberIsMatchedByHash(t *testing.T) {
	t.Parallel()
	d, err := pebble.Open(t.TempDir(), pebble.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	s, err := persistence.NewStore(t.Context(), d, make([]byte, persistence.MasterKeySize), "me")
	require.NoError(t, err)
	ctx, n := t.Context(), uint64(12025550123)
	r := register.New(s, fakeHash, nil)
	_, err = r.AddNumbers(ctx, ws, defaultList, []uint64{n, 12025550124}, dnc.Origin{Source: domain.DNCOptOut, CallID: "call_1", At: time.Unix(1, 0).UTC()})
	require.NoError(t, err)
	erased, err := r.EraseNumber(ctx, ws, defaultList, n)
	require.NoError(t, err)
	assert.True(t, erased)
	erased, err = r.EraseNumber(ctx, ws, defaultList, n)
	require.NoError(t, err)
	assert.False(t, erased, "it is not known any more")

	next := register.New(s, fakeHash, nil) // another process, before and after it has loaded the list
	check := func() {
		t.Helper()
		for _, r := range []*register.Registry{r, next} {
			hit, err := r.MatchPhone(ctx, ws, dnc.ScrubRules{Default: defaultList, OptOutsOnly: true}, "+12025550123")
			require.NoError(t, err)
			require.NotNil(t, hit)
			assert.Equal(t, dnc.Origin{Source: domain.DNCOptOut, At: time.Unix(1, 0).UTC()}, hit.Origin, "without the call")
			hit, err = r.MatchPhone(ctx, ws, dnc.ScrubRules{Default: defaultList}, "+12025550125")
			require.NoError(t, err)
			assert.Nil(t, hit)
		}
	}
	check()
	require.NoError(t, next.LoadList(ctx, ws, defaultList))
	check()
	entries, _, _, err := next.ListEntries(ctx, ws, defaultList, 0, 0, 10, nil)
	require.NoError(t, err)
	require.Len(t, entries, 1, "the list does not show it")
	removed, err := next.RemoveNumber(ctx, ws, defaultList, n)
	require.NoError(t, err)
	assert.True(t, removed, "removal finds the number by its hash")
	hit, err := next.MatchPhone(ctx, ws, dnc.ScrubRules{Default: defaultList}, "+12025550123")
	require.NoError(t, err)
	assert.Nil(t, hit)
}

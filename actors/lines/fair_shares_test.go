package lines_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/domain"
)

func TestPermitsPerMinuteAreSpreadEvenlyOverCampaigns(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 1000, PerMinute: 60}, func(s *fixture) {
		a, b := s.spawnCampaign(), s.spawnCampaign()
		s.requestPermits(a, lines.RequestPermits{Count: 1000})
		s.requestPermits(b, lines.RequestPermits{Count: 1000})
		var each []int
		before := 0
		for range 180 {
			time.Sleep(time.Second)
			synctest.Wait()
			for _, c := range []*campaign{a, b} {
				for _, p := range c.permits() {
					s.bindPermit(p, "call", s.spawnCall())
				}
			}
			now := len(a.permits()) + len(b.permits())
			each = append(each, now-before)
			before = now
		}
		for _, n := range each[1:] {
			assert.LessOrEqual(s, n, 1, "in one second")
		}
		assert.InDelta(s, 177, before, 3, "three minutes, less the extra second of each window")
		assert.InDelta(s, len(a.permits()), len(b.permits()), 2)
	})
}

func TestRefusedAPICallGetsTheNextStartBeforeCampaigns(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 1000, PerMinute: 10, ReserveTenth: true}, func(s *fixture) {
		c := s.spawnCampaign()
		s.requestPermits(c, lines.RequestPermits{Count: 1000})
		done := 0
		bindAll := func() {
			synctest.Wait()
			for ; done < len(c.permits()); done++ {
				require.True(s, s.bindPermit(c.permits()[done], "call", s.spawnCall()))
			}
		}
		for range 130 {
			time.Sleep(time.Second)
			bindAll()
		}
		p, err := s.tryPermit()
		for ; err == nil; p, err = s.tryPermit() { // a few starts may be free between those of the campaign
			require.True(s, s.bindPermit(p, "single", s.spawnCall()))
		}
		var denied *domain.Error
		require.ErrorAs(s, err, &denied)
		require.Equal(s, domain.CodeRateLimit, denied.Code)
		wait, ok := denied.Extra["retry_after"].(int)
		require.True(s, ok)
		for range wait {
			time.Sleep(time.Second)
			bindAll()
		}
		_, err = s.tryPermit()
		require.NoError(s, err, "retry after %d s", wait)
		before := len(c.permits())
		for range 61 {
			time.Sleep(time.Second)
			bindAll()
		}
		assert.GreaterOrEqual(s, len(c.permits())-before, 8, "the campaign goes on")
	})
}

func TestAcceleratedCampaignHasItsOwnMinuteLimit(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 1000, PerMinute: 10}, func(s *fixture) {
		fast, ours := s.spawnCampaign(), s.spawnCampaign()
		s.requestPermits(fast, lines.RequestPermits{Count: 1000, ClockSpeed: 60})
		s.requestPermits(ours, lines.RequestPermits{Count: 1000})
		bound := map[*campaign]int{}
		for range 61 {
			time.Sleep(time.Second)
			synctest.Wait()
			for _, c := range []*campaign{fast, ours} {
				for ; bound[c] < len(c.permits()); bound[c]++ {
					call := s.spawnCall()
					require.True(s, s.bindPermit(c.permits()[bound[c]], "call", call))
					s.send(lines.ReleaseCall{CallID: "call"})
				}
			}
			assert.LessOrEqual(s, bound[fast], 1000)
		}
		assert.InDelta(s, 600, bound[fast], 15, "an hour of its clock per minute")
		assert.InDelta(s, 10, bound[ours], 1, "the normal campaign keeps its limit")
		_, err := s.tryPermit()
		require.Error(s, err, "the limit per minute is reached")
		s.requestPermits(fast, lines.RequestPermits{Count: 1000, Generation: 1})
		before := len(fast.permits())
		time.Sleep(30 * time.Second)
		synctest.Wait()
		assert.LessOrEqual(s, len(fast.permits())-before, 6, "at normal speed again")
	})
}

func TestLeasesOfAcceleratedCampaignsDoNotCountForTheMinute(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 1000, PerMinute: 10}, func(s *fixture) {
		fast := s.spawnCampaign()
		s.requestPermits(fast, lines.RequestPermits{Count: 1000, ClockSpeed: 60})
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.Greater(s, len(fast.permits()), 20)
		_, err := s.tryPermit()
		require.NoError(s, err)
	})
}

func TestAcceleratedAndNormalCampaignsAlternate(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 1, PerMinute: 6000}, func(s *fixture) {
		all := []*campaign{s.spawnCampaign(), s.spawnCampaign(), s.spawnCampaign()}
		s.requestPermits(all[0], lines.RequestPermits{Count: 100, ClockSpeed: 60})
		s.requestPermits(all[1], lines.RequestPermits{Count: 100, ClockSpeed: 60})
		s.requestPermits(all[2], lines.RequestPermits{Count: 100})
		bound := make([]int, len(all))
		for range 40 {
			time.Sleep(time.Second)
			synctest.Wait()
			for i, c := range all {
				for ; bound[i] < len(c.permits()); bound[i]++ {
					call := s.spawnCall()
					require.True(s, s.bindPermit(c.permits()[bound[i]], "call", call))
					s.stop(call)
				}
			}
		}
		assert.InDeltaSlice(s, []int{bound[2] / 2, bound[2] / 2, bound[0] + bound[1]}, bound, 2)
		assert.Greater(s, bound[2], 15)
	})
}

func TestNewMinuteLimitAppliesToAcceleratedCampaignsAtOnce(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 1000, PerMinute: 1}, func(s *fixture) {
		c := s.spawnCampaign()
		s.requestPermits(c, lines.RequestPermits{Count: 1000, ClockSpeed: 2})
		time.Sleep(time.Second)
		synctest.Wait()
		before := len(c.permits())
		s.send(lines.SetLimits{Concurrent: 1000, PerMinute: 600})
		time.Sleep(5 * time.Second)
		synctest.Wait()
		assert.InDelta(s, 100, len(c.permits())-before, 5, "20 in a second")
	})
}

func TestRetriesOfOneCampaignDoNotStopTheOthers(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 1}, func(s *fixture) {
		back, err := s.tryPermit()
		require.NoError(s, err)
		retries, first := s.spawnCampaign(), s.spawnCampaign()
		s.requestPermits(retries, lines.RequestPermits{Count: 1000, Retries: 1000})
		s.requestPermits(first, lines.RequestPermits{Count: 1000})
		for range 100 {
			n, m := len(retries.permits()), len(first.permits())
			s.send(lines.ReturnPermit{Permit: back})
			if now := retries.permits(); len(now) > n {
				back = now[n]
			} else {
				back = first.permits()[m]
			}
		}
		assert.Len(s, retries.permits(), 75)
		assert.Len(s, first.permits(), 25)
	})
}

// Under random load the number of used permits and the number of calls started per minute stay within the limits.
func TestRandomLoadNeverExceedsTheLimits(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		draw := rand.New(rand.NewPCG(seed, 7))
		limit, perMinute := 2+draw.IntN(20), []int{0, 5, 60, 600}[draw.IntN(4)]
		runWithLines(t, lines.Config{Concurrent: limit, PerMinute: perMinute, ReserveTenth: draw.IntN(2) == 0}, func(s *fixture) {
			runRandomLoad(s, draw, limit, perMinute, seed)
		})
	}
}

func runRandomLoad(s *fixture, draw *rand.Rand, limit, perMinute int, seed uint64) {
	all := make([]*campaign, 2+draw.IntN(4))
	taken := make([]int, len(all)) // number of handled permits
	for i := range all {
		all[i] = s.spawnCampaign()
	}
	var live []*actor.PID
	var begun []time.Time
	for range 300 {
		for i, c := range all {
			if draw.IntN(3) == 0 {
				n := draw.IntN(30)
				s.requestPermits(c, lines.RequestPermits{Count: 1 + n, Retries: draw.IntN(n + 1), Received: len(c.permits())})
			}
			for _, p := range c.permits()[taken[i]:] {
				taken[i]++
				if draw.IntN(5) == 0 {
					s.send(lines.ReturnPermit{Permit: p})
					continue
				}
				if call := s.spawnCall(); s.bindPermit(p, "call", call) {
					live, begun = append(live, call), append(begun, time.Now())
				}
			}
		}
		if p, err := s.tryPermit(); err == nil {
			if call := s.spawnCall(); s.bindPermit(p, "single", call) {
				live, begun = append(live, call), append(begun, time.Now())
			}
		}
		for len(live) > 0 && draw.IntN(2) == 0 {
			s.stop(live[0])
			live = live[1:]
		}
		if u := s.usage(); u.Active > limit {
			s.Fatalf("seed %d: %d permits of %d", seed, u.Active, limit)
		}
		time.Sleep(time.Duration(draw.IntN(2000)) * time.Millisecond)
		synctest.Wait()
	}
	for i := perMinute; perMinute > 0 && i < len(begun); i++ {
		if in := begun[i].Sub(begun[i-perMinute]); in <= time.Minute {
			s.Fatalf("seed %d: more than %d calls within %s", seed, perMinute, in)
		}
	}
	if len(begun) < 15 {
		s.Fatalf("seed %d: %d calls in five minutes", seed, len(begun))
	}
}

func TestCampaignsGetNoPermitsDuringAnInboundBacklog(t *testing.T) {
	t.Parallel()
	var behind atomic.Bool
	behind.Store(true)
	runWithLines(t, lines.Config{Concurrent: 5, HasInboundBacklog: behind.Load}, func(s *fixture) {
		c := s.spawnCampaign()
		s.requestPermits(c, lines.RequestPermits{Count: 3})
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Empty(s, c.permits())
		_, err := s.tryPermit()
		require.NoError(s, err, "a single call does not wait")
		behind.Store(false)
		time.Sleep(250 * time.Millisecond)
		synctest.Wait()
		assert.Len(s, c.permits(), 3)
	})
}

func TestPermitsInTransitAreNotGrantedAgain(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 50}, func(s *fixture) {
		c := s.spawnCampaign()
		s.requestPermits(c, lines.RequestPermits{Count: 5, Generation: 1})
		require.Len(s, c.permits(), 5)
		s.requestPermits(c, lines.RequestPermits{Count: 6, Generation: 1, Received: 2}) // three of the six are in transit
		assert.Len(s, c.permits(), 8)
		s.requestPermits(c, lines.RequestPermits{Count: 4, Generation: 1, Received: 4})
		assert.Len(s, c.permits(), 8, "all four are")
		s.requestPermits(c, lines.RequestPermits{Count: 4, Generation: 2})
		assert.Len(s, c.permits(), 12, "a new generation counts none in transit")
	})
	runWithLines(t, lines.Config{Concurrent: 50}, func(s *fixture) {
		c := s.spawnCampaign()
		s.requestPermits(c, lines.RequestPermits{Count: 5, Generation: 1, Received: 7}) // permits granted before a restart
		s.requestPermits(c, lines.RequestPermits{Count: 5, Generation: 1, Received: 10})
		assert.Len(s, c.permits(), 8)
	})
}

// The number of expiry checks stands for the cost of a message. It must be 0 as long as no lease has expired.
func TestExpiryCheckIteratesOnlyWhenALeaseIsDue(t *testing.T) {
	t.Parallel()
	for _, wide := range []int{10, 1000} {
		runWithLines(t, lines.Config{Concurrent: wide + 10}, func(s *fixture) {
			for range wide / 10 {
				s.requestPermits(s.spawnCampaign(), lines.RequestPermits{Count: 10})
			}
			for range 100 {
				s.usage()
			}
			assert.Zero(s, s.actor.ExpiryChecks(), "nothing is due")
			require.Equal(s, wide, s.usage().Active)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			assert.Equal(s, wide, s.actor.ExpiryChecks(), "each of them once, when they end")
			assert.Zero(s, s.usage().Active)
		})
	}
}

package lines_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/lines"
)

// pairs are ports for sound of which none is taken by itself.
type pairs struct{ all, taken, resting atomic.Int64 }

func (p *pairs) places(all int64) *lines.PortCapacity {
	p.all.Store(all)
	return lines.NewPortCapacity(func() lines.PortUsage {
		return lines.PortUsage{
			Pairs: int(p.all.Load()), InUse: int(p.taken.Load()), CoolingDown: int(p.resting.Load()),
		}
	})
}

func TestCampaignsLeaveATenthOfTheProcessAndSingleCallsDoNotAsk(t *testing.T) {
	t.Parallel()
	var p pairs
	on(t, lines.Config{Concurrent: 100, Capacity: p.places(20)}, func(s *stage) {
		c := s.campaign()
		s.want(c, lines.RequestPermits{Count: 50})
		assert.Len(s, c.permits(), 18, "two are kept, though no call has a pair yet")
		for range 4 {
			_, err := s.try()
			require.NoError(s, err)
		}
		call := s.call()
		require.True(s, s.bind(c.permits()[0], "one", call))
		s.die(call)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(s, c.permits(), 18, "single calls have what was kept, and more")
		for _, permit := range c.permits()[1:5] {
			s.tell(lines.ReturnPermit{Permit: permit})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(s, c.permits(), 19, "one of five is no one else's")
	})
}

func TestCampaignsWaitForPairsThatRestOrThatOthersHave(t *testing.T) {
	t.Parallel()
	var p pairs
	on(t, lines.Config{Concurrent: 100, Capacity: p.places(10)}, func(s *stage) {
		p.resting.Store(7)
		c := s.campaign()
		s.want(c, lines.RequestPermits{Count: 20})
		assert.Len(s, c.permits(), 2)
		p.resting.Store(3)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Len(s, c.permits(), 6, "looked at again soon")
		p.resting.Store(0)
		p.taken.Store(9)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(s, c.permits(), 6, "calls that no lines know of have them")
		p.taken.Store(6)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Len(s, c.permits(), 9, "a permit and the pair of its call are one")
	})
}

func TestTheLinesOfAProcessShareItsPlaces(t *testing.T) {
	t.Parallel()
	var p pairs
	cfg := lines.Config{Concurrent: 100, Capacity: p.places(10)}
	on(t, cfg, func(s *stage) {
		a, b := s.campaign(), s.campaign()
		s.want(a, lines.RequestPermits{Count: 5})
		first := s.lines
		s.lines = s.spawn(func() actor.Actor { return lines.New(cfg) })
		synctest.Wait()
		s.want(b, lines.RequestPermits{Count: 20})
		require.Len(s, a.permits(), 5)
		assert.Len(s, b.permits(), 4)
		s.die(first)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Len(s, b.permits(), 9, "lines that are gone have none")
	})
}

func TestWhoLeavesTakesNothingAlong(t *testing.T) {
	t.Parallel()
	var p pairs
	all := p.places(10)
	mine := all.Share()
	on(t, lines.Config{Concurrent: 100, Capacity: mine}, func(s *stage) {
		a, b := s.campaign(), s.campaign()
		s.want(a, lines.RequestPermits{Count: 5})
		first := s.lines
		s.lines = s.spawn(func() actor.Actor { return lines.New(lines.Config{Concurrent: 100, Capacity: all.Share()}) })
		synctest.Wait()
		s.want(b, lines.RequestPermits{Count: 20})
		require.Len(s, b.permits(), 4)
		mine.Release()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Len(s, b.permits(), 9)
		s.die(first) // it is late
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Len(s, b.permits(), 9, "and gives nothing back a second time")
	})
}

func TestOneOrTwoPairsAreEnoughForACampaign(t *testing.T) {
	t.Parallel()
	for _, all := range []int64{1, 2} {
		var p pairs
		on(t, lines.Config{Concurrent: 100, Capacity: p.places(all)}, func(s *stage) {
			c := s.campaign()
			s.want(c, lines.RequestPermits{Count: 5})
			assert.Len(s, c.permits(), 1)
		})
	}
}

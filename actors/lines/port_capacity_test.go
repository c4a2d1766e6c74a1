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

// portCounts are RTP port counts that the test controls.
type pairs struct{ all, taken, resting atomic.Int64 }

func (p *pairs) places(all int64) *lines.PortCapacity {
	p.all.Store(all)
	return lines.NewPortCapacity(func() lines.PortUsage {
		return lines.PortUsage{
			Pairs: int(p.all.Load()), InUse: int(p.taken.Load()), CoolingDown: int(p.resting.Load()),
		}
	})
}

func TestCampaignsLeaveATenthOfThePorts(t *testing.T) {
	t.Parallel()
	var p pairs
	on(t, lines.Config{Concurrent: 100, Capacity: p.places(20)}, func(s *stage) {
		c := s.campaign()
		s.want(c, lines.RequestPermits{Count: 50})
		assert.Len(s, c.permits(), 18, "two pairs are reserved although no call has opened ports")
		for range 4 {
			_, err := s.try()
			require.NoError(s, err)
		}
		call := s.call()
		require.True(s, s.bind(c.permits()[0], "one", call))
		s.die(call)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(s, c.permits(), 18, "single calls use the reserved pairs")
		for _, permit := range c.permits()[1:5] {
			s.tell(lines.ReturnPermit{Permit: permit})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(s, c.permits(), 19, "one of five returned pairs is not reserved")
	})
}

func TestCampaignsWaitForPortsInUseOrCoolingDown(t *testing.T) {
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
		assert.Len(s, c.permits(), 6, "retried soon")
		p.resting.Store(0)
		p.taken.Store(9)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(s, c.permits(), 6, "calls without permits use the ports")
		p.taken.Store(6)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Len(s, c.permits(), 9, "a permit and its call count as one pair")
	})
}

func TestLinesOfAProcessShareThePortCapacity(t *testing.T) {
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
		assert.Len(s, b.permits(), 9, "a stopped actor holds no capacity")
	})
}

func TestReleasedShareFreesItsPermitsOnce(t *testing.T) {
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
		s.die(first) // later than the release of its share
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Len(s, b.permits(), 9, "the capacity is released only once")
	})
}

func TestCampaignGetsAPermitWithOneOrTwoPortPairs(t *testing.T) {
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

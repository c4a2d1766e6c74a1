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
type portCounts struct{ total, inUse, coolingDown atomic.Int64 }

func (p *portCounts) capacity(all int64) *lines.PortCapacity {
	p.total.Store(all)
	return lines.NewPortCapacity(func() lines.PortUsage {
		return lines.PortUsage{
			Pairs: int(p.total.Load()), InUse: int(p.inUse.Load()), CoolingDown: int(p.coolingDown.Load()),
		}
	})
}

func TestCampaignsLeaveATenthOfThePorts(t *testing.T) {
	t.Parallel()
	var p portCounts
	runWithLines(t, lines.Config{Concurrent: 100, Capacity: p.capacity(20)}, func(s *fixture) {
		c := s.spawnCampaign()
		s.requestPermits(c, lines.RequestPermits{Count: 50})
		assert.Len(s, c.permits(), 18, "two pairs are reserved although no call has opened ports")
		for range 4 {
			_, err := s.tryPermit()
			require.NoError(s, err)
		}
		call := s.spawnCall()
		require.True(s, s.bindPermit(c.permits()[0], "one", call))
		s.stop(call)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(s, c.permits(), 18, "single calls use the reserved pairs")
		for _, permit := range c.permits()[1:5] {
			s.send(lines.ReturnPermit{Permit: permit})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(s, c.permits(), 19, "one of five returned pairs is not reserved")
	})
}

func TestCampaignsWaitForPortsInUseOrCoolingDown(t *testing.T) {
	t.Parallel()
	var p portCounts
	runWithLines(t, lines.Config{Concurrent: 100, Capacity: p.capacity(10)}, func(s *fixture) {
		p.coolingDown.Store(7)
		c := s.spawnCampaign()
		s.requestPermits(c, lines.RequestPermits{Count: 20})
		assert.Len(s, c.permits(), 2)
		p.coolingDown.Store(3)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Len(s, c.permits(), 6, "retried soon")
		p.coolingDown.Store(0)
		p.inUse.Store(9)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(s, c.permits(), 6, "calls without permits use the ports")
		p.inUse.Store(6)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Len(s, c.permits(), 9, "a permit and its call count as one pair")
	})
}

func TestLinesOfAProcessShareThePortCapacity(t *testing.T) {
	t.Parallel()
	var p portCounts
	cfg := lines.Config{Concurrent: 100, Capacity: p.capacity(10)}
	runWithLines(t, cfg, func(s *fixture) {
		a, b := s.spawnCampaign(), s.spawnCampaign()
		s.requestPermits(a, lines.RequestPermits{Count: 5})
		first := s.lines
		s.lines = s.spawn(func() actor.Actor { return lines.New(cfg) })
		synctest.Wait()
		s.requestPermits(b, lines.RequestPermits{Count: 20})
		require.Len(s, a.permits(), 5)
		assert.Len(s, b.permits(), 4)
		s.stop(first)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Len(s, b.permits(), 9, "a stopped actor holds no capacity")
	})
}

func TestReleasedShareFreesItsPermitsOnce(t *testing.T) {
	t.Parallel()
	var p portCounts
	all := p.capacity(10)
	mine := all.Share()
	runWithLines(t, lines.Config{Concurrent: 100, Capacity: mine}, func(s *fixture) {
		a, b := s.spawnCampaign(), s.spawnCampaign()
		s.requestPermits(a, lines.RequestPermits{Count: 5})
		first := s.lines
		s.lines = s.spawn(func() actor.Actor { return lines.New(lines.Config{Concurrent: 100, Capacity: all.Share()}) })
		synctest.Wait()
		s.requestPermits(b, lines.RequestPermits{Count: 20})
		require.Len(s, b.permits(), 4)
		mine.Release()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Len(s, b.permits(), 9)
		s.stop(first) // later than the release of its share
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Len(s, b.permits(), 9, "the capacity is released only once")
	})
}

func TestCampaignGetsAPermitWithOneOrTwoPortPairs(t *testing.T) {
	t.Parallel()
	for _, all := range []int64{1, 2} {
		var p portCounts
		runWithLines(t, lines.Config{Concurrent: 100, Capacity: p.capacity(all)}, func(s *fixture) {
			c := s.spawnCampaign()
			s.requestPermits(c, lines.RequestPermits{Count: 5})
			assert.Len(s, c.permits(), 1)
		})
	}
}

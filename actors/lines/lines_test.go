package lines_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
)

// fixture is a Lines actor with campaigns and calls that do nothing.
type stage struct {
	*testing.T
	sys   *actor.ActorSystem
	lines *actor.PID
	made  *lines.Lines
	pids  []*actor.PID
}

func on(t *testing.T, cfg lines.Config, f func(s *stage)) {
	t.Helper()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := &stage{T: t, sys: sys}
		s.lines = s.spawn(func() actor.Actor { s.made = lines.New(cfg); return s.made })
		synctest.Wait()
		f(s)
		for _, p := range s.pids {
			sys.Root.Poison(p)
		}
		synctest.Wait()
	})
}

func (s *stage) spawn(f func() actor.Actor) *actor.PID {
	p := s.sys.Root.Spawn(mailbox.Props(f, 100))
	s.pids = append(s.pids, p)
	return p
}

func (s *stage) call() *actor.PID {
	return s.spawn(func() actor.Actor { return actor.ReceiveFunc(func(actor.Context) {}) })
}

// campaign collects its permits.
type campaign struct {
	pid  *actor.PID
	mu   sync.Mutex
	heap []lines.Permit
}

// permits returns the permits received so far.
func (c *campaign) permits() []lines.Permit {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.heap)
}

func (s *stage) campaign() *campaign {
	c := &campaign{}
	c.pid = s.spawn(func() actor.Actor {
		return actor.ReceiveFunc(func(ctx actor.Context) {
			if p, ok := ctx.Message().(lines.Permit); ok {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.heap = append(c.heap, p)
			}
		})
	})
	return c
}

func (s *stage) want(c *campaign, w lines.RequestPermits) {
	s.sys.Root.RequestWithCustomSender(s.lines, w, c.pid)
	synctest.Wait()
}

func (s *stage) tell(m any) {
	s.sys.Root.Send(s.lines, m)
	synctest.Wait()
}

func (s *stage) die(p *actor.PID) {
	s.sys.Root.Poison(p)
	synctest.Wait()
}

func (s *stage) try() (lines.Permit, error) {
	return mailbox.Ask[lines.Permit](s.Context(), s.sys, s.lines, lines.TryPermit{})
}

func (s *stage) bind(p lines.Permit, id string, call *actor.PID) bool {
	a, err := mailbox.Ask[any](s.Context(), s.sys, s.lines, lines.BindPermit{Permit: p, CallID: id, Call: call})
	require.NoError(s, err)
	_, bound := a.(lines.PermitBound)
	return bound
}

func (s *stage) usage() lines.Usage {
	u, err := mailbox.Ask[lines.Usage](s.Context(), s.sys, s.lines, lines.GetUsage{})
	require.NoError(s, err)
	return u
}

func TestTryPermitIsDeniedAtTheConcurrencyLimit(t *testing.T) {
	t.Parallel()
	on(t, lines.Config{Concurrent: 2}, func(s *stage) {
		a, err := s.try()
		require.NoError(s, err)
		b, err := s.try()
		require.NoError(s, err)
		assert.NotEqual(s, a.ID, b.ID)
		_, err = s.try()
		var denied *domain.Error
		require.ErrorAs(s, err, &denied)
		assert.Equal(s, domain.CodeConcurrentLimit, denied.Code)
		assert.Equal(s, map[string]any{"active_calls": 2, "limit": 2}, denied.Extra)
		s.tell(lines.ReturnPermit{Permit: a})
		_, err = s.try()
		require.NoError(s, err)
	})
}

func TestUnboundPermitExpiresAfterTenSeconds(t *testing.T) {
	t.Parallel()
	on(t, lines.Config{Concurrent: 2}, func(s *stage) {
		early, err := s.try()
		require.NoError(s, err)
		late, err := s.try()
		require.NoError(s, err)
		time.Sleep(9999 * time.Millisecond)
		assert.True(s, s.bind(early, "call_1", s.call()))
		time.Sleep(time.Millisecond)
		assert.False(s, s.bind(late, "call_2", s.call()), "its ten seconds are over")
		assert.Equal(s, lines.Usage{Active: 1, Live: 1, Limit: 2}, s.usage())
		time.Sleep(time.Hour)
		assert.Equal(s, 1, s.usage().Active, "a bound permit lives as long as its call")
	})
}

func TestStoppedCallReleasesItsPermit(t *testing.T) {
	t.Parallel()
	on(t, lines.Config{Concurrent: 1}, func(s *stage) {
		c, call := s.campaign(), s.call()
		s.want(c, lines.RequestPermits{Generation: 7})
		require.Len(s, c.permits(), 1)
		assert.Equal(s, 7, c.permits()[0].Generation)
		require.True(s, s.bind(c.permits()[0], "call_1", call))
		require.True(s, s.bind(c.permits()[0], "call_1", call), "asked twice")
		s.want(c, lines.RequestPermits{})
		assert.Len(s, c.permits(), 1)
		s.die(call)
		assert.Len(s, c.permits(), 2)
		gone := s.call()
		s.die(gone)
		require.True(s, s.bind(c.permits()[1], "call_2", gone))
		synctest.Wait()
		assert.Zero(s, s.usage().Active, "a call that was dead before it was bound")
	})
}

func TestPermitsOfAnEarlierEpochAreRefused(t *testing.T) {
	t.Parallel()
	on(t, lines.Config{Concurrent: 3}, func(s *stage) {
		p, err := s.try()
		require.NoError(s, err)
		p.Epoch = "before the restart"
		assert.False(s, s.bind(p, "call_1", s.call()))
		s.tell(lines.ReturnPermit{Permit: p})
		assert.Equal(s, 1, s.usage().Active)
	})
}

func TestCampaignsLeaveATenthOfThePermits(t *testing.T) {
	t.Parallel()
	kept := make(map[int]int)
	for _, limit := range []int{0, 1, 2, 5, 20, 55} {
		on(t, lines.Config{Concurrent: limit, ReserveTenth: true}, func(s *stage) {
			c := s.campaign()
			s.want(c, lines.RequestPermits{Count: 1000})
			kept[limit] = limit - len(c.permits())
			for range kept[limit] {
				_, err := s.try()
				require.NoError(s, err)
			}
			_, err := s.try()
			require.Error(s, err)
		})
	}
	assert.Equal(t, map[int]int{0: 0, 1: 0, 2: 1, 5: 1, 20: 2, 55: 5}, kept)
}

func TestCampaignsRotateByWeightAfterDueRetries(t *testing.T) {
	t.Parallel()
	on(t, lines.Config{Concurrent: 1}, func(s *stage) {
		blocker, err := s.try()
		require.NoError(s, err)
		one, three, retry := s.campaign(), s.campaign(), s.campaign()
		s.want(one, lines.RequestPermits{Weight: 1, Count: 100})
		s.want(three, lines.RequestPermits{Weight: 3, Count: 100})
		s.want(retry, lines.RequestPermits{Retries: 2, Count: 2})
		assert.Equal(s, 202, s.usage().Waiting)
		var order []string
		back := blocker
		for range 18 {
			before := [3]int{len(one.permits()), len(three.permits()), len(retry.permits())}
			s.tell(lines.ReturnPermit{Permit: back})
			switch {
			case len(one.permits()) > before[0]:
				order, back = append(order, "one"), one.permits()[before[0]]
			case len(three.permits()) > before[1]:
				order, back = append(order, "three"), three.permits()[before[1]]
			case len(retry.permits()) > before[2]:
				order, back = append(order, "retry"), retry.permits()[before[2]]
			}
		}
		assert.Equal(s, []string{"retry", "retry"}, order[:2])
		assert.Len(s, one.permits(), 4)
		assert.Len(s, three.permits(), 12)
		s.die(three.pid)
		s.sys.Root.RequestWithCustomSender(s.lines, lines.CancelRequest{}, one.pid)
		synctest.Wait()
		assert.Zero(s, s.usage().Waiting)
	})
}

func TestSetLimitsAppliesWhileCallsRun(t *testing.T) {
	t.Parallel()
	on(t, lines.Config{Concurrent: 3}, func(s *stage) {
		c := s.campaign()
		s.want(c, lines.RequestPermits{Count: 100})
		require.Len(s, c.permits(), 3)
		s.tell(lines.SetLimits{Concurrent: 2})
		s.tell(lines.ReturnPermit{Permit: c.permits()[0]})
		assert.Len(s, c.permits(), 3, "still as many as the new limit")
		s.tell(lines.ReturnPermit{Permit: c.permits()[1]})
		assert.Len(s, c.permits(), 4)
		s.tell(lines.SetLimits{Concurrent: 6})
		assert.Len(s, c.permits(), 8)
	})
}

func TestMinuteLimitIsASlidingWindow(t *testing.T) {
	t.Parallel()
	on(t, lines.Config{Concurrent: 1000, PerMinute: 10}, func(s *stage) {
		c := s.campaign()
		s.want(c, lines.RequestPermits{Count: 1000})
		var begun []time.Time
		done := 0
		for range 300 {
			for ; done < len(c.permits()); done++ {
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
				require.True(s, s.bind(c.permits()[done], "call", s.call()))
				synctest.Wait()
				begun = append(begun, time.Now())
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		require.GreaterOrEqual(s, len(begun), 40)
		for i := 10; i < len(begun); i++ {
			require.GreaterOrEqual(s, begun[i].Sub(begun[i-10]), 61*time.Second)
		}
		_, err := s.try()
		var denied *domain.Error
		require.ErrorAs(s, err, &denied)
		assert.Equal(s, domain.CodeRateLimit, denied.Code)
	})
}

func TestRestartKeepsTheMinuteLimit(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		now := time.Now()
		l := sys.Root.Spawn(mailbox.Props(func() actor.Actor {
			return lines.New(lines.Config{Concurrent: 9, PerMinute: 2, ListRecentStarts: func(context.Context) ([]time.Time, error) {
				return []time.Time{now.Add(-time.Second), now.Add(-50 * time.Second)}, nil
			}})
		}, 10))
		_, err := mailbox.Ask[lines.Permit](t.Context(), sys, l, lines.TryPermit{})
		require.Error(t, err)
		time.Sleep(11 * time.Second)
		_, err = mailbox.Ask[lines.Permit](t.Context(), sys, l, lines.TryPermit{})
		require.NoError(t, err)
		_, err = mailbox.Ask[lines.Permit](t.Context(), sys, l, lines.TryPermit{})
		require.Error(t, err)
		sys.Root.Poison(l)
		synctest.Wait()
	})
}

func TestAbandonedDialogsHoldPermits(t *testing.T) {
	t.Parallel()
	on(t, lines.Config{Concurrent: 2}, func(s *stage) {
		s.tell(lines.HoldPermit{CallID: "call_1", Until: time.Now().Add(32 * time.Second)})
		s.tell(lines.HoldPermit{CallID: "call_2", Until: time.Now().Add(32 * time.Second)})
		_, err := s.try()
		require.Error(s, err)
		s.tell(lines.ReleaseCall{CallID: "call_1"})
		p, err := s.try()
		require.NoError(s, err)
		require.True(s, s.bind(p, "call_3", s.call()))
		time.Sleep(32 * time.Second)
		assert.Equal(s, 1, s.usage().Active)
		s.tell(lines.ReleaseCall{CallID: "call_3"})
		assert.Zero(s, s.usage().Active)
	})
}

func TestNoPermitIsGrantedBeforeLiveCallsAreListed(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		call := sys.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		asked := 0
		l := sys.Root.Spawn(mailbox.Props(func() actor.Actor {
			return lines.New(lines.Config{Concurrent: 2, ListLiveCalls: func(context.Context) ([]lines.LiveCall, error) {
				if asked++; asked < 3 {
					return nil, errors.New("not yet")
				}
				return []lines.LiveCall{{CallID: "call_1", Call: call}}, nil
			}})
		}, 10))
		start := time.Now()
		_, err := mailbox.Ask[lines.Permit](t.Context(), sys, l, lines.TryPermit{})
		require.NoError(t, err)
		assert.Equal(t, 400*time.Millisecond, time.Since(start), "it waited for the third census")
		_, err = mailbox.Ask[lines.Permit](t.Context(), sys, l, lines.TryPermit{})
		require.Error(t, err)
		sys.Root.Poison(call)
		synctest.Wait()
		_, err = mailbox.Ask[lines.Permit](t.Context(), sys, l, lines.TryPermit{})
		require.NoError(t, err)
		sys.Root.Poison(l)
		synctest.Wait()
	})
}

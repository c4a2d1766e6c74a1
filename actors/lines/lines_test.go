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

// fixture is a Lines actor with actors that stand for campaigns and calls.
type fixture struct {
	*testing.T
	sys   *actor.ActorSystem
	lines *actor.PID
	actor *lines.Lines
	pids  []*actor.PID
}

func runWithLines(t *testing.T, cfg lines.Config, f func(s *fixture)) {
	t.Helper()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := &fixture{T: t, sys: sys}
		s.lines = s.spawn(func() actor.Actor { s.actor = lines.New(cfg); return s.actor })
		synctest.Wait()
		f(s)
		for _, p := range s.pids {
			sys.Root.Poison(p)
		}
		synctest.Wait()
	})
}

func (s *fixture) spawn(f func() actor.Actor) *actor.PID {
	p := s.sys.Root.Spawn(mailbox.Props(f, 100))
	s.pids = append(s.pids, p)
	return p
}

func (s *fixture) spawnCall() *actor.PID {
	return s.spawn(func() actor.Actor { return actor.ReceiveFunc(func(actor.Context) {}) })
}

// campaign stands for a campaign actor. It collects the permits that it receives.
type campaign struct {
	pid      *actor.PID
	mu       sync.Mutex
	received []lines.Permit
}

// permits returns the permits received so far.
func (c *campaign) permits() []lines.Permit {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.received)
}

func (s *fixture) spawnCampaign() *campaign {
	c := &campaign{}
	c.pid = s.spawn(func() actor.Actor {
		return actor.ReceiveFunc(func(ctx actor.Context) {
			if p, ok := ctx.Message().(lines.Permit); ok {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.received = append(c.received, p)
			}
		})
	})
	return c
}

func (s *fixture) requestPermits(c *campaign, w lines.RequestPermits) {
	s.sys.Root.RequestWithCustomSender(s.lines, w, c.pid)
	synctest.Wait()
}

func (s *fixture) send(m any) {
	s.sys.Root.Send(s.lines, m)
	synctest.Wait()
}

func (s *fixture) stop(p *actor.PID) {
	s.sys.Root.Poison(p)
	synctest.Wait()
}

func (s *fixture) tryPermit() (lines.Permit, error) {
	return mailbox.Ask[lines.Permit](s.Context(), s.sys, s.lines, lines.TryPermit{})
}

func (s *fixture) bindPermit(p lines.Permit, id string, call *actor.PID) bool {
	a, err := mailbox.Ask[any](s.Context(), s.sys, s.lines, lines.BindPermit{Permit: p, CallID: id, Call: call})
	require.NoError(s, err)
	_, bound := a.(lines.PermitBound)
	return bound
}

func (s *fixture) usage() lines.Usage {
	u, err := mailbox.Ask[lines.Usage](s.Context(), s.sys, s.lines, lines.GetUsage{})
	require.NoError(s, err)
	return u
}

func TestTryPermitIsDeniedAtTheConcurrencyLimit(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 2}, func(s *fixture) {
		a, err := s.tryPermit()
		require.NoError(s, err)
		b, err := s.tryPermit()
		require.NoError(s, err)
		assert.NotEqual(s, a.ID, b.ID)
		_, err = s.tryPermit()
		var denied *domain.Error
		require.ErrorAs(s, err, &denied)
		assert.Equal(s, domain.CodeConcurrentLimit, denied.Code)
		assert.Equal(s, map[string]any{"active_calls": 2, "limit": 2}, denied.Extra)
		s.send(lines.ReturnPermit{Permit: a})
		_, err = s.tryPermit()
		require.NoError(s, err)
	})
}

func TestUnboundPermitExpiresAfterTenSeconds(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 2}, func(s *fixture) {
		early, err := s.tryPermit()
		require.NoError(s, err)
		late, err := s.tryPermit()
		require.NoError(s, err)
		time.Sleep(9999 * time.Millisecond)
		assert.True(s, s.bindPermit(early, "call_1", s.spawnCall()))
		time.Sleep(time.Millisecond)
		assert.False(s, s.bindPermit(late, "call_2", s.spawnCall()), "its ten seconds are over")
		assert.Equal(s, lines.Usage{Active: 1, Live: 1, Limit: 2}, s.usage())
		time.Sleep(time.Hour)
		assert.Equal(s, 1, s.usage().Active, "a bound permit lives as long as its call")
	})
}

func TestStoppedCallReleasesItsPermit(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 1}, func(s *fixture) {
		c, call := s.spawnCampaign(), s.spawnCall()
		s.requestPermits(c, lines.RequestPermits{Generation: 7})
		require.Len(s, c.permits(), 1)
		assert.Equal(s, 7, c.permits()[0].Generation)
		require.True(s, s.bindPermit(c.permits()[0], "call_1", call))
		require.True(s, s.bindPermit(c.permits()[0], "call_1", call), "repeated bind")
		s.requestPermits(c, lines.RequestPermits{})
		assert.Len(s, c.permits(), 1)
		s.stop(call)
		assert.Len(s, c.permits(), 2)
		gone := s.spawnCall()
		s.stop(gone)
		require.True(s, s.bindPermit(c.permits()[1], "call_2", gone))
		synctest.Wait()
		assert.Zero(s, s.usage().Active, "a call that was dead before it was bound")
	})
}

func TestPermitsOfAnEarlierEpochAreRefused(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 3}, func(s *fixture) {
		p, err := s.tryPermit()
		require.NoError(s, err)
		p.Epoch = "before the restart"
		assert.False(s, s.bindPermit(p, "call_1", s.spawnCall()))
		s.send(lines.ReturnPermit{Permit: p})
		assert.Equal(s, 1, s.usage().Active)
	})
}

func TestCampaignsLeaveATenthOfThePermits(t *testing.T) {
	t.Parallel()
	kept := make(map[int]int)
	for _, limit := range []int{0, 1, 2, 5, 20, 55} {
		runWithLines(t, lines.Config{Concurrent: limit, ReserveTenth: true}, func(s *fixture) {
			c := s.spawnCampaign()
			s.requestPermits(c, lines.RequestPermits{Count: 1000})
			kept[limit] = limit - len(c.permits())
			for range kept[limit] {
				_, err := s.tryPermit()
				require.NoError(s, err)
			}
			_, err := s.tryPermit()
			require.Error(s, err)
		})
	}
	assert.Equal(t, map[int]int{0: 0, 1: 0, 2: 1, 5: 1, 20: 2, 55: 5}, kept)
}

func TestCampaignsRotateByWeightAfterDueRetries(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 1}, func(s *fixture) {
		blocker, err := s.tryPermit()
		require.NoError(s, err)
		one, three, retry := s.spawnCampaign(), s.spawnCampaign(), s.spawnCampaign()
		s.requestPermits(one, lines.RequestPermits{Weight: 1, Count: 100})
		s.requestPermits(three, lines.RequestPermits{Weight: 3, Count: 100})
		s.requestPermits(retry, lines.RequestPermits{Retries: 2, Count: 2})
		assert.Equal(s, 202, s.usage().Waiting)
		var order []string
		back := blocker
		for range 18 {
			before := [3]int{len(one.permits()), len(three.permits()), len(retry.permits())}
			s.send(lines.ReturnPermit{Permit: back})
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
		s.stop(three.pid)
		s.sys.Root.RequestWithCustomSender(s.lines, lines.CancelRequest{}, one.pid)
		synctest.Wait()
		assert.Zero(s, s.usage().Waiting)
	})
}

func TestSetLimitsAppliesWhileCallsRun(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 3}, func(s *fixture) {
		c := s.spawnCampaign()
		s.requestPermits(c, lines.RequestPermits{Count: 100})
		require.Len(s, c.permits(), 3)
		s.send(lines.SetLimits{Concurrent: 2})
		s.send(lines.ReturnPermit{Permit: c.permits()[0]})
		assert.Len(s, c.permits(), 3, "still as many as the new limit")
		s.send(lines.ReturnPermit{Permit: c.permits()[1]})
		assert.Len(s, c.permits(), 4)
		s.send(lines.SetLimits{Concurrent: 6})
		assert.Len(s, c.permits(), 8)
	})
}

func TestMinuteLimitIsASlidingWindow(t *testing.T) {
	t.Parallel()
	runWithLines(t, lines.Config{Concurrent: 1000, PerMinute: 10}, func(s *fixture) {
		c := s.spawnCampaign()
		s.requestPermits(c, lines.RequestPermits{Count: 1000})
		var begun []time.Time
		done := 0
		for range 300 {
			for ; done < len(c.permits()); done++ {
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
				require.True(s, s.bindPermit(c.permits()[done], "call", s.spawnCall()))
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
		_, err := s.tryPermit()
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
	runWithLines(t, lines.Config{Concurrent: 2}, func(s *fixture) {
		s.send(lines.HoldPermit{CallID: "call_1", Until: time.Now().Add(32 * time.Second)})
		s.send(lines.HoldPermit{CallID: "call_2", Until: time.Now().Add(32 * time.Second)})
		_, err := s.tryPermit()
		require.Error(s, err)
		s.send(lines.ReleaseCall{CallID: "call_1"})
		p, err := s.tryPermit()
		require.NoError(s, err)
		require.True(s, s.bindPermit(p, "call_3", s.spawnCall()))
		time.Sleep(32 * time.Second)
		assert.Equal(s, 1, s.usage().Active)
		s.send(lines.ReleaseCall{CallID: "call_3"})
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
		assert.Equal(t, 400*time.Millisecond, time.Since(start), "it waited for the third list")
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

package mailbox

import (
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// The restart rule: the delay doubles from firstDelay to lastDelay, with a
// quarter of jitter; more than giveUpAfter failures within calmAfter end it.
const (
	firstDelay  = 50 * time.Millisecond
	lastDelay   = 10 * time.Second
	giveUpAfter = 12
	calmAfter   = 2 * time.Minute
)

// OnFailure is told of a child that failed for good.
type OnFailure func(pid *actor.PID, reason any)

type restart struct {
	log      *slog.Logger
	onGiveUp OnFailure
	mu       sync.Mutex
	failures map[string][]time.Time
}

// Restart restarts a failed child, whose state is loaded anew, after a delay
// that grows; a child that keeps failing is stopped loudly.
func Restart(log *slog.Logger, onGiveUp func(pid *actor.PID, reason any)) actor.SupervisorStrategy {
	return &restart{log: log, onGiveUp: onGiveUp, failures: make(map[string][]time.Time)}
}

// HandleFailure is protoactor's.
func (s *restart) HandleFailure(_ *actor.ActorSystem, sup actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	n := s.count(child.Id)
	if n > giveUpAfter {
		s.log.Error("actor stopped after repeated failures", slog.String("actor", child.Id), slog.Any("reason", reason))
		sup.StopChildren(child)
		if s.onGiveUp != nil {
			s.onGiveUp(child, reason)
		}
		return
	}
	d := min(firstDelay<<(n-1), lastDelay)
	d += time.Duration(rand.Int64N(int64(d)/4 + 1)) //nolint:gosec // jitter, no secret
	s.log.Error("actor failed and is restarted", slog.String("actor", child.Id), slog.Any("reason", reason), slog.Duration("after", d))
	time.AfterFunc(d, func() { sup.RestartChildren(child) })
}

func (s *restart) count(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	recent := s.failures[id][:0]
	for _, t := range s.failures[id] {
		if now.Sub(t) < calmAfter {
			recent = append(recent, t)
		}
	}
	s.failures[id] = append(recent, now)
	return len(s.failures[id])
}

type simple struct {
	log  *slog.Logger
	tell OnFailure
	stop bool
}

// Stop ends a failed child: its owner is told and cleans up.
func Stop(log *slog.Logger, onFailure func(pid *actor.PID, reason any)) actor.SupervisorStrategy {
	return &simple{log: log, tell: onFailure, stop: true}
}

// Resume drops the message that made a child fail and lets it go on: the rule
// for actors that are parents, because a restart would stop their children.
func Resume(log *slog.Logger, onFailure func(pid *actor.PID, reason any)) actor.SupervisorStrategy {
	return &simple{log: log, tell: onFailure}
}

// HandleFailure is protoactor's.
func (s *simple) HandleFailure(_ *actor.ActorSystem, sup actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	s.log.Error("actor failed", slog.String("actor", child.Id), slog.Any("reason", reason), slog.Bool("stopped", s.stop))
	if s.stop {
		sup.StopChildren(child)
	} else {
		sup.ResumeChildren(child)
	}
	if s.tell != nil {
		s.tell(child, reason)
	}
}

// System is an actor system that logs to log and keeps no metrics.
func System(log *slog.Logger) *actor.ActorSystem {
	c := actor.NewConfig()
	c.LoggerFactory = func(*actor.ActorSystem) *slog.Logger { return slog.New(quiet{log.Handler()}) }
	c.DeadLetterRequestLogging = false
	sys := actor.NewActorSystemWithConfig(c)
	fold(sys.ProcessRegistry.LocalPIDs)
	return sys
}

// fold leaves a part of the registry's buckets, with all that is in them. Each
// is 32 locked maps, so the 1024 that it comes with take 4 MB while they are
// empty; 1024 locks are plenty. It relies on internals of protoactor: ADR 0099.
func fold(m *actor.SliceMap) {
	const left = 32 // divides 1024: a name's bucket among fewer is its bucket modulo them
	few := slices.Clone(m.LocalPIDs[:left])
	for i, bucket := range m.LocalPIDs[left:] {
		if !bucket.IsEmpty() { // to ask for items begins goroutines
			few[i%left].MSet(bucket.Items())
		}
	}
	m.LocalPIDs = few
}

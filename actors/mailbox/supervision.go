package mailbox

import (
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Limits of RestartStrategy. The delay before a restart doubles from firstDelay to lastDelay, plus up to a quarter of
// jitter. After more than giveUpAfter failures within calmAfter, the actor is stopped for good.
const (
	firstDelay  = 50 * time.Millisecond
	lastDelay   = 10 * time.Second
	giveUpAfter = 12
	calmAfter   = 2 * time.Minute
)

// FailureHandler is called for a child actor that failed. RestartStrategy calls it only when it stops the child for good.
type FailureHandler func(pid *actor.PID, reason any)

type restartStrategy struct {
	log      *slog.Logger
	onGiveUp FailureHandler
	mu       sync.Mutex
	failures map[string][]time.Time
}

// RestartStrategy restarts a failed child after a growing delay. The child then loads its state again. A child that keeps
// failing is stopped, and onGiveUp is called. onGiveUp may be nil.
func RestartStrategy(log *slog.Logger, onGiveUp func(pid *actor.PID, reason any)) actor.SupervisorStrategy {
	return &restartStrategy{log: log, onGiveUp: onGiveUp, failures: make(map[string][]time.Time)}
}

// HandleFailure implements actor.SupervisorStrategy.
func (s *restartStrategy) HandleFailure(_ *actor.ActorSystem, sup actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	n := s.countFailures(child.Id)
	if n > giveUpAfter {
		s.log.Error("actor stopped after repeated failures", slog.String("actor", child.Id), slog.Any("reason", reason))
		sup.StopChildren(child)
		if s.onGiveUp != nil {
			s.onGiveUp(child, reason)
		}
		return
	}
	d := min(firstDelay<<(n-1), lastDelay)
	d += time.Duration(rand.Int64N(int64(d)/4 + 1)) //nolint:gosec // jitter needs no secure random numbers
	s.log.Error("actor failed and is restarted", slog.String("actor", child.Id), slog.Any("reason", reason), slog.Duration("after", d))
	time.AfterFunc(d, func() { sup.RestartChildren(child) })
}

func (s *restartStrategy) countFailures(id string) int {
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

type fixedStrategy struct {
	log       *slog.Logger
	onFailure FailureHandler
	stopChild bool
}

// StopStrategy stops a failed child and calls onFailure, so that the owner can release the child's resources. onFailure may
// be nil.
func StopStrategy(log *slog.Logger, onFailure func(pid *actor.PID, reason any)) actor.SupervisorStrategy {
	return &fixedStrategy{log: log, onFailure: onFailure, stopChild: true}
}

// ResumeStrategy drops the message at which a child failed, and the child continues. It suits actors that have children
// themselves, because a restart would stop these. onFailure may be nil.
func ResumeStrategy(log *slog.Logger, onFailure func(pid *actor.PID, reason any)) actor.SupervisorStrategy {
	return &fixedStrategy{log: log, onFailure: onFailure}
}

// HandleFailure implements actor.SupervisorStrategy.
func (s *fixedStrategy) HandleFailure(_ *actor.ActorSystem, sup actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	s.log.Error("actor failed", slog.String("actor", child.Id), slog.Any("reason", reason), slog.Bool("stopped", s.stopChild))
	if s.stopChild {
		sup.StopChildren(child)
	} else {
		sup.ResumeChildren(child)
	}
	if s.onFailure != nil {
		s.onFailure(child, reason)
	}
}

// NewSystem returns an actor system that logs warnings and errors to log and collects no metrics.
func NewSystem(log *slog.Logger) *actor.ActorSystem {
	c := actor.NewConfig()
	c.LoggerFactory = func(*actor.ActorSystem) *slog.Logger { return slog.New(warningHandler{log.Handler()}) }
	c.DeadLetterRequestLogging = false
	sys := actor.NewActorSystemWithConfig(c)
	shrinkRegistry(sys.ProcessRegistry.LocalPIDs)
	return sys
}

// shrinkRegistry reduces the buckets of protoactor's process registry from 1024 to 32 and keeps their contents.
// Each bucket has 32 locked maps, so 1024 empty ones take 4 MB. It relies on internals of protoactor, see ADR 0099.
func shrinkRegistry(m *actor.SliceMap) {
	const left = 32 // a divisor of 1024: the new bucket of a name is its old bucket modulo this number
	few := slices.Clone(m.LocalPIDs[:left])
	for i, bucket := range m.LocalPIDs[left:] {
		if !bucket.IsEmpty() { // Items starts goroutines, so empty buckets are skipped
			few[i%left].MSet(bucket.Items())
		}
	}
	m.LocalPIDs = few
}

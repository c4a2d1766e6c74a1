// Package modeltest_test runs random campaigns, faults and requests and compares the result with a simple reference
// model.
package modeltest_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox/actortest"
)

var (
	seeds = flag.Int("model.seeds", defaultScenarios, "how many random scenarios are played")
	from  = flag.Uint64("model.from", 1, "the first seed")
	fewer = flag.Bool("model.shrink", true, "look for fewer steps that break the same")
)

func runScenario(t *testing.T, s scenario) (broken, trace []string) {
	t.Helper()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		broken, trace = playScenario(t, s, sys)
	})
	return broken, trace
}

// The test runs random scenarios against the model. If a rule is violated, it shows the seed and the trace of the scenario.
func TestRandomScenariosSatisfyModel(t *testing.T) {
	t.Parallel()
	var next atomic.Uint64
	next.Store(*from - 1)
	if os.Getenv("NIGHTLY") != "" && os.Getenv("MUTANTS") == "" {
		*seeds = max(*seeds, 10_000)
	}
	last := *from - 1 + uint64(*seeds)
	for worker := range max(1, runtime.GOMAXPROCS(0)) {
		t.Run(fmt.Sprint("worker ", worker), func(t *testing.T) {
			t.Parallel()
			for seed := next.Add(1); seed <= last && !t.Failed(); seed = next.Add(1) {
				s := drawScenario(seed)
				if broken, trace := runScenario(t, s); len(broken) > 0 {
					reportFailure(t, s, broken, trace)
				}
			}
		})
	}
}

// reportFailure fails the test with the smallest part of the scenario that still causes the violation.
func reportFailure(t *testing.T, s scenario, broken, trace []string) {
	t.Helper()
	for i := len(s.steps) - 1; i >= 0 && *fewer; i-- {
		less := s
		less.steps = slices.Delete(slices.Clone(s.steps), i, i+1)
		if b, tr := runScenario(t, less); len(b) > 0 {
			s, broken, trace = less, b, tr
		}
	}
	t.Errorf("seed %d (again with -model.from %d -model.seeds 1) breaks:\n%s\nafter\n%s", s.seed, s.seed,
		strings.Join(broken, "\n"), strings.Join(trace, "\n"))
}

package dialer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
)

// addResults adds the results of n attempts, which end one second apart, and returns the time after the last.
func addResults(t *dialer.AdaptivePacing, from time.Time, n int, result func(i int) dialer.CallResult) time.Time {
	for i := range n {
		from = from.Add(time.Second)
		t.AddResult(result(i), from)
	}
	return from
}

func TestAdaptivePacingFollowsCallResults(t *testing.T) {
	t.Parallel()
	pacing := domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 20, Mode: domain.PacingAdaptive}
	well := func(i int) dialer.CallResult {
		return dialer.CallResult{Answered: i%2 == 0, SlowestTurn: 400 * time.Millisecond}
	}
	troubles := map[string]func(i int) dialer.CallResult{
		"the trunk fails":             func(i int) dialer.CallResult { return dialer.CallResult{Failed: i%4 == 0, Answered: i%2 == 1} },
		"hung up at once":             func(i int) dialer.CallResult { return dialer.CallResult{Answered: i%2 == 0, Short: i%4 == 0} },
		"the agent is late":           func(int) dialer.CallResult { return dialer.CallResult{Answered: true, SlowestTurn: 3 * time.Second} },
		"answered more seldom":        func(i int) dialer.CallResult { return dialer.CallResult{Answered: i%10 == 0} },
		"all of it at once, for long": func(i int) dialer.CallResult { return dialer.CallResult{Failed: true, Answered: i%9 == 0, Short: true} },
	}
	for name, bad := range troubles {
		var tempo dialer.AdaptivePacing
		assert.Equal(t, pacing, tempo.Adapt(pacing), "%s: it begins at full pace", name)
		now := addResults(&tempo, epoch, 200, well)
		assert.Equal(t, pacing, tempo.Adapt(pacing), "%s: all is well", name)
		now = addResults(&tempo, now, 100, bad)
		slow := tempo.Adapt(pacing)
		assert.Less(t, slow.CallsPerMinute, 60, name)
		assert.Less(t, slow.MaxConcurrent, 20, name)
		fixed := pacing
		fixed.Mode = domain.PacingFixed
		assert.Equal(t, fixed, tempo.Adapt(fixed), "%s: a fixed pace is kept", name)
		addResults(&tempo, now, 600, well)
		assert.Equal(t, pacing, tempo.Adapt(pacing), "%s: all is well again", name)
	}
}

func TestAdaptivePacingStaysWithinLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := domain.Pacing{
			CallsPerMinute: rapid.IntRange(1, 100_000).Draw(t, "pace"), MaxConcurrent: rapid.IntRange(1, 5000).Draw(t, "lines"),
			Mode: domain.PacingAdaptive,
		}
		var tempo dialer.AdaptivePacing
		now := epoch
		for range rapid.IntRange(1, 400).Draw(t, "attempts") {
			now = now.Add(time.Duration(rapid.IntRange(0, 60_000).Draw(t, "later")) * time.Millisecond)
			tempo.AddResult(dialer.CallResult{
				Answered: rapid.Bool().Draw(t, "answered"), Short: rapid.Bool().Draw(t, "short"), Failed: rapid.Bool().Draw(t, "failed"),
				SlowestTurn: time.Duration(rapid.IntRange(0, 10_000).Draw(t, "slowest")) * time.Millisecond,
			}, now)
			got := tempo.Adapt(p)
			if got.CallsPerMinute > p.CallsPerMinute || got.MaxConcurrent > p.MaxConcurrent {
				t.Fatalf("%+v is above %+v", got, p)
			}
			if got.CallsPerMinute < 1 || got.MaxConcurrent < 1 || tempo.Share() < 0.1-1e-9 || tempo.Share() > 1 {
				t.Fatalf("%+v, %v", got, tempo.Share())
			}
		}
	})
}

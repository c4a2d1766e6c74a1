package routing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/routing"
)

func newTrunk(id string, change func(*domain.Trunk)) *domain.Trunk {
	t := &domain.Trunk{Meta: domain.Meta{ID: id, Environment: domain.Live}, CallerIDs: []string{"+12025550188"}}
	if change != nil {
		change(t)
	}
	return t
}

func TestRouteOrderIsPrefixPriorityCallerIDCost(t *testing.T) {
	all := []*domain.Trunk{
		newTrunk("any", nil),
		newTrunk("us-dear", func(t *domain.Trunk) {
			t.Prefixes, t.Costs = []string{"+1"}, []domain.Rate{{Prefix: "+", Cost: "0.02"}}
		}),
		newTrunk("us-cheap", func(t *domain.Trunk) {
			t.Prefixes, t.Costs = []string{"+1"}, []domain.Rate{{Prefix: "+1", Cost: "0.005"}, {Prefix: "+1907", Cost: "0.3"}}
		}),
		newTrunk("us-own", func(t *domain.Trunk) { t.Prefixes, t.CallerIDs = []string{"1"}, []string{"+12025550100"} }),
		newTrunk("us-spare", func(t *domain.Trunk) { t.Prefixes, t.Priority = []string{"+1", "+44"}, 5 }),
		newTrunk("dc", func(t *domain.Trunk) { t.Prefixes, t.Priority = []string{"+1202"}, 9 }),
		newTrunk("test", func(t *domain.Trunk) { t.Environment = domain.Test }),
	}
	names := func(c routing.Call) (out []string) {
		c.Environment = domain.Live
		best, _ := routing.SelectTrunks(all, c)
		for _, i := range best {
			out = append(out, all[i].ID)
		}
		return out
	}
	for name, c := range map[string]struct {
		call routing.Call
		want []string
	}{
		"the longest prefix, regardless of priority": {routing.Call{To: "+12025550199"}, []string{"dc", "us-cheap", "us-dear", "us-own", "us-spare", "any"}},
		"the cost of the longest rate":               {routing.Call{To: "+19075550199"}, []string{"us-dear", "us-cheap", "us-own", "us-spare", "any"}},
		"only trunks that may show the number":       {routing.Call{To: "+13125550199", From: "+12025550100"}, []string{"us-own"}},
		"they come first where others may serve":     {routing.Call{To: "+13125550199", From: "+12025550100", AnyCallerID: true}, []string{"us-own", "us-cheap", "us-dear", "us-spare", "any"}},
		"elsewhere":                                  {routing.Call{To: "+442071838750"}, []string{"us-spare", "any"}},
		"only the trunk that was asked for":          {routing.Call{To: "+442071838750", TrunkID: "any"}, []string{"any"}},
		"a trunk that does not take it is not taken": {routing.Call{To: "+442071838750", TrunkID: "dc"}, nil},
	} {
		assert.Equal(t, c.want, names(c.call), name)
	}
}

func TestCallerIDIsAllowedByTrunk(t *testing.T) {
	carrier := newTrunk("carrier", func(t *domain.Trunk) { t.CallerIDs = []string{"+15005550100", "+12025550100", "+12025550101"} })
	bare := newTrunk("bare", func(t *domain.Trunk) { t.CallerIDs = nil })
	builtIn := newTrunk("built in", func(t *domain.Trunk) { t.Simulator, t.CallerIDs = true, []string{"+15005550100"} })
	for name, c := range map[string]struct {
		trunk *domain.Trunk
		call  routing.Call
		shown string
		code  domain.Code
	}{
		"none asked for: its first, but never one of the test carrier": {carrier, routing.Call{}, "+12025550100", ""},
		"one of its numbers":                {carrier, routing.Call{From: "+12025550101"}, "+12025550101", ""},
		"another number":                    {carrier, routing.Call{From: "+442071838750"}, "", domain.CodeCallerIDNotAllowed},
		"another number, but any will do":   {carrier, routing.Call{From: "+442071838750", AnyCallerID: true}, "+12025550100", ""},
		"a number of the test carrier":      {carrier, routing.Call{From: "+15005550100"}, "", domain.CodeCallerIDNotAllowed},
		"a trunk without numbers":           {bare, routing.Call{}, "", domain.CodeCallerIDRequired},
		"the test carrier":                  {builtIn, routing.Call{}, "+15005550100", ""},
		"the test carrier shows any number": {builtIn, routing.Call{From: "+442071838750"}, "+442071838750", ""},
	} {
		shown, err := routing.SelectCallerID(c.trunk, c.call)
		assert.Equal(t, c.shown, shown, name)
		assert.Equal(t, c.code, domain.CodeOf(err), name)
	}
}

func TestTestEnvironmentUsesBuiltInCarrierOnly(t *testing.T) {
	all := []*domain.Trunk{
		newTrunk("carrier", func(t *domain.Trunk) { t.Environment, t.Prefixes = domain.Test, []string{"+1202555"} }),
		newTrunk("built in", func(t *domain.Trunk) { t.Environment, t.Simulator = domain.Test, true }),
	}
	best, err := routing.SelectTrunks(all, routing.Call{To: "+12025550199", Environment: domain.Test})
	require.NoError(t, err)
	assert.Equal(t, []int{1}, best)
	best, err = routing.SelectTrunks(all, routing.Call{To: "+12025550199", TrunkID: "carrier", Environment: domain.Test})
	require.NoError(t, err)
	assert.Empty(t, best)
}

func TestTrunkThatWouldDialAnotherNumberIsSkipped(t *testing.T) {
	rewrites := newTrunk("rewrites", func(t *domain.Trunk) {
		t.NumberFormat, t.NumberStrip, t.NumberAdd, t.RewriteApproved = domain.FormatDigits, "1202555", "1900555", true
	})
	best, err := routing.SelectTrunks([]*domain.Trunk{rewrites}, routing.Call{To: "+12025550199", Environment: domain.Live})
	assert.Empty(t, best)
	assert.Equal(t, domain.CodeDestinationNotAllowed, domain.CodeOf(err))
	best, err = routing.SelectTrunks([]*domain.Trunk{rewrites, newTrunk("plain", nil)}, routing.Call{To: "+12025550199", Environment: domain.Live})
	require.NoError(t, err)
	assert.Equal(t, []int{1}, best)
}

func TestTargetOrderIsPriorityThenWeightFailedLast(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	lot := func(draws ...float64) func() float64 {
		return func() float64 {
			d := draws[0]
			draws = draws[1:]
			return d
		}
	}
	target := func(key string, proxy, priority, weight int) routing.Target {
		return routing.Target{Key: key, Proxy: proxy, Priority: priority, Weight: weight}
	}
	all := []routing.Target{target("a1", 0, 1, 1), target("a2", 0, 1, 1), target("b", 1, 1, 9), target("c", 2, 2, 1)}
	with := func(change func([]routing.Target)) []routing.Target {
		list := append([]routing.Target(nil), all...)
		change(list)
		return list
	}
	soon := now.Add(time.Second)
	for name, c := range map[string]struct {
		targets []routing.Target
		tried   []string
		draws   []float64
		want    string
	}{
		"the heavier one has the better lot":       {all, nil, []float64{1, 1, 1}, "b"},
		"the lighter one by luck":                  {all, nil, []float64{0.1, 9, 1}, "a1"},
		"the addresses of a name as they stand":    {all, []string{"a1"}, []float64{0.1, 9, 1}, "a2"},
		"the next priority once the first is used": {all, []string{"a1", "a2", "b"}, []float64{1}, "c"},
		"nothing is left":                          {all, []string{"a1", "a2", "b", "c"}, nil, "none"},
		"one that failed comes last":               {with(func(l []routing.Target) { l[0].OutUntil, l[1].OutUntil, l[2].OutUntil = soon, soon, soon }), nil, []float64{1, 1, 1}, "c"},
		"but it is tried":                          {with(func(l []routing.Target) { l[3].OutUntil = soon }), []string{"a1", "a2", "b"}, []float64{1}, "c"},
		"its time is over":                         {with(func(l []routing.Target) { l[2].OutUntil = now }), nil, []float64{1, 1, 1}, "b"},
		"one that rests is left alone":             {with(func(l []routing.Target) { l[3].RestsUntil = soon }), []string{"a1", "a2", "b"}, nil, "rests 1s"},
	} {
		i, until, ok := routing.SelectTarget(c.targets, c.tried, now, lot(c.draws...))
		got := "none"
		switch {
		case ok:
			got = c.targets[i].Key
		case !until.IsZero():
			got = "rests " + until.Sub(now).String()
		}
		assert.Equal(t, c.want, got, name)
	}
}

func TestWeightsDetermineShareOfCalls(t *testing.T) {
	targets := []routing.Target{{Key: "one", Proxy: 0, Weight: 1}, {Key: "three", Proxy: 1, Weight: 3}}
	seed, n := uint64(1), map[string]int{}
	draw := func() float64 { // the mean of an exponential distribution is sufficient
		seed = seed*6364136223846793005 + 1442695040888963407
		return -naturalLog(float64(seed>>11)/(1<<53) + 1e-12)
	}
	for range 4000 {
		i, _, _ := routing.SelectTarget(targets, nil, time.Unix(0, 0), draw)
		n[targets[i].Key]++
	}
	assert.InDelta(t, 3000, n["three"], 150)
}

func naturalLog(x float64) float64 { // by halving; sufficient for the test
	n := 0
	for x < 0.5 {
		x *= 2
		n++
	}
	y, sum := x-1, 0.0
	for k, p := 1, y; k < 60; k, p = k+1, -p*y {
		sum += p / float64(k)
	}
	return sum - float64(n)*0.6931471805599453
}

func TestCostOfASecondIsASixtiethOfAMinute(t *testing.T) {
	cost, known := routing.CostPerMinute([]domain.Rate{{Prefix: "+1", Cost: "0.006"}}, "+12025550100")
	assert.True(t, known)
	got := []domain.Amount{routing.CallCost(cost, 0), routing.CallCost(cost, time.Second), routing.CallCost(cost, 59500*time.Millisecond), routing.CallCost(cost, time.Hour)}
	assert.Equal(t, []domain.Amount{0, 100, 6000, 360_000}, got)
	_, known = routing.CostPerMinute([]domain.Rate{{Prefix: "+1", Cost: "0.006"}}, "+442071838750")
	assert.False(t, known)
}

func TestRecordDropsCallsOlderThanAnHour(t *testing.T) {
	var r routing.CallStatistics
	at := time.Unix(1_800_000_000, 0)
	for range 3 {
		r.CountAnswered(at)
	}
	r.CountRefused("busy", at)
	r.CountEnded(3*time.Second, 6*time.Second, at)
	r.CountEnded(57*time.Second, 6*time.Second, at.Add(30*time.Minute))
	show := func(now time.Time) string {
		s := r.Totals(now)
		return fmt.Sprintf("%d/%d asr %.2f acd %s short %.2f %v", s.Answered, s.Attempts, s.ASR(), s.ACD(), s.ShortShare(), s.RefusalsByReason())
	}
	assert.Equal(t, "3/4 asr 0.75 acd 30s short 0.50 map[busy:1]", show(at.Add(31*time.Minute)))
	assert.Equal(t, "0/0 asr 0.00 acd 57s short 0.00 map[]", show(at.Add(61*time.Minute)))
	assert.Equal(t, "0/0 asr 0.00 acd 0s short 0.00 map[]", show(at.Add(100*time.Hour)))
}

func TestAlarmNeedsEnoughCallsAndAThreshold(t *testing.T) {
	s := routing.CallTotals{Attempts: 100, Answered: 30, Ended: 30, Short: 20, Talked: 300 * time.Second}
	bounds := domain.TrunkAlarms{MinASR: 0.4, MinACDSeconds: 20, MaxShortCallShare: 0.5, MinCalls: 30}
	var got []routing.Measure
	for _, b := range routing.FindBreaches(s, bounds) {
		got = append(got, b.Measure)
	}
	assert.Equal(t, []routing.Measure{routing.ASR, routing.ACD, routing.ShortCalls}, got)
	bounds.MinCalls = 31
	assert.Len(t, routing.FindBreaches(s, bounds), 1, "only the attempts are enough")
	assert.Empty(t, routing.FindBreaches(s, domain.TrunkAlarms{MinCalls: 1}))
}

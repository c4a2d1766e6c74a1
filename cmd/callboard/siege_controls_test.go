//go:build faults

package main_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// controlCase injects a fault into nodes that lack a guard against it.
type control struct {
	fault  string
	lacks  string
	env    []string
	ground func() ground
	do     func(o *siege)
}

// Failpoints that remove guards.
var (
	noFence    = []string{"FAILPOINT_NO_FENCE=1", "FAILPOINT_NO_GUARDS=1"}
	late       = []string{"FAILPOINT_LATE_OPEN=1"}
	anyReplica = []string{"FAILPOINT_ANY_HISTORY=1"}
)

// strikeBusiestNode injects a fault into the node with the most shards.
func (o *siege) strikes(do func(node int, s *service)) {
	most := 0
	for i, s := range o.nodes {
		if len(o.shards(s)) > len(o.shards(o.nodes[most])) {
			most = i
		}
	}
	do(most, o.nodes[most])
}

func controls() []control {
	return []control{
		{fault: "kill -9", lacks: "attempts stored before their INVITEs", env: late, do: func(o *siege) {
			o.strikes(func(_ int, s *service) { o.kill(s) })
		}},
		{fault: "SIGTERM", lacks: "the wait for started calls", env: append([]string{"FAILPOINT_CARELESS=1"}, late...), do: func(o *siege) {
			o.strikes(func(_ int, s *service) { o.term(s) })
		}},
		{fault: "SIGSTOP", lacks: "token, guards and lease check", env: noFence, do: func(o *siege) {
			o.strikes(func(_ int, s *service) { o.stop(s) })
		}},
		{fault: "cut off Redis", lacks: "token, guards and lease check", env: noFence, do: func(o *siege) {
			o.strikes(func(i int, _ *service) { o.cut(i) })
		}},
		{fault: "Redis frozen, a node killed meanwhile", lacks: "attempts stored before their INVITEs", env: late, do: func(o *siege) {
			o.strikes(func(_ int, s *service) { o.together(s, func() { o.redis.Pause() }, func() { o.redis.Continue() }) })
		}},
		{fault: "Redis killed, and a node", lacks: "attempts stored before their INVITEs", env: late, do: func(o *siege) {
			o.strikes(func(_ int, s *service) { o.together(s, func() { o.redis.Kill() }, o.redisBack) })
		}},
		{fault: "failover to a stale replica", lacks: "the comparison of histories", env: anyReplica, do: (*siege).stale},
	}
}

// Each fault, injected into nodes without a guard, must violate the invariants of TestFaultsOfNodesKeepInvariants.
// This proves that the test detects violations.
func TestControlFaultsOfNodesWithoutGuardsBreakInvariants(t *testing.T) {
	t.Parallel()
	for _, c := range controls() {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			c.found(t)
		})
	}
}

// expectViolation injects the fault until an invariant is violated.
func (c control) found(t *testing.T) {
	t.Helper()
	p := plan{ground: onLoopback(), whole: true, contacts: 500, pace: 150, env: c.env}
	if c.ground != nil {
		p.ground = c.ground()
	}
	o := newSiege(t, p)
	o.nodes[0].await("calls", time.Minute, func() bool { return len(o.answer.rung()) > 40 })
	require.Empty(t, o.broken(), "the invariants hold before the fault")
	begun := time.Now()
	for range 4 {
		c.do(o)
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && len(o.broken()) == 0; {
			<-time.After(100 * time.Millisecond)
		}
		if found := o.broken(); len(found) > 0 {
			t.Logf("faults: control: %s, without %s: found after %.1f s: %s", c.fault, c.lacks, time.Since(begun).Seconds(), strings.Join(found, "; "))
			return
		}
	}
	require.Fail(t, "no invariant was violated, so the test with the guard proves nothing", c.fault)
}

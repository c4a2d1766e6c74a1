//go:build faults

package main_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// controlCase injects a fault into nodes whose protection against the fault is disabled by failpoints.
type controlCase struct {
	fault        string
	missingGuard string
	env          []string
	topology     func() networkTopology
	inject       func(o *faultTest)
}

// Environment variables of nodes. Each failpoint disables a protection against calling a contact twice.
var (
	withoutFencing      = []string{"FAILPOINT_NO_FENCE=1", "FAILPOINT_NO_GUARDS=1"}
	commitAfterInvite   = []string{"FAILPOINT_LATE_OPEN=1"}
	withoutHistoryCheck = []string{"FAILPOINT_ANY_HISTORY=1"}
)

// strikeBusiestNode injects a fault into the node with the most shards.
func (o *faultTest) strikeBusiestNode(do func(node int, s *service)) {
	most := 0
	for i, s := range o.nodes {
		if len(o.shardsOf(s)) > len(o.shardsOf(o.nodes[most])) {
			most = i
		}
	}
	do(most, o.nodes[most])
}

func controlCases() []controlCase {
	return []controlCase{
		{fault: "kill -9", missingGuard: "attempts stored before their INVITEs", env: commitAfterInvite, inject: func(o *faultTest) {
			o.strikeBusiestNode(func(_ int, s *service) { o.killNode(s) })
		}},
		{fault: "SIGTERM", missingGuard: "the wait for started calls", env: append([]string{"FAILPOINT_SKIP_DRAIN=1"}, commitAfterInvite...), inject: func(o *faultTest) {
			o.strikeBusiestNode(func(_ int, s *service) { o.terminateNode(s) })
		}},
		{fault: "SIGSTOP", missingGuard: "token, guards and lease check", env: withoutFencing, inject: func(o *faultTest) {
			o.strikeBusiestNode(func(_ int, s *service) { o.pauseNode(s) })
		}},
		{fault: "cut off Redis", missingGuard: "token, guards and lease check", env: withoutFencing, inject: func(o *faultTest) {
			o.strikeBusiestNode(func(i int, _ *service) { o.isolateFromRedis(i) })
		}},
		{fault: "Redis frozen, a node killed meanwhile", missingGuard: "attempts stored before their INVITEs", env: commitAfterInvite, inject: func(o *faultTest) {
			o.strikeBusiestNode(func(_ int, s *service) {
				o.killNodeDuringRedisOutage(s, func() { o.redis.Pause() }, func() { o.redis.Continue() })
			})
		}},
		{fault: "Redis killed, and a node", missingGuard: "attempts stored before their INVITEs", env: commitAfterInvite, inject: func(o *faultTest) {
			o.strikeBusiestNode(func(_ int, s *service) { o.killNodeDuringRedisOutage(s, func() { o.redis.Kill() }, o.restartRedis) })
		}},
		{fault: "failover to a stale replica", missingGuard: "the comparison of histories", env: withoutHistoryCheck, inject: (*faultTest).promoteStaleReplica},
	}
}

// Each fault, injected into nodes without protection against it, must violate an invariant of
// TestFaultsOfNodesKeepInvariants. This proves that the other test detects violations.
func TestControlFaultsOfNodesWithoutGuardsBreakInvariants(t *testing.T) {
	t.Parallel()
	for _, c := range controlCases() {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			c.expectViolation(t)
		})
	}
}

// expectViolation injects the fault up to four times and fails the test if no invariant is violated.
func (c controlCase) expectViolation(t *testing.T) {
	t.Helper()
	p := faultTestPlan{networkTopology: loopbackTopology(), full: true, contacts: 500, callsPerMinute: 150, env: c.env}
	if c.topology != nil {
		p.networkTopology = c.topology()
	}
	o := newFaultTest(t, p)
	o.nodes[0].await("calls", time.Minute, func() bool { return len(o.answer.inviteCounts()) > 40 })
	require.Empty(t, o.findViolations(), "the invariants hold before the fault")
	begun := time.Now()
	for range 4 {
		c.inject(o)
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && len(o.findViolations()) == 0; {
			<-time.After(100 * time.Millisecond)
		}
		if found := o.findViolations(); len(found) > 0 {
			t.Logf("faults: control: %s, without %s: found after %.1f s: %s", c.fault, c.missingGuard, time.Since(begun).Seconds(), strings.Join(found, "; "))
			return
		}
	}
	require.Fail(t, "no invariant was violated, so the test with the guard proves nothing", c.fault)
}

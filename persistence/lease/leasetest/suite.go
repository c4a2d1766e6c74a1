package leasetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callboard/callboard/persistence/lease"
)

// Open opens a lease engine on a store. Only engines with the same space see each other, so tests do not interfere.
type Open func(store, space string, o lease.Options) (lease.Engine, error)

// Suite is the conformance suite of lease engines.
type Suite struct {
	Store      string // the argument of Open; a child process opens it too
	Open       Open
	InProcess  bool          // the store exists in this process only: tests with a child process are skipped
	ShortLease time.Duration // the lease of tests that wait for its end
}

// longLease is a lease that must not end during a test, however busy the machine is.
const longLease = 20 * time.Second

// Run runs the suite.
func (s Suite) Run(t *testing.T) {
	t.Helper()
	type test struct {
		name string
		test func(*testing.T, Suite)
	}
	tests := []test{
		{"WhoHasJoinedClaimsAndReleases", testClaims},
		{"EpochsGrowWhateverTheClocksSay", testEpochs},
		{"NamesThatNoKeyTakesAreRefused", testNames},
		{"WithoutALeaseNothingIsClaimed", testClaimBeforeJoin},
		{"NodesSeeEachOtherComeDrainAndGo", testJoinAndLeave},
		{"AShardIsClaimedOnce", testConcurrentClaims},
		{"ChangesAreSeenWithoutABeat", testNotices},
		{"WhoseActorsHangIsFollowedAfterItsDeadline", testUnhealthyNode},
		{"ClaimsOfTheSickAreRefused", testEndedLease},
	}
	if !s.InProcess {
		tests = append(tests, []test{
			{"AKilledProcessIsFollowed", testKilledNode},
			{"AStoppedProcessKnowsThatItMayDoNothing", testPausedNode},
			{"WhoLeavesLosesNothing", testLeavingNode},
		}...)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.test(t, s)
		})
	}
}

func space(t testing.TB) string {
	t.Helper()
	return strings.ReplaceAll(t.Name(), "/", ".")
}

// Eventually waits until a condition is true. After a minute it fails the test.
func Eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for until := time.Now().Add(time.Minute); !is(); {
		if time.Now().After(until) {
			t.Fatalf("condition was not met in time: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (s Suite) engine(t testing.TB, o lease.Options) lease.Engine {
	t.Helper()
	e, err := s.Open(s.Store, space(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// join creates an engine and joins it. The engine leaves when the test ends.
func (s Suite) join(t testing.TB, id string, o lease.Options) lease.Engine {
	t.Helper()
	e := s.engine(t, o)
	if err := e.Join(t.Context(), lease.Node{ID: id, Addr: id + ":80", SIP: id + ":5060"}, func() {}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Leave(context.Background()) })
	return e
}

func all(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func claim(t testing.TB, e lease.Engine, shards ...int) map[int]lease.Token {
	t.Helper()
	tokens, err := e.Claim(t.Context(), shards)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func owner(e lease.Engine, shard int) string {
	n, _ := e.Owner(shard)
	return n.ID
}

func testClaims(t *testing.T, s Suite) {
	changes := make(chan struct{}, 100)
	e := s.engine(t, lease.Options{Lease: longLease})
	if !e.Deadline().IsZero() || len(e.Nodes()) != 0 {
		t.Error("the engine has a lease before Join")
	}
	before := time.Now()
	if err := e.Join(t.Context(), lease.Node{ID: "a", Addr: "a:80"}, func() { changes <- struct{}{} }); err != nil {
		t.Fatal(err)
	}
	if d := e.Deadline().Sub(before); d < longLease/2 || d > longLease*4/5+time.Since(before) {
		t.Errorf("the deadline is in %v", d)
	}
	<-changes
	if n := e.Nodes(); len(n) != 1 || n[0] != (lease.Node{ID: "a", Addr: "a:80"}) {
		t.Errorf("nodes: %v", n)
	}
	tokens := claim(t, e, 0, 3, 7)
	if len(tokens) != 3 {
		t.Fatalf("claimed: %v", tokens)
	}
	for shard, token := range tokens {
		if token.Instance() != "a" || token.Epoch() < uint64(before.UnixMilli())-1 {
			t.Errorf("shard %d has token %q", shard, token)
		}
		if owner(e, shard) != "a" || !e.OwnsShard(shard, token) || e.OwnsShard(shard, token+"x") { // at once, not with the next renewal
			t.Errorf("shard %d is owned by %q, and not with token %q", shard, owner(e, shard), token)
		}
	}
	if err := e.Release(t.Context(), 3, tokens[3]); err != nil {
		t.Fatal(err)
	}
	if owner(e, 3) != "" || owner(e, 7) != "a" {
		t.Errorf("after the release of shard 3: owner of 3 is %q, of 7 %q", owner(e, 3), owner(e, 7))
	}
	again := claim(t, e, 3, 7)
	for _, shard := range []int{3, 7} {
		if again[shard].Epoch() <= tokens[shard].Epoch() || e.OwnsShard(shard, tokens[shard]) {
			t.Errorf("shard %d had %q and has %q", shard, tokens[shard], again[shard])
		}
	}
	if err := e.Drain(t.Context()); err != nil || !e.Nodes()[0].Draining {
		t.Errorf("drain: %v, %v", err, e.Nodes())
	}
	if err := e.Resume(t.Context()); err != nil || e.Nodes()[0].Draining {
		t.Errorf("resume: %v, %v", err, e.Nodes())
	}
	if err := e.Leave(t.Context()); err != nil || !e.Deadline().IsZero() {
		t.Errorf("leave: %v, %v", err, e.Deadline())
	}
}

// testEpochs lets nodes whose clocks are hours apart claim a shard in turn. The epochs must grow with each claim.
func testEpochs(t *testing.T, s Suite) {
	var list []lease.Engine
	for i, off := range []time.Duration{0, time.Hour, -time.Hour} {
		list = append(list, s.join(t, fmt.Sprint("n", i), lease.Options{Lease: longLease, Clock: func() time.Time { return time.Now().Add(off) }}))
	}
	last := lease.Token("")
	for round := range 12 {
		e := list[round%len(list)]
		token := claim(t, e, 5)[5]
		if token.Epoch() <= last.Epoch() {
			t.Fatalf("%q follows %q", token, last)
		}
		if err := e.Release(t.Context(), 5, last); err != nil { // without effect, as it is not the last token
			t.Fatal(err)
		}
		if owner(e, 5) != token.Instance() {
			t.Fatalf("shard 5 is owned by %q with token %q", owner(e, 5), token)
		}
		if err := e.Release(t.Context(), 5, token); err != nil {
			t.Fatal(err)
		}
		last = token
	}
}

func testNames(t *testing.T, s Suite) {
	e := s.engine(t, lease.Options{})
	for _, id := range []string{"", "a|b", "a b"} {
		if err := e.Join(t.Context(), lease.Node{ID: id}, func() {}); err == nil {
			t.Errorf("%q may join", id)
		}
	}
	e = s.join(t, "a", lease.Options{Lease: longLease})
	if _, err := e.Claim(t.Context(), []int{1, -1}); err == nil {
		t.Error("shard -1 may be claimed")
	}
	if _, ok := e.Owner(-1); ok {
		t.Error("shard -1 has an owner")
	}
	if tokens, err := e.Claim(t.Context(), nil); len(tokens) != 0 || err != nil {
		t.Errorf("nothing claimed: %v, %v", tokens, err)
	}
}

func testClaimBeforeJoin(t *testing.T, s Suite) {
	e := s.engine(t, lease.Options{})
	if tokens, err := e.Claim(t.Context(), []int{1}); err == nil {
		t.Errorf("claimed: %v", tokens)
	}
	_ = e.Leave(t.Context())
}

func testJoinAndLeave(t *testing.T, s Suite) {
	a := s.join(t, "a", lease.Options{Lease: longLease})
	b := s.join(t, "b", lease.Options{Lease: longLease})
	want := []lease.Node{{ID: "a", Addr: "a:80", SIP: "a:5060"}, {ID: "b", Addr: "b:80", SIP: "b:5060"}}
	both := func(what string) {
		t.Helper()
		for _, e := range []lease.Engine{a, b} {
			Eventually(t, what, func() bool { return fmt.Sprint(e.Nodes()) == fmt.Sprint(want) })
		}
	}
	both("each sees the other")
	for _, step := range []func(context.Context) error{a.Drain, a.Resume} {
		want[0].Draining = !want[0].Draining
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
		both("the other sees it drain, and go on")
	}
	tokens := claim(t, a, 4)
	Eventually(t, "the other sees the claim", func() bool { return owner(b, 4) == "a" })
	if got := claim(t, b, 4, 5); len(got) != 1 || got[5] == "" {
		t.Errorf("b has claimed %v", got)
	}
	if err := a.Release(t.Context(), 4, tokens[4]); err != nil {
		t.Fatal(err)
	}
	Eventually(t, "the other sees the release", func() bool { return owner(b, 4) == "" })
	if got := claim(t, b, 4); len(got) != 1 || got[4].Epoch() <= tokens[4].Epoch() {
		t.Errorf("b has claimed %v after %v", got, tokens)
	}
	if err := b.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	Eventually(t, "the other sees it go", func() bool { return len(a.Nodes()) == 1 && owner(a, 4) == "" })
}

// testNotices hands a shard over repeatedly and so quickly that renewals alone could not show the changes in time. Nodes
// must therefore see the changes by notices of the store.
func testNotices(t *testing.T, s Suite) {
	a, b := s.join(t, "a", lease.Options{Lease: lease.MaxLease}), s.join(t, "b", lease.Options{Lease: lease.MaxLease})
	until := time.Now().Add(lease.MaxLease)
	for range 6 {
		tokens := claim(t, a, 1)
		Eventually(t, "the other sees the claim", func() bool { return owner(b, 1) == tokens[1].Instance() })
		if err := a.Release(t.Context(), 1, tokens[1]); err != nil {
			t.Fatal(err)
		}
		Eventually(t, "the other sees the release", func() bool { return owner(b, 1) == "" })
		a, b = b, a
	}
	if time.Now().After(until) {
		t.Error("changes are seen by renewals only")
	}
}

func testConcurrentClaims(t *testing.T, s Suite) {
	const nodes, shards = 4, 100
	var mu sync.Mutex
	got := make(map[int][]lease.Token)
	var claiming sync.WaitGroup
	begin := make(chan struct{})
	var list []lease.Engine
	for i := range nodes {
		e := s.join(t, fmt.Sprint("n", i), lease.Options{Lease: longLease})
		list = append(list, e)
		claiming.Go(func() {
			<-begin
			for at := 0; at < shards; at += 10 {
				tokens, err := e.Claim(t.Context(), all(shards)[at:at+10])
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				for shard, token := range tokens {
					got[shard] = append(got[shard], token)
				}
				mu.Unlock()
			}
		})
	}
	close(begin)
	claiming.Wait()
	for shard := range shards {
		if len(got[shard]) != 1 {
			t.Fatalf("shard %d was claimed by %v", shard, got[shard])
		}
		for _, e := range list {
			Eventually(t, "every node sees whose it is", func() bool { return owner(e, shard) == got[shard][0].Instance() })
		}
	}
}

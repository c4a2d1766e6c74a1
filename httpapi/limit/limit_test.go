package limit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/httpapi/limit"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func minute(n int) limit.Rule { return limit.Rule{N: n, Window: time.Minute, Burst: true} }

func TestLimiterAllowsNThenDelayedBurstThenRefuses(t *testing.T) {
	var l limit.Limiter
	var got []string
	for i := range 28 {
		a := l.Allow("ws", minute(20), epoch.Add(time.Duration(i)*time.Millisecond))
		got = append(got, fmt.Sprint(a.OK, a.Wait, a.Remaining))
	}
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprint(true, time.Duration(0), 19-i))
	}
	for _, wait := range []string{"200ms", "400ms", "600ms"} { // a burst of ⌈0.15·20⌉ = 3 requests
		want = append(want, "true "+wait+" 0")
	}
	for range 5 {
		want = append(want, fmt.Sprint(false, time.Duration(0), 0))
	}
	assert.Equal(t, want, got)
}

func TestAtMostFiveRequestsWait(t *testing.T) {
	var l limit.Limiter
	for range 100 {
		l.Allow("ws", minute(100), epoch)
	}
	for i := range limit.MaxWaiting {
		require.Equal(t, time.Duration(i+1)*200*time.Millisecond, l.Allow("ws", minute(100), epoch).Wait)
	}
	require.False(t, l.Allow("ws", minute(100), epoch).OK, "a sixth request may not wait")
	l.EndWait("ws")
	require.True(t, l.Allow("ws", minute(100), epoch).OK, "one waiting request has passed, so another may wait")
}

func TestBurstIsRestoredAfterWindowBelowLimit(t *testing.T) {
	var l limit.Limiter
	drain := func(at time.Time) (ok int) {
		for range 30 {
			if a := l.Allow("ws", minute(10), at); a.OK {
				ok++
				if a.Wait > 0 {
					l.EndWait("ws")
				}
			}
		}
		return ok
	}
	assert.Equal(t, 12, drain(epoch))
	assert.Equal(t, 10, drain(epoch.Add(61*time.Second)), "the window is empty, the burst is still used up")
	assert.Equal(t, 12, drain(epoch.Add(61*time.Second+121*time.Second)), "a minute below the limit restores the burst")
}

func TestResetIsWhenOldestRequestLeavesWindow(t *testing.T) {
	var l limit.Limiter
	l.Allow("ws", minute(2), epoch)
	a := l.Allow("ws", minute(2), epoch.Add(10*time.Second))
	assert.Equal(t, []any{true, 2, 0, epoch.Add(time.Minute + time.Millisecond).Local(), time.Minute, 2}, []any{a.OK, a.Limit, a.Remaining, a.Reset, a.Window, a.Unstored})
	assert.Equal(t, 51, a.RetryAfter(epoch.Add(10*time.Second)))
}

func TestFullLimiterEvictsLeastRecentlyUsedName(t *testing.T) {
	l := limit.Limiter{Names: 3}
	rule := limit.Rule{N: 1, Window: time.Minute}
	for i := range 100 {
		require.True(t, l.Allow(fmt.Sprint("address ", i), rule, epoch).OK, i)
	}
	require.False(t, l.Allow("address 99", rule, epoch).OK, "a recent name is still counted")
	require.True(t, l.Allow("address 0", rule, epoch).OK, "the name that was used least recently was evicted")
}

func TestLimiterKeepsNameWithWaitingRequests(t *testing.T) {
	l := limit.Limiter{Names: 2}
	for range 101 {
		l.Allow("waits", minute(100), epoch)
	}
	for i := range 10 {
		l.Allow(fmt.Sprint("other ", i), minute(100), epoch)
	}
	made, _ := l.Used("waits", minute(100), epoch)
	require.Equal(t, 101, made)
}

func TestNoWindowExceedsNPlusBurst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l limit.Limiter
		n := rapid.IntRange(1, 40).Draw(t, "n")
		now := epoch
		var allowed []time.Time
		for range rapid.IntRange(1, 400).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "gap")) * time.Millisecond)
			a := l.Allow("x", minute(n), now)
			if a.Wait > 0 {
				l.EndWait("x")
			}
			if a.OK {
				allowed = append(allowed, now)
			}
		}
		maximum := n + (n*15+99)/100
		for i := range allowed {
			in := 0
			for _, p := range allowed[i:] {
				if p.Sub(allowed[i]) < time.Minute {
					in++
				}
			}
			if in > maximum {
				t.Fatalf("%d in the minute from %v, %d allowed", in, allowed[i], maximum)
			}
		}
	})
}

func TestRestoredCountsAllowNoMoreRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var before, after limit.Limiter
		n := rapid.IntRange(1, 40).Draw(t, "n")
		rule := minute(n)
		if rapid.Bool().Draw(t, "of an hour") {
			rule.Window = time.Hour
		}
		now := epoch
		allow := func(l *limit.Limiter) bool {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(rule.Window)/20).Draw(t, "gap")))
			a := l.Allow("x", rule, now)
			if a.Wait > 0 {
				l.EndWait("x")
			}
			return a.OK
		}
		var allowed []time.Time
		for range rapid.IntRange(1, 100).Draw(t, "requests") {
			if allow(&before) {
				allowed = append(allowed, now)
			}
		}
		snapshot, ok := before.Snapshot("x")
		if !ok {
			t.Fatal("nothing is kept")
		}
		after.Restore("x", snapshot, rule, now)
		for range rapid.IntRange(1, 100).Draw(t, "requests after") {
			if allow(&after) {
				allowed = append(allowed, now)
			}
		}
		maximum := n + (n*15+99)/100
		for i := range allowed {
			in := 0
			for _, p := range allowed[i:] {
				if p.Sub(allowed[i]) < rule.Window {
					in++
				}
			}
			if in > maximum {
				t.Fatalf("%d in the window from %v, %d allowed", in, allowed[i], maximum)
			}
		}
	})
}

func TestClockSetBackDelaysRequestsForOneWindowAtMost(t *testing.T) {
	var before, after limit.Limiter
	for range 10 {
		before.Allow("x", minute(10), epoch)
	}
	snapshot, _ := before.Snapshot("x")
	back := epoch.Add(-time.Hour)
	after.Restore("x", snapshot, minute(10), back)
	made, reset := after.Used("x", minute(10), back)
	assert.Equal(t, 10, made)
	assert.WithinDuration(t, back.Add(time.Minute), reset, time.Second)
}

func TestRefundedRequestsAreNotCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var with, without limit.Limiter
		n := rapid.IntRange(1, 20).Draw(t, "n")
		now := epoch
		for range rapid.IntRange(1, 200).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "gap")) * time.Millisecond)
			allow := func(l *limit.Limiter) limit.Decision {
				a := l.Allow("x", minute(n), now)
				if a.Wait > 0 {
					l.EndWait("x")
				}
				return a
			}
			if rapid.Bool().Draw(t, "refunded") {
				if used, _ := with.Used("x", minute(n), now); used < n-1 { // below N, so the window below N continues
					with.Refund("x", allow(&with))
				}
				continue
			}
			if a, b := allow(&with), allow(&without); a.OK != b.OK || a.Remaining != b.Remaining || a.Wait != b.Wait {
				t.Fatalf("%+v with requests that were refunded, %+v without", a, b)
			}
		}
	})
}

func TestRefundedBurstRequestCanBeMadeAgain(t *testing.T) {
	var l limit.Limiter
	l.Allow("x", minute(1), epoch)
	for range 3 {
		a := l.Allow("x", minute(1), epoch)
		require.True(t, a.OK)
		l.EndWait("x")
		l.Refund("x", a)
	}
	require.True(t, l.Allow("x", minute(1), epoch).OK)
	l.EndWait("x")
	require.False(t, l.Allow("x", minute(1), epoch).OK)
}

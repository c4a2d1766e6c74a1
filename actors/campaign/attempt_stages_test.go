package campaign

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/domain"
)

func newPendingAttempt(callID string, expires time.Time) *pendingAttempt {
	return &pendingAttempt{callID: callID, permit: lines.Permit{Expires: expires}}
}

func storedAttempt(id, boot string) *openAttempt {
	return &openAttempt{attemptRows: &attemptRows{
		row: domain.Attempt{ID: id, CallID: "call_" + id, Boot: boot}, call: domain.Call{Meta: domain.Meta{ID: "call_" + id}},
	}}
}

func TestPermitRequestsAcceptOnlyRequestedPermits(t *testing.T) {
	t.Parallel()
	p := newPermitRequests(nil, nil)
	p.requested = 1
	assert.False(t, p.accept(lines.Permit{Generation: p.generation - 1}), "of an earlier generation")
	assert.True(t, p.accept(lines.Permit{Generation: p.generation}))
	assert.False(t, p.accept(lines.Permit{Generation: p.generation}), "one too many")
	assert.Equal(t, 2, p.received)
	assert.Zero(t, p.requested)
}

func TestTrunkPauseIsNeverShortened(t *testing.T) {
	t.Parallel()
	var p trunkPause
	p.extend(noon.Add(time.Minute), true)
	p.extend(noon, false)
	assert.Equal(t, trunkPause{until: noon.Add(time.Minute), spendCap: true}, p)
}

func TestPendingAttemptsExpireAndRepeat(t *testing.T) {
	t.Parallel()
	p := newPendingAttempts()
	asked := newPendingAttempt("asked", noon.Add(time.Minute))
	asked.numberRequested, asked.numberRequestedAt = true, noon
	p.addWaiting(newPendingAttempt("short", noon.Add(10*time.Second)))
	p.addWaiting(asked)
	var expired, repeated []string
	check := func(now time.Time) int {
		return p.checkWaiting(now, func(t *pendingAttempt) { expired = append(expired, t.callID) }, func(t *pendingAttempt) {
			repeated = append(repeated, t.callID)
			t.numberRequestedAt = now
		})
	}
	assert.Zero(t, check(noon.Add(numberRepeat-1)), "nothing is due: nothing is looked at")
	assert.Equal(t, 2, check(noon.Add(numberRepeat)))
	assert.Equal(t, []string{"asked"}, repeated)
	check(noon.Add(10 * time.Second))
	assert.Equal(t, []string{"short"}, expired)
	assert.Equal(t, 1, p.count())
	assert.Nil(t, p.takeWaiting("short"))
	assert.Same(t, asked, p.takeWaiting("asked"))
}

func TestPendingAttemptsIgnoreStaleReplies(t *testing.T) {
	t.Parallel()
	p := newPendingAttempts()
	waiting := newPendingAttempt("call", noon)
	waiting.numberRequest = 2
	p.addWaiting(waiting)
	got, known := p.takeRequested("call", 1)
	assert.Nil(t, got)
	assert.True(t, known)
	got, _ = p.takeRequested("call", 2)
	assert.Same(t, waiting, got)
	_, known = p.takeRequested("call", 2)
	assert.False(t, known)
}

func TestGrantedAttemptsAreOrderedAndExpire(t *testing.T) {
	t.Parallel()
	p := newPendingAttempts()
	for i, expires := range []time.Duration{time.Minute, time.Second, time.Minute} {
		granted := newPendingAttempt(string(rune('a'+i)), noon.Add(expires))
		granted.candidate.ordinal = i
		p.addGranted(granted)
	}
	var expired []string
	assert.Equal(t, 3, p.checkGranted(noon.Add(time.Second/2), func(t *pendingAttempt) { expired = append(expired, t.callID) }))
	assert.Equal(t, []string{"b"}, expired)
	assert.Equal(t, map[int]bool{0: true, 2: true}, p.ordinals())
	taken := p.takeGranted(1)
	require.Len(t, taken, 1)
	assert.Equal(t, "a", taken[0].callID)
	assert.Len(t, p.takeAll(), 1)
	assert.Zero(t, p.count())
}

func TestDialQueueKeepsPace(t *testing.T) {
	t.Parallel()
	q := newDialQueue()
	q.lastSent = noon
	q.push(newPendingAttempt("a", noon))
	q.push(newPendingAttempt("b", noon))
	assert.Equal(t, noon.Add(3*time.Second), q.sendTime(time.Second, noon), "behind those that wait")
	next, wait := q.next(time.Second, noon.Add(300*time.Millisecond))
	assert.Nil(t, next)
	assert.Equal(t, 700*time.Millisecond, wait)
	q.timerSet = true
	next, wait = q.next(time.Second, noon.Add(time.Second))
	assert.Nil(t, next, "until its timer is due")
	assert.Zero(t, wait)
	q.onSendDue(sendDue{q.timer - 1})
	assert.True(t, q.timerSet, "the timer of a predecessor")
	q.onSendDue(sendDue{q.timer})
	next, _ = q.next(time.Second, noon.Add(time.Second))
	assert.Equal(t, "a", next.callID)
	assert.Equal(t, map[string]bool{"b": true}, q.callIDs())
}

func TestDialQueueContinuesAfterStoredAttempts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lastOpen time.Time
		attempts bool
		want     time.Time
	}{
		"nothing is open":         {noon.Add(-time.Hour), false, noon.Add(-time.Hour)},
		"when they were sent":     {noon.Add(-time.Second), true, noon},
		"at the latest":           {noon.Add(-time.Hour), true, noon.Add(-time.Hour + commitLimit)},
		"the clock was set back":  {noon.Add(time.Hour), false, noon},
		"planned a moment before": {noon.Add(time.Second), false, noon.Add(time.Second)},
	} {
		q := newDialQueue()
		q.adopt(c.lastOpen, c.attempts, noon)
		assert.Equal(t, c.want, q.lastSent, name)
	}
}

func TestOpenAttemptsAfterRestart(t *testing.T) {
	t.Parallel()
	o := newOpenAttempts()
	o.queueEnd(call.Ended{AttemptID: "committed", CallID: "call_committed"})
	live := func(id string) bool { return id == "call_live" }
	stored := []*openAttempt{storedAttempt("old", "boot 1"), storedAttempt("live", "boot 2"), storedAttempt("lost", "boot 2")}
	interrupted, committed := o.adopt(stored, "boot 2", live, noon)
	assert.Equal(t, []string{"call_old"}, interrupted)
	assert.Equal(t, []string{"call_committed"}, committed)
	assert.Equal(t, map[string]bool{"old": true}, o.closing)
	assert.Equal(t, []string{"old"}, attemptIDs(o.ends))

	assert.Zero(t, o.closeLost(noon.Add(lostLimit-1)))
	assert.Equal(t, 1, o.closeLost(noon.Add(lostLimit)))
	assert.Equal(t, []string{"old", "lost"}, attemptIDs(o.ends))
	assert.Equal(t, []string{"call_live"}, o.live())
	assert.Zero(t, o.lostDue)
}

func TestLostAttemptsKeepTheirLimitAfterReload(t *testing.T) {
	t.Parallel()
	o := newOpenAttempts()
	nothing := func(string) bool { return false }
	o.adopt([]*openAttempt{storedAttempt("lost", "boot")}, "boot", nothing, noon)
	o.adopt([]*openAttempt{storedAttempt("lost", "boot")}, "boot", nothing, noon.Add(time.Second))
	assert.Equal(t, noon.Add(lostLimit), o.lostDue)
}

func TestEndsOfFailedCommitComeFirstInNext(t *testing.T) {
	t.Parallel()
	o := newOpenAttempts()
	for _, id := range []string{"a", "b", "c"} {
		o.queueEnd(call.Ended{AttemptID: id})
	}
	o.returnEnds(o.takeEnds(2))
	assert.Equal(t, []string{"a", "b", "c"}, attemptIDs(o.ends))
}

func attemptIDs(ends []call.Ended) (ids []string) {
	for _, e := range ends {
		ids = append(ids, e.AttemptID)
	}
	return ids
}

func TestAbandonedDialogsCountUntilTheyEnd(t *testing.T) {
	t.Parallel()
	d := newAbandonedDialogs()
	d.end("early")
	for _, id := range []string{"early", "ends", "stays"} {
		d.add(id, noon.Add(abandonedLimit))
	}
	d.end("ends")
	assert.Len(t, d.until, 1, "an end that came before its dialog was known counts as well")
	assert.Zero(t, d.expire(noon))
	assert.Equal(t, 1, d.expire(noon.Add(abandonedLimit)))
	assert.Empty(t, d.until)
}

func TestCommitPipelineBacksOff(t *testing.T) {
	t.Parallel()
	p := newCommitPipeline()
	for least := minBackoff; least < maxBackoff; least *= 2 {
		got := p.nextBackoff()
		assert.GreaterOrEqual(t, got, least)
		assert.LessOrEqual(t, got, least+least/4)
	}
	assert.Equal(t, maxBackoff, p.backoff)
	p.storeAnswered()
	assert.Equal(t, minBackoff, p.backoff)
	for range maxConflicts {
		assert.True(t, p.addConflict())
	}
	assert.False(t, p.addConflict(), "reading it again does not help")
	p.storeFull = true
	assert.Equal(t, domain.CodeOf(domain.StoreFull()), p.storeError().Code)
	reserved := &batch{}
	reserved.change.UsesReservedSpace = true
	p.succeeded(reserved)
	assert.True(t, p.storeFull, "the reserve took it")
	p.succeeded(&batch{})
	assert.False(t, p.storeFull)
	assert.True(t, p.addConflict())
}

func TestCommitPipelineIgnoresStaleReply(t *testing.T) {
	t.Parallel()
	p, b := newCommitPipeline(), new(batch)
	generation := p.start(b)
	assert.Nil(t, p.finish(generation-1))
	assert.Same(t, b, p.finish(generation))
	assert.Nil(t, p.finish(generation))
}

func TestCallsWithoutTargetAreUncountedUpToLimit(t *testing.T) {
	t.Parallel()
	var f callFeedback
	e := call.Ended{Call: domain.Call{To: "+12025550100"}, Verdict: domain.Verdict{NoTarget: true}}
	for range maxNoTarget {
		assert.True(t, f.isUncounted(&e))
	}
	assert.False(t, f.isUncounted(&e), "some carriers do not answer for single numbers")
	e.Verdict.TrunkOut = true
	assert.True(t, f.isUncounted(&e), "the trunks are known to be out")
	e.Verdict = domain.Verdict{}
	assert.False(t, f.isUncounted(&e))
	assert.Empty(t, f.noTarget)
}

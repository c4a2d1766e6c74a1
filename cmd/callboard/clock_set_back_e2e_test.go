package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/redis/redistest"
)

// shiftedClock is a failpoint that shifts the clock of a running service. path is a file that contains the offset.
type shiftedClock struct{ path string }

func newShiftedClock(t *testing.T) shiftedClock {
	t.Helper()
	w := shiftedClock{filepath.Join(t.TempDir(), "clock")}
	w.setOffset(t, 0)
	return w
}

// env returns the environment variable with which a service uses the shifted clock.
func (w shiftedClock) env() string { return "FAILPOINT_CLOCK=" + w.path }

// setOffset sets the difference between the clock of the service and the real time.
func (w shiftedClock) setOffset(t testing.TB, d time.Duration) {
	t.Helper()
	require.NoError(t, os.WriteFile(w.path+".new", []byte(d.String()), 0o600))
	require.NoError(t, os.Rename(w.path+".new", w.path))
}

// awaitClock waits until the Date header of a response shows that the clock of the service is shifted by d.
func (o *faultCampaign) awaitClock(d time.Duration) {
	o.t.Helper()
	o.await("the clock", 20*time.Second, func() bool {
		_, _, head, err := o.sendRequest("GET", "/healthz", nil)
		if err != nil {
			return false
		}
		at, err := time.Parse(time.RFC1123, head.Get("Date"))
		return err == nil && at.Sub(time.Now().Add(d)).Abs() < 30*time.Second
	})
}

// awaitRetry waits until a busy contact is called again, or until all contacts were called. Its time limit is much less
// than the hour by which the clock is set back.
func (o *faultCampaign) awaitRetry() {
	o.t.Helper()
	again := func() (n int) {
		for _, c := range o.busy.inviteCounts() {
			if c > 1 {
				n++
			}
		}
		return n
	}
	before := again()
	o.await("a retry", time.Minute, func() bool { return again() > before || again() == o.contacts/5 })
}

// runWithClockSetBack runs a campaign while the clock is set back by an hour per round. In even rounds the service runs
// when that happens, in odd rounds it is down. Retries of busy contacts must not be delayed. The test does not check
// the times of webhook retries, which follow the clock.
func (o *faultCampaign) runWithClockSetBack(w shiftedClock, from, to int) {
	o.t.Helper()
	o.interleaved = true
	id := o.createAndStart()
	for round := from; round < to; round++ {
		back := -time.Duration(round+1) * time.Hour
		o.sleepRandomly()
		o.await("a busy contact", time.Minute, func() bool { return len(o.busy.inviteCounts()) > round-from })
		if round%2 == 1 {
			o.kill9()
			w.setOffset(o.t, back)
			o.start()
			o.awaitClock(back)
			continue
		}
		w.setOffset(o.t, back)
		o.awaitClock(back)
		o.awaitRetry()
	}
	o.checkCallInvariants(id)
}

func TestClockSetBackCallsEachContactOnce(t *testing.T) {
	t.Parallel()
	w := newShiftedClock(t)
	o := newFaultCampaign(t, w.env())
	if os.Getenv("NIGHTLY") != "" {
		o.runWithClockSetBack(w, 0, 20)
		return
	}
	o.contacts = 100
	o.runWithClockSetBack(w, 0, 2)
}

// The service is killed while its clock is set back, so that Redis contains times that are later than the new clock.
// Each contact must still be called once.
func TestClockSetBackWithRedisCallsEachContactOnce(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Start(t)
	w := newShiftedClock(t)
	o := newFaultCampaign(t, w.env(), "CALLBOARD_REDIS_URL="+url)
	if os.Getenv("NIGHTLY") != "" {
		o.runWithClockSetBack(w, 0, 20)
		return
	}
	o.contacts = 60
	o.runWithClockSetBack(w, 1, 2)
}

// The control shows that the other tests can fail. If the service stores a call attempt only after its INVITE, a kill
// with the clock set back leads to a second call.
func TestControlClockSetBackWithLateCommitCallsTwice(t *testing.T) {
	t.Parallel()
	w := newShiftedClock(t)
	o := newFaultCampaign(t, w.env(), "FAILPOINT_LATE_OPEN=1")
	o.createAndStart()
	for round := 0; o.countExcessCalls() == 0; round++ {
		require.Less(t, round, 20, "no contact was called twice, so the test above detects no fault")
		before := fmt.Sprint(o.answering.inviteCounts())
		o.await("a call more", time.Minute, func() bool { return fmt.Sprint(o.answering.inviteCounts()) != before })
		o.kill9()
		w.setOffset(t, -time.Duration(round+1)*time.Hour)
		o.start()
	}
}

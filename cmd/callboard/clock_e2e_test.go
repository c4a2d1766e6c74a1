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

// shiftedClock is a failpoint that shifts the clock of a running service.
type watch struct{ path string }

func newWatch(t *testing.T) watch {
	t.Helper()
	w := watch{filepath.Join(t.TempDir(), "clock")}
	w.set(t, 0)
	return w
}

// env returns the environment variable that gives the clock to a service.
func (w watch) env() string { return "FAILPOINT_CLOCK=" + w.path }

// setOffset shifts the clock by d.
func (w watch) set(t testing.TB, d time.Duration) {
	t.Helper()
	require.NoError(t, os.WriteFile(w.path+".new", []byte(d.String()), 0o600))
	require.NoError(t, os.Rename(w.path+".new", w.path))
}

// awaitClock waits until the service's log shows the shifted time.
func (o *ordeal) shows(d time.Duration) {
	o.t.Helper()
	o.await("the clock", 20*time.Second, func() bool {
		_, _, head, err := o.request("GET", "/healthz", nil)
		if err != nil {
			return false
		}
		at, err := time.Parse(time.RFC1123, head.Get("Date"))
		return err == nil && at.Sub(time.Now().Add(d)).Abs() < 30*time.Second
	})
}

// awaitRetry waits until a busy contact is called again, long before an hour has passed, or until all contacts were
// called.
func (o *ordeal) retried() {
	o.t.Helper()
	again := func() (n int) {
		for _, c := range o.busy.rung() {
			if c > 1 {
				n++
			}
		}
		return n
	}
	before := again()
	o.await("a retry", time.Minute, func() bool { return again() > before || again() == o.contacts/5 })
}

// runWithClockSetBack runs a campaign while the clock is set back by an hour per round: in even rounds while the
// service runs, in odd rounds while it is down. Retries of busy contacts must not be delayed. The times of webhook
// retries follow the clock and are not checked.
func (o *ordeal) setBack(w watch, from, to int) {
	o.t.Helper()
	o.mixed = true
	id := o.startCampaign()
	for round := from; round < to; round++ {
		back := -time.Duration(round+1) * time.Hour
		o.between()
		o.await("a busy contact", time.Minute, func() bool { return len(o.busy.rung()) > round-from })
		if round%2 == 1 {
			o.kill9()
			w.set(o.t, back)
			o.start()
			o.shows(back)
			continue
		}
		w.set(o.t, back)
		o.shows(back)
		o.retried()
	}
	o.proveCalls(id)
}

func TestClockSetBackCallsEachContactOnce(t *testing.T) {
	t.Parallel()
	w := newWatch(t)
	o := newOrdeal(t, w.env())
	if os.Getenv("NIGHTLY") != "" {
		o.setBack(w, 0, 20)
		return
	}
	o.contacts = 100
	o.setBack(w, 0, 2)
}

// Redis holds times of the old clock if the service is killed while its clock is set back.
func TestClockSetBackWithRedisCallsEachContactOnce(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Start(t)
	w := newWatch(t)
	o := newOrdeal(t, w.env(), "CALLBOARD_REDIS_URL="+url)
	if os.Getenv("NIGHTLY") != "" {
		o.setBack(w, 0, 20)
		return
	}
	o.contacts = 60
	o.setBack(w, 1, 2)
}

// The control: with the clock set back and a kill, an attempt that is stored after its INVITE is dialed twice.
func TestControlClockSetBackWithLateCommitCallsTwice(t *testing.T) {
	t.Parallel()
	w := newWatch(t)
	o := newOrdeal(t, w.env(), "FAILPOINT_LATE_OPEN=1")
	o.startCampaign()
	for round := 0; o.twice() == 0; round++ {
		require.Less(t, round, 20, "no contact was called twice, so the test above detects no fault")
		before := fmt.Sprint(o.answers.rung())
		o.await("a call more", time.Minute, func() bool { return fmt.Sprint(o.answers.rung()) != before })
		o.kill9()
		w.set(t, -time.Duration(round+1)*time.Hour)
		o.start()
	}
}

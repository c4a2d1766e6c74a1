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

// watch is the clock of a service: it can be set while the service runs.
type watch struct{ path string }

func newWatch(t *testing.T) watch {
	t.Helper()
	w := watch{filepath.Join(t.TempDir(), "clock")}
	w.set(t, 0)
	return w
}

// env gives the clock to a service.
func (w watch) env() string { return "FAILPOINT_CLOCK=" + w.path }

// set makes the clock wrong by d.
func (w watch) set(t testing.TB, d time.Duration) {
	t.Helper()
	require.NoError(t, os.WriteFile(w.path+".new", []byte(d.String()), 0o600))
	require.NoError(t, os.Rename(w.path+".new", w.path))
}

// shows waits until the service dates what it says by its clock.
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

// retried waits for somebody who was busy and is rung once more, though not for
// an hour, or for all to have been.
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

// setBack lets a campaign go through clocks that are set back an hour each
// time: under the running service in even rounds, and while it is down in odd
// ones. Whoever was busy before is rung again as soon as without that. When
// webhooks are told again is by the clock, and not looked at.
func (o *ordeal) setBack(w watch, from, to int) {
	o.t.Helper()
	o.mixed = true
	id := o.startCampaign()
	for round := from; round < to; round++ {
		back := -time.Duration(round+1) * time.Hour
		o.between()
		o.await("somebody who is busy", time.Minute, func() bool { return len(o.busy.rung()) > round-from })
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

// Where the service is killed with its clock set back, what Redis holds is by
// another clock than what follows.
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

// The control: with the clock set back and a kill, an attempt that is stored
// after its INVITE rings somebody twice.
func TestControlClockSetBackWithLateCommitCallsTwice(t *testing.T) {
	t.Parallel()
	w := newWatch(t)
	o := newOrdeal(t, w.env(), "FAILPOINT_LATE_OPEN=1")
	o.startCampaign()
	for round := 0; o.twice() == 0; round++ {
		require.Less(t, round, 20, "nobody is rung twice: the test above proves nothing")
		before := fmt.Sprint(o.answers.rung())
		o.await("a call more", time.Minute, func() bool { return fmt.Sprint(o.answers.rung()) != before })
		o.kill9()
		w.set(t, -time.Duration(round+1)*time.Hour)
		o.start()
	}
}

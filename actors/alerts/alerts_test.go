package alerts_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/alerts"
	mb "github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

const ws = "ws_01J00000000000000000000000"

// fixture simulates the store, the mail server and a trunk. They keep their state when a test restarts the alerts actor.
type fixture struct {
	*testing.T
	sys *actor.ActorSystem
	pid *actor.PID

	mu              sync.Mutex
	rows            map[domain.Key]domain.Record
	events          []event.Type
	sentEmails      []string
	commitFailures  int           // number of commits that fail next
	rejections      int           // number of emails that are rejected next
	blockSend       chan struct{} // sending waits until it is closed; nil: no wait
	trunkDown       bool
	readPanics      int
	rejectedAddress string          // recipient that the mail server rejects
	noMailer        bool            // no mail server is configured
	noReadings      bool            // the workspace ws returns no readings
	secondWorkspace bool            // a second workspace has a trunk as well
	concurrentSends [2]int          // emails being sent now, and their maximum
	readLog         []string        // checks and the workspaces whose rules they read; recorded once listWorkspaces is set
	listWorkspaces  func() []string // existing workspaces; nil: only ws
}

func withFixture(t *testing.T, f func(w *fixture)) {
	t.Helper()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		w := &fixture{T: t, sys: sys, rows: make(map[domain.Key]domain.Record)}
		r := &domain.AlertRule{
			Meta: domain.Meta{ID: "alertrule_1", WorkspaceID: ws}, Name: "r", Kind: domain.AlertTrunkDown, Minutes: 3, Emails: []string{"ops@example.com"},
		}
		w.rows[r.Key()] = r
		w.start()
		synctest.Wait() // the first check is over before the test changes anything
		f(w)
		w.stop()
	})
}

func (w *fixture) start() {
	var mailer alerts.Mailer = w
	if w.noMailer {
		mailer = nil
	}
	w.pid = w.sys.Root.Spawn(mb.Props(func() actor.Actor {
		return alerts.New(alerts.Config{
			Store: w, Workspaces: w.workspaces, ReadValues: w.readValues, Mailer: mailer, Log: slog.New(slog.DiscardHandler),
		})
	}, 100))
}

func (w *fixture) workspaces() []string {
	w.mu.Lock()
	looks := w.listWorkspaces
	w.mu.Unlock()
	if looks != nil {
		return looks()
	}
	return []string{ws}
}

func (w *fixture) stop() {
	w.sys.Root.Poison(w.pid)
	synctest.Wait()
}

func (w *fixture) readValues(context.Context, []*domain.AlertRule) map[string]alerts.RuleReadings {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.readPanics--; w.readPanics >= 0 {
		panic("no")
	}
	other := alert.Reading{WorkspaceID: "ws_01J00000000000000000000001", Subject: "trunk_2", Name: "other", Known: true, Bad: w.trunkDown}
	if w.noReadings {
		return map[string]alerts.RuleReadings{"alertrule_1": {Readings: w.otherReadings(other), UnreadWorkspaces: map[string]bool{ws: true}}}
	}
	one := alert.Reading{WorkspaceID: ws, Subject: "trunk_1", Name: "carrier", Known: true, Bad: w.trunkDown}
	return map[string]alerts.RuleReadings{"alertrule_1": {Readings: append(w.otherReadings(other), one)}}
}

// otherReadings returns r as the only reading of the second workspace. Without a second workspace it returns nil.
func (w *fixture) otherReadings(r alert.Reading) []alert.Reading {
	if w.secondWorkspace {
		return []alert.Reading{r}
	}
	return nil
}

// Apply implements alerts.Store.
func (w *fixture) Apply(_ context.Context, c commit.Change) ([]event.Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.commitFailures--; w.commitFailures >= 0 {
		return nil, errors.New("the store is away")
	}
	for _, p := range c.Puts {
		w.rows[p.Key()] = p
	}
	for _, k := range c.Deletes {
		delete(w.rows, k)
	}
	for _, e := range c.Events {
		w.events = append(w.events, e.Type)
	}
	return nil, nil
}

// List implements alerts.Store.
func (w *fixture) List(_ context.Context, q commit.Query, _ func() domain.Record, each func(domain.Record) error) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if q.Kind == "alert_rule" && w.listWorkspaces != nil {
		w.readLog = append(w.readLog, q.Workspace)
	}
	for _, k := range slices.SortedFunc(maps.Keys(w.rows), func(a, b domain.Key) int { return compareIDs(a.ID, b.ID) }) {
		if k.Kind != q.Kind || k.Workspace != q.Workspace {
			continue
		}
		if err := each(copyRecord(w.rows[k])); err != nil {
			return "", err
		}
	}
	return "", nil
}

func compareIDs(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

// copyRecord returns a copy of a stored record, so that a test cannot change the stored one by accident.
func copyRecord(r domain.Record) domain.Record {
	switch r := r.(type) {
	case *domain.AlertRule:
		c := *r
		return &c
	case *domain.Alert:
		c := *r
		return &c
	case *domain.AlertMail:
		c := *r
		return &c
	}
	return r
}

// Send implements alerts.Mailer.
func (w *fixture) Send(ctx context.Context, l alerts.Email) error {
	w.mu.Lock()
	hang := w.blockSend
	w.concurrentSends[0]++
	w.concurrentSends[1] = max(w.concurrentSends[0], w.concurrentSends[1])
	w.mu.Unlock()
	defer w.sendDone()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.To[0] == w.rejectedAddress {
		return errors.New("550 nobody")
	}
	if w.rejections--; w.rejections >= 0 {
		return errors.New("451 later")
	}
	w.sentEmails = append(w.sentEmails, l.Subject)
	return nil
}

func (w *fixture) sendDone() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.concurrentSends[0]--
}

// changeAndWait runs change under the lock of the fixture and then lets the simulated time advance by pass.
func (w *fixture) changeAndWait(change func(), pass time.Duration) {
	w.mu.Lock()
	change()
	w.mu.Unlock()
	time.Sleep(pass)
	synctest.Wait()
}

// reported returns the types of all committed events and the number of emails sent since the fixture started.
func (w *fixture) reported() (events []event.Type, mails int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events), len(w.sentEmails)
}

func TestDownTrunkAlertIsSentOnceAcrossRestart(t *testing.T) {
	t.Parallel()
	withFixture(t, func(w *fixture) {
		w.changeAndWait(func() { w.trunkDown = true }, 2*time.Minute)
		events, _ := w.reported()
		assert.Empty(w, events, "not for long enough")
		w.stop()
		w.start()
		w.changeAndWait(func() {}, 90*time.Second)
		events, mails := w.reported()
		assert.Equal(w, []event.Type{event.AlertFiring}, events, "the time before the restart counts")
		assert.Equal(w, 1, mails)
		w.stop()
		w.start()
		w.changeAndWait(func() { w.trunkDown = false }, time.Minute)
		w.changeAndWait(func() { w.trunkDown = true }, time.Minute)
		w.changeAndWait(func() { w.trunkDown = false }, 4*time.Minute)
		events, _ = w.reported()
		assert.Len(w, events, 1, "it comes and goes")
		w.changeAndWait(func() {}, 2*time.Minute)
		events, mails = w.reported()
		assert.Equal(w, []event.Type{event.AlertFiring, event.AlertResolved}, events)
		assert.Equal(w, 2, mails)
	})
}

func TestFailedCommitsAndEmailsAreRetried(t *testing.T) {
	t.Parallel()
	withFixture(t, func(w *fixture) {
		w.changeAndWait(func() { w.trunkDown, w.commitFailures, w.readPanics = true, 3, 2 }, 5*time.Minute)
		events, mails := w.reported()
		assert.Equal(w, []event.Type{event.AlertFiring}, events)
		assert.Equal(w, 1, mails)
		w.changeAndWait(func() { w.trunkDown, w.rejections = false, 2 }, 6*time.Minute)
		_, mails = w.reported()
		assert.Equal(w, 1, mails, "the server wants it later")
		w.changeAndWait(func() {}, 5*time.Minute)
		_, mails = w.reported()
		assert.Equal(w, 2, mails)
		w.changeAndWait(func() { w.trunkDown, w.rejections = true, 1000 }, 26*time.Hour)
		w.mu.Lock()
		left := len(w.rows)
		w.rejections = 0
		w.mu.Unlock()
		assert.Equal(w, 2, left, "rule and alert: the mail was given up after a day")
	})
}

func TestHangingMailServerDoesNotDelayChecks(t *testing.T) {
	t.Parallel()
	withFixture(t, func(w *fixture) {
		hang := make(chan struct{})
		w.changeAndWait(func() { w.trunkDown, w.blockSend = true, hang }, 4*time.Minute)
		w.changeAndWait(func() { w.trunkDown = false }, 7*time.Minute)
		events, mails := w.reported()
		assert.Equal(w, []event.Type{event.AlertFiring, event.AlertResolved}, events)
		assert.Zero(w, mails)
		close(hang)
		w.changeAndWait(func() { w.blockSend = nil }, 2*time.Hour)
		_, mails = w.reported()
		assert.Equal(w, 2, mails)
	})
}

func TestPanickingCheckStartsNoSecondEmailRun(t *testing.T) {
	t.Parallel()
	withFixture(t, func(w *fixture) {
		hang := make(chan struct{})
		w.changeAndWait(func() { w.trunkDown, w.blockSend = true, hang }, 3*time.Minute+20*time.Second)
		w.changeAndWait(func() { w.readPanics = 1 }, 20*time.Second)
		w.mu.Lock()
		assert.Equal(w, [2]int{1, 1}, w.concurrentSends, "the first one is under way still")
		w.mu.Unlock()
		close(hang)
		w.changeAndWait(func() { w.blockSend = nil }, time.Minute)
		_, mails := w.reported()
		assert.Equal(w, 1, mails)
	})
}

// A check works on its own copy of the set of workspaces. A rule change during a check must cause another check.
func TestRuleChangeDuringCheckStartsAnotherCheck(t *testing.T) {
	t.Parallel()
	withFixture(t, func(w *fixture) {
		const other = "ws_01J00000000000000000000001"
		w.changeAndWait(func() {}, time.Second) // the first check reads all workspaces
		w.changeAndWait(func() {
			w.listWorkspaces = func() []string {
				w.mu.Lock()
				w.readLog = append(w.readLog, "look")
				first := len(w.readLog) == 1
				w.mu.Unlock()
				if first {
					w.sys.Root.Send(w.pid, alerts.RuleChanged{Workspace: other})
					time.Sleep(time.Second) // the actor has processed the message
				}
				return []string{ws, other}
			}
		}, 20*time.Second)
		w.mu.Lock()
		defer w.mu.Unlock()
		assert.Equal(w, []string{"look", ws, "look", ws, other}, w.readLog)
	})
}

func TestAlertsOfUnreadWorkspaceStayUnchanged(t *testing.T) {
	t.Parallel()
	withFixture(t, func(w *fixture) {
		w.changeAndWait(func() { w.trunkDown, w.secondWorkspace = true, true }, 4*time.Minute)
		events, _ := w.reported()
		assert.Equal(w, []event.Type{event.AlertFiring, event.AlertFiring}, events)
		w.changeAndWait(func() { w.trunkDown, w.noReadings = false, true }, 2*time.Hour)
		events, _ = w.reported()
		assert.Equal(w, []event.Type{event.AlertFiring, event.AlertFiring, event.AlertResolved}, events, "of the one that answers")
		w.changeAndWait(func() { w.noReadings = false }, 6*time.Minute)
		events, _ = w.reported()
		assert.Len(w, events, 4)
	})
}

// queuedEmails returns the number of emails that wait to be sent.
func (w *fixture) queuedEmails() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k := range w.rows {
		if k.Kind == "alert_mail" {
			n++
		}
	}
	return n
}

// changeRule applies change to every stored alert rule.
func (w *fixture) changeRule(change func(*domain.AlertRule)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k, r := range w.rows {
		if r, ok := r.(*domain.AlertRule); ok {
			c := *r
			change(&c)
			w.rows[k] = &c
		}
	}
}

func TestRejectedRecipientDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	withFixture(t, func(w *fixture) {
		w.changeRule(func(r *domain.AlertRule) { r.Emails = []string{"gone@example.com", "ops@example.com"} })
		w.changeAndWait(func() { w.trunkDown, w.rejectedAddress = true, "gone@example.com" }, time.Hour)
		_, mails := w.reported()
		assert.Equal(w, []int{1, 1}, []int{mails, w.queuedEmails()}, "one was taken, the other one is tried again")
	})
}

func TestExpiredAndOrphanedEmailsAreDeleted(t *testing.T) {
	t.Parallel()
	withFixture(t, func(w *fixture) {
		w.changeAndWait(func() { w.trunkDown, w.rejections = true, 1000 }, time.Hour)
		assert.Equal(w, 1, w.queuedEmails())
		w.stop()
		w.noMailer = true
		w.start()
		w.changeAndWait(func() { w.trunkDown = false }, time.Hour)
		events, _ := w.reported()
		assert.Equal(w, []event.Type{event.AlertFiring, event.AlertResolved}, events)
		assert.Equal(w, 1, w.queuedEmails(), "without a mail server none is written, and what waits does so")
		w.changeAndWait(func() {}, 24*time.Hour)
		assert.Zero(w, w.queuedEmails(), "for a day")
		w.stop()
		w.noMailer = false
		w.start()
		w.changeAndWait(func() { w.trunkDown = true }, time.Hour)
		assert.Equal(w, 1, w.queuedEmails())
		w.changeAndWait(func() {
			maps.DeleteFunc(w.rows, func(k domain.Key, _ domain.Record) bool { return k.Kind == "alert_rule" })
		}, 2*time.Hour)
		assert.Zero(w, w.queuedEmails(), "the rule is gone")
		_, mails := w.reported()
		assert.Zero(w, mails)
	})
}

func TestExpiredEmailIsNotSent(t *testing.T) {
	t.Parallel()
	withFixture(t, func(w *fixture) {
		w.changeAndWait(func() { w.trunkDown, w.rejections = true, 1000 }, time.Hour)
		w.stop()
		w.changeAndWait(func() { w.rejections = 0 }, 24*time.Hour)
		w.start()
		w.changeAndWait(func() {}, time.Hour)
		_, mails := w.reported()
		assert.Equal(w, []int{0, 0}, []int{mails, w.queuedEmails()})
	})
}

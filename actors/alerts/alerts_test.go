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

// world is a store, a mail server and a trunk; they outlive the actor.
type world struct {
	*testing.T
	sys *actor.ActorSystem
	pid *actor.PID

	mu     sync.Mutex
	rows   map[domain.Key]domain.Record
	told   []event.Type
	mails  []string
	fails  int           // commits
	refuse int           // mails
	hang   chan struct{} // mails wait for it; nil: they do not
	down   bool
	panics int
	bad    string          // an address that no mail is taken for
	mute   bool            // there is no mail server
	silent bool            // ws does not answer
	two    bool            // another one has a trunk as well
	sends  [2]int          // mails that are being sent, and the most at a time
	lists  []string        // looks, and the workspaces whose rules each has read; not before looks is set
	looks  func() []string // which workspaces live; nil: ws does
}

func in(t *testing.T, f func(w *world)) {
	t.Helper()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		w := &world{T: t, sys: sys, rows: make(map[domain.Key]domain.Record)}
		r := &domain.AlertRule{
			Meta: domain.Meta{ID: "alertrule_1", WorkspaceID: ws}, Name: "r", Kind: domain.AlertTrunkDown, Minutes: 3, Emails: []string{"ops@example.com"},
		}
		w.rows[r.Key()] = r
		w.begin()
		f(w)
		w.end()
	})
}

func (w *world) begin() {
	var mailer alerts.Mailer = w
	if w.mute {
		mailer = nil
	}
	w.pid = w.sys.Root.Spawn(mb.Props(func() actor.Actor {
		return alerts.New(alerts.Config{
			Store: w, Workspaces: w.workspaces, ReadValues: w.read, Mailer: mailer, Log: slog.New(slog.DiscardHandler),
		})
	}, 100))
}

func (w *world) workspaces() []string {
	w.mu.Lock()
	looks := w.looks
	w.mu.Unlock()
	if looks != nil {
		return looks()
	}
	return []string{ws}
}

func (w *world) end() {
	w.sys.Root.Poison(w.pid)
	synctest.Wait()
}

func (w *world) read(context.Context, []*domain.AlertRule) map[string]alerts.RuleReadings {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.panics--; w.panics >= 0 {
		panic("no")
	}
	other := alert.Reading{WorkspaceID: "ws_01J00000000000000000000001", Subject: "trunk_2", Name: "other", Known: true, Bad: w.down}
	if w.silent {
		return map[string]alerts.RuleReadings{"alertrule_1": {Readings: w.others(other), UnreadWorkspaces: map[string]bool{ws: true}}}
	}
	one := alert.Reading{WorkspaceID: ws, Subject: "trunk_1", Name: "carrier", Known: true, Bad: w.down}
	return map[string]alerts.RuleReadings{"alertrule_1": {Readings: append(w.others(other), one)}}
}

// others are readings of another workspace, where there is one.
func (w *world) others(r alert.Reading) []alert.Reading {
	if w.two {
		return []alert.Reading{r}
	}
	return nil
}

// Apply is the store's.
func (w *world) Apply(_ context.Context, c commit.Change) ([]event.Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fails--; w.fails >= 0 {
		return nil, errors.New("the store is away")
	}
	for _, p := range c.Puts {
		w.rows[p.Key()] = p
	}
	for _, k := range c.Deletes {
		delete(w.rows, k)
	}
	for _, e := range c.Events {
		w.told = append(w.told, e.Type)
	}
	return nil, nil
}

// List is the store's.
func (w *world) List(_ context.Context, q commit.Query, _ func() domain.Record, each func(domain.Record) error) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if q.Kind == "alert_rule" && w.looks != nil {
		w.lists = append(w.lists, q.Workspace)
	}
	for _, k := range slices.SortedFunc(maps.Keys(w.rows), func(a, b domain.Key) int { return cmpID(a.ID, b.ID) }) {
		if k.Kind != q.Kind || k.Workspace != q.Workspace {
			continue
		}
		if err := each(copied(w.rows[k])); err != nil {
			return "", err
		}
	}
	return "", nil
}

func cmpID(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

// copied is a row as a store reads it: one's own.
func copied(r domain.Record) domain.Record {
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

// Send is the mail server's.
func (w *world) Send(ctx context.Context, l alerts.Email) error {
	w.mu.Lock()
	hang := w.hang
	w.sends[0]++
	w.sends[1] = max(w.sends[0], w.sends[1])
	w.mu.Unlock()
	defer w.sent()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.To[0] == w.bad {
		return errors.New("550 nobody")
	}
	if w.refuse--; w.refuse >= 0 {
		return errors.New("451 later")
	}
	w.mails = append(w.mails, l.Subject)
	return nil
}

func (w *world) sent() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sends[0]--
}

// set changes the world and lets time pass.
func (w *world) set(change func(), pass time.Duration) {
	w.mu.Lock()
	change()
	w.mu.Unlock()
	time.Sleep(pass)
	synctest.Wait()
}

// seen is what was told so far.
func (w *world) seen() (events []event.Type, mails int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.told), len(w.mails)
}

func TestATrunkThatStaysDownIsToldOnceAlsoAcrossARestart(t *testing.T) {
	t.Parallel()
	in(t, func(w *world) {
		w.set(func() { w.down = true }, 2*time.Minute)
		events, _ := w.seen()
		assert.Empty(w, events, "not for long enough")
		w.end()
		w.begin()
		w.set(func() {}, 90*time.Second)
		events, mails := w.seen()
		assert.Equal(w, []event.Type{event.AlertFiring}, events, "the time before the restart counts")
		assert.Equal(w, 1, mails)
		w.end()
		w.begin()
		w.set(func() { w.down = false }, time.Minute)
		w.set(func() { w.down = true }, time.Minute)
		w.set(func() { w.down = false }, 4*time.Minute)
		events, _ = w.seen()
		assert.Len(w, events, 1, "it comes and goes")
		w.set(func() {}, 2*time.Minute)
		events, mails = w.seen()
		assert.Equal(w, []event.Type{event.AlertFiring, event.AlertResolved}, events)
		assert.Equal(w, 2, mails)
	})
}

func TestWhatCannotBeCommittedOrSentIsTriedAgain(t *testing.T) {
	t.Parallel()
	in(t, func(w *world) {
		w.set(func() { w.down, w.fails, w.panics = true, 3, 2 }, 5*time.Minute)
		events, mails := w.seen()
		assert.Equal(w, []event.Type{event.AlertFiring}, events)
		assert.Equal(w, 1, mails)
		w.set(func() { w.down, w.refuse = false, 2 }, 6*time.Minute)
		_, mails = w.seen()
		assert.Equal(w, 1, mails, "the server wants it later")
		w.set(func() {}, 5*time.Minute)
		_, mails = w.seen()
		assert.Equal(w, 2, mails)
		w.set(func() { w.down, w.refuse = true, 1000 }, 26*time.Hour)
		w.mu.Lock()
		left := len(w.rows)
		w.refuse = 0
		w.mu.Unlock()
		assert.Equal(w, 2, left, "rule and alert: the mail was given up after a day")
	})
}

func TestAMailServerThatHangsHoldsUpNoLook(t *testing.T) {
	t.Parallel()
	in(t, func(w *world) {
		hang := make(chan struct{})
		w.set(func() { w.down, w.hang = true, hang }, 4*time.Minute)
		w.set(func() { w.down = false }, 7*time.Minute)
		events, mails := w.seen()
		assert.Equal(w, []event.Type{event.AlertFiring, event.AlertResolved}, events)
		assert.Zero(w, mails)
		close(hang)
		w.set(func() { w.hang = nil }, 2*time.Hour)
		_, mails = w.seen()
		assert.Equal(w, 2, mails)
	})
}

func TestALookThatPanicsLetsNoSecondPostBegin(t *testing.T) {
	t.Parallel()
	in(t, func(w *world) {
		hang := make(chan struct{})
		w.set(func() { w.down, w.hang = true, hang }, 3*time.Minute+5*time.Second)
		w.set(func() { w.panics = 1 }, 20*time.Second)
		w.mu.Lock()
		assert.Equal(w, [2]int{1, 1}, w.sends, "the first one is under way still")
		w.mu.Unlock()
		close(hang)
		w.set(func() { w.hang = nil }, time.Minute)
		_, mails := w.seen()
		assert.Equal(w, 1, mails)
	})
}

// A look reads its own list: what the actor writes meanwhile is for the next one.
func TestARuleMayBeChangedDuringALook(t *testing.T) {
	t.Parallel()
	in(t, func(w *world) {
		const other = "ws_01J00000000000000000000001"
		w.set(func() {}, time.Second) // the first look reads all
		w.set(func() {
			w.looks = func() []string {
				w.mu.Lock()
				w.lists = append(w.lists, "look")
				first := len(w.lists) == 1
				w.mu.Unlock()
				if first {
					w.sys.Root.Send(w.pid, alerts.RuleChanged{Workspace: other})
					time.Sleep(time.Second) // the actor has heard it
				}
				return []string{ws, other}
			}
		}, 20*time.Second)
		w.mu.Lock()
		defer w.mu.Unlock()
		assert.Equal(w, []string{"look", ws, "look", ws, other}, w.lists)
	})
}

func TestAWorkspaceThatDoesNotAnswerKeepsWhatWasFoundOfItAlone(t *testing.T) {
	t.Parallel()
	in(t, func(w *world) {
		w.set(func() { w.down, w.two = true, true }, 4*time.Minute)
		events, _ := w.seen()
		assert.Equal(w, []event.Type{event.AlertFiring, event.AlertFiring}, events)
		w.set(func() { w.down, w.silent = false, true }, 2*time.Hour)
		events, _ = w.seen()
		assert.Equal(w, []event.Type{event.AlertFiring, event.AlertFiring, event.AlertResolved}, events, "of the one that answers")
		w.set(func() { w.silent = false }, 6*time.Minute)
		events, _ = w.seen()
		assert.Len(w, events, 4)
	})
}

// left are the mails that wait.
func (w *world) left() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k := range w.rows {
		if k.Kind == "alert_mail" {
			n++
		}
	}
	return n
}

// rule changes the rule.
func (w *world) rule(change func(*domain.AlertRule)) {
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

func TestAnAddressThatIsRefusedKeepsTheMailFromNobody(t *testing.T) {
	t.Parallel()
	in(t, func(w *world) {
		w.rule(func(r *domain.AlertRule) { r.Emails = []string{"gone@example.com", "ops@example.com"} })
		w.set(func() { w.down, w.bad = true, "gone@example.com" }, time.Hour)
		_, mails := w.seen()
		assert.Equal(w, []int{1, 1}, []int{mails, w.left()}, "one was taken, the other one is tried again")
	})
}

func TestMailsThatNobodyWantsAreDropped(t *testing.T) {
	t.Parallel()
	in(t, func(w *world) {
		w.set(func() { w.down, w.refuse = true, 1000 }, time.Hour)
		assert.Equal(w, 1, w.left())
		w.end()
		w.mute = true
		w.begin()
		w.set(func() { w.down = false }, time.Hour)
		events, _ := w.seen()
		assert.Equal(w, []event.Type{event.AlertFiring, event.AlertResolved}, events)
		assert.Equal(w, 1, w.left(), "without a mail server none is written, and what waits does so")
		w.set(func() {}, 24*time.Hour)
		assert.Zero(w, w.left(), "for a day")
		w.end()
		w.mute = false
		w.begin()
		w.set(func() { w.down = true }, time.Hour)
		assert.Equal(w, 1, w.left())
		w.set(func() {
			maps.DeleteFunc(w.rows, func(k domain.Key, _ domain.Record) bool { return k.Kind == "alert_rule" })
		}, 2*time.Hour)
		assert.Zero(w, w.left(), "the rule is gone")
		_, mails := w.seen()
		assert.Zero(w, mails)
	})
}

func TestAMailThatIsTooOldIsNotSent(t *testing.T) {
	t.Parallel()
	in(t, func(w *world) {
		w.set(func() { w.down, w.refuse = true, 1000 }, time.Hour)
		w.end()
		w.set(func() { w.refuse = 0 }, 24*time.Hour)
		w.begin()
		w.set(func() {}, time.Hour)
		_, mails := w.seen()
		assert.Equal(w, []int{0, 0}, []int{mails, w.left()})
	})
}

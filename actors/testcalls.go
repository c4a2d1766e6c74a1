package actors

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/sip/testcarrier"
)

// testCallWait bounds how long an ordered call may take to be taken or refused.
const testCallWait = 6 * time.Second

// ordered is a call of the built-in carrier that somebody waits for.
type ordered struct {
	taken     chan string // the id of what it became
	workspace string
	agentID   string // whom it is for; "": whose number was called
	watch     func(domain.Segment)
	became    string // the call whose watcher it has
}

// tests knows which calls of the built-in carrier were ordered, by their mark,
// and who reads along in which call.
type tests struct {
	mu    sync.Mutex
	by    map[string]ordered
	watch map[string]func(domain.Segment) // by call
}

func (t *tests) expect(mark string, o ordered) (taken <-chan string, forget func()) {
	o.taken = make(chan string, 1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by, t.watch = make(map[string]ordered), make(map[string]func(domain.Segment))
	}
	t.by[mark] = o
	return o.taken, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.by, mark)
	}
}

// of is what was ordered under a mark; the zero value: nothing.
func (t *tests) of(mark string) ordered {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.by[mark]
}

// becomes says which call an ordered one is about to be, before anything is said
// in it.
func (t *tests) becomes(mark, callID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.by[mark]; o.watch != nil {
		o.became = callID
		t.by[mark], t.watch[callID] = o, o.watch
	}
}

// abandon forgets an order that nobody waits for any more, and who would have
// read along.
func (t *tests) abandon(mark string, taken <-chan string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.watch, t.by[mark].became)
	delete(t.by, mark)
	select {
	case id := <-taken:
		delete(t.watch, id)
	default:
	}
}

// watcher is who reads along in a call; nil: nobody.
func (t *tests) watcher(callID string) func(domain.Segment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.watch[callID]
}

func (t *tests) unwatch(callID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.watch, callID)
}

// taken says which call an ordered one has become.
func (t *tests) taken(mark, callID string) {
	if mark == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if o, ok := t.by[mark]; ok {
		o.taken <- callID
		delete(t.by, mark)
	}
}

// TestInboundCall lets the built-in carrier call a number of the workspace and
// answers with the call that it became.
func (d *Desk) TestInboundCall(ctx context.Context, p domain.Principal, o calls.InboundTest) (*domain.Call, error) {
	if err := d.testsOnly(p, d.node.cfg.TestCall != nil); err != nil {
		return nil, err
	}
	mark := mailbox.NewID("test")
	taken, forget := d.node.tests.expect(mark, ordered{})
	defer forget()
	bound, cancel := context.WithTimeout(ctx, testCallWait)
	defer cancel()
	err := d.node.cfg.TestCall(bound, testcarrier.Order{
		To: o.To, From: o.From, Name: o.Name, Mark: mark, Digits: o.Digits, Says: o.Says, HangUp: o.HangUp,
	})
	if err = d.refusedAs(ctx, p, err); err != nil {
		return nil, err
	}
	select {
	case id := <-taken:
		return d.Call(ctx, p, id)
	case <-bound.Done():
		return nil, errNotTaken()
	}
}

func errNotTaken() error {
	return domain.Errorf(domain.CodeUnavailable, "the call was not taken in time; try again").With("retry_after", 1)
}

// testsOnly is an error where the built-in carrier calls nobody.
func (d *Desk) testsOnly(p domain.Principal, there bool) error {
	switch {
	case p.Environment != domain.Test:
		return domain.Errorf(domain.CodeInvalidState, "the built-in carrier calls with a test key only")
	case !there:
		return domain.Errorf(domain.CodeNoTrunk, "the built-in carrier is switched off")
	case d.node.Draining():
		return domain.Errorf(domain.CodeUnavailable, "the service is being stopped; try again").With("retry_after", 5)
	case d.node.halts.drained.Load() != nil || d.node.Quarantined():
		return d.node.halts.refusal()
	}
	return nil
}

// refusedAs words why a call of the built-in carrier was not taken.
func (d *Desk) refusedAs(ctx context.Context, p domain.Principal, err error) error {
	refused, ok := errors.AsType[*testcarrier.RefusedError](err)
	switch {
	case !ok:
		return err
	case refused.Code == sipNotFound:
		return record.FieldError("to", domain.CodeValidation, "to must be a number of this workspace's test environment that an agent answers")
	case refused.Code == sipBusyHere:
		return d.busyInbound(ctx, p)
	}
	return domain.Errorf(domain.CodeUnavailable, "the call was refused: %d %s", refused.Code, refused.Phrase).With("retry_after", 1)
}

// busyInbound tells that all inbound lines are taken, as far as they are.
func (d *Desk) busyInbound(ctx context.Context, p domain.Principal) error {
	t, err := d.node.workspaceActors(p.WorkspaceID)
	if err != nil {
		return err
	}
	now, err := mailbox.Ask[lines.UsageNow](ctx, d.node.sys, t.inbound, lines.Usage{})
	if err != nil {
		return err
	}
	return domain.Errorf(domain.CodeConcurrentLimit, "all %d inbound lines are busy", now.Limit).With("active_calls", now.Active).With("limit", now.Limit)
}

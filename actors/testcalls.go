package actors

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/simulator"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
)

// testCallWait bounds how long an ordered call may take to be taken or refused.
const testCallWait = 6 * time.Second

// tests knows which calls of the built-in carrier were ordered, by their mark.
type tests struct {
	mu sync.Mutex
	by map[string]chan string
}

func (t *tests) expect(mark string) (taken <-chan string, forget func()) {
	c := make(chan string, 1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = make(map[string]chan string)
	}
	t.by[mark] = c
	return c, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.by, mark)
	}
}

// taken says which call an ordered one has become.
func (t *tests) taken(mark, callID string) {
	if mark == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.by[mark]; c != nil {
		c <- callID
		delete(t.by, mark)
	}
}

// TestInboundCall lets the built-in carrier call a number of the workspace and
// answers with the call that it became.
func (d *Desk) TestInboundCall(ctx context.Context, p domain.Principal, o ask.InboundTest) (*domain.Call, error) {
	if p.Environment != domain.Test {
		return nil, domain.Errorf(domain.CodeInvalidState, "the built-in carrier calls with a test key only")
	}
	if d.node.cfg.TestCall == nil {
		return nil, domain.Errorf(domain.CodeNoTrunk, "the built-in carrier is switched off")
	}
	if d.node.draining() {
		return nil, domain.Errorf(domain.CodeUnavailable, "the service is being stopped; try again").With("retry_after", 5)
	}
	mark := mailbox.NewID("test")
	taken, forget := d.node.tests.expect(mark)
	defer forget()
	bound, cancel := context.WithTimeout(ctx, testCallWait)
	defer cancel()
	err := d.node.cfg.TestCall(bound, simulator.Order{
		To: o.To, From: o.From, Name: o.Name, Mark: mark, Digits: o.Digits, Says: o.Says, HangUp: o.HangUp,
	})
	var refused *simulator.RefusedError
	switch {
	case errors.As(err, &refused) && refused.Code == sipNotFound:
		return nil, problem("to", domain.CodeValidation, "to must be a number of this workspace's test environment that an agent answers")
	case errors.As(err, &refused) && refused.Code == sipBusyHere:
		return nil, domain.Errorf(domain.CodeConcurrentLimit, "all inbound lines are busy")
	case errors.As(err, &refused):
		return nil, domain.Errorf(domain.CodeUnavailable, "the call was refused: %d %s", refused.Code, refused.Phrase).With("retry_after", 1)
	case err != nil:
		return nil, err
	}
	select {
	case id := <-taken:
		return d.Call(ctx, p, id)
	case <-bound.Done():
		return nil, domain.Errorf(domain.CodeUnavailable, "the call was not taken in time; try again").With("retry_after", 1)
	}
}

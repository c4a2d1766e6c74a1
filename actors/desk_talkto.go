package actors

import (
	"cmp"
	"context"
	"sync"

	"github.com/callboard/callboard/actors/inbound"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/testcarrier"
)

// Who talks in a browser, to the call record.
const (
	browserFrom = "+15005550000"
	browserTo   = "+15005550100"
	browserName = "Browser"
)

// TalkToAgent lets somebody talk to an agent whose sound comes and goes by a
// socket: a call of the built-in carrier, over SIP and RTP like any other, that
// takes an inbound line and stands in the record. Errors: invalid_state,
// no_trunk, not_found, engine_not_configured, concurrent_limit_exceeded,
// unavailable.
func (d *Desk) TalkToAgent(ctx context.Context, p domain.Principal, o calls.NewTalk, hears calls.Listener) (calls.Talk, error) {
	if err := d.testsOnly(p, d.node.cfg.Talk != nil); err != nil {
		return calls.Talk{}, err
	}
	if _, err := d.Script(ctx, p, o.AgentID, ""); err != nil {
		return calls.Talk{}, err
	}
	mark := mailbox.NewID("test")
	taken, forget := d.node.tests.expect(mark, ordered{workspace: p.WorkspaceID, agentID: o.AgentID, watch: hears.Segment})
	defer forget()
	bound, cancel := context.WithTimeout(ctx, testCallWait)
	defer cancel()
	var mu sync.Mutex
	callID, over := "", false
	end := func(id string) { // whichever comes later forgets who reads along
		mu.Lock()
		defer mu.Unlock()
		if callID = cmp.Or(callID, id); id == "" {
			over = true
		}
		if over && callID != "" {
			d.node.tests.unwatch(callID)
		}
	}
	handset, err := d.node.cfg.Talk(bound, testcarrier.Order{To: browserTo, From: cmp.Or(o.From, browserFrom), Name: browserName, Mark: mark}, hears.Sound, func(e testcarrier.Event) {
		switch e.What {
		case testcarrier.Answered:
			hears.State(domain.CallInProgress)
		case testcarrier.Heard:
			hears.Key(e.Key)
		case testcarrier.HungUp, testcarrier.Left, testcarrier.Refused:
			end("")
		}
	})
	if err = d.refusedAs(ctx, p, err); err != nil {
		d.node.tests.abandon(mark, taken)
		return calls.Talk{}, err
	}
	select {
	case id := <-taken:
		end(id)
		return calls.Talk{CallID: id, Say: handset.Say, Press: handset.Press, Leave: handset.HangUp}, nil
	case <-bound.Done():
		handset.HangUp()
		d.node.tests.abandon(mark, taken)
		return calls.Talk{}, errNotTaken()
	}
}

// orderedFor is whom a call of the built-in carrier is for that was ordered for
// an agent; nil: it is for a number. One for an agent is never for anybody
// else: where its workspace has no such carrier, nobody has the number.
func (n *Node) orderedFor(in *sip.Incoming) (*domain.PhoneNumber, trunk.Entry, error) {
	o := n.tests.of(in.Header[testcarrier.TestHeader])
	if o.agentID == "" || in.PhoneID != "" {
		return nil, trunk.Entry{}, nil
	}
	for _, e := range n.book.Of(in.Source) {
		if e.WorkspaceID == o.workspace && e.Trunk.Simulator && e.Trunk.Environment == domain.Test {
			return &domain.PhoneNumber{
				Meta: domain.Meta{WorkspaceID: o.workspace, Environment: domain.Test}, Number: browserTo, AgentID: o.agentID,
			}, e, nil
		}
	}
	return nil, trunk.Entry{}, inbound.ErrNoNumber
}

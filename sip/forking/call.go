// Package forking calls all contacts of a phone at once. The first contact that answers gets the call.
//
// Each contact gets its own INVITE. The owner of the call receives events as if the call had a single leg.
package forking

import (
	"errors"
	"strconv"
	"sync"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/registrar"
)

// maxLegs bounds the contacts that one call rings at the same time.
const maxLegs = registrar.MaxBindings

// Inviter sends an INVITE to one contact.
type Inviter interface {
	Invite(in sip.Invite) (*sip.Dialog, error)
}

// Call is a call to several contacts, which its owner sees as a single leg. The first contact that answers gets the
// call, and the other legs are cancelled. If another contact answers at the same moment, it gets ACK and BYE. The
// owner gets the events of an Invite: one Refused, or one Answered and later one Ended.
type Call struct {
	notify func(sip.Event)

	mu         sync.Mutex
	legs       []*sip.Dialog
	sent       bool // all INVITEs were sent
	open       int  // legs that may still be answered
	winner     *sip.Dialog
	ended      bool // the call was cancelled or refused
	best       *outcome.Final
	trying     bool
	queue      []sip.Event
	delivering bool
}

// Invite calls all contacts of in at the same time. The fields of in are as for sip.Invite, but Target and URI come from
// each contact. Each Call-ID is derived from Attempt and the index of the contact.
func Invite(agent Inviter, in sip.Invite) (*Call, error) {
	contacts := in.Contacts[:min(len(in.Contacts), maxLegs)]
	in.Contacts = nil
	if len(contacts) == 0 {
		return nil, errors.New("sip: the phone has no contact")
	}
	r := &Call{notify: in.Notify}
	r.open = len(contacts)
	var first error
	for i, c := range contacts {
		one := in
		one.URI, one.Target = c.URI, c.Target
		if i > 0 {
			one.Attempt += "/" + strconv.Itoa(i)
		}
		leg := &contactLeg{call: r}
		one.Notify = leg.handleEvent
		d, err := agent.Invite(one)
		if err != nil {
			first = errors.Join(first, err)
			r.noteUncallable(outcome.Final{TransportFailure: true, Phrase: "the contact cannot be called"})
			continue
		}
		leg.setDialog(d)
	}
	r.mu.Lock()
	defer r.unlock()
	if len(r.legs) == 0 && first != nil {
		return nil, first
	}
	r.sent = true
	r.reportRefusal()
	return r, nil
}

// contactLeg is the leg to one contact. It keeps events that arrive before Invite has returned the dialog of the leg.
type contactLeg struct {
	call  *Call
	early []sip.Event
	d     *sip.Dialog
}

func (l *contactLeg) setDialog(d *sip.Dialog) {
	l.call.mu.Lock()
	defer l.call.unlock()
	l.d = d
	l.call.legs = append(l.call.legs, d)
	for _, e := range l.early {
		l.call.handleEvent(d, e)
	}
	l.early = nil
	if l.call.winner != d && (l.call.ended || l.call.winner != nil) { // a leg that answered before Invite returned keeps the call
		go d.Cancel("answered elsewhere")
	}
}

func (l *contactLeg) handleEvent(e sip.Event) {
	l.call.mu.Lock()
	defer l.call.unlock()
	if l.d == nil {
		l.early = append(l.early, e)
		return
	}
	l.call.handleEvent(l.d, e)
}

// handleEvent handles an event of one leg. It must not block. It calls methods of dialogs on new goroutines, because the
// lock of a dialog may be held.
func (r *Call) handleEvent(d *sip.Dialog, e sip.Event) {
	if d == r.winner {
		r.emit(e)
		return
	}
	switch e := e.(type) {
	case sip.Answered:
		r.open--
		if r.winner != nil {
			go d.Bye(26, "answered elsewhere") // Q.850 cause 26: non-selected user clearing
			return
		}
		r.winner = d
		if r.ended {
			go d.Bye(16, "given up")
		}
		for _, other := range r.legs {
			if other != d {
				go other.Cancel("answered elsewhere")
			}
		}
		r.emit(e)
	case sip.Refused:
		r.open--
		r.keepBest(e.Final)
		r.reportRefusal()
	case sip.Trying:
		if !r.trying {
			r.trying = true
			r.emit(e)
		}
	case sip.Ringing, sip.Early:
		if r.winner == nil {
			r.emit(e)
		}
	default: // the end of a leg that did not get the call is not reported
	}
}

func (r *Call) noteUncallable(f outcome.Final) {
	r.mu.Lock()
	defer r.unlock()
	r.open--
	r.keepBest(f)
}

// keepBest stores a refusal if it ranks higher than the best one so far, as a forking proxy does (RFC 3261 §16.7). The
// refusal of a person ranks higher than that of a machine.
func (r *Call) keepBest(f outcome.Final) {
	if r.best == nil || finalRank(&f) > finalRank(r.best) {
		r.best = &f
	}
}

func finalRank(f *outcome.Final) int {
	switch {
	case f.Code >= 600:
		return 6
	case f.Code == 486:
		return 5
	case f.RangBefore:
		return 4
	case f.Code == 487:
		return 2
	case f.Code >= 300:
		return 3
	}
	return 1
}

// reportRefusal reports Refused with the best refusal once all legs are over and none was answered.
func (r *Call) reportRefusal() {
	if r.sent && r.open == 0 && r.winner == nil && r.best != nil {
		r.ended = true
		r.emit(sip.Refused{Final: *r.best})
		r.best = nil
	}
}

func (r *Call) emit(e sip.Event) {
	if r.notify != nil {
		r.queue = append(r.queue, e)
	}
}

// unlock releases the lock and delivers the queued events to the owner, in order and without the lock.
func (r *Call) unlock() {
	for !r.delivering && len(r.queue) > 0 {
		queue := r.queue
		r.queue, r.delivering = nil, true
		r.mu.Unlock()
		for _, e := range queue {
			r.notify(e)
		}
		r.mu.Lock()
		r.delivering = false
	}
	r.mu.Unlock()
}

// Answered returns the dialog of the contact that got the call; nil before the answer.
func (r *Call) Answered() *sip.Dialog {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.winner
}

// Dialog returns the answered dialog. Before the answer it returns the dialog of the first contact.
func (r *Call) Dialog() *sip.Dialog {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.winner != nil {
		return r.winner
	}
	return r.legs[0]
}

// Cancel cancels all legs. An answered call is ended.
func (r *Call) Cancel(reason string) {
	for _, d := range r.giveUp() {
		d.Cancel(reason)
	}
}

// Bye ends the call. Before the answer all legs are cancelled.
func (r *Call) Bye(q850 int, text string) {
	for _, d := range r.giveUp() {
		d.Bye(q850, text)
	}
}

// giveUp returns the dialogs that the caller has to cancel or end: the answered dialog, or before the answer all dialogs.
func (r *Call) giveUp() []*sip.Dialog {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.winner != nil {
		return []*sip.Dialog{r.winner}
	}
	r.ended = true
	return append([]*sip.Dialog(nil), r.legs...)
}

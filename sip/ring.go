package sip

import (
	"errors"
	"strconv"
	"sync"

	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/registrar"
)

// maxRings bounds the phones that one call rings at a time.
const maxRings = registrar.MaxBindings

// Ringer is a call to several phones, one leg to its owner: whoever answers first has the call,
// the others are cancelled, and one that answered in the same moment is
// acknowledged and ended before anybody could speak. The owner hears the
// events of an Invite, with one Refused or one Answered and Ended.
type Ringer struct {
	notify func(Event)

	mu      sync.Mutex
	legs    []*Dialog
	placed  bool // all INVITEs are on their way
	open    int  // legs that may still answer
	winner  *Dialog
	gone    bool // cancelled, or refused
	best    *outcome.Final
	trying  bool
	queue   []Event
	telling bool
}

// Ring calls all contacts of in at once. in is as for Invite; Target and URI
// are those of each contact, and Attempt with the contact's place the source
// of each Call-ID.
func (u *UserAgent) Ring(in Invite) (*Ringer, error) {
	contacts := in.Contacts[:min(len(in.Contacts), maxRings)]
	in.Contacts = nil
	if len(contacts) == 0 {
		return nil, errors.New("sip: nobody to ring")
	}
	r := &Ringer{notify: in.Notify}
	r.open = len(contacts)
	var first error
	for i, c := range contacts {
		one := in
		one.URI, one.Target = c.URI, c.Target
		if i > 0 {
			one.Attempt += "/" + strconv.Itoa(i)
		}
		leg := &ringLeg{r: r}
		one.Notify = leg.hear
		d, err := u.Invite(one)
		if err != nil {
			first = errors.Join(first, err)
			r.lost(outcome.Final{Transport: true, Phrase: "the contact cannot be called"})
			continue
		}
		leg.is(d)
	}
	r.mu.Lock()
	defer r.unlock()
	if len(r.legs) == 0 && first != nil {
		return nil, first
	}
	r.placed = true
	r.concluded()
	return r, nil
}

// ringLeg knows which dialog an event is of, also before Invite returns.
type ringLeg struct {
	r     *Ringer
	early []Event
	d     *Dialog
}

func (l *ringLeg) is(d *Dialog) {
	l.r.mu.Lock()
	defer l.r.unlock()
	l.d = d
	l.r.legs = append(l.r.legs, d)
	for _, e := range l.early {
		l.r.heard(d, e)
	}
	l.early = nil
	if l.r.winner != d && (l.r.gone || l.r.winner != nil) { // one that was quicker than its own beginning keeps the call
		go d.Cancel("answered elsewhere")
	}
}

func (l *ringLeg) hear(e Event) {
	l.r.mu.Lock()
	defer l.r.unlock()
	if l.d == nil {
		l.early = append(l.early, e)
		return
	}
	l.r.heard(l.d, e)
}

// heard takes an event of one leg. Nothing here waits: what must be said to a
// dialog is said by a goroutine of its own, for its lock may be held.
func (r *Ringer) heard(d *Dialog, e Event) {
	if d == r.winner {
		r.emit(e)
		return
	}
	switch e := e.(type) {
	case Answered:
		r.open--
		if r.winner != nil {
			go d.Bye(26, "answered elsewhere") // non-selected user clearing (Q.850)
			return
		}
		r.winner = d
		if r.gone {
			go d.Bye(16, "given up")
		}
		for _, other := range r.legs {
			if other != d {
				go other.Cancel("answered elsewhere")
			}
		}
		r.emit(e)
	case Refused:
		r.open--
		r.keep(e.Final)
		r.concluded()
	case Trying:
		if !r.trying {
			r.trying = true
			r.emit(e)
		}
	case Ringing, Early:
		if r.winner == nil {
			r.emit(e)
		}
	default: // a loser's end is nobody's news
	}
}

func (r *Ringer) lost(f outcome.Final) {
	r.mu.Lock()
	defer r.unlock()
	r.open--
	r.keep(f)
}

// keep remembers the answer that says most: a person's over a machine's, as a
// forking proxy chooses (RFC 3261 16.7).
func (r *Ringer) keep(f outcome.Final) {
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

// concluded tells the refusal once nothing can ring any more.
func (r *Ringer) concluded() {
	if r.placed && r.open == 0 && r.winner == nil && r.best != nil {
		r.gone = true
		r.emit(Refused{Final: *r.best})
		r.best = nil
	}
}

func (r *Ringer) emit(e Event) {
	if r.notify != nil {
		r.queue = append(r.queue, e)
	}
}

// unlock tells what was queued, in order, with the lock released.
func (r *Ringer) unlock() {
	for !r.telling && len(r.queue) > 0 {
		queue := r.queue
		r.queue, r.telling = nil, true
		r.mu.Unlock()
		for _, e := range queue {
			r.notify(e)
		}
		r.mu.Lock()
		r.telling = false
	}
	r.mu.Unlock()
}

// Answered is the dialog of the phone that has the call; nil before.
func (r *Ringer) Answered() *Dialog {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.winner
}

// Dialog is the answered one, or the first that rings.
func (r *Ringer) Dialog() *Dialog {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.winner != nil {
		return r.winner
	}
	return r.legs[0]
}

// Cancel gives all legs up; an answered call is ended.
func (r *Ringer) Cancel(reason string) {
	for _, d := range r.giveUp() {
		d.Cancel(reason)
	}
}

// Bye ends the call; before the answer all legs are cancelled.
func (r *Ringer) Bye(q850 int, text string) {
	for _, d := range r.giveUp() {
		d.Bye(q850, text)
	}
}

// giveUp are the dialogs that a cancellation concerns.
func (r *Ringer) giveUp() []*Dialog {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.winner != nil {
		return []*Dialog{r.winner}
	}
	r.gone = true
	return append([]*Dialog(nil), r.legs...)
}

package call

import (
	"cmp"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// vessel holds what a call leaves behind if its actor dies: the dialog, the
// sound, and what is known of the call. The actor and the work beside it fill
// it; Calls takes it over after the actor's death. It is locked for moments
// only, never while anything waits.
type vessel struct {
	mu        sync.Mutex
	gone      bool // abandoned: what comes now is let go of at once
	hung      bool // nobody is to be rung any more
	silent    bool // the far end is to hear of no end: another process has the call
	incoming  *sip.Incoming
	leg       int // whose sound and dialog these are
	dialog    Dialog
	session   Session
	recording <-chan media.Recording
	call      domain.Call
	attempt   domain.Attempt
	reached   bool
	ended     *Ended
	acked     bool
	stored    bool      // what another process needs may be in the store
	ends      bool      // it has a BYE, or is over: nobody else goes on with it in order
	busy      bool      // its conversation is in the middle of something
	towed     []*vessel // of second legs
	key       string    // of a second leg: its line's
	pid       *actor.PID
}

func newVessel(c domain.Call, a domain.Attempt, in *sip.Incoming) *vessel {
	return &vessel{call: c, attempt: a, incoming: in, stored: a.Kept != nil}
}

// hang keeps a leg whose INVITE is not out yet from being placed.
func (v *vessel) hang() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hung = true
}

// board takes a leg's sound; false: nobody is there any more.
func (v *vessel) board(leg int, s Session) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.gone || v.hung {
		return false
	}
	v.leg, v.session, v.dialog = leg, s, nil
	return true
}

// dialled takes a leg's dialog, or ends it where nobody is there any more: a
// leg may be refused, and the next one under way, before its INVITE returns.
func (v *vessel) dialled(leg int, d Dialog) {
	v.mu.Lock()
	gone, silent := v.gone || v.leg != leg, v.silent
	if !gone {
		v.dialog, v.incoming = d, nil
	}
	v.mu.Unlock()
	switch {
	case gone && silent:
		abandon(d)
	case gone:
		d.Bye(16, "abandoned")
	}
}

// regains takes the dialog of a survivor, which has no sound yet, or ends it
// where nobody is there any more: false.
func (v *vessel) regains(leg int, d Dialog) bool {
	v.mu.Lock()
	if !v.gone {
		v.leg = leg
	}
	v.mu.Unlock()
	v.dialled(leg, d)
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.gone
}

// tow takes the vessel of a second leg along: it is abandoned with this one.
func (v *vessel) tow(other *vessel) {
	v.mu.Lock()
	gone := v.gone
	v.towed = append(v.towed, other)
	v.mu.Unlock()
	if gone {
		other.drop()
	}
}

// mans says which actor a second leg is, and under which key it has its line.
func (v *vessel) mans(pid *actor.PID, key string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pid, v.key = pid, key
}

// seconds are the second legs of a call, as a census tells; one that is over
// may be among them.
func (v *vessel) seconds(env domain.Environment) []LiveCall {
	v.mu.Lock()
	towed := v.towed
	v.mu.Unlock()
	var out []LiveCall
	for _, t := range towed {
		t.mu.Lock()
		if t.pid != nil && !t.gone {
			out = append(out, LiveCall{CallID: t.key, Direction: domain.Outbound, Environment: env, PID: t.pid})
		}
		t.mu.Unlock()
	}
	return out
}

// drop ends the dialog and the sound of a second leg that nobody minds.
func (v *vessel) drop() {
	v.mu.Lock()
	v.gone = true
	dialog := v.dialog
	v.mu.Unlock()
	if dialog != nil {
		go guarded(func() { dialog.Bye(16, "abandoned") })
	}
	v.unload()
}

// change puts another dialog in the place of the leg's own, which is returned.
func (v *vessel) change(leg int, d Dialog) (old Dialog) {
	v.mu.Lock()
	defer v.mu.Unlock()
	old, v.dialog, v.leg = v.dialog, d, leg
	return old
}

func (v *vessel) sound() Session {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.session
}

func (v *vessel) line() Dialog {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dialog = winning(v.dialog)
	return v.dialog
}

// unload lets go of a leg that is over and returns its figures.
func (v *vessel) unload() (s media.Stats, had bool) {
	v.mu.Lock()
	session := v.session
	v.session, v.dialog, v.incoming = nil, nil, nil
	v.mu.Unlock()
	if session == nil {
		return s, false
	}
	s, recording := session.Close()
	v.mu.Lock()
	v.recording = recording
	v.mu.Unlock()
	return s, true
}

func (v *vessel) note(c *domain.Call, a *domain.Attempt, reached bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.call, v.attempt, v.reached = *c, *a, reached
}

func (v *vessel) concluded(e *Ended) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended, v.call = e, e.Call
}

func (v *vessel) acknowledged() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.acked = true
}

// abandon ends dialog and sound after the actor's death and returns how the
// call ended: as it had said, or by a fault of ours. done says that its owner
// has acknowledged the end already.
func (v *vessel) abandon(now time.Time) (e *Ended, recording <-chan media.Recording, done bool) {
	v.mu.Lock()
	v.gone = true
	dialog, incoming, answered := v.dialog, v.incoming, v.call.AnsweredAt != nil
	v.mu.Unlock()
	switch {
	case dialog != nil:
		go guarded(func() { dialog.Bye(16, "abandoned") })
	case incoming != nil:
		go guarded(func() { incoming.Reject(500, 0) })
	}
	stats, had := v.unload()
	v.mu.Lock()
	towed := v.towed
	v.mu.Unlock()
	for _, t := range towed {
		t.drop()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended == nil {
		c := v.call
		if had && answered {
			c.Quality = qualityOf(stats)
			c.MediaIssue = cmp.Or(c.MediaIssue, stats.AudioIssue)
		}
		e := conclude(c, &v.attempt, ending{
			verdict: domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonInternal, RetryOn: "failed"},
			by:      byService, at: now, reached: v.reached,
		})
		v.ended = &e
	}
	return v.ended, v.recording, v.acked
}

// end says that nobody is to go on with the call: its end is about to be stored.
func (v *vessel) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ends = true
}

// moves says whether another process can go on with the call as it is.
func (v *vessel) moves() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.stored && !v.ends
}

// keep says whether what another process needs may be in the store.
func (v *vessel) keep(stored bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stored = stored
}

// kept says whether another process may go on with the call.
func (v *vessel) kept() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.stored
}

// occupied notes whether its conversation is in the middle of something.
func (v *vessel) occupied(on bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.busy = on
}

// occupies says whether it is.
func (v *vessel) occupies() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.busy
}

// fallSilent releases the dialog and the media session without a message to the far end.
func (v *vessel) fallSilent() {
	v.mu.Lock()
	v.gone, v.silent = true, true
	dialog := v.dialog
	v.dialog = nil
	v.mu.Unlock()
	abandon(dialog)
	v.unload()
}

func abandon(d Dialog) {
	if d, can := d.(interface{ Abandon() }); can {
		go guarded(d.Abandon)
	}
}

// guarded runs f where a panic must not end the process.
func guarded(f func()) {
	defer func() { _ = recover() }()
	f()
}

package leg

import (
	"sync"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// Resources are the dialog and the media session of a leg in progress. The leg's actor and its background work set them.
// The parent actor releases them if the actor fails. The lock is never held during blocking work.
type Resources struct {
	mu        sync.Mutex
	released  bool // new sessions and dialogs are closed at once
	cancelled bool // no INVITE may be sent from here on
	silent    bool // the peer gets no BYE: another process owns the call
	incoming  *sip.Incoming
	leg       int // number of the leg of dialog and session
	dialog    Dialog
	session   Session
	recording <-chan media.Recording
}

// NewResources returns the resources of a leg. in is the INVITE of an inbound leg, else nil.
func NewResources(in *sip.Incoming) *Resources { return &Resources{incoming: in} }

// CancelInvite prevents that an INVITE is sent later. It has no effect on an INVITE that was already sent.
func (r *Resources) CancelInvite() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancelled = true
}

// SetSession stores the media session of a leg. It returns false if the resources are already released. Then the caller
// must close the session.
func (r *Resources) SetSession(leg int, s Session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.released || r.cancelled {
		return false
	}
	r.leg, r.session, r.dialog = leg, s, nil
	return true
}

// SetDialog stores the dialog of a leg. It ends the dialog if the resources are released. It also ends the dialog if
// leg is not the current leg, because an INVITE can be refused before Invite returns.
func (r *Resources) SetDialog(leg int, d Dialog) {
	r.mu.Lock()
	late, silent := r.released || r.leg != leg, r.silent
	if !late {
		r.dialog, r.incoming = d, nil
	}
	r.mu.Unlock()
	switch {
	case late && silent:
		abandonDialog(d)
	case late:
		d.Bye(16, "abandoned")
	}
}

// SetResumedDialog stores the dialog of a resumed call before its media session exists. If the resources are already
// released, it ends the dialog and returns false.
func (r *Resources) SetResumedDialog(leg int, d Dialog) bool {
	r.mu.Lock()
	if !r.released {
		r.leg = leg
	}
	r.mu.Unlock()
	r.SetDialog(leg, d)
	return !r.Released()
}

// ReplaceDialog replaces the dialog of the leg and returns the former one.
func (r *Resources) ReplaceDialog(leg int, d Dialog) (former Dialog) {
	r.mu.Lock()
	defer r.mu.Unlock()
	former, r.dialog, r.leg = r.dialog, d, leg
	return former
}

// Session returns the media session of the leg, or nil if none is open.
func (r *Resources) Session() Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.session
}

// Dialog returns the SIP dialog of the leg, or nil if none exists.
func (r *Resources) Dialog() Dialog {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dialog = answeredDialog(r.dialog)
	return r.dialog
}

// Recording returns the channel that delivers the recording of the session closed last, or nil if no session was closed.
func (r *Resources) Recording() <-chan media.Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.recording
}

// Close closes the media session of an ended leg and returns its statistics. had reports whether a session was
// open.
func (r *Resources) Close() (s media.Stats, had bool) {
	r.mu.Lock()
	session := r.session
	r.session, r.dialog, r.incoming = nil, nil, nil
	r.mu.Unlock()
	if session == nil {
		return s, false
	}
	s, recording := session.Close()
	r.mu.Lock()
	r.recording = recording
	r.mu.Unlock()
	return s, true
}

// Released reports whether Release or ReleaseSilently was called.
func (r *Resources) Released() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.released
}

// Release ends the dialog and closes the media session. An inbound INVITE without a dialog is rejected with 500. Further
// calls have no effect.
func (r *Resources) Release() (s media.Stats, had bool) {
	r.mu.Lock()
	r.released = true
	dialog, incoming := r.dialog, r.incoming
	r.mu.Unlock()
	switch {
	case dialog != nil:
		go withoutPanic(func() { dialog.Bye(16, "abandoned") })
	case incoming != nil:
		go withoutPanic(func() { incoming.Reject(500, 0) })
	}
	return r.Close()
}

// ReleaseSilently does the same as Release but sends nothing to the peer.
func (r *Resources) ReleaseSilently() {
	r.mu.Lock()
	r.released, r.silent = true, true
	dialog := r.dialog
	r.dialog = nil
	r.mu.Unlock()
	abandonDialog(dialog)
	r.Close()
}

func abandonDialog(d Dialog) {
	if d, can := d.(interface{ Abandon() }); can {
		go withoutPanic(d.Abandon)
	}
}

// withoutPanic runs f and discards a panic in f, so that the panic does not end the process.
func withoutPanic(f func()) {
	defer func() { _ = recover() }()
	f()
}

package sip

import (
	"errors"
	"time"

	"github.com/callboard/callboard/sip/auth"
)

// afterLoss lifts the CSeq of a dialog that goes on above whatever its process
// sent after the state was stored.
const afterLoss = 4096

// Lift raises the CSeq above whatever the dialog's process sent after the state
// was stored. Whoever takes the dialog up stores it so before it sends anything:
// the next one then begins above that.
func (s *DialogState) Lift() { s.LocalCSeq += afterLoss }

// ErrUnknown says that a dialog cannot be taken up from what is known of it.
var ErrUnknown = errors.New("sip: not enough is known of the dialog")

// Revival is an answered dialog of another process, which goes on here.
type Revival struct {
	State       DialogState       // lifted (Lift), and stored so
	Credentials *auth.Credentials // as of Invite
	Notify      func(Event)       // as of Invite: Ended comes once
}

// Revive takes up an answered dialog of a process that is gone: its tags, its
// route, and CSeqs above that of the state. The far end hears of
// it by the owner's Reoffer, which is to come at once: until then it sends to
// where the other process was. It waits for a look-up of the next hop's name.
func (u *UserAgent) Revive(r Revival) (*Dialog, error) {
	if !u.isReady() {
		return nil, errNotReady
	}
	s := r.State
	if s.CallID == "" || s.LocalTag == "" || s.RemoteTag == "" || s.RemoteTarget == "" || !s.Confirmed {
		return nil, ErrUnknown
	}
	d := u.fromState(s)
	found := u.resolve(d.target)
	if len(found) > 0 {
		d.flow = u.flowTo(found[0], d.pinned)
	}
	d.phase, d.confirmed, d.established, d.taken = up, true, true, true
	d.notify, d.creds = r.Notify, r.Credentials
	d.localCSeq = s.LocalCSeq
	if s.RemoteCSeq > 0 {
		d.remoteCSeq = s.RemoteCSeq
	}
	if s.ContactUser != "" {
		d.contactUser = s.ContactUser
	}
	if s.LocalParty != "" {
		d.localParty = s.LocalParty
	}
	if !u.dialogs.add(d) {
		return nil, errors.New("sip: the dialog lives here already")
	}
	d.do(func() {
		if len(found) > 0 {
			d.holdFlow()
		}
		d.session.update = s.Update
		d.setSession(time.Duration(s.SessionSeconds)*time.Second, s.Refreshes)
	})
	return d, nil
}

// onward adds what Revive needs to a state.
func (d *Dialog) onward(s *DialogState) {
	s.RemoteCSeq, s.ContactUser = max(d.remoteCSeq, 0), d.contactUser
	s.SessionSeconds, s.Refreshes, s.Update = int(d.session.every/time.Second), d.session.ours, d.session.update
	if d.localParty != "<"+d.localURI+">" {
		s.LocalParty = d.localParty
	}
}

// Abandon lets go of a dialog without a word to the far end: another process
// has it. Nothing is told any more.
func (d *Dialog) Abandon() {
	d.do(func() {
		d.notify, d.onClosed = nil, nil
		d.unacked = nil
		d.retire(0)
		d.expires = time.Now()
	})
	d.forget()
}

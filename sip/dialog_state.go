package sip

import (
	"cmp"
	"errors"
	"time"

	"github.com/callboard/callboard/sip/auth"
)

// State is what must survive a crash.
func (d *Dialog) State() DialogState {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state()
}

func (d *Dialog) state() DialogState {
	s := DialogState{
		CallID: d.key.callID, LocalTag: d.key.tag, RemoteTag: d.remote.tag,
		LocalURI: d.localURI, RemoteURI: d.remoteURI, RemoteTarget: d.remote.target, Routes: d.remote.routes,
		LocalCSeq: d.localCSeq, Target: d.target, Inbound: d.inbound, Pinned: d.pinned,
		Confirmed: d.phase == answered || d.phase == closing,
	}
	switch {
	case s.Confirmed:
		d.addResumption(&s)
	case d.invite != nil && d.invite.tx != nil && d.invite.tx.to.Network != "":
		s.SentBy, s.Route = cmp.Or(d.sentBy, d.ua.transport.SentBy(d.invite.tx.to)), d.preloaded
	}
	return s
}

// resumedCSeqStep lifts the CSeq of a dialog that goes on above whatever its process
// sent after the state was stored.
const resumedCSeqStep = 4096

// Lift raises the CSeq above whatever the dialog's process sent after the state
// was stored. Whoever takes the dialog up stores it so before it sends anything:
// the next one then begins above that.
func (s *DialogState) Lift() { s.LocalCSeq += resumedCSeqStep }

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
	d.phase, d.server.confirmed, d.established, d.server.taken = answered, true, true, true
	d.notify, d.digest.credentials = r.Notify, r.Credentials
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
			d.admitFlow()
		}
		d.session.acceptsUpdate = s.Update
		d.session.terms.Resume(time.Duration(s.SessionSeconds)*time.Second, s.Refreshes, d.ua.sessions)
		d.session.restart()
	})
	return d, nil
}

// addResumption adds to a state what Revive needs.
func (d *Dialog) addResumption(s *DialogState) {
	s.RemoteCSeq, s.ContactUser = max(d.remoteCSeq, 0), d.contactUser
	s.SessionSeconds, s.Refreshes, s.Update = int(d.session.terms.Interval/time.Second), d.session.terms.WeRefresh, d.session.acceptsUpdate
	if d.localParty != "<"+d.localURI+">" {
		s.LocalParty = d.localParty
	}
}

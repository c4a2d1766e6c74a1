package sip

import (
	"cmp"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/resolve"
)

// DialogState is the state that another process needs to end or resume a dialog.
type DialogState struct {
	CallID       string         `json:"call_id"`
	LocalTag     string         `json:"local_tag"`
	RemoteTag    string         `json:"remote_tag,omitempty"`
	LocalURI     string         `json:"local_uri,omitempty"`
	RemoteURI    string         `json:"remote_uri,omitempty"`
	RemoteTarget string         `json:"remote_target,omitempty"`
	Routes       []string       `json:"routes,omitempty"`
	LocalCSeq    uint32         `json:"local_cseq,omitempty"`
	Target       resolve.Target `json:"target"`
	Inbound      bool           `json:"inbound,omitempty"`
	Pinned       bool           `json:"pinned,omitempty"` // with a phone: all requests go to Target
	Confirmed    bool           `json:"confirmed,omitempty"`

	// The following fields are parts of the INVITE. A CANCEL from another process repeats them, so that the remote party
	// accepts it from any node.
	SentBy         string   `json:"sent_by,omitempty"` // of its Via
	Route          []string `json:"route,omitempty"`
	HasCredentials bool     `json:"proves,omitempty"` // of an InitialState: a challenge would be answered by a second INVITE

	// Only Resume uses the following fields.
	RemoteCSeq     int64  `json:"remote_cseq,omitempty"`     // highest CSeq of the remote party; 0: none was received
	LocalParty     string `json:"local_party,omitempty"`     // value of From without the tag; "": <LocalURI>
	ContactUser    string `json:"contact_user,omitempty"`    // of the Contact of this side
	SessionSeconds int    `json:"session_seconds,omitempty"` // interval of the session timer (RFC 4028) in seconds; 0: no session timer
	Refreshes      bool   `json:"refreshes,omitempty"`       // this side refreshes the session, not the remote party
	Update         bool   `json:"update,omitempty"`          // the remote party accepts UPDATE

	Environment domain.Environment `json:"-"` // as in Invite; the caller of Resume and EndAbandoned sets it from the call's row
}

// State returns the state that the owner stores, so that another process can end or resume the dialog.
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

// resumedCSeqStep is added to the CSeq of a resumed dialog. It is larger than the number of requests that the earlier
// process can have sent after it stored the state.
const resumedCSeqStep = 4096

// RaiseCSeq raises the CSeq above that of all requests that the dialog's process may have sent after the state was
// stored. The process that resumes the dialog stores the raised state before it sends anything, so that another
// resumption begins above it.
func (s *DialogState) RaiseCSeq() { s.LocalCSeq += resumedCSeqStep }

// ErrIncompleteState reports that a stored state lacks data without which its dialog cannot be resumed.
var ErrIncompleteState = errors.New("sip: the dialog state is incomplete")

// Resumption describes an answered dialog of another process that continues in this one.
type Resumption struct {
	State       DialogState       // raised by RaiseCSeq, and stored with the raised CSeq
	Credentials *auth.Credentials // as in Invite
	Notify      func(Event)       // as in Invite; Ended is reported once
}

// Resume continues an answered dialog of a process that has ended, with its tags, its route set, and CSeqs above
// that of the state. The owner has to call Reoffer at once, because the remote party sends media to the earlier
// process until then. Resume waits for the DNS lookup of the next hop.
func (u *UserAgent) Resume(r Resumption) (*Dialog, error) {
	if !u.isReady() {
		return nil, errNotReady
	}
	s := r.State
	if s.CallID == "" || s.LocalTag == "" || s.RemoteTag == "" || s.RemoteTarget == "" || !s.Confirmed {
		return nil, ErrIncompleteState
	}
	d := u.fromState(s)
	found := u.resolve(d.target)
	if len(found) > 0 {
		d.flow = u.flowTo(found[0], d.pinned)
	}
	d.phase, d.server.confirmed, d.established, d.server.ownerResponded = answered, true, true, true
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
		return nil, errors.New("sip: the dialog exists in this process already")
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

// addResumption sets the fields of a state that only Resume uses.
func (d *Dialog) addResumption(s *DialogState) {
	s.RemoteCSeq, s.ContactUser = max(d.remoteCSeq, 0), d.contactUser
	s.SessionSeconds, s.Refreshes, s.Update = int(d.session.terms.Interval/time.Second), d.session.terms.WeRefresh, d.session.acceptsUpdate
	if d.localParty != "<"+d.localURI+">" {
		s.LocalParty = d.localParty
	}
}

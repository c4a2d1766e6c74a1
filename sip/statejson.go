package sip

import (
	"cmp"

	"github.com/callboard/callboard/domain"
)

// State is what must survive a crash.
func (d *Dialog) State() DialogState {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state()
}

func (d *Dialog) state() DialogState {
	s := DialogState{
		CallID: d.key.callID, LocalTag: d.key.tag, RemoteTag: d.far.tag,
		LocalURI: d.localURI, RemoteURI: d.remoteURI, RemoteTarget: d.far.target, Routes: d.far.routes,
		LocalCSeq: d.localCSeq, Target: d.target, Inbound: d.inbound, Pinned: d.pinned,
		Confirmed: d.phase == up || d.phase == closing,
	}
	switch {
	case s.Confirmed:
		d.onward(&s)
	case d.out != nil && d.out.tx != nil && d.out.tx.to.network != "":
		s.SentBy, s.Route = cmp.Or(d.sentBy, d.ua.sentBy(d.out.tx.to)), d.preset
	}
	return s
}

// AppendJSON writes the state: each answer of a far end changes it, and each
// change is stored.
func (s *DialogState) AppendJSON(b []byte) ([]byte, error) {
	o := domain.AppendObject(b)
	o.Text("call_id", s.CallID)
	o.Text("local_tag", s.LocalTag)
	o.Word("remote_tag", s.RemoteTag)
	o.Word("local_uri", s.LocalURI)
	o.Word("remote_uri", s.RemoteURI)
	o.Word("remote_target", s.RemoteTarget)
	if len(s.Routes) > 0 {
		o.Any("routes", s.Routes)
	}
	o.Some("local_cseq", int64(s.LocalCSeq))
	o.Object("target", &s.Target)
	if s.Inbound {
		o.Bool("inbound", true)
	}
	if s.Pinned {
		o.Bool("pinned", true)
	}
	if s.Confirmed {
		o.Bool("confirmed", true)
	}
	o.Word("sent_by", s.SentBy)
	if len(s.Route) > 0 {
		o.Any("route", s.Route)
	}
	if s.Proves {
		o.Bool("proves", true)
	}
	o.Some("remote_cseq", s.RemoteCSeq)
	o.Word("local_party", s.LocalParty)
	o.Word("contact_user", s.ContactUser)
	o.Some("session_seconds", int64(s.SessionSeconds))
	if s.Refreshes {
		o.Bool("refreshes", true)
	}
	if s.Update {
		o.Bool("update", true)
	}
	return o.End()
}

// AppendJSON writes the target.
func (t *Target) AppendJSON(b []byte) ([]byte, error) {
	o := domain.AppendObject(b)
	o.Text("host", t.Host)
	o.Int("port", int64(t.Port))
	o.Text("transport", t.Transport)
	o.Word("trunk_id", t.TrunkID)
	if t.Local.IsValid() || t.Local.Port() != 0 {
		o.Any("local", t.Local)
	}
	o.Word("name", t.Name)
	if t.Through.IsValid() {
		o.Any("through", t.Through)
	}
	return o.End()
}

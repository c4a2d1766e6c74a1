package sip

import "cmp"

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
	case d.out != nil && d.out.tx != nil && d.out.tx.to.Network != "":
		s.SentBy, s.Route = cmp.Or(d.sentBy, d.ua.transport.SentBy(d.out.tx.to)), d.preset
	}
	return s
}

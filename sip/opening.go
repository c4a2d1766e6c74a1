package sip

// Opening is what is known of a leg before its INVITE leaves. Whoever stores it
// lets another process give the leg up that has heard nothing of it, not even that
// it rings: by Orphan. Of one whose INVITE cannot be foretold it is the name alone.
func (u *UserAgent) Opening(in Invite) DialogState {
	s := DialogState{CallID: u.id.LegCallID(in.Attempt, in.Leg), Target: in.Target}
	if !u.isReady() {
		return s
	}
	d, err := u.newOutbound(&in)
	if err != nil || in.URI != "" || !d.flow.Addr.IsValid() { // a phone, a far end that moved, a name
		return s
	}
	s.Target = d.target
	s.LocalURI, s.RemoteURI, s.Route, s.SentBy = d.localURI, d.remoteURI, d.preset, u.transport.SentBy(d.flow)
	s.Proves = in.Credentials != nil
	return s
}

// giveUpUnheard cancels a leg of which its process had stored nothing but its
// Opening: it may be that nobody rings yet. RFC 3261 9.1 lets a CANCEL wait for a
// 1xx, so that it does not overtake its INVITE; that was sent a lease or a start
// ago. Where the target has asked for a proof the second INVITE is the one that
// counts. What rings or answers here all the same is ended as it comes.
func (d *Dialog) giveUpUnheard(s DialogState) {
	d.sendCancel(d.localCSeq, restarted)
	if s.Proves {
		d.sendCancel(d.localCSeq+1, restarted)
	}
}

const restarted = "service restarted"

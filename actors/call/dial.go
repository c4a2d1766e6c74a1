package call

import (
	"errors"
	"fmt"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/transport"
)

// dial opens the media session of a leg and sends its INVITE.
func dial(r *leg.Resources, m leg.Media, ua leg.UserAgent, o media.Options, in sip.Invite) (done legPrepared) {
	defer func() {
		if v := recover(); v != nil {
			done = legPrepared{leg: in.Leg, err: fmt.Errorf("call: dialling panicked: %v", v), reason: domain.ReasonInternal}
		}
	}()
	s, err := m.Open(o)
	if err != nil {
		return legPrepared{leg: in.Leg, err: err, reason: domain.ReasonNotSent}
	}
	if !r.SetSession(in.Leg, s) {
		s.Close()
		return legPrepared{leg: in.Leg, err: media.ErrClosed, reason: domain.ReasonInternal}
	}
	in.Body = s.Offer()
	d, err := ua.Invite(in)
	if errors.Is(err, transport.ErrHeld) {
		return legPrepared{leg: in.Leg, err: err, reason: domain.ReasonNotSent}
	}
	if err != nil {
		return legPrepared{leg: in.Leg, err: err, reason: domain.ReasonInternal}
	}
	r.SetDialog(in.Leg, d)
	return legPrepared{leg: in.Leg}
}

// prepareAnswer opens the media session of an inbound call and makes its SDP.
func prepareAnswer(r *leg.Resources, m leg.Media, o media.Options, offer []byte) (done legPrepared) {
	defer func() {
		if v := recover(); v != nil {
			done = legPrepared{leg: 1, err: fmt.Errorf("call: answering panicked: %v", v), reason: domain.ReasonInternal}
		}
	}()
	s, err := m.Open(o)
	if err != nil {
		return legPrepared{leg: 1, err: err, reason: domain.ReasonNotSent}
	}
	if !r.SetSession(1, s) {
		s.Close()
		return legPrepared{leg: 1, err: media.ErrClosed, reason: domain.ReasonInternal}
	}
	if len(offer) == 0 {
		return legPrepared{leg: 1, answer: s.Offer()}
	}
	body, err := s.Answer(offer)
	if err != nil {
		return legPrepared{leg: 1, err: err, reason: domain.ReasonMedia}
	}
	return legPrepared{leg: 1, answer: body}
}

package call

import (
	"errors"
	"fmt"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// dial opens the sound of a leg and sends its INVITE.
func dial(v *vessel, sound Sound, phone Phone, o media.Options, in sip.Invite) (m prepared) {
	defer func() {
		if r := recover(); r != nil {
			m = prepared{leg: in.Leg, err: fmt.Errorf("call: dialling panicked: %v", r), reason: domain.ReasonInternal}
		}
	}()
	s, err := sound.Open(o)
	if err != nil {
		return prepared{leg: in.Leg, err: err, reason: domain.ReasonNotSent}
	}
	if !v.board(in.Leg, s) {
		s.Close()
		return prepared{leg: in.Leg, err: media.ErrClosed, reason: domain.ReasonInternal}
	}
	in.Body = s.Offer()
	d, err := phone.Invite(in)
	if errors.Is(err, sip.ErrHeld) {
		return prepared{leg: in.Leg, err: err, reason: domain.ReasonNotSent}
	}
	if err != nil {
		return prepared{leg: in.Leg, err: err, reason: domain.ReasonInternal}
	}
	v.dialled(in.Leg, d)
	return prepared{leg: in.Leg}
}

// answer opens the sound of a call that came in.
func answer(v *vessel, sound Sound, o media.Options, offer []byte) (m prepared) {
	defer func() {
		if r := recover(); r != nil {
			m = prepared{leg: 1, err: fmt.Errorf("call: answering panicked: %v", r), reason: domain.ReasonInternal}
		}
	}()
	s, err := sound.Open(o)
	if err != nil {
		return prepared{leg: 1, err: err, reason: domain.ReasonNotSent}
	}
	if !v.board(1, s) {
		s.Close()
		return prepared{leg: 1, err: media.ErrClosed, reason: domain.ReasonInternal}
	}
	if len(offer) == 0 {
		return prepared{leg: 1, answer: s.Offer()}
	}
	body, err := s.Answer(offer)
	if err != nil {
		return prepared{leg: 1, err: err, reason: domain.ReasonMedia}
	}
	return prepared{leg: 1, answer: body}
}

// describedFor makes an offer to somebody who is to be heard beside the caller, or
// by the caller's own session: then none is opened.
func describedFor(sound Sound, beside Session, shared bool, o media.Options) (opened Session, body []byte, err error) {
	if shared {
		beside.Rekey() // another far end is told another key
		return nil, beside.Offer(), nil
	}
	if opened, err = sound.Open(o); err != nil {
		return nil, nil, err
	}
	return opened, opened.Offer(), nil
}

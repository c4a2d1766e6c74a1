package call

import (
	"errors"
	"fmt"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/lend"
	"github.com/callboard/callboard/sip"
)

// dial opens the sound of a leg and sends its INVITE.
func dial(v *vessel, sound Sound, phone Phone, o media.Options, in sip.Invite) (m prepared) {
	defer func() {
		if r := recover(); r != nil {
			m = prepared{leg: in.Leg, err: fmt.Errorf("call: dialling panicked: %v", r), reason: domain.ReasonInternal}
		}
	}()
	s, body, err := described(sound, o, nil)
	if err != nil {
		return prepared{leg: in.Leg, err: err, reason: domain.ReasonNotSent}
	}
	if !v.board(in.Leg, s) {
		s.Close()
		return prepared{leg: in.Leg, err: media.ErrClosed, reason: domain.ReasonInternal}
	}
	in.Body = body
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
	var s Session
	var body []byte
	var err error
	if len(offer) == 0 {
		s, body, err = described(sound, o, nil)
	} else {
		s, body, err = answering(sound, o, offer)
	}
	if err != nil && s == nil {
		return prepared{leg: 1, err: err, reason: domain.ReasonNotSent}
	}
	if !v.board(1, s) {
		s.Close()
		return prepared{leg: 1, err: media.ErrClosed, reason: domain.ReasonInternal}
	}
	if err != nil {
		return prepared{leg: 1, err: err, reason: domain.ReasonMedia}
	}
	return prepared{leg: 1, answer: body}
}

// openTries is how often a session is opened whose node dies before it has said a
// word: the second one is elsewhere.
const openTries = 2

// described opens a session that has made an offer.
func described(sound Sound, o media.Options, beside Session) (Session, []byte, error) {
	for range openTries {
		s, err := sound.Open(o, beside)
		if err != nil {
			return nil, nil, err
		}
		if body := s.Offer(); body != nil {
			return s, body, nil
		}
		s.Close()
	}
	return nil, nil, lend.ErrLost
}

// describedFor makes an offer to somebody who is to be heard beside the caller, or
// by the caller's own session: then none is opened.
func describedFor(sound Sound, beside Session, shared bool, o media.Options) (opened Session, body []byte, err error) {
	if !shared {
		return described(sound, o, beside)
	}
	beside.Rekey() // another far end is told another key
	if body = beside.Offer(); body == nil {
		return nil, nil, lend.ErrLost
	}
	return nil, body, nil
}

// answering opens a session that has answered an offer; with a session an error is
// of the offer.
func answering(sound Sound, o media.Options, offer []byte) (s Session, body []byte, err error) {
	for range openTries {
		if s, err = sound.Open(o, nil); err != nil {
			return nil, nil, err
		}
		if body, err = s.Answer(offer); !errors.Is(err, lend.ErrLost) {
			return s, body, err
		}
		s.Close()
	}
	return nil, nil, err
}

package testcarrier

import (
	"context"
	"sync"
	"time"

	"github.com/callboard/callboard/media"
)

// handsetLongest is how long somebody may stay on the phone.
const handsetTimeout = 30 * time.Minute

// Handset is a phone on which somebody elsewhere talks.
type Handset struct {
	phone *phone
	tap   *media.Tap
	hang  sync.Once
}

// pressKeys orders a phone to press keys.
type pressKeys struct{ keys string }

// SendAudio sends audio of the phone: 8 kHz mono µ-law of any length, in real time. Audio that is more than 400 ms ahead is lost.
func (h *Handset) SendAudio(mu []byte) { h.tap.Say(mu) }

// PressKeys presses keys, one after the other.
func (h *Handset) PressKeys(keys string) { h.phone.post(pressKeys{keys}) }

// HangUp ends the call, as often as one likes.
func (h *Handset) HangUp() { h.hang.Do(func() { close(h.phone.handsetHungUp) }) }

// CallWithHandset makes a call as Call does, on a phone whose sound is somebody's elsewhere.
// ear hears the other side: frames of media.TapFrame bytes that are overwritten
// afterwards, and nil once at the end; it is called from the media clock and must
// not block. told hears what happens on the phone.
func (s *Carrier) CallWithHandset(ctx context.Context, o CallRequest, ear func(frame []byte), told func(Event)) (*Handset, error) {
	p, session, err := s.callingPhone(o)
	if err != nil {
		return nil, err
	}
	p.behavior = behavior{isPassive: true, hangsUpAfter: handsetTimeout}
	p.handsetHungUp, p.observer = make(chan struct{}), told
	tap, err := session.Tap(media.Barge, ear)
	if err != nil {
		session.Close()
		return nil, err
	}
	h := &Handset{phone: p, tap: tap}
	if err = s.startCall(ctx, p, session, o); err != nil {
		h.HangUp() // it may still come to be a call
		return nil, err
	}
	return h, nil
}

package testcarrier

import (
	"context"
	"sync"
	"time"

	"github.com/callboard/callboard/media"
)

// handsetTimeout is the maximum duration of a call with a handset.
const handsetTimeout = 30 * time.Minute

// Handset is a phone of the test carrier whose audio the user of this package sends and receives.
type Handset struct {
	phone *phone
	tap   *media.Tap
	hang  sync.Once
}

// pressKeys is a message to a phone: press these keys.
type pressKeys struct{ keys string }

// SendAudio sends 8 kHz mono µ-law audio of any length as the audio of the phone. The audio must arrive in real time.
// Audio that is more than 400 ms ahead is lost.
func (h *Handset) SendAudio(mu []byte) { h.tap.Speak(mu) }

// PressKeys presses keys, one after another.
func (h *Handset) PressKeys(keys string) { h.phone.post(pressKeys{keys}) }

// HangUp ends the call. It may be called repeatedly.
func (h *Handset) HangUp() { h.hang.Do(func() { close(h.phone.handsetHungUp) }) }

// CallWithHandset makes a call like Call, on a phone whose audio the caller provides. receive gets the audio of the
// remote party: frames of media.TapFrame bytes, which are overwritten afterwards, and finally nil. receive is called
// from the media clock and must not block. notify receives the events of the phone.
func (s *Carrier) CallWithHandset(ctx context.Context, o CallRequest, receive func(frame []byte), notify func(Event)) (*Handset, error) {
	p, session, err := s.callingPhone(o)
	if err != nil {
		return nil, err
	}
	p.behavior = behavior{isPassive: true, hangsUpAfter: handsetTimeout}
	p.handsetHungUp, p.observer = make(chan struct{}), notify
	tap, err := session.Tap(media.Barge, receive)
	if err != nil {
		session.Close()
		return nil, err
	}
	h := &Handset{phone: p, tap: tap}
	if err = s.startCall(ctx, p, session, o); err != nil {
		h.HangUp() // the call may still be established
		return nil, err
	}
	return h, nil
}

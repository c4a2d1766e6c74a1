package testcarrier

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
)

// CallRequest describes a call from a phone of the test carrier to the service.
type CallRequest struct {
	To, From string         // users; From may be "anonymous"
	Name     string         // display name of From
	Target   resolve.Target // target of the INVITE
	TestID   string         // value of the header TestHeader
	Digits   string         // keys that are pressed, one at each pause of the other side
	Speech   string         // text that is spoken once the other side pauses
	HangUp   time.Duration  // hangs up after this time. 0: after three minutes, or with the other side
}

// TestHeader is the header with CallRequest.TestID, by which the called service recognizes the call.
const TestHeader = "X-Callboard-Test"

// RefusedError reports that a call of Carrier.Call was refused, with the final response.
type RefusedError struct {
	Code   int
	Phrase string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("test carrier: the call was refused: %d %s", e.Code, e.Phrase)
}

// Call makes a call. It returns when the call rings, is answered or is refused (*RefusedError), or when ctx ends. The
// call itself continues in the background.
func (s *Carrier) Call(ctx context.Context, o CallRequest) error {
	p, session, err := s.callingPhone(o)
	if err != nil {
		return err
	}
	p.behavior = behavior{keys: o.Digits, speech: o.Speech, hangsUpAfter: o.HangUp, isPassive: true}
	return s.startCall(ctx, p, session, o)
}

func (s *Carrier) callingPhone(o CallRequest) (*phone, *media.Session, error) {
	p := &phone{carrier: s, number: o.From, events: make(chan any, 256)}
	session, err := s.engine.Open(media.Options{Notify: func(e media.Event) { p.post(e) }})
	if err != nil {
		return nil, nil, fmt.Errorf("test carrier: %w", err)
	}
	return p, session, nil
}

// startCall starts a call in the background. Like Call, it waits until the call rings, is answered or is refused.
func (s *Carrier) startCall(ctx context.Context, p *phone, session *media.Session, o CallRequest) error {
	s.mu.Lock()
	if s.stopped.Err() != nil {
		s.mu.Unlock()
		session.Close()
		return context.Canceled
	}
	first := make(chan error, 1)
	s.phones.Go(func() { p.runCall(s.stopped, session, o, first) })
	s.mu.Unlock()
	select {
	case err := <-first:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runCall runs a call that the phone makes, from the INVITE to its end. first receives nil when the call rings or is
// answered, or an error if it fails.
func (p *phone) runCall(stop context.Context, session *media.Session, o CallRequest, first chan<- error) {
	defer func() {
		if v := recover(); v != nil {
			p.carrier.cfg.Log.Error("a phone of the test carrier has failed", slog.Any("reason", v))
		}
	}()
	tell := func(err error) {
		select {
		case first <- err:
		default:
		}
	}
	in := sip.Invite{
		Attempt: "test-" + o.TestID, Leg: 1, Target: o.Target, To: o.To, From: o.From, FromName: o.Name, Body: session.Offer(),
		Headers: []message.Header{{Name: TestHeader, Value: o.TestID}}, Notify: func(e sip.Event) { p.post(e) },
	}
	if strings.EqualFold(o.From, "anonymous") {
		in.FromDomain = "anonymous.invalid"
		in.Headers = append(in.Headers, message.Header{Name: "Privacy", Value: "id"})
	}
	d, err := p.carrier.ua.Invite(in)
	if err != nil {
		session.Close()
		tell(err)
		return
	}
	p.dialog, p.session, p.callID = d, session, d.State().CallID
	for {
		select {
		case e := <-p.events:
			switch e := e.(type) {
			case sip.Ringing, sip.Early:
				tell(nil)
			case sip.Refused:
				session.Close()
				tell(&RefusedError{Code: e.Final.Code, Phrase: e.Final.Phrase})
				p.report(Event{Kind: Refused, Code: e.Final.Code})
				return
			case sip.Answered:
				tell(nil)
				p.handleAnswered(stop, e)
				return
			}
		case <-stop.Done():
			d.Cancel("the carrier is being stopped")
			session.Close()
			tell(context.Canceled)
			return
		case <-p.handsetHungUp:
			d.Cancel("hung up")
			session.Close()
			p.reportKind(PhoneHungUp)
			return
		}
	}
}

// handleAnswered starts the audio after the answer and runs the call until its end.
func (p *phone) handleAnswered(stop context.Context, e sip.Answered) {
	if p.session.Accept(e.Body) != nil {
		p.dialog.Bye(0, "no sound")
		p.session.Close()
		return
	}
	p.session.Begin()
	p.carrier.setSession(p, p.session)
	p.reportKind(Answered)
	p.talk(stop)
}

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

// Order is a call that one of the built-in phones makes.
type Order struct {
	To, From string         // users; From may be "anonymous"
	Name     string         // shown beside From
	At       resolve.Target // that it is sent to
	Mark     string         // value of the header TestHeader
	Digits   string         // pressed one by one as the other side pauses
	Says     string         // once the other side pauses
	HangUp   time.Duration  // after so long; 0: after three minutes, or with the other side
}

// TestHeader identifies an ordered call to its callee.
const TestHeader = "X-Callboard-Test"

// RefusedError says with which answer an ordered call was refused.
type RefusedError struct {
	Code   int
	Phrase string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("simulator: the call was refused: %d %s", e.Code, e.Phrase)
}

// Call makes a call. It returns when the call rings, is answered or refused
// (*RefusedError), or ctx ends; the call itself goes on.
func (s *Simulator) Call(ctx context.Context, o Order) error {
	p, session, err := s.callingPhone(o)
	if err != nil {
		return err
	}
	p.nature = nature{presses: o.Digits, says: o.Says, leaves: o.HangUp, deaf: true}
	return s.place(ctx, p, session, o)
}

func (s *Simulator) callingPhone(o Order) (*phone, *media.Session, error) {
	p := &phone{sim: s, number: o.From, wire: make(chan any, 256)}
	session, err := s.engine.Open(media.Options{Notify: func(e media.Event) { p.post(e) }})
	if err != nil {
		return nil, nil, fmt.Errorf("simulator: %w", err)
	}
	return p, session, nil
}

// place makes the call of a phone; see Call.
func (s *Simulator) place(ctx context.Context, p *phone, session *media.Session, o Order) error {
	s.mu.Lock()
	if s.stop.Err() != nil {
		s.mu.Unlock()
		session.Close()
		return context.Canceled
	}
	first := make(chan error, 1)
	s.phones.Go(func() { p.call(s.stop, session, o, first) })
	s.mu.Unlock()
	select {
	case err := <-first:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// call is the whole of a call that the phone makes.
func (p *phone) call(stop context.Context, session *media.Session, o Order, first chan<- error) {
	defer func() {
		if v := recover(); v != nil {
			p.sim.cfg.Log.Error("a simulated phone broke", slog.Any("reason", v))
		}
	}()
	tell := func(err error) {
		select {
		case first <- err:
		default:
		}
	}
	in := sip.Invite{
		Attempt: "test-" + o.Mark, Leg: 1, Target: o.At, To: o.To, From: o.From, FromName: o.Name, Body: session.Offer(),
		Headers: []message.Header{{Name: TestHeader, Value: o.Mark}}, Notify: func(e sip.Event) { p.post(e) },
	}
	if strings.EqualFold(o.From, "anonymous") {
		in.FromDomain = "anonymous.invalid"
		in.Headers = append(in.Headers, message.Header{Name: "Privacy", Value: "id"})
	}
	d, err := p.sim.ua.Invite(in)
	if err != nil {
		session.Close()
		tell(err)
		return
	}
	p.dialog, p.session, p.callID = d, session, d.State().CallID
	for {
		select {
		case e := <-p.wire:
			switch e := e.(type) {
			case sip.Ringing, sip.Early:
				tell(nil)
			case sip.Refused:
				session.Close()
				tell(&RefusedError{Code: e.Final.Code, Phrase: e.Final.Phrase})
				p.report(Event{What: Refused, Code: e.Final.Code})
				return
			case sip.Answered:
				tell(nil)
				p.taken(stop, e)
				return
			}
		case <-stop.Done():
			d.Cancel("the carrier is being stopped")
			session.Close()
			tell(context.Canceled)
			return
		case <-p.held:
			d.Cancel("hung up")
			session.Close()
			p.reportWhat(HungUp)
			return
		}
	}
}

// taken is the call from the other side's answer on.
func (p *phone) taken(stop context.Context, e sip.Answered) {
	if p.session.Accept(e.Body) != nil {
		p.dialog.Bye(0, "no sound")
		p.session.Close()
		return
	}
	p.session.Begin()
	p.sim.setSession(p, p.session)
	p.reportWhat(Answered)
	p.talk(stop)
}

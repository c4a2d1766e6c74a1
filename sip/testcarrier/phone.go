package testcarrier

import (
	"context"
	"log/slog"
	"time"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/sip"
)

// How people are.
const (
	beforeHello = 200 * time.Millisecond
	beforeKey   = 300 * time.Millisecond // after the caller paused
	betweenKeys = 3 * time.Second        // a second key is for a second question
	impatience  = 8 * time.Second        // press without a pause of the caller
	longest     = 3 * time.Minute        // of a call
	lastWords   = 3 * time.Second        // until the BYE of a phone
	speakLimit  = 5 * time.Second
)

// phone is one call on one phone. Its goroutine owns all of it; SIP and media
// speak to it by the channel.
type phone struct {
	sim     *Simulator
	in      *sip.Incoming
	number  string
	callID  string // of SIP
	nature  nature
	wire    chan any
	dialog  *sip.Dialog
	session *media.Session
	played  uint64
	heard   bool // the caller has spoken
	keys    string
	held    chan struct{} // closed: who talks on it hangs up; nil: nobody holds it
	also    func(Event)   // hears what happens, besides the simulator's own; nil: nobody
}

// post hands an event to the phone; one that is flooded misses some.
func (p *phone) post(e any) {
	select {
	case p.wire <- e:
	default:
	}
}

func (p *phone) reportWhat(what string) { p.report(Event{What: what}) }

func (p *phone) report(e Event) {
	e.Number, e.CallID = p.number, p.callID
	p.sim.notify(e)
	if p.also != nil {
		p.also(e)
	}
}

// live is the phone's whole call.
func (p *phone) live(stop context.Context) {
	defer func() {
		if v := recover(); v != nil {
			p.sim.cfg.Log.Error("a simulated phone broke", slog.Any("reason", v))
			p.in.Reject(500, 0)
		}
	}()
	p.in.Notify(func(e sip.Event) { p.post(e) })
	p.reportWhat(Invited)
	n := &p.nature
	if n.code > 0 && !n.rings {
		p.refuse(n.code)
		return
	}
	p.in.Ring()
	p.reportWhat(Ringing)
	if !p.ring(stop) {
		return
	}
	if n.code > 0 {
		p.refuse(n.code)
		return
	}
	if p.answer() {
		p.talk(stop)
	}
}

func (p *phone) refuse(code int) {
	p.in.Reject(code, 0)
	p.report(Event{What: Refused, Code: code})
}

// ring waits until the phone is taken; false: nobody rings any more.
func (p *phone) ring(stop context.Context) bool {
	wait := p.sim.cfg.RingFor(p.number) + p.nature.after
	if p.nature.forever {
		wait = longest
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	for {
		select {
		case e := <-p.wire:
			switch e.(type) {
			case sip.Refused, sip.Ended:
				p.reportWhat(Given)
				return false
			}
		case <-t.C:
			if p.nature.forever {
				p.refuse(480)
			}
			return !p.nature.forever
		case <-stop.Done():
			p.refuse(503)
			return false
		}
	}
}

func (p *phone) answer() bool {
	s, err := p.sim.engine.Open(media.Options{Notify: func(e media.Event) { p.post(e) }})
	if err != nil {
		p.sim.cfg.Log.Error("a simulated phone has no sound", slog.Any("error", err))
		p.refuse(503)
		return false
	}
	var body []byte
	if len(p.in.Body) == 0 {
		body = s.Offer()
	} else if body, err = s.Answer(p.in.Body); err != nil {
		s.Close()
		p.refuse(488)
		return false
	}
	p.session = s
	p.dialog = p.in.Answer(body, func(e sip.Event) { p.post(e) })
	s.Begin()
	p.sim.setSession(p, s)
	p.reportWhat(Answered)
	return true
}

// talk is the phone's call from the answer on.
func (p *phone) talk(stop context.Context) {
	n := &p.nature
	p.keys = n.presses
	hello, act, leave := time.NewTimer(beforeHello), time.NewTimer(impatience), time.NewTimer(longest)
	defer hello.Stop()
	defer act.Stop()
	defer leave.Stop()
	if n.leaves > 0 {
		leave.Reset(n.leaves)
	}
	for {
		select {
		case e := <-p.wire:
			if p.got(e, act) {
				p.over(Left)
				return
			}
		case <-hello.C:
			p.greet(stop)
		case <-act.C:
			p.act(stop, act)
		case <-leave.C:
			p.hangUp()
			return
		case <-p.held:
			p.hangUp()
			return
		case <-stop.Done():
			p.hangUp()
			return
		}
	}
}

// got takes what SIP and media tell; true: the call is over.
func (p *phone) got(e any, act *time.Timer) bool {
	switch e := e.(type) {
	case sip.Ended, sip.Refused:
		return true
	case sip.Reoffer:
		p.reoffered(e)
	case sip.Accepted:
		_ = p.session.Accept(e.Body) // without sound the caller hangs up
	case sip.InfoDigit:
		p.report(Event{What: Heard, Key: e.Key})
	case media.Digit:
		p.report(Event{What: Heard, Key: e.Key})
	case media.SpeechBegan:
		p.heard = true
	case media.SpeechEnded:
		if p.heard && p.waiting() {
			act.Reset(beforeKey)
		}
	case pressNow:
		p.played++
		p.session.SendDigits(p.played, e.keys)
	case media.Vanished:
		p.dialog.Bye(16, "nobody there")
	}
	return false
}

func (p *phone) reoffered(e sip.Reoffer) {
	if len(e.Body) == 0 {
		e.Reply(200, p.session.Offer())
		return
	}
	body, err := p.session.Answer(e.Body)
	if err != nil {
		e.Reply(488, nil)
		return
	}
	e.Reply(200, body)
}

// greet is what the phone does when it is answered.
func (p *phone) greet(ctx context.Context) {
	n := &p.nature
	switch {
	case n.deaf:
	case n.fax:
		p.play(tone.Make(3*time.Second, 0.3, 2100))
	case n.saysFirst:
		clip := p.words(ctx, n.greeting)
		if n.beep {
			clip = append(append(media.Clip{}, clip...), tone.Silence(300*time.Millisecond)...)
			clip = append(clip, tone.Beep(400*time.Millisecond)...)
		}
		p.play(clip)
	}
}

func (p *phone) waiting() bool { return p.keys != "" || p.nature.says != "" }

// act presses the next key, or says what the phone has to say.
func (p *phone) act(ctx context.Context, again *time.Timer) {
	if p.keys != "" {
		key := p.keys[0]
		p.keys = p.keys[1:]
		p.played++
		p.session.SendDigits(p.played, string(key))
		p.report(Event{What: Pressed, Key: key})
	} else if p.nature.says != "" {
		p.play(p.words(ctx, p.nature.says))
		p.nature.says = ""
	}
	if p.waiting() {
		again.Reset(betweenKeys)
	}
}

func (p *phone) play(c media.Clip) {
	p.played++
	p.session.Play(p.played, c)
}

// words are spoken, or hummed where nobody can speak.
func (p *phone) words(ctx context.Context, text string) media.Clip {
	if s := p.sim.cfg.Speaker; s != nil {
		bound, cancel := context.WithTimeout(ctx, speakLimit)
		defer cancel()
		if clip, err := s.Speak(bound, speech.Request{Text: text}); err == nil {
			return clip
		}
	}
	var hummed media.Clip
	for range max(2, (len(text)+3)/6) { // syllables, or it would be no voice
		hummed = append(hummed, tone.Make(300*time.Millisecond, 0.2, 180, 360, 540)...)
		hummed = append(hummed, tone.Silence(60*time.Millisecond)...)
	}
	return hummed
}

// hangUp ends the call from the phone and waits for that, but not for ever.
func (p *phone) hangUp() {
	p.dialog.Bye(16, "hung up")
	t := time.NewTimer(lastWords)
	defer t.Stop()
	for {
		select {
		case e := <-p.wire:
			if _, ok := e.(sip.Ended); ok {
				p.over(HungUp)
				return
			}
		case <-t.C:
			p.over(HungUp)
			return
		}
	}
}

func (p *phone) over(what string) {
	p.sim.setSession(p, nil)
	stats, _ := p.session.Close()
	p.report(Event{What: what, Stats: stats})
}

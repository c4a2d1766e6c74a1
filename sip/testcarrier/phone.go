package testcarrier

import (
	"context"
	_ "embed" // speech.ulaw
	"log/slog"
	"time"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/sip"
)

// Delays and time limits of the phones.
const (
	greetingDelay        = 200 * time.Millisecond
	keyDelay             = 300 * time.Millisecond // between the caller's pause and the pressed key
	keyInterval          = 3 * time.Second        // between two keys, so that the second key answers a second question
	actWithoutPauseAfter = 8 * time.Second        // acts even without a pause of the caller
	maxCallDuration      = 3 * time.Minute        // maximum duration of a call
	byeTimeout           = 3 * time.Second        // maximum wait for the end of the call after the BYE
	synthesisTimeout     = 5 * time.Second
)

// phone is one call of a phone of the test carrier. Only its goroutine uses the fields. SIP and media send it events over
// a channel.
type phone struct {
	carrier       *Carrier
	in            *sip.Incoming
	number        string
	callID        string // SIP Call-ID
	behavior      behavior
	events        chan any
	dialog        *sip.Dialog
	session       *media.Session
	played        uint64
	callerSpoke   bool // the caller has spoken
	keys          string
	handsetHungUp chan struct{} // closed when the handset hangs up; nil: there is no handset
	observer      func(Event)   // receives the events in addition to Config.Notify; nil: none
}

// post sends an event to the phone. It drops the event if the channel is full.
func (p *phone) post(e any) {
	select {
	case p.events <- e:
	default:
	}
}

func (p *phone) reportKind(what string) { p.report(Event{Kind: what}) }

func (p *phone) report(e Event) {
	e.Number, e.CallID = p.number, p.callID
	p.carrier.notify(e)
	if p.observer != nil {
		p.observer(e)
	}
}

// run handles an inbound call of the phone from the INVITE to its end.
func (p *phone) run(stop context.Context) {
	defer func() {
		if v := recover(); v != nil {
			p.carrier.cfg.Log.Error("a phone of the test carrier has failed", slog.Any("reason", v))
			p.in.Reject(500, 0)
		}
	}()
	p.in.Notify(func(e sip.Event) { p.post(e) })
	p.reportKind(Invited)
	n := &p.behavior
	if n.code > 0 && !n.ringsFirst {
		p.refuse(n.code)
		return
	}
	p.in.Ring()
	p.reportKind(Ringing)
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
	p.report(Event{Kind: Refused, Code: code})
}

// ring waits until the phone answers. It returns false if the caller gave up.
func (p *phone) ring(stop context.Context) bool {
	wait := p.carrier.cfg.RingFor(p.number) + p.behavior.extraRingTime
	if p.behavior.ringsForever {
		wait = maxCallDuration
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	for {
		select {
		case e := <-p.events:
			switch e.(type) {
			case sip.Refused, sip.Ended:
				p.reportKind(Cancelled)
				return false
			}
		case <-t.C:
			if p.behavior.ringsForever {
				p.refuse(480)
			}
			return !p.behavior.ringsForever
		case <-stop.Done():
			p.refuse(503)
			return false
		}
	}
}

func (p *phone) answer() bool {
	s, err := p.carrier.engine.Open(media.Options{Notify: func(e media.Event) { p.post(e) }})
	if err != nil {
		p.carrier.cfg.Log.Error("a phone of the test carrier has no media session", slog.Any("error", err))
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
	p.carrier.setSession(p, s)
	p.reportKind(Answered)
	return true
}

// talk runs an answered call until its end: it handles events, and performs the behavior of the phone.
func (p *phone) talk(stop context.Context) {
	n := &p.behavior
	p.keys = n.keys
	hello, act, leave := time.NewTimer(greetingDelay), time.NewTimer(actWithoutPauseAfter), time.NewTimer(maxCallDuration)
	defer hello.Stop()
	defer act.Stop()
	defer leave.Stop()
	if n.hangsUpAfter > 0 {
		leave.Reset(n.hangsUpAfter)
	}
	for {
		select {
		case e := <-p.events:
			if p.handleEvent(e, act) {
				p.finish(CallerHungUp)
				return
			}
		case <-hello.C:
			p.greet(stop)
		case <-act.C:
			p.performNextAction(stop, act)
		case <-leave.C:
			p.hangUp()
			return
		case <-p.handsetHungUp:
			p.hangUp()
			return
		case <-stop.Done():
			p.hangUp()
			return
		}
	}
}

// handleEvent handles an event of SIP or media. It returns true when the call is over.
func (p *phone) handleEvent(e any, act *time.Timer) bool {
	switch e := e.(type) {
	case sip.Ended, sip.Refused:
		return true
	case sip.Reoffer:
		p.handleReoffer(e)
	case sip.Accepted:
		_ = p.session.Accept(e.Body) // without audio the caller hangs up
	case sip.InfoDigit:
		p.report(Event{Kind: KeyReceived, Key: e.Key})
	case media.Digit:
		p.report(Event{Kind: KeyReceived, Key: e.Key})
	case media.SpeechBegan:
		p.callerSpoke = true
	case media.SpeechEnded:
		if p.callerSpoke && p.hasPendingActions() {
			act.Reset(keyDelay)
		}
	case pressKeys:
		p.played++
		p.session.SendDigits(p.played, e.keys)
	case media.IdleTimeout:
		p.dialog.Bye(16, "nobody there")
	}
	return false
}

func (p *phone) handleReoffer(e sip.Reoffer) {
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

// greet plays the greeting, voicemail message or fax tone with which the phone answers.
func (p *phone) greet(ctx context.Context) {
	n := &p.behavior
	switch {
	case n.isPassive:
	case n.isFax:
		p.play(tone.Make(3*time.Second, 0.3, 2100))
	case n.greetsFirst:
		clip := p.synthesize(ctx, n.greeting)
		if n.beep {
			clip = append(append(media.Clip{}, clip...), tone.Silence(300*time.Millisecond)...)
			clip = append(clip, tone.Beep(400*time.Millisecond)...)
		}
		p.play(clip)
	}
}

func (p *phone) hasPendingActions() bool { return p.keys != "" || p.behavior.speech != "" }

// performNextAction presses the next pending key, or speaks the text of the phone if no key is pending.
func (p *phone) performNextAction(ctx context.Context, again *time.Timer) {
	if p.keys != "" {
		key := p.keys[0]
		p.keys = p.keys[1:]
		p.played++
		p.session.SendDigits(p.played, string(key))
		p.report(Event{Kind: KeyPressed, Key: key})
	} else if p.behavior.speech != "" {
		p.play(p.synthesize(ctx, p.behavior.speech))
		p.behavior.speech = ""
	}
	if p.hasPendingActions() {
		again.Reset(keyInterval)
	}
}

func (p *phone) play(c media.Clip) {
	p.played++
	p.session.Play(p.played, c)
}

// sampleSpeech is three seconds of speech that espeak-ng has synthesized, as 8 kHz mono µ-law.
//
//go:embed speech.ulaw
var sampleSpeech []byte

// synthesize returns the speech for a text. Without a speech synthesizer it returns other words of about the same length,
// so that agents detect speech.
func (p *phone) synthesize(ctx context.Context, text string) media.Clip {
	if s := p.carrier.cfg.Speaker; s != nil {
		bound, cancel := context.WithTimeout(ctx, synthesisTimeout)
		defer cancel()
		if clip, err := s.Speak(bound, speech.Request{Text: text}); err == nil {
			return clip
		}
	}
	const samplesPerLetter = 480 // 60 ms
	length := max(len(text), 12) * samplesPerLetter
	clip := make(media.Clip, 0, length)
	for len(clip) < length {
		clip = append(clip, sampleSpeech[:min(len(sampleSpeech), length-len(clip))]...)
	}
	return clip
}

// hangUp ends the call and waits for its end, up to byeTimeout.
func (p *phone) hangUp() {
	p.dialog.Bye(16, "hung up")
	t := time.NewTimer(byeTimeout)
	defer t.Stop()
	for {
		select {
		case e := <-p.events:
			if _, ok := e.(sip.Ended); ok {
				p.finish(PhoneHungUp)
				return
			}
		case <-t.C:
			p.finish(PhoneHungUp)
			return
		}
	}
}

func (p *phone) finish(what string) {
	p.carrier.setSession(p, nil)
	stats, _ := p.session.Close()
	p.report(Event{Kind: what, Stats: stats})
}

package main_test

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/siptest"
	"github.com/callboard/callboard/sip/transport"
)

// phoneBank simulates phones at one SIP port. A script, selected by the called number, controls each phone in a call.
type phoneBank struct {
	t       testing.TB
	port    int
	engine  *media.Engine
	mu      sync.Mutex
	scripts map[string]func(*phoneUser)
	calls   sync.WaitGroup
	ctx     context.Context
}

// phoneUser is the user of one simulated phone during a call. Its methods return early when the call ends.
type phoneUser struct {
	session       *media.Session
	ctx           context.Context
	speechChanges chan bool // true when the agent begins to speak, false when the agent stops
	playbackEnded chan struct{}
}

func newPhoneBank(t testing.TB) *phoneBank {
	t.Helper()
	p := &phoneBank{t: t, port: siptest.Port(t), scripts: map[string]func(*phoneUser){}}
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(p.port))
	low := siptest.MediaPorts1390(t)
	var err error
	p.engine, err = media.NewEngine(media.Config{BindIP: at.Addr(), PublicIP: at.Addr(), PortMin: low, PortMax: low + 198})
	require.NoError(t, err)
	ua, err := sip.New(sip.Config{
		Listen: []transport.Listener{{Network: "udp", Addr: at.String()}}, PublicIP: at.Addr(), OverloadAfter: time.Minute,
	})
	require.NoError(t, err)
	var stop context.CancelFunc
	p.ctx, stop = context.WithCancel(context.Background())
	ua.SetAdmission(func(transport.Source) sip.Admission { return sip.Admission{Allow: true} })
	ua.OnInvite(p.answerCall)
	failed := make(chan error, 1)
	p.calls.Go(func() { failed <- ua.Serve(p.ctx) })
	t.Cleanup(func() {
		stop()
		p.calls.Wait()
		_ = p.engine.Close()
	})
	select {
	case <-ua.Ready():
	case err := <-failed:
		require.NoError(t, err)
	}
	return p
}

// setScript sets the function that controls the phone with this number in its calls.
func (p *phoneBank) setScript(number string, part func(*phoneUser)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scripts[number] = part
}

func (p *phoneBank) answerCall(i *sip.Incoming) {
	p.mu.Lock()
	part := p.scripts["+"+strings.TrimPrefix(i.To, "+")]
	p.mu.Unlock()
	if part == nil {
		i.Reject(404, 0)
		return
	}
	ctx, over := context.WithCancel(p.ctx)
	one := &phoneUser{ctx: ctx, speechChanges: make(chan bool, 256), playbackEnded: make(chan struct{}, 16)}
	s, err := p.engine.Open(media.Options{DTMF: media.DTMFRFC4733, Notify: func(e media.Event) {
		switch e.(type) {
		case media.SpeechBegan:
			one.speechChanges <- true
		case media.SpeechEnded:
			one.speechChanges <- false
		case media.Played, media.DigitsSent:
			one.playbackEnded <- struct{}{}
		}
	}})
	if err != nil {
		over()
		i.Reject(503, 0)
		return
	}
	body, err := s.Answer(i.Body)
	if err != nil {
		over()
		s.Close()
		i.Reject(488, 0)
		return
	}
	one.session = s
	i.Answer(body, func(e sip.Event) {
		if _, ended := e.(sip.Ended); ended {
			over()
			s.Close()
		}
	})
	s.Begin()
	p.calls.Go(func() { part(one) })
}

// awaitSpeech waits until the agent begins to speak, or until it stops if speaks is false.
func (o *phoneUser) awaitSpeech(speaks bool) {
	for {
		select {
		case now := <-o.speechChanges:
			if now == speaks {
				return
			}
		case <-o.ctx.Done():
			return
		}
	}
}

// awaitSignal waits for a signal on ch or the end of the call.
func (o *phoneUser) awaitSignal(ch <-chan struct{}) {
	select {
	case <-ch:
	case <-o.ctx.Done():
	}
}

// drainSpeechChanges discards earlier speech changes, so that the next wait sees only new ones.
func (o *phoneUser) drainSpeechChanges() {
	for len(o.speechChanges) > 0 {
		<-o.speechChanges
	}
}

// speak sends speech of duration d and waits for its end.
func (o *phoneUser) speak(d time.Duration) {
	o.drainSpeechChanges()
	clip, err := callerSpeech()
	if err != nil {
		panic(err)
	}
	o.session.Play(1, clip[:min(len(clip), int(d*8000/time.Second))])
	o.awaitSignal(o.playbackEnded)
}

// callerSpeech returns three seconds of speech, because callers are recognized by a detector that ignores tones.
var callerSpeech = sync.OnceValues(func() ([]byte, error) { //nolint:gochecknoglobals // synthesized once
	e, err := speech.NewEspeak(1, 10*time.Second)
	if err != nil {
		return nil, err
	}
	return e.Speak(context.Background(), speech.Request{Text: "I would really like to come on Friday afternoon at about half past three.", Voice: "en-us+f3"})
})

func (o *phoneUser) pressKeys(keys string) {
	o.drainSpeechChanges()
	o.session.SendDigits(2, keys)
	o.awaitSignal(o.playbackEnded)
}

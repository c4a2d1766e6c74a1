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
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/siptest"
	"github.com/callboard/callboard/sip/transport"
)

// phoneBank simulates phones at one SIP port. Each number follows its own script.
type gathering struct {
	t      testing.TB
	port   int
	engine *media.Engine
	mu     sync.Mutex
	parts  map[string]func(*talker)
	work   sync.WaitGroup
	ctx    context.Context
}

// phoneUser is the user of one simulated phone during a call. Its methods return early when the call ends.
type talker struct {
	session *media.Session
	ctx     context.Context
	heard   chan bool // true when the agent begins to speak, false when the agent stops
	played  chan struct{}
}

func newGathering(t testing.TB) *gathering {
	t.Helper()
	p := &gathering{t: t, port: siptest.Port(t), parts: map[string]func(*talker){}}
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
	ua.OnInvite(p.answer)
	failed := make(chan error, 1)
	p.work.Go(func() { failed <- ua.Serve(p.ctx) })
	t.Cleanup(func() {
		stop()
		p.work.Wait()
		_ = p.engine.Close()
	})
	select {
	case <-ua.Ready():
	case err := <-failed:
		require.NoError(t, err)
	}
	return p
}

// setScript sets the script that a number follows in its calls.
func (p *gathering) plays(number string, part func(*talker)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parts[number] = part
}

func (p *gathering) answer(i *sip.Incoming) {
	p.mu.Lock()
	part := p.parts["+"+strings.TrimPrefix(i.To, "+")]
	p.mu.Unlock()
	if part == nil {
		i.Reject(404, 0)
		return
	}
	ctx, over := context.WithCancel(p.ctx)
	one := &talker{ctx: ctx, heard: make(chan bool, 256), played: make(chan struct{}, 16)}
	s, err := p.engine.Open(media.Options{DTMF: media.DTMFRFC4733, Notify: func(e media.Event) {
		switch e.(type) {
		case media.SpeechBegan:
			one.heard <- true
		case media.SpeechEnded:
			one.heard <- false
		case media.Played, media.DigitsSent:
			one.played <- struct{}{}
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
	p.work.Go(func() { part(one) })
}

// awaitSpeech waits until the agent begins to speak, or until it stops if speaks is false.
func (o *talker) await(speaks bool) {
	for {
		select {
		case now := <-o.heard:
			if now == speaks {
				return
			}
		case <-o.ctx.Done():
			return
		}
	}
}

// awaitSignal waits for a signal on ch or the end of the call.
func (o *talker) until(ch <-chan struct{}) {
	select {
	case <-ch:
	case <-o.ctx.Done():
	}
}

// drainSpeechChanges discards earlier speech changes, so that the next wait sees only new ones.
func (o *talker) drainHeard() {
	for len(o.heard) > 0 {
		<-o.heard
	}
}

// playTone sends a tone of duration d and waits for its end.
func (o *talker) hums(d time.Duration) {
	o.drainHeard()
	o.session.Play(1, tone.Make(d, 0.3, 220, 700))
	o.until(o.played)
}

func (o *talker) presses(keys string) {
	o.drainHeard()
	o.session.SendDigits(2, keys)
	o.until(o.played)
}

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

// gathering are people at telephones, at one port: each number is somebody who
// does what his part says.
type gathering struct {
	t      testing.TB
	port   int
	engine *media.Engine
	mu     sync.Mutex
	parts  map[string]func(*talker)
	work   sync.WaitGroup
	ctx    context.Context
}

// talker is one of them, in a call. His methods return early where that is over.
type talker struct {
	session *media.Session
	ctx     context.Context
	heard   chan bool // somebody begins to speak, or stops
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

// plays gives a number its part.
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

// await waits until the agent begins to speak, or stops.
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

// until waits for something else.
func (o *talker) until(ch <-chan struct{}) {
	select {
	case <-ch:
	case <-o.ctx.Done():
	}
}

// drainHeard forgets what was heard: what the caller does next is an answer to all of it.
func (o *talker) drainHeard() {
	for len(o.heard) > 0 {
		<-o.heard
	}
}

// hums makes a sound as long as a sentence, and waits for its end.
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

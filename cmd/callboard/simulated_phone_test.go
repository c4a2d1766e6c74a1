package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/transport"
)

// networkPhoneEnv is an environment variable that makes the test binary a phone at the given address. The phone
// reports each call on its standard output until its input ends.
const networkPhoneEnv = "CALLBOARD_NETWORK_PHONE"

const (
	phonePresses   = "1592604837" // DTMF digits that the phone sends
	servicePresses = "86420*1357" // DTMF digits that the service sends
	keyPressDelay  = 1500 * time.Millisecond
)

// phoneCall is the report of the simulated phone about an ended call.
type phoneCall struct {
	To, Keys string // called number and received keys
	Stats    media.Stats
}

// simulatedPhone answers every call, plays speech, sends DTMF digits after a while and records received digits.
type simulatedPhone struct {
	engine *media.Engine
	words  media.Clip
	notify func(phoneCall)
	ua     *sip.UserAgent
	stop   context.CancelFunc
	calls  sync.WaitGroup
}

// newSimulatedPhone starts a phone at an address with RTP ports low to low+98.
func newSimulatedPhone(at netip.AddrPort, low int, notify func(phoneCall)) (*simulatedPhone, error) {
	engine, err := media.NewEngine(media.Config{BindIP: at.Addr(), PublicIP: at.Addr(), PortMin: low, PortMax: low + 98})
	if err != nil {
		return nil, err
	}
	ua, err := sip.New(sip.Config{
		Listen: []transport.Listener{{Network: "udp", Addr: at.String()}}, PublicIP: at.Addr(),
		OverloadAfter: time.Minute, // a stalled machine must not make the phone reject calls
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &simulatedPhone{engine: engine, words: tone.Make(60*time.Second, 0.3, 300, 1100), notify: notify, ua: ua, stop: cancel}
	ua.SetAdmission(func(transport.Source) sip.Admission { return sip.Admission{Allow: true} }) // only the service sends to this phone
	ua.OnInvite(p.answerCall)
	failed := make(chan error, 1)
	p.calls.Go(func() { failed <- ua.Serve(ctx) })
	select {
	case <-ua.Ready():
		return p, nil
	case err := <-failed:
		cancel()
		return nil, err
	}
}

func (p *simulatedPhone) close() {
	p.stop()
	p.calls.Wait()
	_ = p.engine.Close()
}

func (p *simulatedPhone) answerCall(i *sip.Incoming) {
	var mu sync.Mutex
	var keys strings.Builder
	s, err := p.engine.Open(media.Options{DTMF: media.DTMFRFC4733, Notify: func(e media.Event) {
		if d, ok := e.(media.Digit); ok {
			mu.Lock()
			keys.WriteByte(d.Key)
			mu.Unlock()
		}
	}})
	if err != nil {
		i.Reject(503, 0)
		return
	}
	body, err := s.Answer(i.Body)
	if err != nil {
		s.Close()
		i.Reject(488, 0)
		return
	}
	press := time.AfterFunc(keyPressDelay, func() { s.SendDigits(1, phonePresses) })
	to := i.To
	i.Answer(body, func(e sip.Event) {
		if _, over := e.(sip.Ended); !over {
			return
		}
		press.Stop()
		stats, _ := s.Close()
		mu.Lock()
		defer mu.Unlock()
		p.notify(phoneCall{to, keys.String(), stats})
	})
	s.Begin()
	s.Play(1, p.words)
}

// runNetworkPhone runs the simulated phone at an address until standard input is closed, and prints its call reports.
func runNetworkPhone(at string) {
	var mu sync.Mutex
	out := json.NewEncoder(os.Stdout)
	p, err := newSimulatedPhone(netip.MustParseAddrPort(at), phonesLow, func(c phoneCall) {
		mu.Lock()
		defer mu.Unlock()
		_ = out.Encode(c)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	mu.Lock()
	_ = out.Encode(phoneCall{})
	mu.Unlock()
	_, _ = io.Copy(io.Discard, os.Stdin)
	p.close()
}

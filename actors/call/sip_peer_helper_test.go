package call_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// peer is a SIP peer other than the test carrier. It answers calls and follows the instructions of the test.
type peer struct {
	t       *testing.T
	ua      *sip.UserAgent
	engine  *media.Engine
	mu      sync.Mutex
	dialog  *sip.Dialog
	events  []sip.Event
	refer   func(sip.Referred)
	session *media.Session // of newSRTPPeer
}

// newPeerWithoutUserAgent returns a peer that has a media engine but no SIP user agent.
func newPeerWithoutUserAgent(t *testing.T) *peer {
	t.Helper()
	p := &peer{t: t}
	from, to := rtpPorts(t)
	var err error
	p.engine, err = media.NewEngine(media.Config{BindIP: loopback(), PublicIP: loopback(), PortMin: from, PortMax: to})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.engine.Close() })
	return p
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	p := newPeerWithoutUserAgent(t)
	p.ua = newUserAgent(t, func(in *sip.Incoming) {
		s, err := p.engine.Open(media.Options{})
		if err != nil {
			in.Reject(500, 0)
			return
		}
		body, err := s.Answer(in.Body)
		if err != nil {
			in.Reject(488, 0)
			return
		}
		d := in.Answer(body, p.onEvent)
		s.Begin()
		p.mu.Lock()
		p.dialog = d
		p.mu.Unlock()
	})
	return p
}

func (p *peer) onEvent(e sip.Event) {
	p.mu.Lock()
	p.events = append(p.events, e)
	refer := p.refer
	p.mu.Unlock()
	if r, ok := e.(sip.Referred); ok && refer != nil {
		refer(r)
	}
}

func (p *peer) onRefer(f func(sip.Referred)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refer = f
}

// waitForDialog returns the peer's dialog. The service may see the answer before the peer has stored the dialog.
func (p *peer) waitForDialog() (d *sip.Dialog) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		d = p.dialog
		return d != nil
	}, patience, time.Millisecond, "the peer's dialog")
	return d
}

func (p *peer) hasEnded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.events {
		if _, ok := e.(sip.Ended); ok {
			return true
		}
	}
	return false
}

// trunksToPeer returns a function that builds trunks: numbers with prefix 7 go to the peer, all others to the test carrier.
func trunksToPeer(p *peer) func(h *fixture) []domain.Trunk {
	return func(h *fixture) []domain.Trunk {
		live := domain.Meta{ID: "trunk_sim", Environment: domain.Live}
		own := domain.Meta{ID: "trunk_peer", Environment: domain.Live}
		return []domain.Trunk{
			{Meta: live, CallerIDs: []string{"+12025550100"}, Proxies: []domain.Proxy{proxyOf(h.carrier.Target())}},
			{Meta: own, CallerIDs: []string{"+12025550100"}, Proxies: []domain.Proxy{proxyOf(targetOf(p.ua))}, Prefixes: []string{numberPrefix + "7"}},
		}
	}
}

package call_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// newSRTPPeer returns a peer that uses SRTP only. keys receives the SRTP key of each SDP offer. If refuses is set, the peer
// refuses new keys.
func newSRTPPeer(t *testing.T, refuses bool) (p *peer, keys chan string) {
	t.Helper()
	keys = make(chan string, 64)
	p = newPeerWithoutUserAgent(t)
	keyOf := func(body []byte) string {
		_, rest, _ := strings.Cut(string(body), "inline:")
		key, _, _ := strings.Cut(rest, "\r\n")
		return key
	}
	p.ua = newUserAgent(t, func(in *sip.Incoming) {
		s, err := p.engine.Open(media.Options{SRTP: media.SRTPRequired, KeysInClear: true})
		if err != nil {
			in.Reject(500, 0)
			return
		}
		body, err := s.Answer(in.Body)
		if err != nil {
			in.Reject(488, 0)
			return
		}
		keys <- keyOf(in.Body)
		d := in.Answer(body, func(e sip.Event) {
			p.onEvent(e)
			r, ok := e.(sip.Reoffer)
			if !ok {
				return
			}
			keys <- keyOf(r.Body)
			answer, err := s.Answer(r.Body)
			if err != nil || refuses {
				r.Reply(488, nil)
				return
			}
			r.Reply(200, answer)
		})
		s.Begin()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.dialog, p.session = d, s
	})
	return p, keys
}

// srtpTrunksToPeer returns the same trunks as trunksToPeer, but with SRTP required.
func srtpTrunksToPeer(p *peer) func(h *fixture) []domain.Trunk {
	return func(h *fixture) []domain.Trunk {
		list := trunksToPeer(p)(h)
		for i := range list {
			list[i].SRTP, list[i].KeysInClear = "required", true
		}
		return list
	}
}

func TestSRTPKeyIsRenewedByReinvite(t *testing.T) {
	t.Parallel()
	for name, refuses := range map[string]bool{"taken": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, keys := newSRTPPeer(t, refuses)
			h := newFixture(t, fixtureOptions{keyLife: 300 * time.Millisecond, trunks: srtpTrunksToPeer(p)})
			id := h.startCall(h.prepareCall(numberPrefix+"7777", waitingPathway()))
			seen := map[string]bool{}
			next := func() {
				t.Helper()
				k := receive(t, keys)
				assert.False(t, seen[k], "the key was used before")
				seen[k] = true
			}
			next()
			next()
			if refuses {
				h.waitUntil(5*time.Second, "the call goes on", func() bool { return h.store.readCall(id).AnsweredAt != nil })
			} else {
				next()
			}
			sent := h.packetsSent(id)
			h.waitUntil(5*time.Second, "audio is sent", func() bool { return h.packetsSent(id) > sent+20 })
			p.mu.Lock()
			s := p.session
			p.mu.Unlock()
			heard := s.Stats().PacketsReceived
			h.waitUntil(5*time.Second, "audio is received", func() bool { return s.Stats().PacketsReceived > heard+10 })
			require.NoError(t, h.hangUp(id))
			assert.Equal(t, domain.OutcomeCompleted, h.waitForEnd(id).Verdict.Outcome)
		})
	}
}

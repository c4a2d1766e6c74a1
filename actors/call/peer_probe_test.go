package call_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// newSilentPeer returns a peer that answers and never sends audio. probes receives the methods of the SIP requests
// that probe the peer.
func wordless(t *testing.T) (p *peer, probes chan string) {
	t.Helper()
	probes = make(chan string, 256)
	p = mute(t)
	p.ua = agentWith(t, func(_ string, m sip.TracedMessage) {
		method, _, _ := strings.Cut(string(m.Data), " ")
		if !m.Out && (method == "OPTIONS" || method == "UPDATE") {
			probes <- method
		}
	}, func(in *sip.Incoming) {
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
		s.Close() // a session that was not started sends silence
		in.Answer(body, p.hear)
	})
	return p, probes
}

func TestSilentPeerIsProbedBeforeItsCallEnds(t *testing.T) {
	t.Parallel()
	p, probes := wordless(t)
	h := build(t, plan{trunks: towards(p), idle: time.Second})
	id := h.talking(area+"7777", linger())
	for range 2 {
		soon(t, probes)
	}
	assert.Empty(t, h.ends(id), "the peer answers probes: the call continues")
	assert.False(t, p.over())
	require.NoError(t, p.ua.Close()) // the port is closed, so the kernel reports it as unreachable
	e := h.end(id)
	assert.Equal(t, domain.OutcomeCompleted, e.Verdict.Outcome)
	assert.Equal(t, domain.ReasonMediaLost, e.Verdict.Reason)
	assert.Equal(t, "service", e.Call.EndedBy)
	h.finished(id)
}

func TestSilentPeerThatAnswersProbesIsHungUpAfterSixProbes(t *testing.T) {
	t.Parallel()
	p, probes := wordless(t)
	h := build(t, plan{trunks: towards(p), idle: 100 * time.Millisecond})
	id := h.talking(area+"7777", linger())
	assert.Equal(t, domain.ReasonMediaLost, h.end(id).Verdict.Reason)
	h.finished(id)
	assert.GreaterOrEqual(t, len(probes), 6, "one probe per silence")
	assert.True(t, p.over(), "the peer got a BYE")
}

func TestSilentTransferTargetIsProbed(t *testing.T) {
	t.Parallel()
	p, probes := wordless(t)
	h := build(t, plan{trunks: towards(p), idle: time.Second})
	id := h.talking(quiet, linger())
	require.NoError(t, h.tell(call.StartTransfer{CallID: id, Target: transferleg.Target{To: area + "7777"}, Mode: domain.TransferBridge}))
	h.stands(id, domain.TransferConnected)
	for range 2 {
		soon(t, probes)
	}
	assert.Equal(t, domain.TransferConnected, h.handed(id).Status, "the target answers probes: the bridge stays")
	require.NoError(t, p.ua.Close())
	h.stands(id, domain.TransferReturned)
	require.NoError(t, h.hangUp(id))
	assert.Equal(t, domain.ReasonHangup, h.end(id).Verdict.Reason, "the caller is still connected")
}

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
func newSilentPeer(t *testing.T) (p *peer, probes chan string) {
	t.Helper()
	probes = make(chan string, 256)
	p = newPeerWithoutUserAgent(t)
	p.ua = newTracedUserAgent(t, func(_ string, m sip.TracedMessage) {
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
		in.Answer(body, p.onEvent)
	})
	return p, probes
}

func TestSilentPeerIsProbedBeforeItsCallEnds(t *testing.T) {
	t.Parallel()
	p, probes := newSilentPeer(t)
	h := newFixture(t, fixtureOptions{trunks: trunksToPeer(p), idle: time.Second})
	id := h.dialUntilAnswered(numberPrefix+"7777", waitingPathway())
	for range 2 {
		receive(t, probes)
	}
	assert.Empty(t, h.endsOf(id), "the peer answers probes: the call continues")
	assert.False(t, p.hasEnded())
	require.NoError(t, p.ua.Close()) // the port is closed, so the kernel reports it as unreachable
	e := h.waitForEnd(id)
	assert.Equal(t, domain.OutcomeCompleted, e.Verdict.Outcome)
	assert.Equal(t, domain.ReasonMediaLost, e.Verdict.Reason)
	assert.Equal(t, "service", e.Call.EndedBy)
	h.waitUntilFinished(id)
}

func TestSilentPeerThatAnswersProbesIsHungUpAfterSixProbes(t *testing.T) {
	t.Parallel()
	p, probes := newSilentPeer(t)
	h := newFixture(t, fixtureOptions{trunks: trunksToPeer(p), idle: 100 * time.Millisecond})
	id := h.dialUntilAnswered(numberPrefix+"7777", waitingPathway())
	assert.Equal(t, domain.ReasonMediaLost, h.waitForEnd(id).Verdict.Reason)
	h.waitUntilFinished(id)
	assert.GreaterOrEqual(t, len(probes), 6, "one probe per silence")
	assert.True(t, p.hasEnded(), "the peer got a BYE")
}

func TestSilentTransferTargetIsProbed(t *testing.T) {
	t.Parallel()
	p, probes := newSilentPeer(t)
	h := newFixture(t, fixtureOptions{trunks: trunksToPeer(p), idle: time.Second})
	id := h.dialUntilAnswered(silentNumber, waitingPathway())
	require.NoError(t, h.request(call.StartTransfer{CallID: id, Target: transferleg.Target{To: numberPrefix + "7777"}, Mode: domain.TransferBridge}))
	h.waitForTransferStatus(id, domain.TransferConnected)
	for range 2 {
		receive(t, probes)
	}
	assert.Equal(t, domain.TransferConnected, h.lastTransfer(id).Status, "the target answers probes: the bridge stays")
	require.NoError(t, p.ua.Close())
	h.waitForTransferStatus(id, domain.TransferReturned)
	require.NoError(t, h.hangUp(id))
	assert.Equal(t, domain.ReasonHangup, h.waitForEnd(id).Verdict.Reason, "the caller is still connected")
}

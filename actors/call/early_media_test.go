package call_test

import (
	"bytes"
	"math"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/media/wav"
	"github.com/callboard/callboard/sip"
)

// newEarlyMediaPeer returns a peer that plays a tone as early media until answer is closed. If bare is set, its 200
// response has no SDP.
func newEarlyMediaPeer(t *testing.T, hz int, bare bool) (p *peer, answer chan struct{}) {
	t.Helper()
	answer = make(chan struct{})
	p = newPeerWithoutUserAgent(t)
	var wait sync.WaitGroup
	t.Cleanup(wait.Wait)
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
		in.Progress(183, body)
		s.Begin()
		s.Play(1, tone.Make(30*time.Second, 0.3, float64(hz)))
		wait.Go(func() {
			select {
			case <-answer:
			case <-t.Context().Done():
			}
			if bare {
				body = nil
			}
			d := in.Answer(body, p.onEvent)
			p.mu.Lock()
			p.dialog = d
			p.mu.Unlock()
		})
	})
	return p, answer
}

// countToneTenths returns the number of tenths of a second in which the right channel of a recording contains a tone.
// The right channel is the audio sent to the peer.
func (h *fixture) countToneTenths(id string, hz int) (n int) {
	h.t.Helper()
	h.blobs.mu.Lock()
	var kept []byte
	for name, b := range h.blobs.kept {
		if bytes.Contains([]byte(name), []byte(id)) && filepath.Ext(name) == ".wav" {
			kept = b
		}
	}
	h.blobs.mu.Unlock()
	require.NotEmpty(h.t, kept, "a recording is stored")
	file, err := wav.Decode(kept)
	require.NoError(h.t, err)
	pcm := file.Channel(1)
	const step = 800
	for at := 0; at+step <= len(pcm); at += step {
		var re, im, power float64
		for i, v := range pcm[at : at+step] {
			x, w := float64(v), 2*math.Pi*float64(hz)*float64(i)/8000
			re, im, power = re+x*math.Cos(w), im+x*math.Sin(w), power+x*x
		}
		if power > 1e5*step && (re*re+im*im)*2/step > 0.8*power {
			n++
		}
	}
	return n
}

func TestCallerHearsEarlyMediaOfTheTransferTarget(t *testing.T) {
	t.Parallel()
	p, answer := newEarlyMediaPeer(t, 1900, false)
	h := newFixture(t, fixtureOptions{trunks: trunksToPeer(p)})
	id := h.dialUntilAnswered(silentNumber, waitingPathway())
	require.NoError(t, h.request(call.StartTransfer{CallID: id, Target: transferleg.Target{To: numberPrefix + "7777"}, Mode: domain.TransferBridge}))
	h.waitUntil(10*time.Second, "early media is announced", func() bool {
		steps := h.lastTransfer(id).SIP
		return len(steps) > 0 && steps[0].Code == 183 && steps[0].Phrase == "Session Progress"
	})
	h.waitUntil(10*time.Second, "the caller receives early media", func() bool {
		h.mu.Lock()
		s := h.sessions[unrecorded]
		h.mu.Unlock()
		return s != nil && s.Stats().PacketsReceived > 100
	})
	assert.Equal(t, domain.TransferStarted, h.lastTransfer(id).Status, "the target has not answered")
	close(answer)
	h.waitForTransferStatus(id, domain.TransferConnected)
	require.NoError(t, h.hangUp(id))
	h.waitForEnd(id)
	h.waitUntilFinished(id)
	assert.GreaterOrEqual(t, h.countToneTenths(id, 1900), 7, "tenths of a second of early media in the caller's audio")
}

func TestAnswerWithoutSDPUsesTheSDPOfTheEarlyDialog(t *testing.T) {
	t.Parallel()
	p, answer := newEarlyMediaPeer(t, 1900, true)
	h := newFixture(t, fixtureOptions{trunks: trunksToPeer(p)})
	s := h.prepareCall(numberPrefix+"7777", waitingPathway())
	id := h.startCall(s)
	h.waitUntil(10*time.Second, "early media arrives", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		s := h.sessions[id]
		return s != nil && s.Stats().PacketsReceived > 20
	})
	assert.Nil(t, h.store.readCall(id).AnsweredAt)
	close(answer)
	h.waitUntil(10*time.Second, "the answer", func() bool { return h.store.readCall(id).AnsweredAt != nil })
	require.NoError(t, h.hangUp(id))
	e := h.waitForEnd(id)
	assert.Equal(t, domain.OutcomeCompleted, e.Verdict.Outcome)
	assert.Equal(t, "PCMU/8000", e.Call.Legs[0].Codec)
}

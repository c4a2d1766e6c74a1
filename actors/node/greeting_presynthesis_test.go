package node_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media/speech"
)

// gatedSynthesizer is a speech synthesizer that returns audio for a text only after the test has released the text.
type gatedSynthesizer struct {
	mu       sync.Mutex
	let      map[string]chan struct{} // by text; a text without a channel is never synthesized
	requests map[string]int
	first    map[string]context.Context // context of the first request for a text
}

func (s *gatedSynthesizer) StreamSpeech(ctx context.Context, r speech.Request, out func(mu []byte)) error {
	s.mu.Lock()
	s.requests[r.Text]++
	if s.first[r.Text] == nil {
		s.first[r.Text] = ctx
	}
	let := s.let[r.Text]
	s.mu.Unlock()
	select {
	case <-let:
	case <-ctx.Done():
		return ctx.Err()
	}
	clip, err := toneSpeaker{}.Speak(ctx, r)
	out(clip)
	return err
}

func (s *gatedSynthesizer) requestsOf(text string) (requests int, under context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[text], s.first[text]
}

func TestFirstCampaignCallWaitsForPromptSynthesisUpToALimit(t *testing.T) {
	t.Parallel()
	const hello, bye, never = "Good morning.", "Goodbye.", "This never comes."
	s := &gatedSynthesizer{let: map[string]chan struct{}{hello: make(chan struct{}), bye: make(chan struct{})}, requests: map[string]int{}, first: map[string]context.Context{}}
	voice, err := speech.NewSynthesizerChain(speech.Config{
		Engine: toneSpeaker{}, Sources: []speech.NamedSynthesizer{{Name: "studio", Engine: s, FirstAudioTimeout: time.Hour, PauseTimeout: time.Hour}}, Order: []string{"studio"},
	})
	require.NoError(t, err)
	h := newFixture(t, nil)
	h.shutdown()
	h.speaker = voice
	h.start()
	id := h.createCampaign(h.test, h.createAgent(h.test, domain.Pathway{
		Start: "hello",
		Nodes: []domain.Node{
			{ID: "hello", Type: domain.NodeSay, Prompt: hello}, {ID: "bye", Type: domain.NodeEnd, Prompt: bye}, {ID: "never", Type: domain.NodeEnd, Prompt: never},
		},
		Edges: []domain.Edge{
			{From: "hello", To: "never", When: domain.When{Type: domain.EdgeDTMF, Digits: "9"}}, {From: "hello", To: "bye", When: domain.When{Type: domain.EdgeAlways}},
		},
	}), carrierNumber(1, 1, "00"), carrierNumber(1, 2, "00"))
	started := make(chan error, 1)
	go func() {
		_, err := h.services().Campaigns.StartCampaign(context.Background(), h.test, id)
		started <- err
	}()
	waits := func(why string) {
		t.Helper()
		dialled := len(h.phoneLog.all())
		if _, under := s.requestsOf(never); under.Err() == nil { // the campaign still waits for all prompts
			assert.Zero(t, dialled, why)
		}
	}
	for _, text := range []string{hello, bye, never} {
		h.waitUntil(longWait, "it is asked for "+text, func() bool { requests, _ := s.requestsOf(text); return requests > 0 })
	}
	waits("nothing is said yet")
	close(s.let[hello])
	waits("one is said")
	close(s.let[bye])
	waits("two are said")
	require.NoError(t, <-started)
	h.waitForCampaignEnd(h.test, id)
	assert.Len(t, h.phoneLog.all(), 2, "a failed prompt delays the first call only for a limited time")
	_, under := s.requestsOf(never)
	require.Error(t, under.Err())
	for _, text := range []string{hello, bye} {
		requests, _ := s.requestsOf(text)
		assert.Equal(t, 1, requests, "both calls use the cached prompt: %s", text)
	}
}

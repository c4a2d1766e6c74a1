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

// studio is an engine that says a text once it is let.
type studio struct {
	mu    sync.Mutex
	let   map[string]chan struct{} // by text; a text without one is never said
	asked map[string]int
	first map[string]context.Context // under which a text was asked for first
}

func (s *studio) StreamSpeech(ctx context.Context, r speech.Request, out func(mu []byte)) error {
	s.mu.Lock()
	s.asked[r.Text]++
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
	clip, err := hum{}.Speak(ctx, r)
	out(clip)
	return err
}

func (s *studio) knows(text string) (asked int, under context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[text], s.first[text]
}

func TestTheFirstDialOfACampaignWaitsForItsPromptsWithinBounds(t *testing.T) {
	t.Parallel()
	const hello, bye, never = "Good morning.", "Goodbye.", "This never comes."
	s := &studio{let: map[string]chan struct{}{hello: make(chan struct{}), bye: make(chan struct{})}, asked: map[string]int{}, first: map[string]context.Context{}}
	voice, err := speech.NewSynthesizerChain(speech.Config{
		Engine: hum{}, Sources: []speech.NamedSynthesizer{{Name: "studio", Engine: s, FirstAudioTimeout: time.Hour, PauseTimeout: time.Hour}}, Order: []string{"studio"},
	})
	require.NoError(t, err)
	h := build(t, nil)
	h.shut()
	h.speaker = voice
	h.open()
	id := h.campaign(h.test, h.agent(h.test, domain.Pathway{
		Start: "hello",
		Nodes: []domain.Node{
			{ID: "hello", Type: domain.NodeSay, Prompt: hello}, {ID: "bye", Type: domain.NodeEnd, Prompt: bye}, {ID: "never", Type: domain.NodeEnd, Prompt: never},
		},
		Edges: []domain.Edge{
			{From: "hello", To: "never", When: domain.When{Type: domain.EdgeDTMF, Digits: "9"}}, {From: "hello", To: "bye", When: domain.When{Type: domain.EdgeAlways}},
		},
	}), number(1, 1, "00"), number(1, 2, "00"))
	started := make(chan error, 1)
	go func() {
		_, err := h.services().Campaigns.StartCampaign(context.Background(), h.test, id)
		started <- err
	}()
	waits := func(why string) {
		t.Helper()
		dialled := len(h.diary.all())
		if _, under := s.knows(never); under.Err() == nil { // all is waited for still
			assert.Zero(t, dialled, why)
		}
	}
	for _, text := range []string{hello, bye, never} {
		h.until(patience, "it is asked for "+text, func() bool { asked, _ := s.knows(text); return asked > 0 })
	}
	waits("nothing is said yet")
	close(s.let[hello])
	waits("one is said")
	close(s.let[bye])
	waits("two are said")
	require.NoError(t, <-started)
	h.over(h.test, id)
	assert.Len(t, h.diary.all(), 2, "what cannot be said holds nobody up for ever")
	_, under := s.knows(never)
	require.Error(t, under.Err())
	for _, text := range []string{hello, bye} {
		asked, _ := s.knows(text)
		assert.Equal(t, 1, asked, "both calls have it out of the cache: %s", text)
	}
}

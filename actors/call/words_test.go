package call_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/sip"
)

// talker is a far end that says its text, and says it again, each time the
// agent falls silent.
func talker(t *testing.T, clip media.Clip, times int) *peer {
	t.Helper()
	p := mute(t)
	p.ua = agent(t, func(in *sip.Incoming) {
		silent := make(chan struct{}, 64)
		s, err := p.engine.Open(media.Options{Notify: func(e media.Event) {
			if _, ended := e.(media.SpeechEnded); ended {
				silent <- struct{}{}
			}
		}})
		if err != nil {
			in.Reject(500, 0)
			return
		}
		body, err := s.Answer(in.Body)
		if err != nil {
			in.Reject(488, 0)
			return
		}
		d := in.Answer(body, p.hear)
		s.Begin()
		p.mu.Lock()
		p.dialog = d
		p.mu.Unlock()
		go func() {
			for i := range times {
				select {
				case <-silent:
					s.Play(uint64(i+1), clip) //nolint:gosec // a few
				case <-t.Context().Done():
					return
				}
			}
		}()
	})
	return p
}

// appointment asks whether a caller will come, by words or keys.
func appointment() domain.Pathway {
	intent := func(to, intent string) domain.Edge {
		return domain.Edge{From: "ask", To: to, When: domain.When{Type: domain.EdgeIntent, Intent: intent}}
	}
	return domain.Pathway{
		Start: "ask",
		Nodes: []domain.Node{
			{ID: "ask", Type: domain.NodeCollect, Input: "both", Prompt: "Will you come tomorrow?", Retries: 4, TimeoutSeconds: 20},
			{ID: "yes", Type: domain.NodeEnd, Outcome: domain.OutcomeConfirmed},
			{ID: "no", Type: domain.NodeEnd, Outcome: domain.OutcomeDeclined},
			{ID: "person", Type: domain.NodeEnd, Notes: "wants a person"},
			{ID: "gone", Type: domain.NodeEnd, Notes: "was not understood"},
		},
		Edges: []domain.Edge{
			intent("yes", "yes"), intent("no", "no"),
			{From: "*", To: "person", When: domain.When{Type: domain.EdgeIntent, Intent: "person"}},
			{From: "ask", To: "yes", When: domain.When{Type: domain.EdgeDTMF, Digits: "1"}},
			{From: "ask", To: "gone", When: domain.When{Type: domain.EdgeElse}},
		},
	}
}

// dialogue is one call in which somebody says a text; it tells which node it came to.
func dialogue(t *testing.T, voice speech.Speaker, ears speech.Recogniser, r speech.Request) (end string, transcript []string) {
	t.Helper()
	clip, err := voice.Speak(t.Context(), r)
	require.NoError(t, err)
	p := talker(t, clip, 6)
	h := build(t, plan{trunks: towards(p), speaker: voice, ears: ears})
	e := h.end(h.start(h.order(area+"7777", appointment())))
	require.NotNil(t, e.Call.Outcome)
	return fmt.Sprint(e.Call.Outcome.Intent, "/", e.Verdict.Outcome), said(e)
}

func ears(t *testing.T) (speech.Speaker, speech.Recogniser) {
	t.Helper()
	voice, err := speech.New(speech.Config{})
	require.NoError(t, err)
	require.NoError(t, voice.Missing())
	sphinx, err := speech.NewSphinx(t.TempDir(), 2, patience)
	require.NoError(t, err)
	return voice, sphinx
}

func TestACallerTalksWithTheAgentByWords(t *testing.T) {
	t.Parallel()
	voice, sphinx := ears(t)
	for text, want := range map[string]string{
		"Yes please.": "yes/confirmed", "No.": "no/declined", "I want to speak to a person.": "person/completed",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, transcript := dialogue(t, voice, sphinx, speech.Request{Text: text, Voice: "en-us+f3", Rate: 150})
			assert.Equal(t, want, got, "%q", transcript)
		})
	}
}

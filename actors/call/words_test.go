package call_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/wav"
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
				select {
				case silent <- struct{}{}:
				default:
				}
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
					s.Play(uint64(i+1), clip)
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
			{ID: "ask", Type: domain.NodeCollect, Input: "both", Prompt: "Will you come tomorrow?", Retries: 10, TimeoutSeconds: 5},
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

// spoken is somebody who says something; goal is the intent and outcome that it should lead to.
type spoken struct {
	engine, voice, text, goal string
}

// clip is how it sounds.
func (s spoken) clip(t *testing.T, voice speech.Speaker) media.Clip {
	t.Helper()
	if s.engine == "espeak" {
		clip, err := voice.Speak(t.Context(), speech.Request{Text: s.text, Voice: s.voice, Rate: 150})
		require.NoError(t, err)
		return clip
	}
	path := filepath.Join(t.TempDir(), "said.wav")
	require.NoError(t, exec.CommandContext(t.Context(), "flite", "-voice", s.voice, "-t", s.text, "-o", path).Run())
	sound, err := wav.ReadFile(path, 10<<20)
	require.NoError(t, err)
	clip, err := sound.Mu()
	require.NoError(t, err)
	return clip
}

// reaches makes the call and tells what it came to.
func (s spoken) reaches(t *testing.T, voice speech.Speaker, ears speech.Recogniser) (end string, transcript []string) {
	t.Helper()
	h := build(t, plan{trunks: towards(talker(t, s.clip(t, voice), 64)), speaker: voice, ears: ears})
	id := h.start(h.order(area+"7777", appointment()))
	h.until(4*patience, "the dialogue is over", func() bool { return len(h.ends(id)) > 0 })
	e := h.ends(id)[0]
	intent := ""
	if e.Call.Outcome != nil {
		intent = e.Call.Outcome.Intent
	}
	return fmt.Sprint(intent, "/", e.Verdict.Outcome), said(e)
}

// callers are those of every day; with DIALOGUES more of them, by voices of
// flite and espeak-ng.
func callers() (all []spoken, least float64) {
	const yes, no, person = "yes/confirmed", "no/declined", "person/completed"
	if os.Getenv("DIALOGUES") == "" {
		return []spoken{
			{"espeak", "en-us+f3", "Yes please.", yes}, {"espeak", "en-us", "No.", no}, {"espeak", "en-us+f3", "I want to speak to a person.", person},
		}, 1
	}
	for text, goal := range map[string]string{
		"Yes.": yes, "Yes please.": yes, "Of course.": yes, "That's right.": yes, "Confirm.": yes, "Sure.": yes,
		"No.": no, "Nope.": no, "Not now.": no, "No thank you.": no,
		"Operator.": person, "I want to speak to a person.": person, "Talk to a person.": person, "Representative.": person,
	} {
		for _, v := range []string{"slt", "rms", "awb", "kal"} {
			all = append(all, spoken{"flite", v, text, goal})
		}
		for _, v := range []string{"en-us+f2", "en-us+f4", "en-us+m1", "en-us+m7"} {
			all = append(all, spoken{"espeak", v, text, goal})
		}
	}
	return all, 0.85
}

func TestCallersReachTheirGoalsByWords(t *testing.T) { //nolint:tparallel // beside its own cases only: it counts them
	t.Parallel()
	voice, err := speech.New(speech.Config{})
	require.NoError(t, err)
	require.NoError(t, voice.Missing())
	sphinx, err := speech.NewSphinx(t.TempDir(), 2, patience)
	require.NoError(t, err)
	var mu sync.Mutex
	all, least := callers()
	reached := map[string]int{}
	t.Run("all", func(t *testing.T) {
		for _, s := range all {
			t.Run(s.engine+" "+s.voice+" "+s.text, func(t *testing.T) {
				tries := 3 // a machine that stands still cuts words
				if os.Getenv("DIALOGUES") != "" {
					tries = 1
					t.Parallel()
				}
				got, transcript := s.reaches(t, voice, sphinx)
				for n := 1; got != s.goal && n < tries; n++ {
					t.Logf("came to %s, not %s: %q", got, s.goal, transcript)
					got, transcript = s.reaches(t, voice, sphinx)
				}
				mu.Lock()
				defer mu.Unlock()
				if got == s.goal {
					reached[s.engine]++
					return
				}
				t.Logf("came to %s, not %s: %q", got, s.goal, transcript)
			})
		}
	})
	sum := 0
	for engine, n := range reached {
		t.Logf("%s: %d reached their goal", engine, n)
		sum += n
	}
	t.Logf("dialogues: %d of %d reached their goal", sum, len(all))
	assert.GreaterOrEqual(t, float64(sum), least*float64(len(all)))
}

package call_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/testspeech"
	"github.com/callboard/callboard/sip"
)

// dialogue describes a simulated caller and the outcome that its call must have.
type dialogue struct {
	kind       string
	voice      testspeech.Voice
	lines      []string // spoken in answer to one prompt after the other, the last one repeatedly; none: silence
	goal       string   // expected notes and outcome of the call
	keys       string   // pressed instead of speech
	interrupts bool     // the first line interrupts the prompt
	noise      float64  // level of continuous noise in dB below the speech; 0: none
}

// The goals of a simulated caller, each in the form "notes/outcome" that the ended call must have.
const (
	goalConfirmed, goalDeclined, goalRescheduled, goalPerson, goalOptOut, goalSilence = "comes/confirmed", "stays/declined", "moves/completed", "person/completed", "stops/declined", "gone/completed"
)

func acceptedPhrases() map[string][]string {
	return map[string][]string{
		goalConfirmed:   {"yes", "yeah", "yep", "yes please", "sure", "correct", "that's right", "of course", "i confirm", "confirm"},
		goalDeclined:    {"no", "nope", "no thanks", "no thank you", "not now", "wrong", "decline"},
		goalPerson:      {"person", "human", "operator", "representative", "speak to a person", "talk to a person", "i want to speak to a person", "real person"},
		goalRescheduled: {"reschedule", "i need to reschedule", "another day", "another time", "change the appointment", "move the appointment"},
		goalOptOut:      {"stop calling me", "do not call me again", "don't call me again", "remove me from your list", "take me off your list"},
	}
}

// appointment returns a pathway that asks whether the caller will come to an appointment, by speech or keys.
func appointment() domain.Pathway {
	p := domain.Pathway{
		Start: "ask",
		Nodes: []domain.Node{
			{
				ID: "ask", Type: domain.NodeCollect, Input: "both", Prompt: "Will you come to your appointment tomorrow?",
				RetryPrompt: "Please say yes or no, or press one or two.", Retries: 3, TimeoutSeconds: 4,
			},
			{ID: "comes", Type: domain.NodeEnd, Outcome: domain.OutcomeConfirmed, Notes: "comes"},
			{ID: "stays", Type: domain.NodeEnd, Outcome: domain.OutcomeDeclined, Notes: "stays"},
			{ID: "stops", Type: domain.NodeEnd, Outcome: domain.OutcomeDeclined, Notes: "stops"},
			{ID: "person", Type: domain.NodeEnd, Notes: "person"},
			{ID: "moves", Type: domain.NodeEnd, Notes: "moves"},
			{ID: "gone", Type: domain.NodeEnd, Notes: "gone"},
		},
		Edges: []domain.Edge{{From: "ask", To: "gone", When: domain.When{Type: domain.EdgeElse}}},
	}
	for key, to := range map[string]string{"1": "comes", "2": "stays", "3": "moves", "9": "stops", "0": "person"} {
		p.Edges = append(p.Edges, domain.Edge{From: "ask", To: to, When: domain.When{Type: domain.EdgeDTMF, Digits: key}})
	}
	intent := func(from, to, name string, words ...string) {
		p.Edges = append(p.Edges, domain.Edge{From: from, To: to, When: domain.When{Type: domain.EdgeIntent, Intent: name, Words: words}})
	}
	intent("ask", "comes", "yes")
	intent("ask", "stays", "no")
	intent("*", "person", "person")
	intent("ask", "moves", "move", acceptedPhrases()[goalRescheduled]...)
	intent("*", "stops", "stop", acceptedPhrases()[goalOptOut]...)
	return p
}

// speakingPeer is a simulated caller that speaks when the agent falls silent, or interrupts the agent.
type speakingPeer struct {
	dialogue
	t         *testing.T
	clips     []media.Clip
	yes, no   media.Clip
	noiseClip media.Clip // continuous noise, repeated; nil: none
	noiseAt   int        // samples of it played so far

	mu         sync.Mutex
	session    *media.Session
	id         uint64
	next       media.Clip // played when the current noise clip ends
	lastPrompt string     // the last prompt of the agent
	turns      int
	speaking   bool // speech is playing
}

// setPrompt stores the text of the prompt that the agent starts to speak.
func (m *speakingPeer) setPrompt(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lastPrompt = text
}

func (m *speakingPeer) notify(e media.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch e := e.(type) {
	case media.SpeechBegan:
		if m.interrupts && m.turns == 0 {
			m.turns++
			m.sayNext(slices.Concat(silence(time.Second), m.clips[0]))
		}
	case media.SpeechEnded:
		if !m.speaking { // otherwise the agent was interrupted
			m.answer()
		}
	case media.Played:
		if e.ID != m.id {
			return
		}
		m.speaking = false
		if m.noiseClip != nil {
			m.play(m.next)
			m.next = nil
		}
	}
}

// answer presses the keys or speaks the reply to the agent's last prompt. The caller of answer holds the lock.
func (m *speakingPeer) answer() {
	if m.keys != "" {
		m.session.SendDigits(1000, m.keys)
		return
	}
	guess, back := strings.CutPrefix(m.lastPrompt, "Did you say: ")
	switch {
	case len(m.clips) == 0 || m.turns >= 16:
	case back && slices.Contains(acceptedPhrases()[m.goal], strings.TrimSuffix(guess, "?")):
		m.sayNext(m.yes)
	case back:
		m.sayNext(m.no)
	default:
		m.sayNext(m.clips[min(m.turns, len(m.clips)-1)])
		m.turns++
	}
}

func (m *speakingPeer) sayNext(clip media.Clip) {
	if m.noiseClip != nil {
		m.next = clip
		return
	}
	m.play(clip)
}

// play plays a clip of speech to the agent, mixed with the noise of the dialogue if it has noise.
func (m *speakingPeer) play(words media.Clip) {
	m.id++
	m.speaking = len(words) > 0
	if m.noiseClip == nil {
		m.session.Play(m.id, words)
		return
	}
	mixed := slices.Clone(words)
	if len(words) == 0 {
		mixed = silence(400 * time.Millisecond)
	}
	for i, b := range mixed {
		noise := m.noiseClip[m.noiseAt%len(m.noiseClip)]
		m.noiseAt++
		mixed[i] = g711.LinearToMu(int16(min(max(int(g711.MuToLinear(b))+int(g711.MuToLinear(noise)), -32768), 32767)))
	}
	m.session.Play(m.id, mixed)
}

func silence(d time.Duration) media.Clip {
	return media.Clip(strings.Repeat("\xff", int(d*8000/time.Second)))
}

// synthesize returns the speech for one line in the voice of the simulated caller, who then waits for a reaction.
func (m *speakingPeer) synthesize(line string) media.Clip {
	m.t.Helper()
	said, err := testspeech.Say(m.voice, line)
	require.NoError(m.t, err)
	return slices.Concat(said.Mu(), silence(400*time.Millisecond))
}

// newSpeakingPeer returns the simulated caller of a dialogue and its SIP peer.
func newSpeakingPeer(t *testing.T, d dialogue) (*speakingPeer, *peer) {
	t.Helper()
	m := &speakingPeer{dialogue: d, t: t}
	if d.keys == "" && len(d.lines) > 0 {
		for _, line := range d.lines {
			m.clips = append(m.clips, m.synthesize(line))
		}
		m.yes, m.no = m.synthesize("Yes."), m.synthesize("No.")
		if d.noise > 0 {
			noise, err := testspeech.White(2 * time.Second)
			require.NoError(t, err)
			m.noiseClip = noise.AtLevel(testspeech.StandardLevel - d.noise).Mu()
		}
	}
	p := newPeerWithoutUserAgent(t)
	p.ua = newUserAgent(t, func(in *sip.Incoming) {
		s, err := p.engine.Open(media.Options{Notify: m.notify})
		if err != nil {
			in.Reject(500, 0)
			return
		}
		body, err := s.Answer(in.Body)
		if err != nil {
			in.Reject(488, 0)
			return
		}
		m.mu.Lock()
		m.session = s
		m.mu.Unlock()
		d := in.Answer(body, p.onEvent)
		s.Begin()
		m.mu.Lock()
		if m.noiseClip != nil {
			m.play(nil)
		}
		m.mu.Unlock()
		p.mu.Lock()
		p.dialog = d
		p.mu.Unlock()
	})
	return m, p
}

// textSpeaker is a synthesizer that remembers the text of each clip.
type textSpeaker struct {
	speech.Synthesizer
	texts sync.Map // texts by the address of a clip's first byte
}

func (s *textSpeaker) Speak(ctx context.Context, r speech.Request) (media.Clip, error) {
	clip, err := s.Synthesizer.Speak(ctx, r)
	if len(clip) > 0 {
		clip = slices.Clone(clip)
		s.texts.Store(&clip[0], r.Text)
	}
	return clip, err
}

// run makes the call of a dialogue. It returns the outcome in the form "notes/outcome", and the Ended message.
func (d dialogue) run(t *testing.T, voice speech.Synthesizer, recognizer speech.Recognizer) (end string, e call.Ended) {
	t.Helper()
	m, far := newSpeakingPeer(t, d)
	words := &textSpeaker{Synthesizer: voice}
	h := newFixture(t, fixtureOptions{trunks: trunksToPeer(far), speaker: words, recognizer: recognizer, onPlay: func(clip media.Clip) {
		if text, ok := words.texts.Load(&clip[0]); ok {
			m.setPrompt(text.(string))
		}
	}})
	id := h.startCall(h.prepareCall(numberPrefix+"7777", appointment()))
	h.waitUntil(4*patience, "the dialogue is over", func() bool { return len(h.endsOf(id)) > 0 })
	e = h.endsOf(id)[0]
	notes := ""
	if e.Call.Outcome != nil {
		notes = e.Call.Outcome.Notes
	}
	return fmt.Sprint(notes, "/", e.Verdict.Outcome), e
}

// dialogues returns the dialogues to run. By default the set is small. If DIALOGUES is set, it is large: voices that were not
// used for tuning, or with the value "tuning" the tuning voices.
func dialogues() (all []dialogue) {
	keys := []dialogue{{kind: "keys", keys: "1", goal: goalConfirmed}, {kind: "keys", keys: "9", goal: goalOptOut}}
	voices := testspeech.ReportVoices()
	switch os.Getenv("DIALOGUES") {
	case "":
		woman, man := testspeech.Voice{Engine: testspeech.Espeak, Name: "en-us+f3", Rate: 150}, testspeech.Voice{Engine: testspeech.Espeak, Name: "en-us", Rate: 150}
		return append(keys,
			dialogue{kind: "confirms", voice: woman, lines: []string{"Yes please.", "Yes."}, goal: goalConfirmed},
			dialogue{kind: "interrupts", voice: man, lines: []string{"No.", "No thank you."}, goal: goalDeclined, interrupts: true},
			dialogue{kind: "asks for a person", voice: woman, lines: []string{"I want to speak to a person.", "Operator."}, goal: goalPerson},
		)
	case "tuning":
		voices = testspeech.TuningVoices()
	}
	keys = append(keys, dialogue{kind: "keys", keys: "2", goal: goalDeclined}, dialogue{kind: "keys", keys: "3", goal: goalRescheduled}, dialogue{kind: "keys", keys: "0", goal: goalPerson})
	for _, v := range voices[:6] {
		add := func(kind, goal string, more func(*dialogue), lines ...string) {
			d := dialogue{kind: kind, voice: v, lines: lines, goal: goal}
			if more != nil {
				more(&d)
			}
			all = append(all, d)
		}
		over := func(d *dialogue) { d.interrupts = true }
		noise := func(below float64) func(*dialogue) { return func(d *dialogue) { d.noise = below } }
		add("confirms", goalConfirmed, nil, "Yes please.", "Yes.")
		add("confirms", goalConfirmed, nil, "Of course.", "Yes, of course.")
		add("confirms", goalConfirmed, nil, "Yes, I confirm.", "I confirm.")
		add("confirms", goalConfirmed, nil, "Yeah, sure.", "Yes.")
		add("declines", goalDeclined, nil, "No.", "No thank you.")
		add("declines", goalDeclined, nil, "No, not now.", "No.")
		add("declines", goalDeclined, nil, "Nope.", "No thanks.")
		add("reschedules", goalRescheduled, nil, "I need to reschedule.", "Another day please.")
		add("reschedules", goalRescheduled, nil, "Can I come another day?", "Reschedule.")
		add("reschedules", goalRescheduled, nil, "I'd like to change the appointment.", "Change the appointment.")
		add("asks for a person", goalPerson, nil, "I want to speak to a person.", "A person please.")
		add("asks for a person", goalPerson, nil, "Can I talk to a person please?", "Talk to a person.")
		add("asks for a person", goalPerson, nil, "Operator.", "I want to speak to a person.")
		add("opts out", goalOptOut, nil, "Stop calling me.", "Please stop calling me.")
		add("opts out", goalOptOut, nil, "Please remove me from your list.", "Remove me from your list.")
		add("opts out", goalOptOut, nil, "Don't call me again.", "Do not call me again.")
		add("says nothing", goalSilence, nil)
		add("interrupts", goalConfirmed, over, "Yes please.", "Yes.")
		add("interrupts", goalPerson, over, "I want to speak to a person.", "Operator.")
		add("speaks in noise, 20 dB", goalConfirmed, noise(20), "Yes please.", "Yes.")
		add("speaks in noise, 20 dB", goalPerson, noise(20), "I want to speak to a person.", "Operator.")
		add("speaks in noise, 15 dB", goalDeclined, noise(15), "No thank you.", "No.")
	}
	return append(all, keys...)
}

func TestCallersReachTheirGoalsByWords(t *testing.T) { //nolint:tparallel // parallel to its own cases only, which it counts
	t.Parallel()
	voice, err := speech.NewSynthesizerChain(speech.Config{})
	require.NoError(t, err)
	require.NoError(t, voice.LocalEngineError())
	sphinx, err := speech.NewSphinx(t.TempDir(), 2, patience)
	require.NoError(t, err)
	var mu sync.Mutex
	all := dialogues()
	tries := 1
	if os.Getenv("DIALOGUES") == "" {
		tries = 3 // an overloaded machine cuts words
	}
	reached, of, sum := map[string]int{}, map[string]int{}, 0
	t.Run("all", func(t *testing.T) {
		for _, d := range all {
			t.Run(d.keys+d.voice.String()+" "+strings.Join(d.lines, " "), func(t *testing.T) {
				t.Parallel()
				good := false
				for n := 0; !good && n < tries; n++ {
					got, e := d.run(t, voice, sphinx)
					good = got == d.goal
					if d.interrupts && good && !slices.ContainsFunc(e.Segments, func(s domain.Segment) bool { return s.Interrupted }) {
						got, good = got+", without an interruption", false
					}
					if !good {
						t.Logf("%s came to %s, not %s: %q", d.kind, got, d.goal, transcriptLines(e))
					}
				}
				mu.Lock()
				defer mu.Unlock()
				names := []string{d.kind}
				if d.keys == "" {
					names = append(names, d.voice.String())
				}
				for _, name := range names {
					of[name]++
					if good {
						reached[name]++
					}
				}
				if good {
					sum++
				}
			})
		}
	})
	for _, name := range slices.Sorted(maps.Keys(of)) {
		t.Logf("reached: %d of %d: %s", reached[name], of[name], name)
	}
	pressed := of["keys"]
	testspeech.Measurement{Name: "spoken dialogues that reach their goal", Value: testspeech.Share(sum-reached["keys"], len(all)-pressed), Unit: "%", Target: 95, AtLeast: true}.Log(t)
	testspeech.Measurement{Name: "dialogues by keys that reach their goal", Value: testspeech.Share(reached["keys"], pressed), Unit: "%", Target: 100, AtLeast: true}.Log(t)
}

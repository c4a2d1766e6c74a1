package pathway

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/callboard/callboard/domain"
)

// Saved is a State at rest: enough for another process to go on with the
// conversation, at the beginning of what its node says.
type Saved struct {
	Node      string            `json:"node,omitempty"` // "": it has not begun
	Stands    string            `json:"stands,omitempty"`
	Language  string            `json:"language,omitempty"`
	Values    map[string]string `json:"values,omitempty"`
	Shown     map[string]string `json:"shown,omitempty"`
	Outcome   domain.Outcome    `json:"outcome,omitempty"`
	Notes     string            `json:"notes,omitempty"`
	Intent    string            `json:"intent,omitempty"`
	Tries     int               `json:"tries,omitempty"`
	Entered   int               `json:"entered,omitempty"`
	Idle      int               `json:"idle,omitempty"`
	Round     int               `json:"round,omitempty"`
	Turns     int               `json:"turns,omitempty"`
	History   []Message         `json:"history,omitempty"`
	WasActing bool              `json:"was_acting,omitempty"`
}

// stands are the phases by the names they have at rest.
var stands = map[phase]string{
	speaking: "speaking", collecting: "collecting", confirming: "confirming", sending: "sending", handing: "handing",
	thinking: "thinking", listening: "listening", acting: "acting", living: "living", ending: "ending",
}

// Save is the state at rest. false: it cannot be kept, because the
// conversation is over, or knows what must not be stored. redact takes out of it
// what must not be kept; nil: nothing.
func (s State) Save(redact *domain.Redactor) (Saved, bool) {
	if s.phase == ended || s.plan == nil || len(s.secret) > 0 {
		return Saved{}, false
	}
	out := Saved{
		Node: s.node, Stands: stands[s.phase], Language: s.language, Values: redact.Texts(maps.Clone(s.values)), Shown: redact.Texts(maps.Clone(s.shown)), Outcome: s.outcome,
		Notes: redact.Text(s.notes), Intent: s.intent, Tries: s.tries, Entered: s.entered, Idle: s.idle, Round: s.round,
		Turns: s.talk.turns, History: slices.Clone(s.history), WasActing: s.talk.acting > 0,
	}
	for i := range out.History {
		m := &out.History[i]
		m.Text, m.Calls = redact.Text(m.Text), slices.Clone(m.Calls) // those are the live state's
		for k := range m.Calls {
			m.Calls[k].Arguments = string(redact.JSON(json.RawMessage(m.Calls[k].Arguments)))
		}
	}
	return out, true
}

// Restore is the state of a conversation that another process began. The
// next input is Began where it is Fresh, and TakenUp otherwise. false: the
// script has no such node.
func Restore(script domain.Script, in Saved) (State, bool) {
	s := New(script, in.Values)
	if in.Node == "" {
		return s, true
	}
	if s.plan.nodes[in.Node] == nil {
		return s, false
	}
	for p, name := range stands {
		if name == in.Stands {
			s.phase = p
		}
	}
	if s.phase == fresh {
		return s, false
	}
	s.node, s.shown, s.outcome, s.notes, s.intent = in.Node, in.Shown, in.Outcome, in.Notes, in.Intent
	s.tries, s.entered, s.idle, s.round, s.history = in.Tries, in.Entered, in.Idle, in.Round+1, in.History
	s.talk = talk{turns: in.Turns}
	if in.Language != "" {
		s.language, s.english = in.Language, English(in.Language)
	}
	if in.WasActing && s.phase != acting { // nobody knows what came of it: the model is told so
		w := walk{s: s}
		w.s.talk.acting = 1
		for id := w.unanswered(); id != ""; id = w.unanswered() {
			w.noteResult(id, unknownEnd)
			if w.unanswered() == id {
				break
			}
		}
		w.s.talk.acting = 0
		s = w.s
	}
	return s, true
}

// unknownEnd stands in a history for the result of something that was being
// done when its process ended.
const unknownEnd = "(It was being done when the connection was lost, and what came of it is not known. Do not ask for it again.)"

// takenUp goes on in another process: the node begins anew, and what it was
// doing besides speaking counts as failed, for it is not done twice.
func (w *walk) takenUp() {
	switch w.s.phase { //nolint:exhaustive // the others go on as after somebody else had the caller
	case acting:
		w.acted(Acted{Round: w.s.round})
	default:
		w.resume()
	}
}

// Mark tells two states apart, as far as Save would.
type Mark struct {
	node                                   string
	stands                                 phase
	tries, entered, round, shown, messages int
}

// Mark is the state's.
func (s State) Mark() Mark {
	return Mark{s.node, s.phase, s.tries, s.entered, s.round, len(s.shown), len(s.history)}
}

// Language is the one that is spoken.
func (s State) Language() string { return s.language }

// Working says whether a model thinks, or something is being done besides
// speaking: what an end of the process would lose.
func (s State) Working() bool { return s.phase == thinking || s.phase == acting || s.talk.acting > 0 }

// Listening says whether the caller may speak as he likes, and nothing is
// being said or done.
func (s State) Listening() bool { return s.phase == listening }

package pathway

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/callboard/callboard/domain"
)

// SavedState is a State at rest: enough for another process to go on with the
// conversation, at the beginning of what its node says.
type SavedState struct {
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
var phaseNames = map[phase]string{
	speaking: "speaking", collecting: "collecting", confirming: "confirming", sending: "sending", transferring: "handing",
	thinking: "thinking", listening: "listening", acting: "acting", inRealtime: "living", ending: "ending",
}

// Save is the state at rest. false: it cannot be kept, because the
// conversation is over, or knows what must not be stored. redact takes out of it
// what must not be kept; nil: nothing.
func (s State) Save(redact *domain.Redactor) (SavedState, bool) {
	if s.phase == ended || s.graph == nil || len(s.secret) > 0 {
		return SavedState{}, false
	}
	out := SavedState{
		Node: s.node, Stands: phaseNames[s.phase], Language: s.language, Values: redact.RedactMap(maps.Clone(s.values)), Shown: redact.RedactMap(maps.Clone(s.shown)), Outcome: s.outcome,
		Notes: redact.RedactText(s.notes), Intent: s.intent, Tries: s.tries, Entered: s.entered, Idle: s.nodesSinceInput, Round: s.round,
		Turns: s.exchange.turns, History: slices.Clone(s.history), WasActing: s.exchange.pendingActions > 0,
	}
	for i := range out.History {
		m := &out.History[i]
		m.Text, m.Calls = redact.RedactText(m.Text), slices.Clone(m.Calls) // those are the live state's
		for k := range m.Calls {
			m.Calls[k].Arguments = string(redact.RedactJSON(json.RawMessage(m.Calls[k].Arguments)))
		}
	}
	return out, true
}

// Restore is the state of a conversation that another process began. The
// next input is Began where it is Fresh, and TakenUp otherwise. false: the
// script has no such node.
func Restore(script domain.Script, in SavedState) (State, bool) {
	s := New(script, in.Values)
	if in.Node == "" {
		return s, true
	}
	if s.graph.nodes[in.Node] == nil {
		return s, false
	}
	for p, name := range phaseNames {
		if name == in.Stands {
			s.phase = p
		}
	}
	if s.phase == fresh {
		return s, false
	}
	s.node, s.shown, s.outcome, s.notes, s.intent = in.Node, in.Shown, in.Outcome, in.Notes, in.Intent
	s.tries, s.entered, s.nodesSinceInput, s.round, s.history = in.Tries, in.Entered, in.Idle, in.Round+1, in.History
	s.exchange = exchange{turns: in.Turns}
	if in.Language != "" {
		s.language, s.english = in.Language, IsEnglish(in.Language)
	}
	if in.WasActing && s.phase != acting { // nobody knows what came of it: the model is told so
		w := stepper{s: s}
		w.s.exchange.pendingActions = 1
		for id := w.unansweredCall(); id != ""; id = w.unansweredCall() {
			w.recordResult(id, unknownResult)
			if w.unansweredCall() == id {
				break
			}
		}
		w.s.exchange.pendingActions = 0
		s = w.s
	}
	return s, true
}

// unknownEnd stands in a history for the result of something that was being
// done when its process ended.
const unknownResult = "(It was being done when the connection was lost, and what came of it is not known. Do not ask for it again.)"

// handleRestored goes on in another process: the node begins anew, and what it was
// doing besides speaking counts as failed, for it is not done twice.
func (w *stepper) handleRestored() {
	switch w.s.phase { //nolint:exhaustive // the others go on as after somebody else had the caller
	case acting:
		w.handleActionEnded(ActionEnded{Round: w.s.round})
	default:
		w.resumeNode()
	}
}

// StateMark tells two states apart, as far as Save would.
type StateMark struct {
	node                                   string
	stands                                 phase
	tries, entered, round, shown, messages int
}

// Mark is the state's.
func (s State) Mark() StateMark {
	return StateMark{s.node, s.phase, s.tries, s.entered, s.round, len(s.shown), len(s.history)}
}

// Language is the one that is spoken.
func (s State) Language() string { return s.language }

// HasPendingWork reports whether a model thinks, or something is being done besides
// speaking: what an end of the process would lose.
func (s State) HasPendingWork() bool {
	return s.phase == thinking || s.phase == acting || s.exchange.pendingActions > 0
}

// IsListening reports whether the caller may speak as he likes, and nothing is
// being said or done.
func (s State) IsListening() bool { return s.phase == listening }

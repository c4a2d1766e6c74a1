package pathway

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/callboard/callboard/domain"
)

// SavedState is the stored form of a State. With it, another process can continue the conversation at the start of
// the current node.
type SavedState struct {
	Node      string            `json:"node,omitempty"` // empty: not started
	Phase     string            `json:"stands,omitempty"`
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
	Answers   int               `json:"answers,omitempty"`
	History   []Message         `json:"history,omitempty"`
	WasActing bool              `json:"was_acting,omitempty"`
	Offered   map[string]int    `json:"offered,omitempty"` // index of the current item by the ID of the offer node
}

// phaseNames are the names of the conversation phases in SavedState.
var phaseNames = map[phase]string{
	speaking: "speaking", collecting: "collecting", confirming: "confirming", sending: "sending", transferring: "handing",
	thinking: "thinking", listening: "listening", acting: "acting", inRealtime: "living", ending: "ending",
}

// Save returns the stored form of the state. ok is false if the conversation has ended or has secret values. redact
// redacts all texts. If it is nil, texts are stored unchanged.
func (s State) Save(redact *domain.Redactor) (SavedState, bool) {
	if s.phase == ended || s.graph == nil || len(s.secret) > 0 {
		return SavedState{}, false
	}
	out := SavedState{
		Node: s.node, Phase: phaseNames[s.phase], Language: s.language, Values: redact.RedactMap(maps.Clone(s.values)), Shown: redact.RedactMap(maps.Clone(s.shown)), Outcome: s.outcome,
		Notes: redact.RedactText(s.notes), Intent: s.intent, Tries: s.tries, Entered: s.entered, Idle: s.nodesSinceInput, Round: s.round,
		Turns: s.exchange.turns, Answers: s.answers, History: slices.Clone(s.history), WasActing: s.exchange.pendingActions > 0, Offered: maps.Clone(s.offered),
	}
	for i := range out.History {
		m := &out.History[i]
		m.Text, m.Calls = redact.RedactText(m.Text), slices.Clone(m.Calls) // the clone keeps the live state unchanged
		for k := range m.Calls {
			m.Calls[k].Arguments = string(redact.RedactJSON(json.RawMessage(m.Calls[k].Arguments)))
		}
	}
	return out, true
}

// Restore returns the state of a conversation that another process started. The caller then passes the input Started
// to Step if the state is Fresh, and Restored otherwise. ok is false if the script has no such node.
func Restore(script domain.Script, in SavedState) (State, bool) {
	s := New(script, in.Values)
	if in.Node == "" {
		return s, true
	}
	if s.graph.nodes[in.Node] == nil {
		return s, false
	}
	for p, name := range phaseNames {
		if name == in.Phase {
			s.phase = p
		}
	}
	if s.phase == fresh {
		return s, false
	}
	s.node, s.shown, s.outcome, s.notes, s.intent = in.Node, in.Shown, in.Outcome, in.Notes, in.Intent
	s.tries, s.entered, s.nodesSinceInput, s.round, s.history, s.answers = in.Tries, in.Entered, in.Idle, in.Round+1, in.History, in.Answers
	s.exchange, s.offered = modelConversation{turns: in.Turns}, in.Offered
	if in.Language != "" {
		s.language, s.english = in.Language, IsEnglish(in.Language)
	}
	if in.WasActing && s.phase != acting { // the result of the action is unknown, and the model has to know that
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

// unknownResult is the tool result in the history if the process stopped while the action was pending.
const unknownResult = "(It was being done when the connection was lost, and what came of it is not known. Do not ask for it again.)"

// handleRestored continues a restored conversation. The current node starts again. A pending action counts as failed
// and is not repeated.
func (w *stepper) handleRestored() {
	switch w.s.phase { //nolint:exhaustive // the other phases continue as after ResumeNode
	case acting:
		w.handleActionEnded(ActionEnded{Round: w.s.round})
	default:
		w.resumeNode()
	}
}

// StateMark is a comparable summary of a State. If it is unchanged, the state need not be stored again.
type StateMark struct {
	node                                   string
	phase                                  phase
	tries, entered, round, shown, messages int
	offered                                int // sum of the indexes
}

// Mark returns the StateMark of the state.
func (s State) Mark() StateMark {
	m := StateMark{node: s.node, phase: s.phase, tries: s.tries, entered: s.entered, round: s.round, shown: len(s.shown), messages: len(s.history)}
	for _, item := range s.offered {
		m.offered += item
	}
	return m
}

// Language returns the language of the conversation.
func (s State) Language() string { return s.language }

// HasPendingWork reports whether a model answer or an action is pending. Its result is lost if the process ends now.
func (s State) HasPendingWork() bool {
	return s.phase == thinking || s.phase == acting || s.exchange.pendingActions > 0
}

// IsListening reports whether the conversation waits for the caller to speak and nothing is spoken or pending.
func (s State) IsListening() bool { return s.phase == listening }

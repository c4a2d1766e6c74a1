package pathway

import (
	"maps"
	"strings"

	"github.com/callboard/callboard/domain"
)

// A realtime engine conducts the conversation at converse nodes. The pathway records the transcript, executes tool
// calls that the node offers, and stops the engine when the node is left.

// The inputs that come from a realtime engine.
type (
	// RealtimeTranscript is a transcript of words of the caller (By is ByCaller) or of the engine (By is ByAgent).
	RealtimeTranscript struct {
		Round int
		By    string
		Text  string
	}
	// RealtimeToolCalls ends each answer of the engine and lists the tool calls of the answer, if any.
	RealtimeToolCalls struct {
		Round int
		Calls []ToolCall
	}
	// RealtimeIdle means that the engine's answer was played to its end and no other answer follows.
	RealtimeIdle struct{ Round int }
	// RealtimeDone means that the engine has finished the conversation.
	RealtimeDone struct{ Round int }
	// RealtimeLost means that the engine failed. HasFallback means that a language model with speech engines can continue
	// the conversation.
	RealtimeLost struct {
		Round       int
		HasFallback bool
	}
)

func (RealtimeTranscript) input() {}
func (RealtimeToolCalls) input()  {}
func (RealtimeIdle) input()       {}
func (RealtimeLost) input()       {}
func (RealtimeDone) input()       {}

// The commands to a realtime engine.
type (
	// StartRealtime starts a conversation of the engine at a node. It has all values of a ModelRequest. Speak means that
	// the engine speaks first. Interruptible means that the caller may interrupt the engine. Known holds the variables
	// without secrets.
	StartRealtime struct {
		ModelRequest
		Known         map[string]string
		Speak         bool
		Interruptible bool
	}
	// SendToolResult sends the result of a tool call to the engine.
	SendToolResult struct{ ID, Text string }
	// RequestRealtimeAnswer requests the next answer from the engine. If Text is not empty, the engine receives it first.
	RequestRealtimeAnswer struct{ Text string }
)

func (StartRealtime) command()         {}
func (SendToolResult) command()        {}
func (RequestRealtimeAnswer) command() {}

// WithRealtime returns a copy of the state that uses a realtime engine at converse nodes if on is true.
func (s State) WithRealtime(on bool) State {
	s.realtime = on
	return s
}

// RealtimeRound returns the number of the current round and whether a realtime engine conducts the conversation now.
func (s State) RealtimeRound() (round int, active bool) { return s.round, s.phase == inRealtime }

// startRealtime enters a converse node and hands the conversation to the realtime engine.
func (w *stepper) startRealtime(n *domain.Node) {
	words := w.s.bufferedSpeech
	w.s.bufferedSpeech = Utterance{}
	if to, ok := w.findKeyEdge(w.s.bufferedKeys); ok {
		w.s.bufferedKeys = ""
		w.enterNode(to)
		return
	}
	w.s.bufferedKeys = ""
	if words.Text != "" {
		w.addToHistory(Message{By: ByCaller, Text: words.Text})
	}
	w.s.phase = inRealtime
	w.s.round++
	w.s.exchange = modelConversation{}
	w.s.interruptible = n.Interruptible == nil || *n.Interruptible
	last := len(w.s.history) - 1
	prompt, _ := w.s.shownText(n.Prompt)
	w.emit(StartRealtime{
		ModelRequest: ModelRequest{Round: w.s.round, Node: n.ID, Prompt: prompt, History: w.s.history, Offers: w.s.graph.toolOffers(n), Bases: n.KnowledgeBaseIDs},
		Known:        maps.Clone(w.s.shown),
		Speak:        last < 0 || w.s.history[last].By != ByAgent || len(w.s.history[last].Calls) > 0, Interruptible: w.s.interruptible,
	})
}

// isRealtimeRound reports whether an input with this round number belongs to the running realtime conversation.
func (w *stepper) isRealtimeRound(round int) bool {
	return w.s.phase == inRealtime && round == w.s.round
}

// handleTranscript records the engine's transcript in the history. If words of the caller match an intent edge, the
// edge is followed, even if the engine has started to answer.
func (w *stepper) handleTranscript(in RealtimeTranscript) {
	if !w.isRealtimeRound(in.Round) || in.Text == "" {
		return
	}
	if in.By == ByCaller {
		w.s.nodesSinceInput, w.s.tries, w.s.exchange.actionRounds = 0, 0, 0
		n := w.s.graph.nodes[w.s.node]
		if m, ok := w.s.graph.matchPhrase(n, in.Text); ok && w.s.exchange.followUp.kind == followUpListen {
			words := Utterance{Text: in.Text, Confidence: modelConfidence}
			if w.s.exchange.pendingActions > 0 {
				w.s.bufferedSpeech = words // applied after the pending actions
				return
			}
			w.applyMatch(n, m, words)
			return
		}
	}
	w.addToHistory(Message{By: in.By, Text: in.Text})
}

// handleRealtimeToolCalls executes the engine's tool calls that the node offers.
func (w *stepper) handleRealtimeToolCalls(in RealtimeToolCalls) {
	if !w.isRealtimeRound(in.Round) {
		return
	}
	t, n := &w.s.exchange, w.s.graph.nodes[w.s.node]
	if !w.countModelAnswer(n) {
		return
	}
	if len(in.Calls) == 0 {
		return
	}
	w.addToHistory(Message{By: ByAgent, Calls: in.Calls})
	for i := range in.Calls {
		w.runToolCall(n, &in.Calls[i])
	}
	t.needsAnswer = t.followUp.kind == followUpListen
	if t.actionRounds++; t.actionRounds > maxActRounds {
		w.leaveFailedNode("too_many_actions")
		return
	}
	w.continueRealtime()
}

// continueRealtime continues after the pending actions have ended. A follow-up runs only after the engine's answer was
// played.
func (w *stepper) continueRealtime() {
	t := &w.s.exchange
	switch {
	case t.pendingActions > 0:
	case w.applyHeldInput(w.s.graph.nodes[w.s.node]):
	case t.followUp.kind != followUpListen:
		if t.idle {
			w.runFollowUp(w.s.graph.nodes[w.s.node])
		}
	case t.needsAnswer:
		t.needsAnswer, t.idle = false, false
		w.emit(RequestRealtimeAnswer{})
	}
}

// handleRealtimeIdle runs the follow-up, or waits for the caller, after the engine's answer was played.
func (w *stepper) handleRealtimeIdle(in RealtimeIdle) {
	if !w.isRealtimeRound(in.Round) {
		return
	}
	t, n := &w.s.exchange, w.s.graph.nodes[w.s.node]
	t.idle = true
	switch {
	case t.pendingActions > 0 || t.needsAnswer:
	case t.followUp.kind != followUpListen:
		w.runFollowUp(n)
	default:
		w.emit(CollectInput{Length: lengthOf(n), Timeout: speechTimeoutOf(n)})
	}
}

// handleRealtimeDone plans to leave the node when the engine's last answer has been played.
func (w *stepper) handleRealtimeDone(in RealtimeDone) {
	if !w.isRealtimeRound(in.Round) {
		return
	}
	if t := &w.s.exchange; t.followUp.kind == followUpListen {
		t.followUp = followUp{kind: followUpLeave}
		t.needsAnswer = false
	}
}

// handleRealtimeSilence requests an answer of the engine to the caller's silence, or leaves the node after too many
// silences.
func (w *stepper) handleRealtimeSilence(n *domain.Node) {
	if w.leaveAfterSilence(n) {
		return
	}
	w.s.exchange.idle = false
	w.emit(RequestRealtimeAnswer{Text: silenceText})
}

// handleRealtimeKey follows the edge for a pressed key during a realtime conversation. Keys without an edge are
// ignored. While actions are pending, the key is stored until they end.
func (w *stepper) handleRealtimeKey(key byte) {
	to, ok := w.findKeyEdge(string(key))
	switch {
	case !ok:
	case w.s.exchange.pendingActions > 0:
		w.s.bufferedKeys = string(key)
	default:
		w.enterNode(to)
	}
}

// handleRealtimeLost continues the conversation with a language model, or ends it, after the realtime engine failed.
// Pending actions are not repeated. Their results go to the model that continues.
func (w *stepper) handleRealtimeLost(in RealtimeLost) {
	if !w.isRealtimeRound(in.Round) {
		return
	}
	t, n := &w.s.exchange, w.s.graph.nodes[w.s.node]
	w.s.realtime = false
	if t.followUp.kind == followUpListen && !in.HasFallback {
		t.followUp = followUp{kind: followUpLost}
	}
	if t.turns = 0; t.pendingActions > 0 {
		w.awaitActions()
		return
	}
	w.s.round++
	w.s.phase = thinking
	w.s.exchange = modelConversation{followUp: t.followUp}
	if t.followUp.kind != followUpListen {
		w.runFollowUp(n)
		return
	}
	w.requestModel(n)
}

// MarkInterrupted returns the heard part of an interrupted text in the form that history and transcript have. It is the
// whole text, without a mark, if all of it was heard.
func MarkInterrupted(heard, whole string) string {
	if heard == whole {
		return whole
	}
	return strings.TrimSpace(heard + interruptionMark)
}

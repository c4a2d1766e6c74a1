package pathway

import (
	"maps"

	"github.com/callboard/callboard/domain"
)

// A realtime engine conducts the conversation at converse nodes. The pathway records the transcript, executes tool
// calls that the node offers, and stops the engine when the node is left.

// The inputs from a realtime engine.
type (
	// RealtimeTranscript is recognized text of the caller (ByCaller) or of the engine (ByAgent).
	RealtimeTranscript struct {
		Round int
		By    string
		Text  string
	}
	// RealtimeToolCalls lists the tool calls of the engine at the end of each answer.
	RealtimeToolCalls struct {
		Round int
		Calls []ToolCall
	}
	// RealtimeIdle means that the engine's answer was played to its end and no other answer follows.
	RealtimeIdle struct{ Round int }
	// RealtimeDone means that the engine has finished the conversation.
	RealtimeDone struct{ Round int }
	// RealtimeLost means that the engine failed. HasFallback means that a model with speech engines can continue.
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
	// StartRealtime gives the conversation to the engine with all values of a ModelRequest. Speak means that the
	// engine speaks first. Interruptible means that the caller may interrupt it. Known are the variables without
	// secrets.
	StartRealtime struct {
		ModelRequest
		Known         map[string]string
		Speak         bool
		Interruptible bool
	}
	// SendToolResult sends the result of a tool call to the engine.
	SendToolResult struct{ ID, Text string }
	// RequestRealtimeAnswer requests the next answer from the engine. Text, if not empty, is sent before.
	RequestRealtimeAnswer struct{ Text string }
)

func (StartRealtime) command()         {}
func (SendToolResult) command()        {}
func (RequestRealtimeAnswer) command() {}

// WithRealtime returns the state with or without a realtime engine for converse nodes.
func (s State) WithRealtime(on bool) State {
	s.realtime = on
	return s
}

// RealtimeRound reports whether the engine conducts the conversation now, and in which round.
func (s State) RealtimeRound() (round int, active bool) { return s.round, s.phase == inRealtime }

// startRealtime enters a converse node with a realtime engine.
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
	w.s.exchange = exchange{}
	w.s.interruptible = n.Interruptible == nil || *n.Interruptible
	last := len(w.s.history) - 1
	prompt, _ := w.s.shownText(n.Prompt)
	w.emit(StartRealtime{
		ModelRequest: ModelRequest{Round: w.s.round, Node: n.ID, Prompt: prompt, History: w.s.history, Offers: w.s.graph.toolOffers(n), Bases: n.KnowledgeBaseIDs},
		Known:        maps.Clone(w.s.shown),
		Speak:        last < 0 || w.s.history[last].By != ByAgent || len(w.s.history[last].Calls) > 0, Interruptible: w.s.interruptible,
	})
}

// isRealtimeRound reports whether an input belongs to the running realtime round.
func (w *stepper) isRealtimeRound(round int) bool {
	return w.s.phase == inRealtime && round == w.s.round
}

// handleTranscript records the transcript. Intent edges take precedence, even if the engine has started to answer.
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

// handleRealtimeToolCalls executes the tool calls that the node offers.
func (w *stepper) handleRealtimeToolCalls(in RealtimeToolCalls) {
	if !w.isRealtimeRound(in.Round) {
		return
	}
	t, n := &w.s.exchange, w.s.graph.nodes[w.s.node]
	if t.turns++; t.turns > maxTurnsOf(n) {
		w.leaveFailedNode("too_many_turns")
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

// continueRealtime continues after the pending actions have ended. A follow-up waits until the engine's answer was
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

// handleRealtimeIdle continues when nobody speaks.
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

// handleRealtimeDone leaves the node after the engine's last answer was played.
func (w *stepper) handleRealtimeDone(in RealtimeDone) {
	if !w.isRealtimeRound(in.Round) {
		return
	}
	if t := &w.s.exchange; t.followUp.kind == followUpListen {
		t.followUp = followUp{kind: followUpLeave}
		t.needsAnswer = false
	}
}

// handleRealtimeSilence lets the engine react to a silent caller, or leaves the node after too many silences.
func (w *stepper) handleRealtimeSilence(n *domain.Node) {
	if w.leaveAfterSilence(n) {
		return
	}
	w.s.exchange.idle = false
	w.emit(RequestRealtimeAnswer{Text: silenceText})
}

// handleRealtimeKey handles a key during a realtime conversation. Keys without an edge are ignored. An edge waits
// for pending actions.
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

// handleRealtimeLost continues without the engine. Pending actions are not repeated: their results go to the model
// that continues.
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
	w.s.exchange = exchange{followUp: t.followUp}
	if t.followUp.kind != followUpListen {
		w.runFollowUp(n)
		return
	}
	w.requestModel(n)
}

// MarkInterrupted returns text as it appears in the history if the caller interrupted it.
func MarkInterrupted(text string) string { return text + interruptionMark }

package pathway

import (
	"maps"

	"github.com/callboard/callboard/domain"
)

// Where an engine hears and speaks by itself, a converse node is its: the
// pathway hears what was said, does what the engine wants and the node offers,
// and takes the word back where the node is left.

// The inputs that come of such an engine.
type (
	// Overheard are words that were said, by ByCaller or ByAgent.
	RealtimeTranscript struct {
		Round int
		By    string
		Text  string
	}
	// Wanted is what the engine wants done, at the end of each of its answers.
	RealtimeToolCalls struct {
		Round int
		Calls []ToolCall
	}
	// Rested says that the engine's answer was heard to its end, and that it
	// makes no other one.
	RealtimeIdle struct{ Round int }
	// Left says that the engine has no more to do with the caller.
	RealtimeDone struct{ Round int }
	// Broke says that the engine is gone. Instead: a model, a voice and ears are
	// there that can go on in its place.
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

// What a step asks of such an engine.
type (
	// Live hands the caller to the engine, with all that a Think tells. Speak:
	// it has the word. Interruptible: words cut what it says. Known are the
	// variables, as a record may show them.
	StartRealtime struct {
		ModelRequest
		Known         map[string]string
		Speak         bool
		Interruptible bool
	}
	// Told is the result of something that it wanted.
	SendToolResult struct{ ID, Text string }
	// Answer asks it for its next answer, Text ("": none) being told before.
	RequestRealtimeAnswer struct{ Text string }
)

func (StartRealtime) command()         {}
func (SendToolResult) command()        {}
func (RequestRealtimeAnswer) command() {}

// WithRealtime reports whether an engine hears and speaks by itself at converse nodes.
func (s State) WithRealtime(on bool) State {
	s.realtime = on
	return s
}

// RealtimeRound reports whether one does now, and by which round.
func (s State) RealtimeRound() (round int, lives bool) { return s.round, s.phase == inRealtime }

// startRealtime enters a node at which an engine hears and speaks by itself.
func (w *stepper) startRealtime(n *domain.Node) {
	said := w.s.bufferedSpeech
	w.s.bufferedSpeech = Utterance{}
	if to, ok := w.findKeyEdge(w.s.bufferedKeys); ok {
		w.s.bufferedKeys = ""
		w.enterNode(to)
		return
	}
	w.s.bufferedKeys = ""
	if said.Text != "" {
		w.addToHistory(Message{By: ByCaller, Text: said.Text})
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

// isRealtimeRound reports whether an input is of the engine that has the caller.
func (w *stepper) isRealtimeRound(round int) bool {
	return w.s.phase == inRealtime && round == w.s.round
}

// handleTranscript keeps what was said. Edges that code decides come first, though the
// engine may have begun to answer.
func (w *stepper) handleTranscript(in RealtimeTranscript) {
	if !w.isRealtimeRound(in.Round) || in.Text == "" {
		return
	}
	if in.By == ByCaller {
		w.s.nodesSinceInput, w.s.tries, w.s.exchange.actionRounds = 0, 0, 0
		n := w.s.graph.nodes[w.s.node]
		if m, ok := w.s.graph.matchPhrase(n, in.Text); ok && w.s.exchange.followUp.kind == followUpListen {
			said := Utterance{Text: in.Text, Confidence: modelConfidence}
			if w.s.exchange.pendingActions > 0 {
				w.s.bufferedSpeech = said // it leads on once that is done
				return
			}
			w.applyMatch(n, m, said)
			return
		}
	}
	w.addToHistory(Message{By: in.By, Text: in.Text})
}

// handleRealtimeToolCalls does what the engine wants, where the node offers it.
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

// continueRealtime goes on once nothing is being done any more: what is to follow waits
// for the end of what is being said.
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

// rested: nobody speaks.
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

// left: the engine is done with the caller, who hears it to its end.
func (w *stepper) handleRealtimeDone(in RealtimeDone) {
	if !w.isRealtimeRound(in.Round) {
		return
	}
	if t := &w.s.exchange; t.followUp.kind == followUpListen {
		t.followUp = followUp{kind: followUpLeave}
		t.needsAnswer = false
	}
}

// hushed: the caller is silent, and the engine says something to that, until he
// was silent too often.
func (w *stepper) handleRealtimeSilence(n *domain.Node) {
	if w.leaveAfterSilence(n) {
		return
	}
	w.s.exchange.idle = false
	w.emit(RequestRealtimeAnswer{Text: silenceText})
}

// handleRealtimeKey takes a key where an engine has the caller: what no edge is for
// goes unheard, and what is being done is waited for.
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

// handleRealtimeLost goes on without the engine. What is being done for it goes on too, and
// the others go on by its result: nothing is done twice.
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

// MarkInterrupted is how words stand in a history that somebody spoke over.
func MarkInterrupted(text string) string { return text + interruptionMark }

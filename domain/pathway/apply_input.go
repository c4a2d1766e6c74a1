package pathway

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// Step applies an input to a state and returns the new state and the commands to execute. An input that the current
// phase does not expect changes nothing.
func Step(s State, in Input) (State, []Command) {
	w := stepper{s: s}
	if s.graph == nil || s.phase == ended {
		return s, nil
	}
	if in, ok := in.(PromptHeard); ok {
		w.s.heard, w.s.hasHeard = in.Text, true
		return w.s, nil
	}
	switch in := in.(type) {
	case Started:
		if s.phase == fresh {
			w.enterNode(s.graph.start)
		}
	case PromptDone:
		w.handlePromptDone()
	case DigitsSent:
		if s.phase == sending {
			w.leaveNode("")
		}
	case Digit:
		w.handleDigit(in.Key)
	case Utterance:
		w.handleUtterance(in)
	case Transferred:
		if s.phase == transferring {
			w.handleTransferEnded(in.OK)
		}
	case PromptCut:
		w.handlePromptCut()
	case ResumeNode:
		w.resumeNode()
	case Restored:
		w.handleRestored()
	case Timeout:
		w.handleTimeout()
	case SilenceLimit:
		w.handleSilenceLimit()
	case AgentFailed:
		w.handleAgentFailed(ReasonAgentUnavailable)
	case Hangup:
		w.s.phase = ended
	default:
		w.applyEngineInput(in)
	}
	w.s.hasHeard = false // it was about this input
	return w.s, w.out
}

// applyEngineInput applies an input that comes from a language model, a realtime engine or an action.
func (w *stepper) applyEngineInput(in Input) {
	switch in := in.(type) {
	case RealtimeTranscript:
		w.handleTranscript(in)
	case RealtimeToolCalls:
		w.handleRealtimeToolCalls(in)
	case RealtimeIdle:
		w.handleRealtimeIdle(in)
	case RealtimeLost:
		w.handleRealtimeLost(in)
	case RealtimeDone:
		w.handleRealtimeDone(in)
	case ModelSentence:
		w.handleSentence(in)
	case ModelAnswered:
		w.handleModelAnswered(in)
	case ActionEnded:
		w.handleActionEnded(in)
	case ResponseDelayed:
		w.handleResponseDelayed(in)
	}
}

// handleTimeout handles the expired timer of CollectInput: the caller did not respond.
func (w *stepper) handleTimeout() {
	n := w.s.graph.nodes[w.s.node]
	switch w.s.phase { //nolint:exhaustive // the other phases do not wait for the caller
	case collecting, confirming:
		w.retryOrLeave(domain.EdgeTimeout)
	case listening:
		if w.s.enteredKeys != "" {
			w.submitKeys(n)
			return
		}
		w.handleSilence(n)
	case inRealtime:
		w.handleRealtimeSilence(n)
	}
}

// stepper holds the state and collects the commands during one call of Step.
type stepper struct {
	s   State
	out []Command
}

func (w *stepper) emit(d Command) { w.out = append(w.out, d) }

// enterNode enters a node and continues with the following nodes until a node waits for an input.
func (w *stepper) enterNode(id string) {
	n := w.s.graph.nodes[id]
	if n == nil {
		w.endConversation("", "", "no_such_node")
		return
	}
	if w.s.nodesSinceInput++; w.s.nodesSinceInput > maxSteps {
		w.endConversation("", "", "turns_in_a_circle")
		return
	}
	if w.s.entered++; w.s.entered > maxEntered {
		w.endConversation("", "", "too_long")
		return
	}
	w.s.node, w.s.enteredKeys, w.s.tries = id, "", 0
	w.applyAssignments(n)
	switch n.Type {
	case domain.NodeSay:
		w.speakPrompt(n, speaking)
	case domain.NodeCollect:
		if n.Sensitive {
			w.s.bufferedKeys = "" // keys that were pressed early have been shown and are not secret
		}
		w.speakPrompt(n, speaking)
	case domain.NodeDTMF:
		w.sendDigits(n)
	case domain.NodeTransfer:
		w.speakPrompt(n, speaking)
	case domain.NodeEnd:
		w.speakPrompt(n, ending)
	case domain.NodeTool, domain.NodeAppointment, domain.NodeSMS, domain.NodeAgent:
		w.requestAction(n)
	case domain.NodeConverse:
		w.startConversing(n)
	case domain.NodeCondition:
		w.followCondition()
	case domain.NodeOffer:
		w.offerItem(n)
	default:
		w.endConversation("", "", "unknown_node_type")
	}
}

// applyAssignments sets the outcome, notes, intent, language and variables that a node assigns.
func (w *stepper) applyAssignments(n *domain.Node) {
	if n.Set == nil {
		return
	}
	if n.Set.Outcome != "" {
		w.s.outcome = n.Set.Outcome
	}
	if n.Set.Notes != "" {
		w.s.notes, _ = w.s.shownText(n.Set.Notes)
	}
	if n.Set.Intent != "" {
		w.s.intent = n.Set.Intent
	}
	if tag := n.Set.Language; tag != "" && tag != w.s.language {
		w.s.language, w.s.english = tag, IsEnglish(tag)
		w.emit(SetLanguage{Language: tag})
	}
	for _, name := range slices.Sorted(maps.Keys(n.Set.Variables)) {
		value, _ := FillPlaceholders(n.Set.Variables[name], w.s.values)
		_, hidden := w.s.shownText(n.Set.Variables[name])
		w.setVariable(name, value, hidden)
	}
	if n.Set.AddToDNC {
		w.emit(OptOut{})
	}
	w.emit(UpdateResult{w.s.Result()})
}

// setVariable sets a variable in copies of the maps, because the previous state must not change.
func (w *stepper) setVariable(name, value string, secret bool) {
	w.s.values = maps.Clone(w.s.values)
	w.s.values[name] = value
	shown, hidden := maps.Clone(w.s.shown), maps.Clone(w.s.secret)
	if shown == nil {
		shown = make(map[string]string)
	}
	if hidden == nil {
		hidden = make(map[string]bool)
	}
	if secret {
		hidden[name] = true
		delete(shown, name)
	} else {
		delete(hidden, name)
		shown[name] = truncateText(value)
	}
	w.s.shown, w.s.secret = shown, hidden
	w.restartOffers(name)
}

// speakPrompt speaks the prompt of a node. If the prompt is empty, or the caller has already pressed a key, the node
// continues at once. next is the phase during the prompt.
func (w *stepper) speakPrompt(n *domain.Node, next phase) {
	w.s.phase = next
	w.s.interruptible = next == speaking && (n.Interruptible == nil || *n.Interruptible)
	prompt := n.Prompt
	if w.s.tries > 0 && n.RetryPrompt != "" {
		prompt = n.RetryPrompt
	}
	prompt = w.s.withItem(n, prompt)
	text, missing := fillSpoken(prompt, w.s.values)
	for _, name := range missing {
		w.emit(MissingVariable{Node: n.ID, Name: name})
	}
	if strings.TrimSpace(text) == "" || w.isAnsweredAhead(n) {
		w.handlePromptDone()
		return
	}
	shown, hidden := w.s.shownText(prompt)
	w.emit(Say{Node: n.ID, Text: text, Shown: shown, Interruptible: w.s.interruptible, Sensitive: hidden})
	w.addToHistory(Message{By: ByAgent, Text: shown})
}

// isAnsweredAhead reports whether the caller has pressed a key before the prompt of a collect node starts.
func (w *stepper) isAnsweredAhead(n *domain.Node) bool {
	return n.Type == domain.NodeCollect && w.s.interruptible && w.s.bufferedKeys != ""
}

func (w *stepper) sendDigits(n *domain.Node) {
	text, missing := FillPlaceholders(n.Digits, w.s.values)
	for _, name := range missing {
		w.emit(MissingVariable{Node: n.ID, Name: name})
	}
	w.s.phase = sending
	digits := phoneKeysIn(text)
	if digits == "" {
		w.leaveNode("")
		return
	}
	_, hidden := w.s.shownText(n.Digits)
	w.emit(SendDigits{Digits: digits, Sensitive: hidden || n.Sensitive})
}

func (w *stepper) handlePromptDone() {
	n := w.s.graph.nodes[w.s.node]
	switch w.s.phase {
	case speaking:
		w.s.interruptible = false
		switch n.Type { //nolint:exhaustive // the others go on at once
		case domain.NodeCollect, domain.NodeOffer:
			w.collectInput(n)
			return
		case domain.NodeTransfer:
			w.startTransfer(n)
			return
		}
		if to, ok := w.findKeyEdge(w.s.bufferedKeys); ok {
			w.s.bufferedKeys = ""
			w.enterNode(to)
			return
		}
		w.leaveNode("")
	case ending:
		notes, _ := w.s.shownText(n.Notes)
		w.endConversation(n.Outcome, notes, "")
	case confirming:
		w.emit(CollectInput{Length: lengthOf(n), Timeout: timeoutOf(n), Sensitive: n.Sensitive})
	case thinking:
		w.handleSentenceSpoken(n)
	case fresh, collecting, sending, transferring, listening, acting, inRealtime, ended:
	}
}

// collectInput waits for keys or speech. It first uses the keys and words that arrived before the prompt ended.
func (w *stepper) collectInput(n *domain.Node) {
	w.s.phase = collecting
	said := w.s.bufferedSpeech
	w.s.bufferedSpeech = Utterance{}
	early := w.s.bufferedKeys
	w.s.bufferedKeys = ""
	for i := range len(early) {
		if w.addKey(n, early[i]) {
			w.s.bufferedKeys += early[i+1:]
			return
		}
	}
	if early == "" && w.useBufferedSpeech(n, said) {
		return
	}
	w.waitForKeys(n)
}

func (w *stepper) waitForKeys(n *domain.Node) {
	w.emit(CollectInput{Length: lengthOf(n) - len(w.s.enteredKeys), Timeout: timeoutOf(n), Sensitive: n.Sensitive})
}

func (w *stepper) handleDigit(key byte) {
	if !strings.ContainsRune(phoneKeys, rune(key)) {
		return
	}
	w.s.nodesSinceInput = 0
	n := w.s.graph.nodes[w.s.node]
	switch w.s.phase {
	case collecting:
		if !w.addKey(n, key) {
			w.waitForKeys(n)
		}
	case speaking:
		w.handleKeyDuringPrompt(n, key)
	case confirming:
		w.emit(StopSpeaking{})
		w.s.phase = collecting
		if !w.addKey(n, key) {
			w.waitForKeys(n)
		}
	case sending, transferring, acting:
		w.bufferKey(key)
	case thinking, listening:
		w.handleKeyInConversation(n, key)
	case inRealtime:
		w.handleRealtimeKey(key)
	case ending:
		if to, ok := w.findKeyEdgeFrom(anyNode, string(key)); ok {
			w.stopPrompt()
			w.enterNode(to)
		}
	case fresh, ended:
	}
}

func (w *stepper) handleKeyDuringPrompt(n *domain.Node, key byte) {
	if !w.s.interruptible {
		w.bufferKey(key)
		return
	}
	if isQuestion(n) {
		w.stopPrompt()
		w.s.interruptible = false
		w.bufferKey(key)
		w.collectInput(n)
		return
	}
	if to, ok := w.findKeyEdge(string(key)); ok {
		w.stopPrompt()
		w.s.interruptible = false
		w.enterNode(to)
		return
	}
	w.bufferKey(key)
}

// stopPrompt stops the prompt of a node. The history keeps the part that was heard.
func (w *stepper) stopPrompt() {
	w.emit(StopSpeaking{})
	last := len(w.s.history) - 1
	if w.s.hasHeard && last >= 0 && w.s.history[last].By == ByAgent && len(w.s.history[last].Calls) == 0 {
		w.s.history = slices.Clone(w.s.history)
		w.s.history[last].Text = MarkInterrupted(w.s.heard, w.s.history[last].Text)
	}
}

// bufferKey stores a pressed key until a later node can use it.
func (w *stepper) bufferKey(key byte) {
	if len(w.s.bufferedKeys) < 32 {
		w.s.bufferedKeys += string(key)
	}
}

// addKey adds a pressed key to the entered keys. If the input is complete, it evaluates the input and returns true.
func (w *stepper) addKey(n *domain.Node, key byte) bool {
	length := lengthOf(n)
	if key == '#' && length > 1 && !slices.ContainsFunc(n.Values, func(v string) bool { return strings.Contains(v, "#") }) {
		w.completeInput(n)
		return true
	}
	w.s.enteredKeys += string(key)
	if len(w.s.enteredKeys) < length {
		return false
	}
	w.completeInput(n)
	return true
}

// completeInput evaluates the keys that the caller entered at a collect node.
func (w *stepper) completeInput(n *domain.Node) {
	got := w.s.enteredKeys
	if n.Type == domain.NodeOffer {
		w.answerOffer(n, got)
		return
	}
	if to, ok := w.findKeyEdgeFrom(anyNode, got); ok {
		if _, own := w.findKeyEdgeFrom(n.ID, got); !own {
			w.enterNode(to)
			return
		}
	}
	_, edge := w.findKeyEdge(got)
	free := len(n.Values) == 0 && (edge || !w.hasKeyEdges())
	if got == "" || !free && !slices.Contains(n.Values, got) {
		w.retryOrLeave(domain.EdgeElse)
		return
	}
	if n.SaveAs != "" {
		w.setVariable(n.SaveAs, got, n.Sensitive)
		w.emit(UpdateResult{w.s.Result()})
	}
	if !n.Sensitive {
		w.addToHistory(Message{By: ByCaller, Text: pressedPrefix + got + "]"})
	}
	w.leaveNode(got)
}

// retryOrLeave repeats the prompt of a node. After the last retry it leaves the node by an edge of type why, or by
// another edge for missing input.
func (w *stepper) retryOrLeave(why domain.EdgeType) {
	n := w.s.graph.nodes[w.s.node]
	w.s.enteredKeys = ""
	if w.s.tries < n.Retries {
		w.s.tries++
		if w.s.nodesSinceInput++; w.s.nodesSinceInput > maxSteps {
			w.endConversation("", "", "turns_in_a_circle")
			return
		}
		w.speakPrompt(n, speaking)
		return
	}
	order := []domain.EdgeType{domain.EdgeElse, domain.EdgeTimeout, domain.EdgeAlways}
	if why == domain.EdgeTimeout {
		order = []domain.EdgeType{domain.EdgeTimeout, domain.EdgeElse, domain.EdgeAlways}
	}
	if n.Type == domain.NodeOffer {
		order = order[:2] // always is for the chosen item
	}
	if why == domain.EdgeTimeout {
		w.leaveSilentNode(order...)
		return
	}
	w.followEdge(order, w.s.node, anyNode)
}

func (w *stepper) endConversation(outcome domain.Outcome, notes, reason string) {
	if outcome != "" {
		w.s.outcome = outcome
	}
	if notes != "" {
		w.s.notes = notes
	}
	if w.s.outcome == "" {
		w.s.outcome = domain.OutcomeCompleted
	}
	w.s.phase = ended
	w.emit(End{Outcome: w.s.outcome, Notes: w.s.notes, Reason: reason})
}

func lengthOf(n *domain.Node) int {
	if n.Length <= 0 {
		return defaultLength
	}
	return n.Length
}

func timeoutOf(n *domain.Node) time.Duration {
	if n.TimeoutSeconds <= 0 {
		return defaultTimeout
	}
	return time.Duration(n.TimeoutSeconds * float64(time.Second))
}

// speechTimeoutOf returns how long a caller may stay silent after the model has spoken.
func speechTimeoutOf(n *domain.Node) time.Duration {
	if n.TimeoutSeconds <= 0 {
		return defaultSpeechTimeout
	}
	return timeoutOf(n)
}

const defaultSpeechTimeout = 8 * time.Second

package pathway

import (
	"reflect"
	"slices"

	"github.com/callboard/callboard/domain"
)

// What a model at a node is told of the conversation, and what it may do there.

// Speakers of a Message.
const (
	ByCaller = "user"
	ByAgent  = "assistant"
	ByTool   = "tool"
)

// Message is one thing that was said, done or answered.
type Message struct {
	By    string     // ByCaller, ByAgent or ByTool
	Text  string     // as a transcript shows it
	Calls []ToolCall // by the agent: what its model wanted done
	ID    string     // by a tool: what it answers
}

// ToolCall is what a model wants done.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`      // JSON as the model wrote it: a stranger's
	Tool      string `json:"tool,omitempty"` // the id of the tool of that name, where there is one
}

// ToolOffer is something that the model may call at a node.
type ToolOffer struct {
	Kind        ToolOfferKind
	Name        string // "" of a tool: it has its own
	Description string
	Parameters  map[string]any // JSON Schema; nil of a tool
	To          string         // edge: the node; tool: its id
	Intent      string         // edge: what was meant, where that has a name
}

// ToolOfferKind is what an offer does.
type ToolOfferKind uint8

// The kinds of offers.
const (
	OfferEdge ToolOfferKind = iota + 1
	OfferTool
	OfferSave
	OfferEnd
	OfferTransfer
	OfferDNC
	OfferSMS
	OfferAppointment
)

// The inputs that come of a model and of what was done for it.
type (
	// Sentence is the next one of the model's answer to Think.
	ModelSentence struct {
		Round int
		Text  string
	}
	// Answered is the end of its answer. Failed is "" or why there is none.
	ModelAnswered struct {
		Round  int
		Calls  []ToolCall
		Failed string
	}
	// Acted is how an Act ended. Result is JSON or words.
	ActionEnded struct {
		Round  int
		ID     string
		OK     bool
		Result string
	}
	// Slow says that nothing has been heard for a while: the caller may wonder.
	ResponseDelayed struct{ Round int }
)

func (ModelSentence) input()   {}
func (ModelAnswered) input()   {}
func (ActionEnded) input()     {}
func (ResponseDelayed) input() {}

// What a step asks for where a model takes part.
type (
	// Think asks the model; sentences and Answered follow.
	ModelRequest struct {
		Round   int
		Node    string
		Prompt  string    // what the node is about
		History []Message // oldest first
		Offers  []ToolOffer
		Bases   []string // knowledge bases to look things up in
		Choose  bool     // nothing is to be said: which of the offers was meant?
	}
	// Forget says that no answer to the last Think is wanted any more.
	CancelModelRequest struct{}
	// Refused tells that the model wanted something that the node does not offer,
	// or not so.
	ToolCallRefused struct{ Node, Name, Why string }
	// Meant tells what the caller wants.
	IntentDetected struct {
		Node       string
		Intent     string
		Confidence float64
		Text       string // the words; "" where they are secret
	}
)

// IsSame reports whether a model is asked the same, but for how the caller's last
// words are written: signs and capitals are a recogniser's afterthoughts.
func (t *ModelRequest) IsSame(o *ModelRequest) bool {
	n := len(t.History)
	if n == 0 || n != len(o.History) {
		return false
	}
	a, b := t.History[n-1], o.History[n-1]
	if a.By != ByCaller || b.By != ByCaller || normalizeWords(a.Text) == "" || normalizeWords(a.Text) != normalizeWords(b.Text) {
		return false
	}
	x, y := *t, *o
	x.History, y.History = x.History[:n-1], y.History[:n-1]
	return reflect.DeepEqual(x, y)
}

func (ModelRequest) command()       {}
func (CancelModelRequest) command() {}
func (ToolCallRefused) command()    {}
func (IntentDetected) command()     {}

// Bounds of a conversation with a model.
const (
	defaultTurns          = 40 // answers of a model at a node
	MaxModelTurns         = 500
	maxActRounds          = 8 // in a row without a word of the caller
	maxHistory            = 120
	historyBytes          = 64 << 10
	maxWaiting            = 64 // sentences
	maxResult             = 16 << 10
	defaultSilenceRetries = 2 // times that a silent caller is spoken to
)

// exchange is where a conversation with a model stands at a node.
type exchange struct {
	awaitsAnswer   bool // for Answered
	choosing       bool // the answer is a choice: for a node that collects
	pendingActions int  // Acted that are awaited
	needsAnswer    bool // what was done has answers that the model is to hear
	speaking       bool
	speakingFiller bool     // what is being said is no sentence of the model's
	queue          []string // sentences that are still to be said
	sentences      []string // of this answer
	historyIndex   int      // index+1 of the answer in the history
	turns          int
	actionRounds   int // rounds of actions in a row
	failed         int // answers in a row that did not come
	fillerSpoken   bool
	followUp       followUp
	choiceInput    Utterance // what is being chosen for
	idle           bool      // living: nobody speaks
}

// followUp is what follows once everything was said.
type followUp struct {
	kind        followUpKind
	to          string
	outcome     domain.Outcome
	notes       string
	destination string
	reason      string
	summary     string
}

type followUpKind uint8

const (
	followUpListen followUpKind = iota
	followUpEnter
	followUpEnd
	followUpTransfer
	followUpLeave
	followUpLost // the engine is gone, and nobody takes its place
)

// handleSentence of the model is said, behind those that wait.
func (w *stepper) handleSentence(in ModelSentence) {
	t := &w.s.exchange
	if w.s.phase != thinking || in.Round != w.s.round || !t.awaitsAnswer || t.choosing || in.Text == "" {
		return
	}
	if len(t.queue) < maxWaiting {
		w.queueSentence(truncateText(in.Text))
	}
}

func (w *stepper) queueSentence(text string) {
	t := &w.s.exchange
	if t.speaking {
		t.queue = append(slices.Clip(t.queue), text)
		return
	}
	w.speakSentence(text)
}

func (w *stepper) speakSentence(text string) {
	t := &w.s.exchange
	t.speaking, t.speakingFiller = true, false
	t.sentences = append(slices.Clip(t.sentences), text)
	w.emit(Say{Node: w.s.node, Text: text, Shown: text, Interruptible: w.s.interruptible})
}

// startConversing enters a node at which a model speaks: who has just spoken waits
// for an answer.
func (w *stepper) startConversing(n *domain.Node) {
	if w.s.realtime {
		w.startRealtime(n)
		return
	}
	w.s.exchange = exchange{}
	w.s.interruptible = n.Interruptible == nil || *n.Interruptible
	said := w.s.bufferedSpeech
	w.s.bufferedSpeech = Utterance{}
	last := len(w.s.history) - 1
	switch {
	case said.Text != "":
		w.s.phase = listening
		w.handleConversationSpeech(n, said)
	case last >= 0 && w.s.history[last].By == ByAgent && len(w.s.history[last].Calls) == 0:
		w.waitForSpeech(n)
	default:
		w.requestModel(n)
	}
}

// waitForSpeech waits for the caller's words.
func (w *stepper) waitForSpeech(n *domain.Node) {
	w.s.phase = listening
	w.s.exchange.actionRounds = 0
	said := w.s.bufferedSpeech
	w.s.bufferedSpeech = Utterance{}
	if to, ok := w.findKeyEdge(w.s.bufferedKeys); ok {
		w.s.bufferedKeys = ""
		w.enterNode(to)
		return
	}
	if said.Text != "" {
		w.handleConversationSpeech(n, said)
		return
	}
	w.emit(CollectInput{Length: lengthOf(n), Timeout: speechTimeoutOf(n)})
}

// requestModel asks the model for the next answer.
func (w *stepper) requestModel(n *domain.Node) {
	t := &w.s.exchange
	if t.turns++; t.turns > maxTurnsOf(n) {
		w.leaveFailedNode("too_many_turns")
		return
	}
	w.s.phase = thinking
	w.s.round++
	t.awaitsAnswer, t.needsAnswer, t.sentences, t.historyIndex, t.fillerSpoken = true, false, nil, 0, false
	prompt, _ := w.s.shownText(n.Prompt)
	w.emit(ModelRequest{
		Round: w.s.round, Node: n.ID, Prompt: prompt, History: w.s.history, Offers: w.s.graph.toolOffers(n), Bases: n.KnowledgeBaseIDs,
	})
}

// handleModelAnswered ends the model's answer.
func (w *stepper) handleModelAnswered(in ModelAnswered) {
	t := &w.s.exchange
	if w.s.phase != thinking || in.Round != w.s.round || !t.awaitsAnswer {
		return
	}
	n := w.s.graph.nodes[w.s.node]
	t.awaitsAnswer = false
	if t.choosing {
		w.handleChoice(n, in)
		return
	}
	all := append(slices.Clip(t.sentences), t.queue...)
	if in.Failed != "" && len(all) == 0 || len(all) == 0 && len(in.Calls) == 0 {
		w.handleNoAnswer(n)
		return
	}
	if in.Failed != "" {
		in.Calls = nil // what it wanted may be half of it
	}
	t.failed = 0
	w.addToHistory(Message{By: ByAgent, Text: joinSentences(all), Calls: in.Calls})
	t.historyIndex = len(w.s.history)
	for i := range in.Calls {
		w.runToolCall(n, &in.Calls[i])
	}
	if len(in.Calls) > 0 {
		t.needsAnswer = t.followUp.kind == followUpListen
		if t.actionRounds++; t.actionRounds > maxActRounds {
			w.leaveFailedNode("too_many_actions")
			return
		}
	}
	w.continueWhenIdle(n)
}

// continueWhenIdle goes on where nothing is awaited any more.
func (w *stepper) continueWhenIdle(n *domain.Node) {
	t := &w.s.exchange
	if t.awaitsAnswer || t.pendingActions > 0 {
		return
	}
	if (t.needsAnswer || t.followUp.kind == followUpLost) && w.hasHeldInput(n) {
		if t.speaking || len(t.queue) > 0 {
			if !w.s.interruptible {
				return // once it was heard
			}
			w.cancelAnswer()
		}
		w.applyHeldInput(n)
		return
	}
	if t.needsAnswer {
		if w.s.realtime { // somebody else had the caller meanwhile
			w.startRealtime(n)
			return
		}
		if said := w.s.bufferedSpeech; said.Text != "" {
			w.s.bufferedSpeech = Utterance{}
			w.addToHistory(Message{By: ByCaller, Text: said.Text})
		}
		w.requestModel(n)
		return
	}
	if t.speaking || len(t.queue) > 0 {
		return
	}
	w.runFollowUp(n)
}

// runFollowUp does what follows once everything was said.
func (w *stepper) runFollowUp(n *domain.Node) {
	next := w.s.exchange.followUp
	w.s.exchange.followUp = followUp{}
	switch next.kind {
	case followUpListen:
		w.waitForSpeech(n)
	case followUpEnter:
		w.enterNode(next.to)
	case followUpLeave:
		w.followEdge([]domain.EdgeType{domain.EdgeExpr, domain.EdgeAlways}, n.ID)
	case followUpLost:
		if w.hasEdge(n.ID, domain.EdgeFailure) {
			w.followEdge([]domain.EdgeType{domain.EdgeFailure}, n.ID)
			return
		}
		w.leaveFailedNode(ReasonRealtimeFailed)
	case followUpEnd:
		w.endConversation(next.outcome, next.notes, next.reason)
	case followUpTransfer:
		w.s.phase = transferring
		w.emit(Transfer{Node: n.ID, Destination: next.destination, Mode: next.transferMode(), Summary: next.summary, Reason: next.reason})
	}
}

func (t *followUp) transferMode() domain.TransferMode { return domain.TransferBridge }

// handleSentenceSpoken goes on behind a sentence.
func (w *stepper) handleSentenceSpoken(n *domain.Node) {
	t := &w.s.exchange
	t.speaking, t.speakingFiller = false, false
	if len(t.queue) > 0 {
		next := t.queue[0]
		t.queue = t.queue[1:]
		w.speakSentence(next)
		return
	}
	w.continueWhenIdle(n)
}

// handleConversationSpeech are what the caller said to the model: edges that code decides come
// first.
func (w *stepper) handleConversationSpeech(n *domain.Node, in Utterance) {
	w.s.nodesSinceInput, w.s.tries, w.s.exchange.actionRounds = 0, 0, 0
	text := in.Text
	if in.Confidence < ConfirmConfidence {
		text = ""
	}
	if text != "" {
		if m, ok := w.s.graph.matchPhrase(n, text); ok && in.Confidence >= AcceptConfidence {
			w.applyMatch(n, m, in)
			return
		}
	}
	if text == "" {
		text = unclearText
	}
	w.addToHistory(Message{By: ByCaller, Text: text})
	w.requestModel(n)
}

// What a model is told in place of words.
const (
	unclearText  = "(something that could not be understood)"
	silenceText  = "(The caller says nothing.)"
	noSpeechText = "(The caller is on the line and has said nothing yet.)"
)

// interrupted: the caller speaks while the model does, or thinks.
func (w *stepper) handleInterruption(n *domain.Node, in Utterance) {
	t := &w.s.exchange
	switch {
	case in.Text == "":
	case t.choosing, !w.s.interruptible, t.pendingActions > 0, t.followUp.kind != followUpListen: // it is heard later; what is being done is not undone
		if w.s.bufferedSpeech.Text != "" {
			in.Text = w.s.bufferedSpeech.Text + " " + in.Text
		}
		w.s.bufferedSpeech = in
	default:
		w.cancelAnswer()
		w.s.phase = listening
		w.handleConversationSpeech(n, in)
	}
}

// cancelAnswer ends what is being said and thought. Of an answer the history keeps as
// much as was heard.
func (w *stepper) cancelAnswer() {
	t := &w.s.exchange
	if t.speaking {
		w.emit(StopSpeaking{})
	}
	if t.awaitsAnswer {
		w.emit(CancelModelRequest{})
	}
	w.recordHeardAnswer()
	w.s.round++
	*t = exchange{turns: t.turns, failed: t.failed}
}

// recordHeardAnswer keeps as much of an answer in the history as was heard.
func (w *stepper) recordHeardAnswer() {
	t := &w.s.exchange
	heard := joinSentences(t.sentences)
	switch {
	case t.historyIndex > 0 && (t.speaking && !t.speakingFiller || len(t.queue) > 0):
		h := append([]Message(nil), w.s.history...)
		h[t.historyIndex-1].Text = heard + interruptionMark
		w.s.history = h
	case t.historyIndex == 0 && heard != "":
		w.addToHistory(Message{By: ByAgent, Text: heard + interruptionMark})
		t.historyIndex = len(w.s.history)
	}
}

const interruptionMark = " —"

// handleKeyInConversation takes a key where a model speaks or listens.
func (w *stepper) handleKeyInConversation(n *domain.Node, key byte) {
	to, ok := w.findKeyEdge(string(key))
	switch {
	case !ok && w.s.phase == listening:
		w.emit(CollectInput{Length: lengthOf(n), Timeout: speechTimeoutOf(n)})
	case w.s.phase == thinking && (!ok || !w.s.interruptible || w.s.exchange.pendingActions > 0):
		w.bufferKey(key)
	default:
		if w.s.phase == thinking {
			w.cancelAnswer()
		}
		w.enterNode(to)
	}
}

package pathway

import (
	"reflect"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/wordlists"
)

// This file has the inputs and commands of a conversation with a language model at a converse node.

// The values of Message.By: the person or system from which the message comes.
const (
	ByCaller = "user"
	ByAgent  = "assistant"
	ByTool   = "tool"
)

// Message is one entry of the conversation history that a model receives.
type Message struct {
	By    string     // ByCaller, ByAgent or ByTool
	Text  string     // text as the transcript shows it
	Calls []ToolCall // ByAgent: tool calls of the model
	ID    string     // ByTool: ID of the tool call that it answers
}

// ToolCall is a function call that a model requests.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`      // JSON as the model wrote it; untrusted
	Tool      string `json:"tool,omitempty"` // ID of the workspace's tool with this name, if any
}

// ToolOffer is a function that the model may call at a node.
type ToolOffer struct {
	Kind        ToolOfferKind
	Name        string // empty for tools, which have a name of their own
	Description string
	Parameters  map[string]any // JSON Schema; nil for tools
	To          string         // edge: target node; tool: tool ID
	Intent      string         // edge: name of the intent, if any
}

// ToolOfferKind is the kind of a ToolOffer.
type ToolOfferKind uint8

// The kinds of tool offers.
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

// The inputs that come from a language model and from running actions.
type (
	// ModelSentence is the next sentence of the model's answer to a ModelRequest.
	ModelSentence struct {
		Round int
		Text  string
	}
	// ModelAnswered ends the model's answer. Failed is the cause of a failure, or "" if the answer is complete.
	ModelAnswered struct {
		Round  int
		Calls  []ToolCall
		Failed string
	}
	// ActionEnded is the end of a requested action. Result is JSON or text.
	ActionEnded struct {
		Round  int
		ID     string
		OK     bool
		Result string
	}
	// ResponseDelayed means that the caller has heard nothing for a while, because the answer or action takes long.
	ResponseDelayed struct{ Round int }
)

func (ModelSentence) input()   {}
func (ModelAnswered) input()   {}
func (ActionEnded) input()     {}
func (ResponseDelayed) input() {}

// The commands of a conversation with a language model.
type (
	// ModelRequest requests an answer of the model. The inputs ModelSentence and then ModelAnswered follow.
	ModelRequest struct {
		Round   int
		Node    string
		Prompt  string    // instructions of the node
		History []Message // oldest first
		Offers  []ToolOffer
		Bases   []string // IDs of the knowledge bases to search
		Choose  bool     // the model only selects one of the offers
	}
	// CancelModelRequest cancels the last ModelRequest.
	CancelModelRequest struct{}
	// ToolCallRefused reports a tool call that the node does not offer or whose arguments are invalid.
	ToolCallRefused struct{ Node, Name, Why string }
	// IntentDetected reports that the caller's words have selected an intent edge.
	IntentDetected struct {
		Node       string
		Intent     string
		Confidence float64
		Text       string // words of the caller; empty if secret
	}
)

// IsSame reports whether two requests are equal except for case and punctuation of the caller's last words. Speech
// recognizers correct these late, and such a correction needs no other request.
func (t *ModelRequest) IsSame(o *ModelRequest) bool {
	n := len(t.History)
	if n == 0 || n != len(o.History) {
		return false
	}
	a, b := t.History[n-1], o.History[n-1]
	if a.By != ByCaller || b.By != ByCaller || wordlists.Normalize(a.Text) == "" || wordlists.Normalize(a.Text) != wordlists.Normalize(b.Text) {
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

// Limits of a conversation with a model.
const (
	maxActRounds          = 8 // consecutive rounds of actions without words of the caller
	maxHistory            = 120
	historyBytes          = 64 << 10
	maxWaiting            = 64 // waiting sentences
	maxResult             = 16 << 10
	defaultSilenceRetries = 2 // reminders to a silent caller
)

// modelConversation is the state of a conversation with a model at the current node.
type modelConversation struct {
	awaitsAnswer   bool // ModelAnswered is expected
	choosing       bool // the model selects an edge for a collect node
	pendingActions int  // number of expected ActionEnded inputs
	needsAnswer    bool // the model has to answer the results of its tool calls
	speaking       bool
	speakingFiller bool     // the text being spoken is no sentence of the model
	queue          []string // sentences that wait to be spoken
	sentences      []string // sentences of this answer
	historyIndex   int      // index + 1 of the answer in the history
	turns          int
	actionRounds   int // consecutive rounds of actions
	failed         int // consecutive failed answers
	fillerSpoken   bool
	followUp       followUp
	choiceInput    Utterance // the words for which an edge is selected
	idle           bool      // realtime: nobody speaks
}

// followUp defines how the conversation continues after the current answer was spoken.
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
	followUpLost // the realtime engine failed without a fallback
)

// handleSentence speaks a sentence of the model, after the sentences that are still waiting to be spoken.
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

// startConversing enters a converse node. If the caller has spoken already, the model answers these words first.
func (w *stepper) startConversing(n *domain.Node) {
	if w.s.realtime {
		w.startRealtime(n)
		return
	}
	w.s.exchange = modelConversation{}
	w.s.interruptible = n.Interruptible == nil || *n.Interruptible
	words := w.s.bufferedSpeech
	w.s.bufferedSpeech = Utterance{}
	last := len(w.s.history) - 1
	switch {
	case words.Text != "":
		w.s.phase = listening
		w.handleConversationSpeech(n, words)
	case last >= 0 && w.s.history[last].By == ByAgent && len(w.s.history[last].Calls) == 0:
		w.waitForSpeech(n)
	default:
		w.requestModel(n)
	}
}

// waitForSpeech waits for speech or a key of the caller, unless one of these has already arrived.
func (w *stepper) waitForSpeech(n *domain.Node) {
	w.s.phase = listening
	w.s.exchange.actionRounds = 0
	words := w.s.bufferedSpeech
	w.s.bufferedSpeech = Utterance{}
	if to, ok := w.findKeyEdge(w.s.bufferedKeys); ok {
		w.s.bufferedKeys = ""
		w.enterNode(to)
		return
	}
	w.s.enteredKeys, w.s.bufferedKeys = w.s.bufferedKeys, ""
	if words.Text != "" {
		w.handleConversationSpeech(n, words)
		return
	}
	if w.s.enteredKeys != "" {
		w.waitForMoreKeys(n)
		return
	}
	w.emit(CollectInput{Length: lengthOf(n), Timeout: speechTimeoutOf(n)})
}

// requestModel requests the next answer of the model.
func (w *stepper) requestModel(n *domain.Node) {
	t := &w.s.exchange
	if !w.countModelAnswer(n) {
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

// handleModelAnswered records the complete answer of the model and runs its tool calls.
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
		in.Calls = nil // incomplete tool calls must not be executed
		w.queueSentence(phrasesFor(w.s.language).again)
		all = append(slices.Clip(t.sentences), t.queue...)
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

// continueWhenIdle continues the conversation at the node if no model answer and no action is pending.
func (w *stepper) continueWhenIdle(n *domain.Node) {
	t := &w.s.exchange
	if t.awaitsAnswer || t.pendingActions > 0 {
		return
	}
	if (t.needsAnswer || t.followUp.kind == followUpLost) && w.hasHeldInput(n) {
		if t.speaking || len(t.queue) > 0 {
			if !w.s.interruptible {
				return // the input is applied after the sentence was spoken
			}
			w.cancelAnswer()
		}
		w.applyHeldInput(n)
		return
	}
	if t.needsAnswer {
		if w.s.realtime { // another party had the call meanwhile
			w.startRealtime(n)
			return
		}
		if words := w.s.bufferedSpeech; words.Text != "" {
			w.s.bufferedSpeech = Utterance{}
			w.addToHistory(Message{By: ByCaller, Text: words.Text})
		}
		w.requestModel(n)
		return
	}
	if t.speaking || len(t.queue) > 0 {
		return
	}
	w.runFollowUp(n)
}

// runFollowUp performs the follow-up after all sentences of the answer were spoken.
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
		words := w.s.bufferedSpeech
		if w.s.bufferedSpeech = (Utterance{}); words.Text != "" && next.reason == "" && w.continueAfterGoodbye(n, words) {
			return
		}
		w.endConversation(next.outcome, next.notes, next.reason)
	case followUpTransfer:
		w.s.phase = transferring
		w.emit(Transfer{Node: n.ID, Destination: next.destination, Mode: next.transferMode(), Summary: next.summary, Reason: next.reason})
	}
}

func (t *followUp) transferMode() domain.TransferMode { return domain.TransferBridge }

// handleSentenceSpoken speaks the next waiting sentence, or continues the conversation after the last sentence.
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

// handleConversationSpeech handles words of the caller at a converse node. If the words match an intent edge, the edge
// is followed. Otherwise the model answers them.
func (w *stepper) handleConversationSpeech(n *domain.Node, in Utterance) {
	w.s.nodesSinceInput, w.s.tries, w.s.exchange.actionRounds = 0, 0, 0
	if w.s.enteredKeys != "" {
		w.addKeysToHistory()
	}
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

// Texts that the model receives in place of the caller's words.
const (
	unclearText  = "(something that could not be understood)"
	silenceText  = "(The caller says nothing.)"
	noSpeechText = "(The caller is on the line and has said nothing yet.)"
)

// handleInterruption handles words of the caller while the model speaks or prepares an answer. It cancels the answer,
// or stores the words for later if the answer must not be interrupted.
func (w *stepper) handleInterruption(n *domain.Node, in Utterance) {
	t := &w.s.exchange
	switch {
	case in.Text == "":
	case w.s.isGoodbye() && w.s.interruptible:
		w.continueAfterGoodbye(n, in)
	case t.choosing, !w.s.interruptible, t.pendingActions > 0, t.followUp.kind != followUpListen: // answered later; pending actions are not cancelled
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

// cancelAnswer stops the current answer of the model. The history keeps the part that was spoken.
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
	*t = modelConversation{turns: t.turns, failed: t.failed}
}

// recordHeardAnswer limits the model's answer in the history to the part that was spoken.
func (w *stepper) recordHeardAnswer() {
	t := &w.s.exchange
	sentences := slices.Clone(t.sentences)
	if last := len(sentences) - 1; w.s.hasHeard && t.speaking && !t.speakingFiller && last >= 0 {
		sentences[last] = w.s.heard
	}
	played := strings.TrimSpace(joinSentences(sentences))
	switch {
	case t.historyIndex > 0 && (t.speaking && !t.speakingFiller || len(t.queue) > 0):
		h := append([]Message(nil), w.s.history...)
		h[t.historyIndex-1].Text = MarkInterrupted(played, h[t.historyIndex-1].Text)
		w.s.history = h
	case t.historyIndex == 0 && played != "":
		w.addToHistory(Message{By: ByAgent, Text: played + interruptionMark})
		t.historyIndex = len(w.s.history)
	}
}

const interruptionMark = " —"

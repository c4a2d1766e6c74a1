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
	By    string   // ByCaller, ByAgent or ByTool
	Text  string   // as a transcript shows it
	Calls []Called // by the agent: what its model wanted done
	ID    string   // by a tool: what it answers
}

// Called is what a model wants done.
type Called struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`      // JSON as the model wrote it: a stranger's
	Tool      string `json:"tool,omitempty"` // the id of the tool of that name, where there is one
}

// Offer is something that the model may call at a node.
type Offer struct {
	Kind        OfferKind
	Name        string // "" of a tool: it has its own
	Description string
	Parameters  map[string]any // JSON Schema; nil of a tool
	To          string         // edge: the node; tool: its id
	Intent      string         // edge: what was meant, where that has a name
}

// OfferKind is what an offer does.
type OfferKind uint8

// The kinds of offers.
const (
	OfferEdge OfferKind = iota + 1
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
	Sentence struct {
		Round int
		Text  string
	}
	// Answered is the end of its answer. Failed is "" or why there is none.
	Answered struct {
		Round  int
		Calls  []Called
		Failed string
	}
	// Acted is how an Act ended. Result is JSON or words.
	Acted struct {
		Round  int
		ID     string
		OK     bool
		Result string
	}
	// Slow says that nothing has been heard for a while: the caller may wonder.
	Slow struct{ Round int }
)

func (Sentence) input() {}
func (Answered) input() {}
func (Acted) input()    {}
func (Slow) input()     {}

// What a step asks for where a model takes part.
type (
	// Think asks the model; sentences and Answered follow.
	Think struct {
		Round   int
		Node    string
		Prompt  string    // what the node is about
		History []Message // oldest first
		Offers  []Offer
		Bases   []string // knowledge bases to look things up in
		Choose  bool     // nothing is to be said: which of the offers was meant?
	}
	// Forget says that no answer to the last Think is wanted any more.
	Forget struct{}
	// Refused tells that the model wanted something that the node does not offer,
	// or not so.
	Refused struct{ Node, Name, Why string }
	// Meant tells what the caller wants.
	Meant struct {
		Node       string
		Intent     string
		Confidence float64
		Text       string // the words; "" where they are secret
	}
)

// Same says whether a model is asked the same, but for how the caller's last
// words are written: signs and capitals are a recognizer's afterthoughts.
func (t *Think) Same(o *Think) bool {
	n := len(t.History)
	if n == 0 || n != len(o.History) {
		return false
	}
	a, b := t.History[n-1], o.History[n-1]
	if a.By != ByCaller || b.By != ByCaller || plainWords(a.Text) == "" || plainWords(a.Text) != plainWords(b.Text) {
		return false
	}
	x, y := *t, *o
	x.History, y.History = x.History[:n-1], y.History[:n-1]
	return reflect.DeepEqual(x, y)
}

func (Think) do()   {}
func (Forget) do()  {}
func (Refused) do() {}
func (Meant) do()   {}

// Bounds of a conversation with a model.
const (
	defaultTurns   = 40 // answers of a model at a node
	MaxModelTurns  = 500
	maxActRounds   = 8 // in a row without a word of the caller
	maxHistory     = 120
	historyBytes   = 64 << 10
	maxWaiting     = 64 // sentences
	maxResult      = 16 << 10
	defaultAskings = 2 // times that a silent caller is spoken to
)

// talk is where a conversation with a model stands at a node.
type talk struct {
	waits    bool // for Answered
	choosing bool // the answer is a choice: for a node that collects
	acting   int  // Acted that are awaited
	again    bool // what was done has answers that the model is to hear
	saying   bool
	fills    bool     // what is being said is no sentence of the model's
	queue    []string // sentences that are still to be said
	said     []string // of this answer
	noted    int      // index+1 of the answer in the history
	turns    int
	acts     int // rounds of actions in a row
	failed   int // answers in a row that did not come
	filled   bool
	then     then
	heard    Spoken // what is being chosen for
	rested   bool   // living: nobody speaks
}

// then is what follows once everything was said.
type then struct {
	kind        thenKind
	to          string
	outcome     domain.Outcome
	notes       string
	destination string
	reason      string
	summary     string
}

type thenKind uint8

const (
	thenListen thenKind = iota
	thenEnter
	thenEnd
	thenTransfer
	thenLeave
	thenLost // the engine is gone, and nobody takes its place
)

// sentence of the model is said, behind those that wait.
func (w *walk) sentence(in Sentence) {
	t := &w.s.talk
	if w.s.phase != thinking || in.Round != w.s.round || !t.waits || t.choosing || in.Text == "" {
		return
	}
	if len(t.queue) < maxWaiting {
		w.utter(cut(in.Text))
	}
}

func (w *walk) utter(text string) {
	t := &w.s.talk
	if t.saying {
		t.queue = append(slices.Clip(t.queue), text)
		return
	}
	w.pronounce(text)
}

func (w *walk) pronounce(text string) {
	t := &w.s.talk
	t.saying, t.fills = true, false
	t.said = append(slices.Clip(t.said), text)
	w.tell(Say{Node: w.s.node, Text: text, Shown: text, Interruptible: w.s.reply})
}

// converse enters a node at which a model speaks: who has just spoken waits
// for an answer.
func (w *walk) converse(n *domain.Node) {
	if w.s.live {
		w.enliven(n)
		return
	}
	w.s.talk = talk{}
	w.s.reply = n.Interruptible == nil || *n.Interruptible
	said := w.s.said
	w.s.said = Spoken{}
	last := len(w.s.history) - 1
	switch {
	case said.Text != "":
		w.s.phase = listening
		w.words(n, said)
	case last >= 0 && w.s.history[last].By == ByAgent && len(w.s.history[last].Calls) == 0:
		w.listen(n)
	default:
		w.think(n)
	}
}

// listen waits for the caller's words.
func (w *walk) listen(n *domain.Node) {
	w.s.phase = listening
	w.s.talk.acts = 0
	said := w.s.said
	w.s.said = Spoken{}
	if to, ok := w.keyEdge(w.s.ahead); ok {
		w.s.ahead = ""
		w.enter(to)
		return
	}
	if said.Text != "" {
		w.words(n, said)
		return
	}
	w.tell(Collect{Length: lengthOf(n), Timeout: patienceOf(n)})
}

// think asks the model for the next answer.
func (w *walk) think(n *domain.Node) {
	t := &w.s.talk
	if t.turns++; t.turns > turnsOf(n) {
		w.giveUp("too_many_turns")
		return
	}
	w.s.phase = thinking
	w.s.round++
	t.waits, t.again, t.said, t.noted, t.filled = true, false, nil, 0, false
	prompt, _ := w.s.shownText(n.Prompt)
	w.tell(Think{
		Round: w.s.round, Node: n.ID, Prompt: prompt, History: w.s.history, Offers: w.s.plan.offers(n), Bases: n.KnowledgeBaseIDs,
	})
}

// answered ends the model's answer.
func (w *walk) answered(in Answered) {
	t := &w.s.talk
	if w.s.phase != thinking || in.Round != w.s.round || !t.waits {
		return
	}
	n := w.s.plan.nodes[w.s.node]
	t.waits = false
	if t.choosing {
		w.chosen(n, in)
		return
	}
	all := append(slices.Clip(t.said), t.queue...)
	if in.Failed != "" && len(all) == 0 || len(all) == 0 && len(in.Calls) == 0 {
		w.speechless(n)
		return
	}
	if in.Failed != "" {
		in.Calls = nil // what it wanted may be half of it
	}
	t.failed = 0
	w.note(Message{By: ByAgent, Text: joined(all), Calls: in.Calls})
	t.noted = len(w.s.history)
	for i := range in.Calls {
		w.called(n, &in.Calls[i])
	}
	if len(in.Calls) > 0 {
		t.again = t.then.kind == thenListen
		if t.acts++; t.acts > maxActRounds {
			w.giveUp("too_many_actions")
			return
		}
	}
	w.drained(n)
}

// drained goes on where nothing is awaited any more.
func (w *walk) drained(n *domain.Node) {
	t := &w.s.talk
	if t.waits || t.acting > 0 {
		return
	}
	if (t.again || t.then.kind == thenLost) && w.holds(n) {
		if t.saying || len(t.queue) > 0 {
			if !w.s.reply {
				return // once it was heard
			}
			w.quiet()
		}
		w.held(n)
		return
	}
	if t.again {
		if w.s.live { // somebody else had the caller meanwhile
			w.enliven(n)
			return
		}
		if said := w.s.said; said.Text != "" {
			w.s.said = Spoken{}
			w.note(Message{By: ByCaller, Text: said.Text})
		}
		w.think(n)
		return
	}
	if t.saying || len(t.queue) > 0 {
		return
	}
	w.next(n)
}

// next does what follows once everything was said.
func (w *walk) next(n *domain.Node) {
	next := w.s.talk.then
	w.s.talk.then = then{}
	switch next.kind {
	case thenListen:
		w.listen(n)
	case thenEnter:
		w.enter(next.to)
	case thenLeave:
		w.leave([]domain.EdgeType{domain.EdgeExpr, domain.EdgeAlways}, n.ID)
	case thenLost:
		if w.hasEdge(n.ID, domain.EdgeFailure) {
			w.leave([]domain.EdgeType{domain.EdgeFailure}, n.ID)
			return
		}
		w.giveUp(RealtimeFailed)
	case thenEnd:
		w.end(next.outcome, next.notes, next.reason)
	case thenTransfer:
		w.s.phase = handing
		w.tell(Transfer{Node: n.ID, Destination: next.destination, Mode: next.mode(), Summary: next.summary, Reason: next.reason})
	}
}

func (t *then) mode() domain.TransferMode { return domain.TransferBridge }

// spokenOn goes on behind a sentence.
func (w *walk) spokenOn(n *domain.Node) {
	t := &w.s.talk
	t.saying, t.fills = false, false
	if len(t.queue) > 0 {
		next := t.queue[0]
		t.queue = t.queue[1:]
		w.pronounce(next)
		return
	}
	w.drained(n)
}

// words are what the caller said to the model: edges that code decides come
// first.
func (w *walk) words(n *domain.Node, in Spoken) {
	w.s.idle, w.s.tries, w.s.talk.acts = 0, 0, 0
	text := in.Text
	if in.Confidence < Unsure {
		text = ""
	}
	if text != "" {
		if m, ok := w.s.plan.understand(n, text); ok && in.Confidence >= Sure {
			w.take(n, m, in)
			return
		}
	}
	if text == "" {
		text = unclear
	}
	w.note(Message{By: ByCaller, Text: text})
	w.think(n)
}

// What a model is told in place of words.
const (
	unclear = "(something that could not be understood)"
	silent  = "(The caller says nothing.)"
	nobody  = "(The caller is on the line and has said nothing yet.)"
)

// interrupted: the caller speaks while the model does, or thinks.
func (w *walk) interrupted(n *domain.Node, in Spoken) {
	t := &w.s.talk
	switch {
	case in.Text == "":
	case t.choosing, !w.s.reply, t.acting > 0, t.then.kind != thenListen: // it is heard later; what is being done is not undone
		if w.s.said.Text != "" {
			in.Text = w.s.said.Text + " " + in.Text
		}
		w.s.said = in
	default:
		w.quiet()
		w.s.phase = listening
		w.words(n, in)
	}
}

// quiet ends what is being said and thought. Of an answer the history keeps as
// much as was heard.
func (w *walk) quiet() {
	t := &w.s.talk
	if t.saying {
		w.tell(Hush{})
	}
	if t.waits {
		w.tell(Forget{})
	}
	w.noteHeard()
	w.s.round++
	*t = talk{turns: t.turns, failed: t.failed}
}

// noteHeard keeps as much of an answer in the history as was heard.
func (w *walk) noteHeard() {
	t := &w.s.talk
	heard := joined(t.said)
	switch {
	case t.noted > 0 && (t.saying && !t.fills || len(t.queue) > 0):
		h := append([]Message(nil), w.s.history...)
		h[t.noted-1].Text = heard + interruption
		w.s.history = h
	case t.noted == 0 && heard != "":
		w.note(Message{By: ByAgent, Text: heard + interruption})
		t.noted = len(w.s.history)
	}
}

const interruption = " —"

// keyedWhile takes a key where a model speaks or listens.
func (w *walk) keyedWhile(n *domain.Node, key byte) {
	to, ok := w.keyEdge(string(key))
	switch {
	case !ok && w.s.phase == listening:
		w.tell(Collect{Length: lengthOf(n), Timeout: patienceOf(n)})
	case w.s.phase == thinking && (!ok || !w.s.reply || w.s.talk.acting > 0):
		w.remember(key)
	default:
		if w.s.phase == thinking {
			w.quiet()
		}
		w.enter(to)
	}
}

package pathway

import (
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
)

// How a transcript tells who spoke, and of keys.
const (
	byAgent       = "agent"
	byCaller      = "caller"
	pressedPrefix = "[pressed "
	hiddenKeys    = "[hidden]"
)

// ReplayLine is one thing that was said or keyed in, beside what it is now.
type ReplayLine struct {
	Speaker        string
	Node           string
	Recorded       string // "": it was not said then
	Now            string // "": it is not said now
	Assumed        bool   // it was keyed in secretly, or not kept: zeros stand for it
	OutsidePathway bool   // it was said besides the pathway
}

// IsSame reports whether nothing differs.
func (l *ReplayLine) IsSame() bool { return l.OutsidePathway || l.Recorded == l.Now }

// RecordedCall is a call that is over.
type RecordedCall struct {
	Segments  []domain.Segment
	Transfers []domain.Transfer
	ByAgent   bool // the agent has ended it
	// Redact takes out of what is said now what was not kept of what was said then.
	Redact *domain.Redactor
}

// Replay walks a pathway with what was keyed in during a call, and tells line
// by line what would be said now. It ends where the call ended.
func Replay(script domain.Script, variables map[string]string, call RecordedCall) ([]ReplayLine, State) {
	call.Segments = slices.Clone(call.Segments)
	for i, s := range call.Segments { // patterns may have been set behind the call
		if s.Speaker == byAgent {
			call.Segments[i].Text = call.Redact.RedactText(s.Text)
		}
	}
	r := replay{call: call, state: New(script, variables)}
	r.queue = []Input{Started{}}
	for len(r.queue) > 0 && !r.over {
		in := r.queue[0]
		r.queue = r.queue[1:]
		r.step(in)
		if len(r.queue) == 0 && !r.over {
			r.advance()
		}
	}
	if r.state.Over() {
		r.addUnspokenLines()
	}
	return r.lines, r.state
}

// replay is one in the making.
type replay struct {
	call          RecordedCall
	state         State
	nextSegment   int // segment
	nextTransfer  int // transfers
	queue         []Input
	waiting       *CollectInput
	lines         []ReplayLine
	over          bool
	promptPlaying bool // a prompt is being heard
}

func (r *replay) step(in Input) {
	if _, done := in.(PromptDone); done {
		r.promptPlaying = false
	}
	var dos []Command
	r.state, dos = Step(r.state, in)
	for _, d := range dos {
		switch d := d.(type) {
		case Say:
			d.Shown = r.call.Redact.RedactText(d.Shown)
			r.comparePrompt(d)
		case StopSpeaking: // the prompt is not heard to its end
			if r.promptPlaying {
				r.queue, r.promptPlaying = dropPromptDone(r.queue), false
			}
		case SendDigits:
			r.queue = append(r.queue, DigitsSent{})
		case ActionRequest: // as if it had gone well
			r.queue = append(r.queue, ActionEnded{Round: d.Round, ID: d.ID, OK: true})
		case CollectInput:
			r.waiting = &d
		case End:
			r.over = true
		}
	}
	if r.state.phase != collecting && r.state.phase != confirming {
		r.waiting = nil
	}
}

// dropPromptDone leaves the end of a prompt out.
func dropPromptDone(queue []Input) []Input {
	var out []Input
	for _, in := range queue {
		if _, done := in.(PromptDone); !done {
			out = append(out, in)
		}
	}
	return out
}

func (r *replay) peekSegment() *domain.Segment {
	if r.nextSegment < len(r.call.Segments) {
		return &r.call.Segments[r.nextSegment]
	}
	return nil
}

// comparePrompt sets a prompt beside the recorded one, with the keys pressed during it.
func (r *replay) comparePrompt(d Say) {
	for s := r.peekSegment(); s != nil && s.Speaker != byAgent; s = r.peekSegment() {
		r.queueSegment(s)
	}
	s := r.peekSegment()
	if s != nil && s.Text != d.Shown && r.nextSegment+1 < len(r.call.Segments) {
		if after := r.call.Segments[r.nextSegment+1]; after.Speaker == byAgent && after.Text == d.Shown {
			r.lines = append(r.lines, ReplayLine{Speaker: byAgent, Recorded: s.Text, OutsidePathway: true})
			r.nextSegment++
			s = r.peekSegment()
		}
	}
	switch {
	case s != nil:
		r.nextSegment++
		r.lines = append(r.lines, ReplayLine{Speaker: byAgent, Node: d.Node, Recorded: s.Text, Now: d.Shown})
		end := s.EndMs
		for s = r.peekSegment(); s != nil && s.Speaker == byCaller && s.StartMs < end; s = r.peekSegment() {
			r.queueSegment(s)
		}
	case r.call.ByAgent: // it had nothing more to say
		r.lines = append(r.lines, ReplayLine{Speaker: byAgent, Node: d.Node, Now: d.Shown})
	default: // the far end had hung up
		r.over = true
		return
	}
	r.queue, r.promptPlaying = append(r.queue, PromptDone{}), true
}

// queueSegment queues what was keyed in.
func (r *replay) queueSegment(s *domain.Segment) {
	r.nextSegment++
	if s.Speaker != byCaller {
		return
	}
	keyed, keys := strings.CutPrefix(s.Text, pressedPrefix)
	if s.Text == hiddenKeys || keys && strings.Contains(keyed, domain.Redacted) {
		n := 1
		if r.waiting != nil {
			n = r.waiting.Length
		}
		r.lines = append(r.lines, ReplayLine{Speaker: byCaller, Recorded: s.Text, Now: s.Text, Assumed: true})
		for range n {
			r.queue = append(r.queue, Digit{Key: '0'})
		}
		return
	}
	r.lines = append(r.lines, ReplayLine{Speaker: byCaller, Recorded: s.Text, Now: s.Text})
	if !keys {
		r.queueSpeech(s)
		return
	}
	keyed = phoneKeysIn(strings.TrimSuffix(keyed, "]"))
	for i := range len(keyed) {
		r.queue = append(r.queue, Digit{Key: keyed[i]})
	}
}

// queueSpeech queues what was said, where words are heard.
func (r *replay) queueSpeech(s *domain.Segment) {
	switch _, hears := r.state.ExpectedPhrases(); {
	case !hears, r.state.phase == speaking && IsAcknowledgement(s.Text) && !r.state.Understands(s.Text):
	case s.Text == NotUnderstood:
		r.queue = append(r.queue, Utterance{})
	default:
		r.queue = append(r.queue, Utterance{Text: s.Text, Confidence: s.Confidence})
	}
}

// advance finds what came next where the pathway waits.
func (r *replay) advance() {
	if r.state.phase == transferring {
		r.endTransfer()
		return
	}
	s := r.peekSegment()
	switch {
	case s == nil && !r.call.ByAgent, r.waiting == nil:
		r.over = true
	case s != nil && s.Speaker != byAgent:
		r.queueSegment(s)
		if len(r.queue) == 0 { // nothing that a pathway hears
			r.advance()
		}
	default:
		r.queue = append(r.queue, Timeout{})
	}
}

// endTransfer goes on after a transfer as it went, where the caller came back.
func (r *replay) endTransfer() {
	ok := false
	if r.nextTransfer < len(r.call.Transfers) {
		ok = r.call.Transfers[r.nextTransfer].AnsweredAt != nil
		r.nextTransfer++
	}
	for s := r.peekSegment(); s != nil && s.Speaker != byAgent; s = r.peekSegment() {
		r.nextSegment++
	}
	if r.peekSegment() == nil && !r.call.ByAgent {
		r.over = true
		return
	}
	r.queue = append(r.queue, Transferred{OK: ok})
}

// addUnspokenLines is what was said then and is not said now.
func (r *replay) addUnspokenLines() {
	for s := r.peekSegment(); s != nil; s = r.peekSegment() {
		r.nextSegment++
		if s.Speaker == byAgent {
			r.lines = append(r.lines, ReplayLine{Speaker: byAgent, Recorded: s.Text})
		}
	}
}

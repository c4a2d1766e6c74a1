package pathway

import (
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
)

// How a transcript tells who spoke, and of keys.
const (
	byAgent   = "agent"
	byCaller  = "caller"
	pressed   = "[pressed "
	keyedHide = "[hidden]"
)

// Line is one thing that was said or keyed in, beside what it is now.
type Line struct {
	Speaker  string
	Node     string
	Recorded string // "": it was not said then
	Now      string // "": it is not said now
	Assumed  bool   // it was keyed in secretly, or not kept: zeros stand for it
	Beside   bool   // it was said besides the pathway
}

// Same says whether nothing differs.
func (l *Line) Same() bool { return l.Beside || l.Recorded == l.Now }

// Recorded is a call that is over.
type Recorded struct {
	Segments  []domain.Segment
	Transfers []domain.Transfer
	ByAgent   bool // the agent has ended it
	// Redact takes out of what is said now what was not kept of what was said then.
	Redact *domain.Redactor
}

// Replay walks a pathway with what was keyed in during a call, and tells line
// by line what would be said now. It ends where the call ended.
func Replay(script domain.Script, variables map[string]string, call Recorded) ([]Line, State) {
	call.Segments = slices.Clone(call.Segments)
	for i, s := range call.Segments { // patterns may have been set behind the call
		if s.Speaker == byAgent {
			call.Segments[i].Text = call.Redact.Text(s.Text)
		}
	}
	r := replay{call: call, state: New(script, variables)}
	r.queue = []Input{Began{}}
	for len(r.queue) > 0 && !r.over {
		in := r.queue[0]
		r.queue = r.queue[1:]
		r.step(in)
		if len(r.queue) == 0 && !r.over {
			r.await()
		}
	}
	if r.state.Over() {
		r.rest()
	}
	return r.lines, r.state
}

// replay is one in the making.
type replay struct {
	call   Recorded
	state  State
	next   int // segment
	moved  int // transfers
	queue  []Input
	waits  *Collect
	lines  []Line
	over   bool
	spoken bool // a prompt is being heard
}

func (r *replay) step(in Input) {
	if _, done := in.(PromptDone); done {
		r.spoken = false
	}
	var dos []Do
	r.state, dos = Step(r.state, in)
	for _, d := range dos {
		switch d := d.(type) {
		case Say:
			d.Shown = r.call.Redact.Text(d.Shown)
			r.said(d)
		case Hush: // the prompt is not heard to its end
			if r.spoken {
				r.queue, r.spoken = dropDone(r.queue), false
			}
		case SendDigits:
			r.queue = append(r.queue, DigitsSent{})
		case Act: // as if it had gone well
			r.queue = append(r.queue, Acted{Round: d.Round, ID: d.ID, OK: true})
		case Collect:
			r.waits = &d
		case End:
			r.over = true
		}
	}
	if r.state.phase != collecting && r.state.phase != confirming {
		r.waits = nil
	}
}

// dropDone leaves the end of a prompt out.
func dropDone(queue []Input) []Input {
	var out []Input
	for _, in := range queue {
		if _, done := in.(PromptDone); !done {
			out = append(out, in)
		}
	}
	return out
}

func (r *replay) peek() *domain.Segment {
	if r.next < len(r.call.Segments) {
		return &r.call.Segments[r.next]
	}
	return nil
}

// said sets a prompt beside the recorded one, with the keys pressed during it.
func (r *replay) said(d Say) {
	for s := r.peek(); s != nil && s.Speaker != byAgent; s = r.peek() {
		r.take(s)
	}
	s := r.peek()
	if s != nil && s.Text != d.Shown && r.next+1 < len(r.call.Segments) {
		if after := r.call.Segments[r.next+1]; after.Speaker == byAgent && after.Text == d.Shown {
			r.lines = append(r.lines, Line{Speaker: byAgent, Recorded: s.Text, Beside: true})
			r.next++
			s = r.peek()
		}
	}
	switch {
	case s != nil:
		r.next++
		r.lines = append(r.lines, Line{Speaker: byAgent, Node: d.Node, Recorded: s.Text, Now: d.Shown})
		end := s.EndMs
		for s = r.peek(); s != nil && s.Speaker == byCaller && s.StartMs < end; s = r.peek() {
			r.take(s)
		}
	case r.call.ByAgent: // it had nothing more to say
		r.lines = append(r.lines, Line{Speaker: byAgent, Node: d.Node, Now: d.Shown})
	default: // the far end had hung up
		r.over = true
		return
	}
	r.queue, r.spoken = append(r.queue, PromptDone{}), true
}

// take queues what was keyed in.
func (r *replay) take(s *domain.Segment) {
	r.next++
	if s.Speaker != byCaller {
		return
	}
	keyed, keys := strings.CutPrefix(s.Text, pressed)
	if s.Text == keyedHide || keys && strings.Contains(keyed, domain.Redacted) {
		n := 1
		if r.waits != nil {
			n = r.waits.Length
		}
		r.lines = append(r.lines, Line{Speaker: byCaller, Recorded: s.Text, Now: s.Text, Assumed: true})
		for range n {
			r.queue = append(r.queue, Digit{Key: '0'})
		}
		return
	}
	r.lines = append(r.lines, Line{Speaker: byCaller, Recorded: s.Text, Now: s.Text})
	if !keys {
		r.spokenWords(s)
		return
	}
	keyed = digitsOf(strings.TrimSuffix(keyed, "]"))
	for i := range len(keyed) {
		r.queue = append(r.queue, Digit{Key: keyed[i]})
	}
}

// spokenWords queues what was said, where words are heard.
func (r *replay) spokenWords(s *domain.Segment) {
	switch _, hears := r.state.Expects(); {
	case !hears, r.state.phase == speaking && Acknowledges(s.Text) && !r.state.Understands(s.Text):
	case s.Text == NotUnderstood:
		r.queue = append(r.queue, Spoken{})
	default:
		r.queue = append(r.queue, Spoken{Text: s.Text, Confidence: s.Confidence})
	}
}

// await finds what came next where the pathway waits.
func (r *replay) await() {
	if r.state.phase == handing {
		r.handed()
		return
	}
	s := r.peek()
	switch {
	case s == nil && !r.call.ByAgent, r.waits == nil:
		r.over = true
	case s != nil && s.Speaker != byAgent:
		r.take(s)
		if len(r.queue) == 0 { // nothing that a pathway hears
			r.await()
		}
	default:
		r.queue = append(r.queue, Timeout{})
	}
}

// handed goes on after a transfer as it went, where the caller came back.
func (r *replay) handed() {
	ok := false
	if r.moved < len(r.call.Transfers) {
		ok = r.call.Transfers[r.moved].AnsweredAt != nil
		r.moved++
	}
	for s := r.peek(); s != nil && s.Speaker != byAgent; s = r.peek() {
		r.next++
	}
	if r.peek() == nil && !r.call.ByAgent {
		r.over = true
		return
	}
	r.queue = append(r.queue, Transferred{OK: ok})
}

// rest is what was said then and is not said now.
func (r *replay) rest() {
	for s := r.peek(); s != nil; s = r.peek() {
		r.next++
		if s.Speaker == byAgent {
			r.lines = append(r.lines, Line{Speaker: byAgent, Recorded: s.Text})
		}
	}
}

package pathway

import (
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/wordlists"
)

// The notation of speakers and of pressed keys in stored transcripts.
const (
	byAgent       = "agent"
	byCaller      = "caller"
	pressedPrefix = "[pressed "
	hiddenKeys    = "[hidden]"
)

// ReplayLine compares one line of a recorded transcript with the line that the replay produces.
type ReplayLine struct {
	Speaker        string
	Node           string
	Recorded       string // text of the transcript; empty: not in the call
	Now            string // text of the replay; empty: not in the replay
	Assumed        bool   // the input was secret or not stored and is replaced by zeros
	OutsidePathway bool   // spoken outside the pathway
}

// IsSame reports whether the replay produces the recorded line, or the line does not come from the pathway.
func (l *ReplayLine) IsSame() bool { return l.OutsidePathway || l.Recorded == l.Now }

// RecordedCall holds the transcript and the transfers of an ended call that is replayed.
type RecordedCall struct {
	Segments  []domain.Segment
	Transfers []domain.Transfer
	ByAgent   bool              // the agent ended the call
	Variables map[string]string // variables at the end of the call, which hold the results of actions
	// Redact redacts the texts of the replay in the same way as the stored transcript.
	Redact *domain.Redactor
}

// Replay runs a pathway with the recorded input of a call. It returns line by line what the agent would say now. The
// replay ends where the recorded call ended.
func Replay(script domain.Script, variables map[string]string, call RecordedCall) ([]ReplayLine, State) {
	call.Segments = slices.Clone(call.Segments)
	for i, s := range call.Segments { // redaction patterns may be newer than the call
		if s.Speaker == byAgent {
			call.Segments[i].Text = call.Redact.RedactText(s.Text)
		}
	}
	r := replay{call: call, state: New(script, variables), language: script.RecognitionLanguage()}
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

// replay is the state of a Replay.
type replay struct {
	call          RecordedCall
	state         State
	nextSegment   int // index of the next segment
	nextTransfer  int // index of the next transfer
	queue         []Input
	waiting       *CollectInput
	lines         []ReplayLine
	over          bool
	promptPlaying bool // a prompt is being spoken
	language      string
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
		case StopSpeaking: // the prompt was interrupted
			if r.promptPlaying {
				r.queue, r.promptPlaying = dropPromptDone(r.queue), false
			}
		case SendDigits:
			r.queue = append(r.queue, DigitsSent{})
		case ActionRequest: // actions are assumed to succeed
			r.queue = append(r.queue, ActionEnded{Round: d.Round, ID: d.ID, OK: true, Result: r.call.Variables[r.state.graph.nodes[d.Node].SaveAs]})
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

// dropPromptDone removes PromptDone inputs from a queue.
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

// comparePrompt compares a prompt of the replay with the recorded prompt. It queues the input that the caller entered
// before and during the recorded prompt.
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
	case r.call.ByAgent: // the recorded call ended before this prompt
		r.lines = append(r.lines, ReplayLine{Speaker: byAgent, Node: d.Node, Now: d.Shown})
	default: // the remote party had hung up
		r.over = true
		return
	}
	r.queue, r.promptPlaying = append(r.queue, PromptDone{}), true
}

// queueSegment queues the keys or words of a recorded transcript segment as inputs.
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

// queueSpeech queues the recorded words of a segment as an input if the current node accepts speech.
func (r *replay) queueSpeech(s *domain.Segment) {
	switch _, hears := r.state.ExpectedPhrases(); {
	case !hears, r.state.phase == speaking && wordlists.IsAcknowledgement(s.Text, r.language) && !r.state.Understands(s.Text):
	case s.Text == NotUnderstood:
		r.queue = append(r.queue, Utterance{})
	default:
		r.queue = append(r.queue, Utterance{Text: s.Text, Confidence: s.Confidence})
	}
}

// advance queues the next recorded input when the pathway waits for the caller.
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
		if len(r.queue) == 0 { // the pathway ignores the segment
			r.advance()
		}
	default:
		r.queue = append(r.queue, Timeout{})
	}
}

// endTransfer queues the end of a transfer if the caller returned to the agent in the recorded call.
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

// addUnspokenLines adds the agent's recorded lines that the replay did not reach.
func (r *replay) addUnspokenLines() {
	for s := r.peekSegment(); s != nil; s = r.peekSegment() {
		r.nextSegment++
		if s.Speaker == byAgent {
			r.lines = append(r.lines, ReplayLine{Speaker: byAgent, Recorded: s.Text})
		}
	}
}

package pathway

import (
	"strings"
)

// MaxTurns bounds the inputs of a conversation that is played.
const MaxSessionInputs = 200

// ParseKeys are the keys of a phone that a text spells; ok is false where it holds
// anything else.
func ParseKeys(text string) (keyed string, ok bool) {
	keyed = strings.ToUpper(strings.Join(strings.Fields(text), ""))
	return keyed, phoneKeysIn(keyed) == keyed
}

// TextSession is a conversation without sound: prompts are spoken to their end at
// once, and what is to be done outside is only told.
type TextSession struct {
	State   State
	Waiting *CollectInput // for keys or words; nil: for the end of a transfer, or not at all
	// Model answers what is thought; nil: nobody does.
	Model func(t ModelRequest) (sentences []string, end ModelAnswered)
	// Hand does what is to be done; nil: nothing is done, and counts as done well.
	RunAction func(a ActionRequest) ActionEnded
}

// NotDone is what a model hears of something that counts as done.
const SimulatedResult = `{"status": "ok", "note": "nothing was really done: this is a rehearsal"}`

// StartSession plays until the pathway waits or ends, and tells of all that it did.
func (p *TextSession) StartSession() []Command { return p.feed(Started{}) }

// IsTransferring reports whether the end of a transfer is awaited.
func (p *TextSession) IsTransferring() bool { return p.State.phase == transferring }

// PressKeys goes on with keys; without any with silence.
func (p *TextSession) PressKeys(keyed string) []Command {
	if keyed == "" {
		return p.feed(Timeout{})
	}
	var all []Command
	for i := range len(keyed) {
		all = append(all, p.feed(Digit{Key: keyed[i]})...)
	}
	return all
}

// Speak goes on with words.
func (p *TextSession) Speak(text string) []Command {
	return p.feed(Utterance{Text: text, Confidence: 1})
}

// HearsSpeech reports whether words are heard where it stands.
func (p *TextSession) HearsSpeech() bool { _, hears := p.State.ExpectedPhrases(); return hears }

// EndTransfer goes on after a transfer. ok: somebody was reached.
func (p *TextSession) EndTransfer(ok bool) []Command { return p.feed(Transferred{OK: ok}) }

// WaitsForSpeech reports whether a model waits for words.
func (p *TextSession) WaitsForSpeech() bool { return p.State.phase == listening }

// feed tells one thing, and of each prompt that it was spoken.
func (p *TextSession) feed(in Input) []Command {
	var all []Command
	for queue := []Input{in}; len(queue) > 0; queue = queue[1:] {
		var dos []Command
		p.State, dos = Step(p.State, queue[0])
		for _, d := range dos {
			switch d := d.(type) {
			case Say:
				queue = append(queue, PromptDone{})
			case SendDigits:
				queue = append(queue, DigitsSent{})
			case CollectInput:
				p.Waiting = &d
			case ModelRequest:
				queue = append(queue, p.answerModelRequest(d)...)
			case ActionRequest:
				queue = append(queue, p.runAction(d))
			}
		}
		all = append(all, dos...)
	}
	if p.State.phase != collecting && p.State.phase != confirming && p.State.phase != listening {
		p.Waiting = nil
	}
	return all
}

func (p *TextSession) answerModelRequest(t ModelRequest) []Input {
	if p.Model == nil {
		return []Input{ModelAnswered{Round: t.Round, Failed: "no_model"}}
	}
	sentences, end := p.Model(t)
	in := make([]Input, 0, len(sentences)+1)
	for _, text := range sentences {
		in = append(in, ModelSentence{Round: t.Round, Text: text})
	}
	end.Round = t.Round
	return append(in, end)
}

func (p *TextSession) runAction(a ActionRequest) Input {
	if p.RunAction != nil {
		return p.RunAction(a)
	}
	out := ActionEnded{Round: a.Round, ID: a.ID, OK: true}
	if a.ID != "" {
		out.Result = SimulatedResult
	}
	return out
}

package pathway

import (
	"strings"
)

// MaxSessionInputs limits the inputs of a text session.
const MaxSessionInputs = 200

// ParseKeys parses phone keys, ignoring spaces and case. ok is false if the text contains other characters.
func ParseKeys(text string) (keyed string, ok bool) {
	keyed = strings.ToUpper(strings.Join(strings.Fields(text), ""))
	return keyed, phoneKeysIn(keyed) == keyed
}

// TextSession runs a conversation without audio. Prompts end at once, and actions are simulated.
type TextSession struct {
	State   State
	Waiting *CollectInput // expected keys or words; nil: a transfer is pending or the conversation has ended
	// Model answers model requests. If it is nil, every model request fails.
	Model func(t ModelRequest) (sentences []string, end ModelAnswered)
	// RunAction runs an action. If it is nil, actions succeed without effect.
	RunAction func(a ActionRequest) ActionEnded
}

// SimulatedResult is the result of a simulated action.
const SimulatedResult = `{"status": "ok", "note": "nothing was really done: this is a simulation"}`

// StartSession starts the conversation. It returns all commands until the conversation waits for input or ends.
func (p *TextSession) StartSession() []Command { return p.feed(Started{}) }

// IsTransferring reports whether the session waits for EndTransfer.
func (p *TextSession) IsTransferring() bool { return p.State.phase == transferring }

// PressKeys applies pressed keys and returns the commands that follow. If keyed is empty, it applies a timeout.
func (p *TextSession) PressKeys(keyed string) []Command {
	if keyed == "" {
		return p.feed(Timeout{})
	}
	var all []Command
	for i := range len(keyed) {
		all = append(all, p.feed(Digit{Key: keyed[i]})...)
	}
	if p.State.hasKeysForModel() {
		all = append(all, p.feed(Timeout{})...)
	}
	return all
}

// Speak applies words of the caller and returns the commands that follow.
func (p *TextSession) Speak(text string) []Command {
	return p.feed(Utterance{Text: text, Confidence: 1})
}

// HearsSpeech reports whether the current node accepts speech.
func (p *TextSession) HearsSpeech() bool { _, hears := p.State.ExpectedPhrases(); return hears }

// EndTransfer ends a transfer. ok reports whether a person was reached.
func (p *TextSession) EndTransfer(ok bool) []Command { return p.feed(Transferred{OK: ok}) }

// WaitsForSpeech reports whether the conversation at a converse node waits for words of the caller.
func (p *TextSession) WaitsForSpeech() bool { return p.State.phase == listening }

// feed applies an input, and then PromptDone for each prompt that follows. It returns all commands.
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

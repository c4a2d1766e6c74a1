package pathway

import (
	"strings"
)

// MaxTurns bounds the inputs of a conversation that is played.
const MaxTurns = 200

// Keys are the keys of a phone that a text spells; ok is false where it holds
// anything else.
func Keys(text string) (keyed string, ok bool) {
	keyed = strings.ToUpper(strings.Join(strings.Fields(text), ""))
	return keyed, digitsOf(keyed) == keyed
}

// Play is a conversation without sound: prompts are spoken to their end at
// once, and what is to be done outside is only told.
type Play struct {
	State State
	Waits *Collect // for keys or words; nil: for the end of a transfer, or not at all
	// Model answers what is thought; nil: nobody does.
	Model func(t Think) (sentences []string, end Answered)
	// Hand does what is to be done; nil: nothing is done, and counts as done well.
	Hand func(a Act) Acted
}

// NotDone is what a model hears of something that counts as done.
const NotDone = `{"status": "ok", "note": "nothing was really done: this is a rehearsal"}`

// Begin plays until the pathway waits or ends, and tells of all that it did.
func (p *Play) Begin() []Do { return p.feed(Began{}) }

// Handing says whether the end of a transfer is awaited.
func (p *Play) Handing() bool { return p.State.phase == handing }

// Press goes on with keys; without any with silence.
func (p *Play) Press(keyed string) []Do {
	if keyed == "" {
		return p.feed(Timeout{})
	}
	var all []Do
	for i := range len(keyed) {
		all = append(all, p.feed(Digit{Key: keyed[i]})...)
	}
	return all
}

// Speak goes on with words.
func (p *Play) Speak(text string) []Do { return p.feed(Spoken{Text: text, Confidence: 1}) }

// SupportsLanguage says whether words are heard where it stands.
func (p *Play) SupportsLanguage() bool { _, hears := p.State.Expects(); return hears }

// Back goes on after a transfer. ok: somebody was reached.
func (p *Play) Back(ok bool) []Do { return p.feed(Transferred{OK: ok}) }

// Talks says whether a model waits for words.
func (p *Play) Talks() bool { return p.State.phase == listening }

// feed tells one thing, and of each prompt that it was spoken.
func (p *Play) feed(in Input) []Do {
	var all []Do
	for queue := []Input{in}; len(queue) > 0; queue = queue[1:] {
		var dos []Do
		p.State, dos = Step(p.State, queue[0])
		for _, d := range dos {
			switch d := d.(type) {
			case Say:
				queue = append(queue, PromptDone{})
			case SendDigits:
				queue = append(queue, DigitsSent{})
			case Collect:
				p.Waits = &d
			case Think:
				queue = append(queue, p.thought(d)...)
			case Act:
				queue = append(queue, p.done(d))
			}
		}
		all = append(all, dos...)
	}
	if p.State.phase != collecting && p.State.phase != confirming && p.State.phase != listening {
		p.Waits = nil
	}
	return all
}

func (p *Play) thought(t Think) []Input {
	if p.Model == nil {
		return []Input{Answered{Round: t.Round, Failed: "no_model"}}
	}
	sentences, end := p.Model(t)
	in := make([]Input, 0, len(sentences)+1)
	for _, text := range sentences {
		in = append(in, Sentence{Round: t.Round, Text: text})
	}
	end.Round = t.Round
	return append(in, end)
}

func (p *Play) done(a Act) Input {
	if p.Hand != nil {
		return p.Hand(a)
	}
	out := Acted{Round: a.Round, ID: a.ID, OK: true}
	if a.ID != "" {
		out.Result = NotDone
	}
	return out
}

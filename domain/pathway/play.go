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
	Waits *Collect // for keys; nil: for the end of a transfer, or not at all
}

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

// Hears says whether words are heard where it stands.
func (p *Play) Hears() bool { _, hears := p.State.Expects(); return hears }

// Back goes on after a transfer. ok: somebody was reached.
func (p *Play) Back(ok bool) []Do { return p.feed(Transferred{OK: ok}) }

// feed tells one thing, and of each prompt that it was spoken.
func (p *Play) feed(in Input) []Do {
	var all []Do
	for in != nil {
		var dos []Do
		p.State, dos = Step(p.State, in)
		in = nil
		for _, d := range dos {
			switch d := d.(type) {
			case Say:
				in = PromptDone{}
			case SendDigits:
				in = DigitsSent{}
			case Collect:
				p.Waits = &d
			}
		}
		all = append(all, dos...)
	}
	if p.State.phase != collecting && p.State.phase != confirming {
		p.Waits = nil
	}
	return all
}

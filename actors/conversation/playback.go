package conversation

import (
	"time"

	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// playback is what the agent says: the prompt that is being synthesized or played, and the out-of-band prompts that wait.
// Each prompt that plays is a segment of the transcript.
type playback struct {
	sound      Player
	transcript *transcript

	id            uint64      // of the last prompt or digits handed to sound
	segment       int         // of the transcript, while a prompt plays; else -1
	prompt        pathway.Say // that was requested last
	requestedAt   time.Time   // zero: it plays
	slowest       time.Duration
	stopSynthesis func()        // ends the engine's work; nil: none is under way
	busy          bool          // a prompt of the pathway is being synthesized or played, or digits are being sent
	paused        bool          // it waits until the caller's words are known
	pausedAt      time.Duration // on the media clock
	outOfBand     outOfBandQueue
}

func newPlayback(sound Player, t *transcript) playback {
	return playback{sound: sound, transcript: t, segment: -1}
}

// isPlaying says whether a prompt plays.
func (p *playback) isPlaying() bool { return p.segment >= 0 }

// isIdle says whether the agent neither says anything nor is about to.
func (p *playback) isIdle() bool { return !p.isPlaying() && !p.busy && !p.outOfBand.active }

// request begins the synthesis of a prompt.
func (p *playback) request() {
	p.cancelSynthesis()
	p.segment = -1
	p.requestedAt = time.Now()
}

// cancelSynthesis ends the work on the prompt that plays or is about to.
func (p *playback) cancelSynthesis() {
	if p.stopSynthesis != nil {
		p.stopSynthesis()
		p.stopSynthesis = nil
	}
}

// play plays the prompt that was requested. requestedAt is when; zero: unknown.
func (p *playback) play(said speech.Utterance) (requestedAt time.Time) {
	p.cancelSynthesis()
	p.stopSynthesis = said.Stop
	requestedAt = p.requestedAt
	if !requestedAt.IsZero() {
		p.slowest, p.requestedAt = max(p.slowest, time.Since(requestedAt)), time.Time{}
	}
	p.start(said.Feed, said.Clip)
	return requestedAt
}

// playRealtime plays the answer of a realtime engine.
func (p *playback) playRealtime(answer pathway.Say, feed *media.Feed) {
	p.cancelSynthesis()
	p.busy, p.prompt = true, answer
	p.start(feed, nil)
}

// start hands a feed, or else a clip, to sound.
func (p *playback) start(feed *media.Feed, clip media.Clip) {
	p.segment = p.transcript.add(agent, p.prompt.Shown)
	p.paused = false
	p.id++
	if feed != nil {
		p.sound.PlayFeed(p.id, feed)
	} else {
		p.sound.Play(p.id, clip)
	}
}

// sendDigits sends DTMF in place of a prompt.
func (p *playback) sendDigits(digits string) {
	p.busy = true
	p.id++
	p.sound.SendDigits(p.id, digits)
}

// pause lets the prompt wait until it is known what the caller wants.
func (p *playback) pause() {
	p.paused, p.pausedAt = true, p.sound.Mark()
	p.sound.PausePlaying()
}

// resume goes on with a prompt that was paused.
func (p *playback) resume() {
	p.paused = false
	p.sound.ContinuePlaying()
}

// end notes until when the prompt was heard.
func (p *playback) end(interrupted bool) {
	s := &p.transcript.segments[p.segment]
	s.EndMs, s.Interrupted = p.sound.Mark().Milliseconds(), interrupted
	if p.paused {
		s.EndMs = p.pausedAt.Milliseconds()
	}
	p.segment, p.paused = -1, false
}

// interruptOutOfBand makes way for a prompt of the pathway.
func (p *playback) interruptOutOfBand() {
	p.cancelSynthesis()
	if p.outOfBand.active && p.isPlaying() {
		p.end(true)
	}
	p.outOfBand.active, p.outOfBand.then, p.segment = false, nil, -1
}

// stop ends the prompt that plays or is being synthesized.
func (p *playback) stop() {
	p.cancelSynthesis()
	p.busy, p.outOfBand.active = false, false
	if p.isPlaying() {
		p.end(true)
		p.sound.StopPlaying()
	}
	p.id++
}

// firstWordsLimit is how long the agent's first words may take before a call that the contact ends counts as one whose agent
// could not speak.
const firstWordsLimit = 2 * time.Second

// areFirstWordsLate says whether the agent has not spoken yet and its first words have taken firstWordsLimit or longer.
func (p *playback) areFirstWordsLate() bool {
	return !p.requestedAt.IsZero() && time.Since(p.requestedAt) >= firstWordsLimit && !p.transcript.hasAgentSpoken()
}

// outOfBandMost bounds the out-of-band prompts that wait.
const outOfBandMost = 8

// outOfBandQueue holds prompts that the pathway did not ask for: they are said between its own.
type outOfBandQueue struct {
	texts  []string
	active bool          // one of them is being synthesized or played
	then   pathway.Input // input that the pathway gets after it; nil: none
}

// add appends a text and says whether there was room.
func (q *outOfBandQueue) add(text string) bool {
	if len(q.texts) >= outOfBandMost {
		return false
	}
	q.texts = append(q.texts, text)
	return true
}

// next takes the first text; then is what the pathway waits for.
func (q *outOfBandQueue) next(then pathway.Input) (text string, ok bool) {
	if len(q.texts) == 0 {
		return "", false
	}
	text, q.texts, q.active, q.then = q.texts[0], q.texts[1:], true, then
	return text, true
}

// done ends the active prompt and returns what the pathway gets. other: the prompt was none of the queue's, and done is what
// it gets.
func (q *outOfBandQueue) done(other pathway.Input) pathway.Input {
	if !q.active {
		return other
	}
	then := q.then
	q.active, q.then = false, nil
	return then
}

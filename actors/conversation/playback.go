package conversation

import (
	"time"

	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// playback is the agent's audio output. It holds the prompt that is being synthesized or played, and the waiting out-of-band
// prompts. Each prompt that plays is a segment of the transcript.
type playback struct {
	player     Player
	transcript *transcript

	id            uint64      // of the last prompt or digits passed to the player
	segment       int         // index in the transcript while a prompt plays; else -1
	prompt        pathway.Say // last requested prompt
	requestedAt   time.Time   // time of the last request; zero: the prompt plays
	slowest       time.Duration
	stopSynthesis func()             // cancels the synthesis; nil: none is in progress
	busy          bool               // a prompt of the pathway is being synthesized or played, or digits are being sent
	paused        bool               // playing is paused until the caller's words are recognized
	pausedAt      time.Duration      // position of the pause on the media clock
	realtime      bool               // the playing prompt is an answer of a realtime engine, which tells its text
	samples       int                // length of the playing clip; of a feed, Len
	feed          *media.Feed        // audio of the playing prompt in progress; nil: a clip
	spoken        *speech.SpokenText // where the text is in the audio; nil: unknown
	playedTime    time.Duration      // how long the prompt has played up to its last pause
	resumedAt     time.Duration      // position at which it began to play, or went on
	hasPlayed     bool               // a prompt has begun
	firstAt       time.Duration      // position at which the first prompt began
	endedAt       time.Duration      // position at which the last prompt ended
	outOfBand     outOfBandQueue
}

func newPlayback(sound Player, t *transcript) playback {
	return playback{player: sound, transcript: t, segment: -1}
}

// isPlaying reports whether a prompt is playing.
func (p *playback) isPlaying() bool { return p.segment >= 0 }

// isIdle reports whether no prompt is playing, being synthesized or waiting.
func (p *playback) isIdle() bool { return !p.isPlaying() && !p.busy && !p.outOfBand.active }

// request records that a new prompt is being synthesized. It cancels the synthesis of the previous one.
func (p *playback) request() {
	p.cancelSynthesis()
	p.segment = -1
	p.requestedAt = time.Now()
}

// cancelSynthesis cancels the synthesis of the current prompt.
func (p *playback) cancelSynthesis() {
	if p.stopSynthesis != nil {
		p.stopSynthesis()
		p.stopSynthesis = nil
	}
}

// play plays the synthesized prompt. It returns the time at which the prompt was requested, or zero if it is unknown.
func (p *playback) play(utterance speech.Utterance) (requestedAt time.Time) {
	p.cancelSynthesis()
	p.stopSynthesis = utterance.Stop
	requestedAt = p.requestedAt
	if !requestedAt.IsZero() {
		p.slowest, p.requestedAt = max(p.slowest, time.Since(requestedAt)), time.Time{}
	}
	p.realtime = false
	p.spoken = utterance.Spoken
	p.start(utterance.Feed, utterance.Clip)
	return requestedAt
}

// playRealtime plays an answer of the realtime engine.
func (p *playback) playRealtime(answer pathway.Say, feed *media.Feed) {
	p.cancelSynthesis()
	p.busy, p.prompt, p.realtime, p.spoken = true, answer, true, nil
	p.start(feed, nil)
}

// start adds the prompt to the transcript and passes its audio to the player: the feed, or the clip if feed is nil.
func (p *playback) start(feed *media.Feed, clip media.Clip) {
	p.segment = p.transcript.add(agent, p.prompt.Shown)
	p.paused = false
	p.feed, p.samples, p.playedTime, p.resumedAt = feed, len(clip), 0, p.player.Position()
	if !p.hasPlayed {
		p.hasPlayed, p.firstAt = true, p.player.Position()
	}
	p.id++
	if feed != nil {
		p.player.PlayFeed(p.id, feed)
	} else {
		p.player.Play(p.id, clip)
	}
}

// sendDigits sends DTMF digits instead of a prompt.
func (p *playback) sendDigits(digits string) {
	p.busy = true
	p.id++
	p.player.SendDigits(p.id, digits)
}

// pause pauses the prompt because the caller has spoken. The recognized words decide whether it continues.
func (p *playback) pause() {
	p.paused, p.pausedAt = true, p.player.Position()
	p.playedTime += p.pausedAt - p.resumedAt
	p.player.PausePlaying()
}

// resume continues a paused prompt.
func (p *playback) resume() {
	p.paused, p.resumedAt = false, p.player.Position()
	p.player.ContinuePlaying()
}

// heardPart returns the part of the playing prompt's text that the caller has heard, in proportion to its audio if the
// position of the text in the audio is unknown.
func (p *playback) heardPart(text string) string {
	played, samples := p.playedTime, p.samples
	if !p.paused {
		played += p.player.Position() - p.resumedAt
	}
	if p.spoken != nil {
		return p.spoken.HeardPart(text, int(played.Milliseconds()*8))
	}
	if p.feed != nil {
		samples = p.feed.Len()
	}
	return heardText(text, played, samples)
}

// end records in the transcript at which time the prompt ended or was interrupted.
func (p *playback) end(interrupted bool) {
	s := &p.transcript.segments[p.segment]
	s.EndMs, s.Interrupted = p.player.Position().Milliseconds(), interrupted
	if interrupted && !p.realtime && !p.prompt.Sensitive {
		s.Text = pathway.MarkInterrupted(p.heardPart(s.Text), s.Text)
	}
	if p.paused {
		s.EndMs = p.pausedAt.Milliseconds()
	}
	p.segment, p.paused, p.endedAt = -1, false, p.player.Position()
}

// openingTime is the time from the beginning of the first prompt in which people still answer the telephone.
const openingTime = 3 * time.Second

// isOpening reports whether the first prompt has not begun yet, or only just.
func (p *playback) isOpening() bool {
	return !p.hasPlayed || p.player.Position()-p.firstAt < openingTime
}

// interruptOutOfBand stops an out-of-band prompt, because a prompt of the pathway replaces it.
func (p *playback) interruptOutOfBand() {
	p.cancelSynthesis()
	if p.outOfBand.active && p.isPlaying() {
		p.end(true)
	}
	p.outOfBand.active, p.outOfBand.nextInput, p.segment = false, nil, -1
}

// stop ends the prompt that is playing or being synthesized.
func (p *playback) stop() {
	p.cancelSynthesis()
	p.busy, p.outOfBand.active = false, false
	if p.isPlaying() {
		p.end(true)
		p.player.StopPlaying()
	}
	p.id++
}

// firstWordsLimit is the maximum delay of the agent's first words. If the contact hangs up after a longer delay, the agent
// counts as unable to speak.
const firstWordsLimit = 2 * time.Second

// areFirstWordsLate reports whether the agent has not spoken yet although firstWordsLimit has passed.
func (p *playback) areFirstWordsLate() bool {
	return !p.requestedAt.IsZero() && time.Since(p.requestedAt) >= firstWordsLimit && !p.transcript.hasAgentSpoken()
}

// maxOutOfBand is the maximum number of waiting out-of-band prompts.
const maxOutOfBand = 8

// outOfBandQueue holds texts from outside of the pathway, such as those of SpeakText. They are spoken between the prompts
// of the pathway.
type outOfBandQueue struct {
	texts     []string
	active    bool          // one of the prompts is being synthesized or played
	nextInput pathway.Input // input for the pathway afterwards; nil: none
}

// add appends a text. It returns false if the queue is full.
func (q *outOfBandQueue) add(text string) bool {
	if len(q.texts) >= maxOutOfBand {
		return false
	}
	q.texts = append(q.texts, text)
	return true
}

// next removes and returns the first text. then is the input that the pathway gets after the text was spoken.
func (q *outOfBandQueue) next(then pathway.Input) (text string, ok bool) {
	if len(q.texts) == 0 {
		return "", false
	}
	text, q.texts, q.active, q.nextInput = q.texts[0], q.texts[1:], true, then
	return text, true
}

// done ends the prompt that was spoken and returns the input for the pathway. For a prompt of the queue that is the input
// given to next, otherwise it is other.
func (q *outOfBandQueue) done(other pathway.Input) pathway.Input {
	if !q.active {
		return other
	}
	then := q.nextInput
	q.active, q.nextInput = false, nil
	return then
}

package call

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/tone"
)

// musicTimeout limits the synthesis of the hold music.
const musicTimeout = 10 * time.Second

// musicReady carries the synthesized hold music.
type musicReady struct {
	clip media.Clip
	err  error
}

// Control implements mailbox.Control: a full mailbox accepts this message. A call sends the message only once.
func (musicReady) Control() {}

// holdMusic holds the music for a party on hold and its loading state.
type holdMusic struct {
	clip      media.Clip // nil: not loaded yet, or no music is configured
	requested bool
}

// request starts to load the hold music, once per call. Until it is loaded, the party on hold hears no music.
func (h *holdMusic) request(ctx actor.Context, s *domain.Script, speaker speech.Synthesizer) {
	name, voice := s.Transfer.HoldMusic, s.Voice.Name
	if name == "" || name == domain.HoldSilence || h.requested {
		return
	}
	h.requested = true
	mailbox.RunTask(ctx, musicTimeout, func(bound context.Context) any { return readMusic(bound, speaker, name, voice) })
}

func readMusic(ctx context.Context, speaker speech.Synthesizer, name, voice string) (m musicReady) {
	defer func() {
		if v := recover(); v != nil {
			m.err = fmt.Errorf("call: loading hold music panicked: %v", v)
		}
	}()
	if name == domain.HoldTone {
		return musicReady{clip: tone.Waiting()}
	}
	m.clip, m.err = speaker.Speak(ctx, speech.Request{Text: name, Voice: voice})
	return m
}

func (c *call) onHoldMusicReady(m musicReady) {
	if m.err != nil {
		c.log.Warn("hold music could not be loaded", slog.Any("error", m.err))
		return
	}
	c.audio.music.clip = m.clip
	t := c.transfers.current
	if t == nil || c.stage != talking || len(c.audio.music.clip) == 0 {
		return
	}
	switch t.stage {
	case calling, briefing:
		if t.refer == nil && !c.playsRingback() {
			c.audio.session.Hold(c.audio.music.clip)
		}
	case bridged:
		c.audio.music.play(c.audio.session, t.held)
		c.audio.music.play(t.resources.Session(), c.audio.held)
	case storing, referring, leaving:
	}
}

// play starts the music for one party of a bridge while the other party has it on hold, and stops the music afterwards.
// Without music the held party hears what the other party sends.
func (h *holdMusic) play(s leg.Session, held bool) {
	if s == nil || len(h.clip) == 0 {
		return
	}
	if held {
		s.Hold(h.clip)
	} else {
		s.Resume()
	}
}

// onPeerHold handles a hold by the peer. The agent pauses. During a transfer the other party of the bridge hears music.
func (c *call) onPeerHold(ctx actor.Context, e media.Hold) {
	if t := c.transfers.current; t != nil && t.stage == bridged {
		c.audio.music.play(t.resources.Session(), e.PeerNotReceiving)
	}
	if e.PeerNotReceiving {
		c.agent.pause(ctx, pausedByHold)
		return
	}
	c.agent.resume(ctx, pausedByHold, false)
}

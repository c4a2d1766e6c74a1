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

// musicLimit is how long the music may take to be read.
const musicLimit = 10 * time.Second

// musicRead is what a party hears that waits, read.
type musicRead struct {
	clip media.Clip
	err  error
}

// Control admits it always: a call reads its music once.
func (musicRead) Control() {}

// musical says whether a party that waits hears something.
func (c *call) musical() bool {
	m := c.script.Transfer.HoldMusic
	return m != "" && m != domain.HoldSilence
}

// prepareMusic has the music read, once. Until it is there a party that waits
// hears what it would without.
func (c *call) prepareMusic(ctx actor.Context) {
	if !c.musical() || c.musicAsked {
		return
	}
	c.musicAsked = true
	name, speaker := c.script.Transfer.HoldMusic, c.cfg.Speaker
	voice := c.script.Voice.Name
	mailbox.Work(ctx, musicLimit, func(bound context.Context) any { return readMusic(bound, speaker, name, voice) })
}

func readMusic(ctx context.Context, speaker speech.Speaker, name, voice string) (m musicRead) {
	defer func() {
		if v := recover(); v != nil {
			m.err = fmt.Errorf("call: reading hold music panicked: %v", v)
		}
	}()
	if name == domain.HoldTone {
		return musicRead{clip: tone.Waiting()}
	}
	m.clip, m.err = speaker.Speak(ctx, speech.Request{Text: name, Voice: voice})
	return m
}

func (c *call) musicRead(m musicRead) {
	if m.err != nil {
		c.log.Warn("hold music could not be read", slog.Any("error", m.err))
		return
	}
	c.music = m.clip
	t := c.transfer
	if t == nil || c.stage != talking || len(c.music) == 0 {
		return
	}
	switch t.stage {
	case calling, briefing:
		if t.refer == nil && !c.ringsBack() {
			c.session.Hold(c.music)
		}
	case bridged:
		c.amuse(c.session, t.deaf)
		c.amuse(t.resources.Session(), c.deaf)
	case storing, referring, leaving:
	}
}

// amuse lets one side of a bridge hear the music while the other has put it on
// hold; without music it hears what the other sends.
func (c *call) amuse(s leg.Session, held bool) {
	if s == nil || len(c.music) == 0 {
		return
	}
	if held {
		s.Hold(c.music)
	} else {
		s.Resume()
	}
}

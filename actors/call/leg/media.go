package leg

import (
	"time"

	"github.com/callboard/callboard/media"
)

// Session is the media session of a leg.
type Session interface {
	Offer() []byte
	Accept(answer []byte) error
	Answer(offer []byte) ([]byte, error)
	Rekey()
	Early()
	Begin()
	Play(id uint64, clip media.Clip)
	PlayFeed(id uint64, feed *media.Feed)
	StopPlaying()
	PausePlaying()
	ContinuePlaying()
	Hear(receive func(frame []byte))
	SendDigits(id uint64, digits string)
	Pressed(key byte, d time.Duration)
	Hold(music media.Clip)
	Resume()
	PauseRecording()
	ResumeRecording()
	Sensitive(on bool)
	Mark() time.Duration
	Await() int
	Stats() media.Stats
	Close() (media.Stats, <-chan media.Recording)
}

// Media opens media sessions.
type Media interface {
	// Open opens a session if a port pair is free.
	Open(o media.Options) (Session, error)
	// Bridge lets the peers of two sessions hear each other until undo.
	Bridge(a, b Session) (undo func())
	// Preview lets the peer of a held session hear the early media of another one,
	// once there is any, until undo or Bridge.
	Preview(held, early Session) (undo func())
}

// NewMedia makes a Media of the media engine.
func NewMedia(e *media.Engine) Media { return engine{e} }

type engine struct{ engine *media.Engine }

// Open opens a session of the engine.
func (e engine) Open(o media.Options) (Session, error) {
	s, err := e.engine.Open(o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Bridge joins two sessions.
func (engine) Bridge(a, b Session) (undo func()) { return connect(a, b, media.Bridge) }

// Preview joins two sessions before the answer.
func (engine) Preview(held, early Session) (undo func()) { return connect(held, early, media.Preview) }

func connect(a, b Session, how func(a, b *media.Session) func()) (undo func()) {
	x, first := a.(*media.Session)
	y, second := b.(*media.Session)
	if !first || !second {
		return func() {}
	}
	return how(x, y)
}

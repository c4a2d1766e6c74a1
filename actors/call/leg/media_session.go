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
	SetListener(receive func(frame []byte))
	RejectSpeech()
	SendDigits(id uint64, digits string)
	ReceiveInfoDigit(key byte, d time.Duration)
	Hold(music media.Clip)
	Resume()
	PauseRecording()
	ResumeRecording()
	SetSensitive(on bool)
	Position() time.Duration
	ExtendIdleTimeout() int
	Stats() media.Stats
	Close() (media.Stats, <-chan media.Recording)
}

// Media opens and connects media sessions.
type Media interface {
	// Open opens a session. It fails with media.ErrNoPorts if no RTP port pair is free.
	Open(o media.Options) (Session, error)
	// Bridge connects the audio of two sessions until undo is called.
	Bridge(a, b Session) (undo func())
	// Preview plays the early media of session early to the peer of session held, until undo or Bridge is called.
	Preview(held, early Session) (undo func())
}

// NewMedia returns a Media that uses the media engine.
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

// Bridge connects the audio of two sessions.
func (engine) Bridge(a, b Session) (undo func()) { return connect(a, b, media.Bridge) }

// Preview plays early media to the peer of a held session.
func (engine) Preview(held, early Session) (undo func()) { return connect(held, early, media.Preview) }

func connect(a, b Session, how func(a, b *media.Session) func()) (undo func()) {
	x, first := a.(*media.Session)
	y, second := b.(*media.Session)
	if !first || !second {
		return func() {}
	}
	return how(x, y)
}

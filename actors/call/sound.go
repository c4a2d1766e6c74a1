package call

import "github.com/callboard/callboard/media"

// OverMedia makes a Sound of an engine.
func OverMedia(e *media.Engine) Sound { return sound{e} }

type sound struct{ engine *media.Engine }

// Open is the engine's.
func (s sound) Open(o media.Options) (Session, error) {
	m, err := s.engine.Open(o)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Bridge joins two sessions.
func (sound) Bridge(a, b Session) (undo func()) { return join(a, b, media.Bridge) }

// Preview joins them before the answer.
func (sound) Preview(held, early Session) (undo func()) { return join(held, early, media.Preview) }

func join(a, b Session, how func(a, b *media.Session) func()) (undo func()) {
	x, first := a.(*media.Session)
	y, second := b.(*media.Session)
	if !first || !second {
		return func() {}
	}
	return how(x, y)
}

package call

import (
	"errors"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/lend"
)

// OverMedia makes a Sound of an engine, and of those of other nodes where these
// have more room; away nil: there are none.
func OverMedia(e *media.Engine, away *lend.Pool) Sound { return sound{e, away} }

type sound struct {
	engine *media.Engine
	away   *lend.Pool
}

// Open opens a session here, or at another node. What is joined with another one
// is at the same node. A recording that has begun here goes on here.
func (s sound) Open(o media.Options, beside Session) (Session, error) {
	switch b := beside.(type) {
	case *lent:
		if at, away := bare(b).(*lend.Session); away {
			return borrow(s.away, at.Link(), o)
		}
		return s.here(o)
	case *media.Session:
		return s.here(o)
	}
	if o.After == nil {
		if m := s.borrowed(o); m != nil {
			return m, nil
		}
		return s.here(o)
	}
	m, err := s.here(o)
	if !errors.Is(err, media.ErrNoPorts) {
		return m, err
	}
	if m := s.borrowed(o); m != nil {
		return m, nil
	}
	return nil, err
}

// here opens one in this process.
func (s sound) here(o media.Options) (Session, error) {
	if o.After != nil && o.RecordPath != "" {
		s.away.Adopt(o.RecordPath) // the process of before may have had the sound here
	}
	m, err := s.engine.Open(o)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// borrowTries is how many other nodes are asked: one may hang, or be full by now.
const borrowTries = 3

// borrowed is one at the node that has the most room; nil: this one has, or the
// others did not answer.
func (s sound) borrowed(o media.Options) Session {
	var asked []*lend.Link
	for range borrowTries {
		l := s.away.Choose(asked...)
		if l == nil {
			return nil
		}
		if m, err := borrow(s.away, l, o); err == nil {
			return m
		}
		asked = append(asked, l)
	}
	return nil
}

// Bridge joins two sessions of one node.
func (s sound) Bridge(a, b Session) (undo func()) {
	return join(a, b, media.Bridge, (*lend.Link).Bridge)
}

// Preview joins them before the answer.
func (s sound) Preview(held, early Session) (undo func()) {
	return join(held, early, media.Preview, (*lend.Link).Preview)
}

func join(a, b Session, here func(a, b *media.Session) func(), there func(l *lend.Link, a, b *lend.Session) func()) (undo func()) {
	switch a := bare(a).(type) {
	case *media.Session:
		if b, too := bare(b).(*media.Session); too {
			return here(a, b)
		}
	case *lend.Session:
		if b, too := bare(b).(*lend.Session); too {
			return there(a.Link(), a, b)
		}
	}
	return func() {}
}

// bare is the session itself, wherever it is now.
func bare(s Session) Session {
	for {
		l, is := s.(*lent)
		if !is {
			return s
		}
		s = l.now()
	}
}

package call

import (
	"sync"
	"time"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/lend"
)

// lent is the sound of a call that another node has, as long as that lives. What
// the call and its conversation have wanted of it is kept, so that another
// session can go on in its place: see replace.
type lent struct {
	o media.Options // as it was opened

	// doing is held while something is asked of the session, and while another one
	// takes its place; never by what the session tells.
	doing  sync.Mutex
	at     Session
	parts  []<-chan media.Recording // of sessions before it
	begun  bool
	early  bool
	writes bool // the session has recorded some of it
	paused bool // not recorded
	secret bool
	held   bool
	music  media.Clip
	ear    func(frame []byte)
	still  bool    // what plays waits
	next   Session // is to take its place, and asks the far end
	over   bool
	tries  uint64      // successors that were described
	away   func() bool // whether the node wants to be rid of it
	mind   func()      // ends that somebody looks for that

	mu      sync.Mutex // of what the session tells about
	current int        // which session is heard, from 1
	playing playing
	digits  uint64 // that are being sent; 0: none
	gone    bool   // the session that is heard is lost
}

// successorsMost is how far the version of a successor's description is above the
// last one at most.
const successorsMost = 60

// playing is what sounds, until it is told that it has ended.
type playing struct {
	id      uint64
	clip    media.Clip
	feed    *media.Feed
	on      bool
	stopped bool // and is not told yet
}

// leaves is told of a session whose node is to stop.
type leaves struct{ media.Event }

// borrow opens a session at another node.
func borrow(pool *lend.Pool, l *lend.Link, o media.Options) (*lent, error) {
	s := &lent{o: o, current: 1, away: func() bool { return l.Load().Leaving }}
	at, err := l.Open(s.options(1))
	if err != nil {
		return nil, err
	}
	s.at = at
	s.mind = pool.Leaves(l, func() { s.o.Notify(leaves{}) })
	return s, nil
}

// leaving says whether its node wants to be rid of it.
func (s *lent) leaving() bool {
	s.doing.Lock()
	defer s.doing.Unlock()
	return s.away != nil && s.away()
}

// options are those of the session with a number, which alone is heard.
func (s *lent) options(number int) media.Options {
	o, told := s.o, s.o.Notify
	o.Notify = func(e media.Event) {
		s.mu.Lock()
		stale := s.current != number
		if !stale {
			s.tells(e)
		}
		s.mu.Unlock()
		if !stale && told != nil {
			told(e)
		}
	}
	return o
}

// lost says whether its node is gone.
func (s *lent) lost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// tells notes what has ended. The lock is held.
func (s *lent) tells(e media.Event) {
	switch e := e.(type) {
	case media.Played:
		if e.ID == s.playing.id {
			s.playing = playing{}
		}
	case media.DigitsSent:
		if e.ID == s.digits {
			s.digits = 0
		}
	case media.Vanished:
		s.gone = s.gone || e.Broken
	}
}

// now is the session that has the sound.
func (s *lent) now() Session {
	s.doing.Lock()
	defer s.doing.Unlock()
	return s.at
}

// do asks something of the session.
func (s *lent) do(ask func(at Session)) {
	s.doing.Lock()
	defer s.doing.Unlock()
	ask(s.at)
}

// plays notes what is to sound from now on.
func (s *lent) plays(p playing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.playing = p
}

// successor are the options of a session that is to take the place of this one.
func (s *lent) successor() media.Options {
	s.doing.Lock()
	defer s.doing.Unlock()
	s.mu.Lock()
	number := s.current + 1
	s.mu.Unlock()
	o := s.options(number)
	if m, can := s.at.(memorable); can {
		memo := m.Memo()
		s.tries++ // what was said in vain is not said again, and stays below what a process that takes the call up says (Memo.Lift)
		memo.Version += min(2*s.tries, successorsMost)
		o.After = &memo
		if memo.Secure {
			o.SRTP = media.SRTPRequired
		}
	}
	o.Answerer = false
	if o.RecordPath != "" {
		o.RecordPath = partName(o.RecordPath, number)
	}
	return o
}

// awaits keeps a session that is to take the place of this one, opened with
// successor; false: it is over already. Who is not wanted any more is closed.
func (s *lent) awaits(next Session) bool {
	s.doing.Lock()
	defer s.doing.Unlock()
	if s.next != nil {
		s.next.Close()
	}
	if s.next = next; next != nil && s.over {
		next.Close()
		s.next = nil
		return false
	}
	return true
}

// replace lets the session go on that was awaited and has agreed with the far end:
// what was being said is said again. The one of before is closed.
func (s *lent) replace() {
	s.doing.Lock()
	defer s.doing.Unlock()
	by := s.next
	if by == nil {
		return
	}
	s.mu.Lock()
	s.current++
	p, digits := s.playing, s.digits
	s.digits, s.gone = 0, false
	if p.stopped {
		s.playing = playing{}
	}
	s.mu.Unlock()
	s.unmind()
	if _, part := s.at.Close(); s.writes {
		s.parts = append(s.parts, part)
	}
	s.writes = s.begun || s.early
	s.at, s.next, s.away = by, nil, nil // who has it now has a mind of his own
	by.Hear(s.ear)
	by.Sensitive(s.secret)
	if s.paused {
		by.PauseRecording()
	}
	if s.held {
		by.Hold(s.music)
	}
	switch {
	case s.begun:
		by.Begin()
	case s.early:
		by.Early()
	}
	if digits != 0 { // some may have been heard: they are not sent twice
		s.o.Notify(media.DigitsSent{ID: digits})
	}
	switch {
	case !p.on:
	case p.stopped:
		s.o.Notify(media.Played{ID: p.id, Interrupted: true})
	case p.feed != nil:
		by.PlayFeed(p.id, p.feed)
	default:
		by.Play(p.id, p.clip)
	}
	if s.still {
		by.PausePlaying()
	}
}

// Offer and what follows is the session's; see Session.
func (s *lent) Offer() (body []byte) {
	s.do(func(at Session) { body = at.Offer() })
	return body
}

// Accept is the session's.
func (s *lent) Accept(answer []byte) (err error) {
	s.do(func(at Session) { err = at.Accept(answer) })
	return err
}

// Answer is the session's.
func (s *lent) Answer(offer []byte) (body []byte, err error) {
	s.do(func(at Session) { body, err = at.Answer(offer) })
	return body, err
}

// Rekey is the session's.
func (s *lent) Rekey() { s.do(func(at Session) { at.Rekey() }) }

// Early is the session's.
func (s *lent) Early() {
	s.do(func(at Session) {
		s.early, s.writes = true, s.writes || !s.lost()
		at.Early()
	})
}

// Begin is the session's.
func (s *lent) Begin() {
	s.do(func(at Session) {
		s.begun, s.writes = true, s.writes || !s.lost()
		at.Begin()
	})
}

// Play is the session's.
func (s *lent) Play(id uint64, clip media.Clip) {
	s.do(func(at Session) {
		s.still = false
		s.plays(playing{id: id, clip: clip, on: true})
		at.Play(id, clip)
	})
}

// PlayFeed is the session's.
func (s *lent) PlayFeed(id uint64, feed *media.Feed) {
	s.do(func(at Session) {
		s.still = false
		s.plays(playing{id: id, feed: feed, on: true})
		at.PlayFeed(id, feed)
	})
}

// StopPlaying is the session's.
func (s *lent) StopPlaying() {
	s.do(func(at Session) {
		s.mu.Lock()
		s.playing.stopped = s.playing.on
		s.mu.Unlock()
		at.StopPlaying()
	})
}

// PausePlaying is the session's.
func (s *lent) PausePlaying() {
	s.do(func(at Session) {
		s.still = true
		at.PausePlaying()
	})
}

// ContinuePlaying is the session's.
func (s *lent) ContinuePlaying() {
	s.do(func(at Session) {
		s.still = false
		at.ContinuePlaying()
	})
}

// Hear is the session's.
func (s *lent) Hear(ear func(frame []byte)) {
	s.do(func(at Session) {
		s.ear = ear
		at.Hear(ear)
	})
}

// SendDigits is the session's.
func (s *lent) SendDigits(id uint64, digits string) {
	s.do(func(at Session) {
		s.mu.Lock()
		s.digits = id
		s.mu.Unlock()
		at.SendDigits(id, digits)
	})
}

// Pressed is the session's.
func (s *lent) Pressed(key byte, d time.Duration) { s.do(func(at Session) { at.Pressed(key, d) }) }

// Hold is the session's.
func (s *lent) Hold(music media.Clip) {
	s.do(func(at Session) {
		s.held, s.music = true, music
		at.Hold(music)
	})
}

// Resume is the session's.
func (s *lent) Resume() {
	s.do(func(at Session) {
		s.held, s.music = false, nil
		at.Resume()
	})
}

// PauseRecording is the session's.
func (s *lent) PauseRecording() {
	s.do(func(at Session) {
		s.paused = true
		at.PauseRecording()
	})
}

// ResumeRecording is the session's.
func (s *lent) ResumeRecording() {
	s.do(func(at Session) {
		s.paused = false
		at.ResumeRecording()
	})
}

// Sensitive is the session's.
func (s *lent) Sensitive(on bool) {
	s.do(func(at Session) {
		s.secret = on
		at.Sensitive(on)
	})
}

// Mark is the session's.
func (s *lent) Mark() (at time.Duration) {
	s.do(func(now Session) { at = now.Mark() })
	return at
}

// Await is the session's.
func (s *lent) Await() (n int) {
	s.do(func(at Session) { n = at.Await() })
	return n
}

// Stats is the session's.
func (s *lent) Stats() (st media.Stats) {
	s.do(func(at Session) { st = at.Stats() })
	return st
}

// Memo is the session's.
func (s *lent) Memo() (m media.Memo) {
	s.do(func(at Session) {
		if at, can := at.(memorable); can {
			m = at.Memo()
		}
	})
	return m
}

// Tap is the session's.
func (s *lent) Tap(mode media.TapMode, out func(frame []byte)) (t *media.Tap, err error) {
	err = media.ErrClosed
	s.do(func(at Session) {
		if at, can := at.(tapped); can {
			t, err = at.Tap(mode, out)
		}
	})
	return t, err
}

// Close is the session's; the recording is of all sessions that had the sound.
func (s *lent) Close() (st media.Stats, r <-chan media.Recording) {
	s.do(func(at Session) {
		s.over = true
		s.unmind()
		if s.next != nil {
			s.next.Close()
			s.next = nil
		}
		st, r = at.Close()
		if len(s.parts) > 0 {
			r = joined(s.o.RecordPath, append(s.parts, r))
			s.parts, s.at = nil, over{at, st, r}
		}
	})
	return st, r
}

// Abandon is Close for whoever lets another process go on with the call.
func (s *lent) Abandon() {
	s.do(func(at Session) {
		if at, can := at.(interface{ Abandon() }); can {
			at.Abandon()
		}
	})
	s.Close()
}

func (s *lent) unmind() {
	if s.mind != nil {
		s.mind()
		s.mind = nil
	}
}

// over is a session that is closed, and its recording.
type over struct {
	Session
	stats     media.Stats
	recording <-chan media.Recording
}

// Close is what it was the first time.
func (o over) Close() (media.Stats, <-chan media.Recording) { return o.stats, o.recording }

package media

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/callboard/callboard/media/amd"
	"github.com/callboard/callboard/media/dtmf"
	"github.com/callboard/callboard/media/jitter"
	"github.com/callboard/callboard/media/record"
	"github.com/callboard/callboard/media/vad"
)

// frameMost is the longest frame, 40 ms.
const frameMost = 320

// Session is the sound of one call. Its methods may be called from anywhere; they never wait for network or disk.
// It sends from the first description on, silence where nothing plays, so that ways through NATs open.
type Session struct {
	// What each frame needs stands together, see approach: a clock that serves many finds none of it in the caches.
	engine   *Engine
	mu       sync.Mutex
	closed   bool
	begun    bool
	early    bool // sound of ours is heard before Begin
	sending  bool // digits, as events
	passing  bool // the digits being sent are those of the other side of a bridge
	sound    socket
	clock    *clock  // nil until a description is agreed
	leapt    int64   // the clock's leaps that were made up for
	events   []Event // told at the next frame
	out      sender
	play     playback
	heard    dtmf.Receiver
	buffer   jitter.Buffer
	voice    vad.Detector
	answerer *amd.Detector // nil: nobody asks who has answered, any more
	recorder *record.Recorder
	media    int64 // samples since Begin
	idle     idleness
	hold     hold
	hush     hush
	link     *link // nil: not bridged
	taps     *taps // nil: nobody listens
	ear      func(frame []byte)
	report   reporter
	in       receiver

	o        Options
	port     int
	done     chan Recording
	final    *Stats // once closed
	control  socket
	desc     description
	course   course
	digits   dtmf.Sender
	digitsID uint64
	keypad   presses
	keys     secrecy
	code     coding
	human    []Span // bridges that are over
}

// playback is the clip that sounds.
type playback struct {
	clip   Clip
	at     int
	id     uint64
	active bool
	still  bool   // it waits, see PausePlaying
	dry    bool   // nothing of the feed was there for the last frame
	feed   *Feed  // in place of clip, where it is still being made
	keys   []byte // digits as tones, before everything else
}

// idleness watches for a far end that is gone.
type idleness struct {
	last time.Duration // when anything was received, on the engine's time
	told bool
	more int32 // how often it was given more time since
}

// heard says that there is somebody.
func (i *idleness) heard(now time.Duration) { *i = idleness{last: now} }

// Await gives a far end that has vanished another Options.IdleAfter, as its
// owner knows that it lives, and says how often it has done so since anything
// was received.
func (s *Session) Await() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = idleness{last: s.engine.now(), more: s.idle.more + 1}
	return int(s.idle.more)
}

func newSession(e *Engine, o Options, port int, sound, control socket) *Session {
	s := &Session{engine: e, o: o, port: port, sound: sound, control: control}
	s.desc = newDescription(&s.o)
	if o.After != nil {
		s.recall(o.After)
	}
	s.keys = newSecrecy(&s.o)
	s.in.source = new(sourceSearch)
	s.in.forget()
	// A sequence that begins in its lower half leaves no doubt about its first turn (RFC 3711 section 3.3.1).
	s.out = sender{ssrc: random(), seq: uint16(random() & 0x7FFF), stamp: random(), ptime: s.o.PTime, scale: 1}
	s.report = newReporter()
	return s
}

// LocalPort is our RTP port; RTCP is on the next one.
func (s *Session) LocalPort() int { return s.port }

// Begin says that the call is answered: media clock and recording start, with the next frame. Further calls do nothing.
func (s *Session) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun || s.closed {
		return
	}
	s.begun = true
	now := s.engine.now()
	s.idle.last = now
	if s.o.Answerer {
		s.answerer = new(amd.Detector)
	}
	s.activate()
}

// Early says that our sound is heard before the answer, as with 183: the recording and its time begin now, with the next
// frame, and not with Begin. Where Begin never comes, no file is left.
func (s *Session) Early() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && !s.begun {
		s.early = true
		s.activate()
	}
}

// runs says whether the media time does.
func (s *Session) runs() bool { return s.begun || s.early }

// activate puts the session on a clock.
func (s *Session) activate() {
	if s.clock == nil {
		s.clock = s.engine.calmest()
		s.clock.add(s)
	}
}

// Play sounds a clip in place of what plays, which is reported as interrupted. It waits while there is nowhere to send to.
func (s *Session) Play(id uint64, clip Clip) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupt()
	if s.closed {
		return
	}
	s.play.id, s.play.clip, s.play.at, s.play.active, s.play.still = id, clip, 0, true, false
}

// PlayFeed sounds what is still being made, as Play does a clip: Played comes once the feed has ended and all of it was heard.
func (s *Session) PlayFeed(id uint64, feed *Feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupt()
	if s.closed {
		return
	}
	s.play.id, s.play.feed, s.play.at, s.play.active, s.play.still, s.play.dry = id, feed, 0, true, false, true
}

// StopPlaying interrupts what plays.
func (s *Session) StopPlaying() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupt()
}

// PausePlaying keeps what plays from being heard until ContinuePlaying, where it goes on from the same place. What is played
// afresh is heard at once.
func (s *Session) PausePlaying() { s.stand(true) }

// ContinuePlaying ends a PausePlaying.
func (s *Session) ContinuePlaying() { s.stand(false) }

func (s *Session) stand(still bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.play.still = still
}

// Hear hands what the far end says to ear, from Begin on and frame by frame, as 8 kHz mono µ-law; nil: to nobody any more.
// The frame is overwritten afterwards. ear is called from the media clock and must neither block nor call the session.
func (s *Session) Hear(ear func(frame []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.ear = ear
	}
}

func (s *Session) interrupt() {
	if s.play.active {
		s.events = append(s.events, Played{ID: s.play.id, Interrupted: true, Heard: samples(s.play.at)})
		s.play.active, s.play.clip, s.play.feed = false, nil, nil
	}
}

// Mark is the position on the media clock, which is that of the recording; zero before Begin, or Early.
func (s *Session) Mark() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return samples(uint64(s.media)) //nolint:gosec // never negative
}

// Stats are the figures so far.
func (s *Session) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats()
}

// Close ends the session and returns at once, as often as it is called. No event is told afterwards, but for one that is
// being told. The channel yields one Recording when the file is complete and on the disk; zero where nothing was recorded.
func (s *Session) Close() (Stats, <-chan Recording) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return *s.final, s.done
	}
	defer s.engine.forget(s) // last: until then the engine's own end waits for the recording
	s.closed, s.done = true, make(chan Recording, 1)
	final := s.stats()
	s.final = &final
	s.goodbye()
	s.code.close()
	s.unlink()
	if s.taps != nil {
		s.taps.end()
	}
	s.play.clip, s.play.feed, s.play.keys, s.events, s.hold, s.taps, s.ear = nil, nil, nil, nil, hold{}, nil, nil
	human := s.human
	if s.recorder == nil {
		s.done <- Recording{}
		close(s.done)
		return final, s.done
	}
	end := s.recorder.Close
	if !s.begun {
		end = s.recorder.Discard
	}
	written := end()
	s.engine.work.Go(func() {
		r := <-written
		s.done <- Recording{Path: r.Path, Duration: r.Duration, Human: human, Gap: r.Gap, Err: r.Err}
		close(s.done)
	})
	return final, s.done
}

// broke ends a session whose frame panicked, and this one only.
func (s *Session) broke(cause any, stack []byte) {
	log := s.engine.cfg.Log.With(slog.Int("rtp_port", s.port))
	log.Error("media session broke", slog.String("cause", fmt.Sprint(cause)), slog.String("stack", string(stack)))
	s.Close()
	defer func() {
		if again := recover(); again != nil {
			log.Error("media owner broke", slog.String("cause", fmt.Sprint(again)))
		}
	}()
	if s.o.Notify != nil {
		s.o.Notify(Vanished{Broken: true})
	}
}

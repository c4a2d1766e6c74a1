package media

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/callboard/callboard/media/amd"
)

// frameMost is the longest frame, 40 ms.
const frameMost = 320

// Session is the media of one call. Its methods may be called from anywhere; they never wait for network or disk. It sends from
// the first description on, silence where nothing plays, so that NAT bindings open.
type Session struct {
	// The fields that each frame needs stand together: a clock that serves many sessions finds none of them in the caches.
	engine    *Engine
	mu        sync.Mutex
	closed    bool
	begun     bool
	early     bool // our audio is heard before Begin
	sound     socket
	clock     *clock    // nil until a description is agreed
	leapt     int64     // the clock's leaps that were made up for
	events    eventList // reported after the next frame
	out       sender
	playback  playback
	digits    digitSender
	analysis  analysis
	recording recording
	idle      idleness
	mixer     mixer
	report    reporter
	in        receiver

	o       Options
	port    int
	desc    description
	quality quality
	keys    keyPresses
	srtp    srtpKeys
	code    coding
}

// eventList are events that wait to be reported.
type eventList []Event

func (l *eventList) add(e Event) { *l = append(*l, e) }

// idleness watches for a peer that is gone.
type idleness struct {
	last     time.Duration // when anything was received, on the engine's time
	reported bool
	extended int32 // how often it was given more time since
}

// setAlive notes that something was received.
func (i *idleness) setAlive(now time.Duration) { *i = idleness{last: now} }

// isOver says once that nothing was received for a limit.
func (i *idleness) isOver(now, limit time.Duration) bool {
	if i.reported || now-i.last < limit {
		return false
	}
	i.reported = true
	return true
}

// Await gives a peer that has vanished another Options.IdleAfter, as its owner knows that it lives, and says how often it has
// done so since anything was received.
func (s *Session) Await() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = idleness{last: s.engine.now(), extended: s.idle.extended + 1}
	return int(s.idle.extended)
}

func newSession(e *Engine, o Options, port int, sound, control socket) *Session {
	s := &Session{engine: e, o: o, port: port, sound: sound}
	s.desc = newDescription(&s.o)
	if o.After != nil {
		s.restore(o.After)
	}
	s.srtp = newSRTPKeys(&s.o)
	s.in.source = new(sourceSearch)
	s.in.clearKinds()
	// A sequence that begins in its lower half leaves no doubt about its first turn (RFC 3711 section 3.3.1).
	s.out = sender{ssrc: random(), seq: uint16(random() & 0x7FFF), stamp: random(), ptime: s.o.PTime, scale: 1}
	s.report = newReporter(control)
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
	s.idle.last = s.engine.now()
	if s.o.Answerer {
		s.analysis.answerer = new(amd.Detector)
	}
	s.activate()
}

// Early says that our audio is heard before the answer, as with 183: the recording and its time begin now, with the next
// frame, and not with Begin. Without a later Begin no file is left.
func (s *Session) Early() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && !s.begun {
		s.early = true
		s.activate()
	}
}

// isRunning says whether the media time runs.
func (s *Session) isRunning() bool { return s.begun || s.early }

// activate puts the session on a clock.
func (s *Session) activate() {
	if s.clock == nil {
		s.clock = s.engine.calmest()
		s.clock.add(s)
	}
}

// Close ends the session and returns at once, as often as it is called. No event is reported afterwards, but for one that is
// being reported. The channel yields one Recording when the file is complete and on the disk; zero where nothing was recorded.
func (s *Session) Close() (Stats, <-chan Recording) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return *s.quality.final, s.recording.done
	}
	defer s.engine.release(s) // last: until then the engine's own end waits for the recording
	s.closed = true
	final := s.stats()
	s.quality.final = &final
	s.sendGoodbye()
	s.code.close()
	s.unlink()
	s.mixer.closeTaps()
	s.playback, s.digits.tones, s.events, s.analysis.listener = playback{}, nil, nil, nil
	s.closeRecording()
	return final, s.recording.done
}

// closeBroken ends a session whose frame panicked, and this one only.
func (s *Session) closeBroken(cause any, stack []byte) {
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

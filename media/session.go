package media

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/callboard/callboard/media/amd"
)

// frameMost is the maximum length of a frame in samples: 40 ms.
const frameMost = 320

// Session is the media of one call. Its methods are safe for concurrent use and never wait for network or disk. A
// session sends from the first agreed SDP on, and sends silence if nothing plays, so that NAT bindings open.
type Session struct {
	// The fields used in each frame are adjacent. The sessions of a busy node do not fit into the processor's caches, so
	// each frame should touch few cache lines.
	engine    *Engine
	mu        sync.Mutex
	closed    bool
	begun     bool
	early     bool // our audio is heard before Begin
	sound     socket
	clock     *clock    // nil until SDP is agreed
	leapt     int64     // samples skipped by the clock (clock.leapt) that this session has caught up with
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
	code    codecState
}

// eventList holds events that are reported to the owner after the next frame.
type eventList []Event

func (l *eventList) add(e Event) { *l = append(*l, e) }

// idleness detects that the peer sends no more packets.
type idleness struct {
	last     time.Duration // arrival of the last packet, on the engine's clock
	reported bool
	extended int32 // how often ExtendIdleTimeout has extended the time since
}

// setAlive records that a packet of the peer arrived at the time now.
func (i *idleness) setAlive(now time.Duration) { *i = idleness{last: now} }

// isOver returns true if no packet has arrived for the time limit. It returns true only once until a packet arrives.
func (i *idleness) isOver(now, limit time.Duration) bool {
	if i.reported || now-i.last < limit {
		return false
	}
	i.reported = true
	return true
}

// ExtendIdleTimeout gives a silent peer another Options.IdleAfter. The owner calls it after IdleTimeout if it knows that the call is
// alive. ExtendIdleTimeout returns the number of extensions since the last received packet.
func (s *Session) ExtendIdleTimeout() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = idleness{last: s.engine.now(), extended: s.idle.extended + 1}
	return int(s.idle.extended)
}

func newSession(e *Engine, o Options, port int, sound, control socket) *Session {
	s := &Session{engine: e, o: o, port: port, sound: sound}
	s.desc = newDescription(&s.o)
	if o.ResumeFrom != nil {
		s.restore(o.ResumeFrom)
	}
	s.srtp = newSRTPKeys(&s.o)
	s.in.source = new(sourceSearch)
	s.in.clearKinds()
	// An initial sequence number in the lower half makes the first rollover unambiguous (RFC 3711 §3.3.1).
	s.out = sender{ssrc: randomID(), seq: uint16(randomID() & 0x7FFF), stamp: randomID(), ptime: s.o.PTime, scale: 1}
	s.report = newReporter(control)
	return s
}

// LocalPort returns the session's RTP port; the RTCP port is the next one.
func (s *Session) LocalPort() int { return s.port }

// Begin marks the call as answered: media time and recording start with the next frame. Further calls do nothing.
func (s *Session) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun || s.closed {
		return
	}
	s.begun = true
	s.idle.last = s.engine.now()
	if s.o.ClassifyAnswer {
		s.analysis.answerer, _ = amd.NewDetector() // an error turns it off, as callboard doctor reports
	}
	s.activate()
}

// Early says that the peer hears our audio before the answer, for example after a 183 response. Media time and recording
// then start with the next frame instead of at Begin. Without a later Begin the recording is discarded.
func (s *Session) Early() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && !s.begun {
		s.early = true
		s.activate()
	}
}

// isRunning says whether the media time advances: after Begin or Early.
func (s *Session) isRunning() bool { return s.begun || s.early }

// activate adds the session to a media clock, which then serves its frames.
func (s *Session) activate() {
	if s.clock == nil {
		s.clock = s.engine.chooseClock()
		s.clock.add(s)
	}
}

// Close ends the session and returns at once. It may be called repeatedly. At most the event being reported is still
// delivered. The channel yields one Recording when the file is complete on disk. The Recording is the zero value if the
// session was not recorded.
func (s *Session) Close() (Stats, <-chan Recording) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return *s.quality.final, s.recording.done
	}
	defer s.engine.release(s) // last, because Engine.Close waits for the recording of each session that is not released
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

// closeBroken closes a session whose frame panicked and reports IdleTimeout. Other sessions are unaffected.
func (s *Session) closeBroken(cause any, stack []byte) {
	log := s.engine.cfg.Log.With(slog.Int("rtp_port", s.port))
	log.Error("media session panicked", slog.String("cause", fmt.Sprint(cause)), slog.String("stack", string(stack)))
	s.Close()
	defer func() {
		if again := recover(); again != nil {
			log.Error("media event handler panicked", slog.String("cause", fmt.Sprint(again)))
		}
	}()
	if s.o.Notify != nil {
		s.o.Notify(IdleTimeout{Broken: true})
	}
}

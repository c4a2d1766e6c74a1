package lend

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/media"
)

// Session is the sound of one call, on the lender's node: each method is that of a media.Session. Those that answer, Offer,
// Accept, Answer, Await and the first Close, wait for the lender, a second at most; the others return at once. Notify, and
// whoever hears, are called from the goroutine that reads the link: they must neither block nor call the session. Once the link
// is lost, which is told as Vanished{Broken: true}, the methods do nothing.
type Session struct {
	link   *Link
	number uint32
	notify func(media.Event)
	path   string // of the recording, here
	onward bool   // it may have a beginning
	token  uint64 // of the recording, there

	closing   sync.Mutex // the first Close is under way
	done      chan media.Recording
	settled   atomic.Bool // what becomes of the recording is known, or being fetched
	abandoned atomic.Bool // another process is to have the recording

	hearing sync.Mutex // whoever hears is called under it
	ear     func(frame []byte)
	taps    map[uint32]*listener
	tapped  uint32

	mu     sync.Mutex
	opened bool
	closed bool // by its owner
	lost   bool
	stats  media.Stats
	memo   media.Memo
	hand   hand
	played uint32 // feeds so far
	pump   func() // ends the sending of the feed that plays; nil: there is none
	feeds  map[uint32]*fed
}

// Link is the link that the session is of.
func (s *Session) Link() *Link { return s.link }

// over says that nothing is to be done any more.
func (s *Session) over() bool { return s.closed || s.lost }

// tell orders something for which nobody waits.
func (s *Session) tell(kind byte, head, body []byte) {
	s.link.out.put(kind, s.number, head, body, soon)
}

// Offer is media.Session.Offer; nil where the link is lost.
func (s *Session) Offer() []byte {
	r, err := s.link.ask(s, kindOffer, nil)
	if err != nil {
		return nil
	}
	return r.Body
}

// Accept is media.Session.Accept. Errors: also ErrLost.
func (s *Session) Accept(answer []byte) error {
	r, err := s.link.ask(s, kindAccept, answer)
	if err != nil {
		return err
	}
	return r.Failed.err()
}

// Answer is media.Session.Answer. Errors: also ErrLost.
func (s *Session) Answer(offer []byte) ([]byte, error) {
	r, err := s.link.ask(s, kindAnswer, offer)
	if err != nil {
		return nil, err
	}
	return r.Body, r.Failed.err()
}

// Await is media.Session.Await; 0 where the link is lost.
func (s *Session) Await() int {
	r, err := s.link.ask(s, kindAwait, nil)
	if err != nil {
		return 0
	}
	return r.Count
}

// answered takes what a reply says besides.
func (s *Session) answered(r *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.opened && r.Failed == nil {
		s.opened, s.token = true, r.Token
		s.hand.tell(r.Mark, false, time.Now())
	}
	if r.Memo != nil {
		s.memo = *r.Memo
	}
	if r.Stats != nil {
		s.stats = *r.Stats
	}
}

// Rekey is media.Session.Rekey.
func (s *Session) Rekey() { s.tell(kindRekey, nil, nil) }

// Early is media.Session.Early.
func (s *Session) Early() { s.tell(kindEarly, nil, nil) }

// Begin is media.Session.Begin.
func (s *Session) Begin() { s.tell(kindBegin, nil, nil) }

// StopPlaying is media.Session.StopPlaying.
func (s *Session) StopPlaying() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopPump()
	s.tell(kindStop, nil, nil)
}

// PausePlaying is media.Session.PausePlaying.
func (s *Session) PausePlaying() { s.tell(kindPause, nil, nil) }

// ContinuePlaying is media.Session.ContinuePlaying.
func (s *Session) ContinuePlaying() { s.tell(kindContinue, nil, nil) }

// Play is media.Session.Play. A clip is sent once for all sessions of the link.
func (s *Session) Play(id uint64, clip media.Clip) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over() {
		return
	}
	s.stopPump()
	var head numbers
	s.link.shelve(clip, func(number uint32) {
		s.tell(kindPlay, head.u64(id).u32(number).bytes(), nil)
	})
}

// Hold is media.Session.Hold.
func (s *Session) Hold(music media.Clip) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over() {
		return
	}
	var head numbers
	s.link.shelve(music, func(number uint32) {
		s.tell(kindHold, head.u32(number).bytes(), nil)
	})
}

// Resume is media.Session.Resume.
func (s *Session) Resume() { s.tell(kindResume, nil, nil) }

// shelve sends a clip where the lender does not have it, and then uses it: nothing comes between.
func (l *Link) shelve(clip media.Clip, use func(number uint32)) {
	l.lending.Lock()
	defer l.lending.Unlock()
	number, sent, forget, fresh := l.shelf.take(clip)
	for _, n := range forget {
		var head numbers
		l.out.put(kindForget, 0, head.u32(n).bytes(), nil, soon)
	}
	if fresh {
		total := uint32(len(sent)) //nolint:gosec // bounded by clipsMost
		for len(sent) > 0 {
			n := min(len(sent), clipPart)
			var head numbers
			l.out.enclose(kindClip, 0, head.u32(number).u32(total).bytes(), sent[:n])
			sent = sent[n:]
		}
	}
	use(number)
}

// SendDigits is media.Session.SendDigits.
func (s *Session) SendDigits(id uint64, digits string) {
	var head numbers
	s.tell(kindDigits, head.u64(id).bytes(), []byte(digits[:min(len(digits), digitsMost)]))
}

// Pressed is media.Session.Pressed.
func (s *Session) Pressed(key byte, d time.Duration) {
	var head numbers
	s.tell(kindPressed, head.u8(key).u64(uint64(max(d, 0))).bytes(), nil)
}

// PauseRecording is media.Session.PauseRecording.
func (s *Session) PauseRecording() { s.tell(kindPauseRecording, nil, nil) }

// ResumeRecording is media.Session.ResumeRecording.
func (s *Session) ResumeRecording() { s.tell(kindResumeRecording, nil, nil) }

// Sensitive is media.Session.Sensitive.
func (s *Session) Sensitive(on bool) {
	var head numbers
	s.tell(kindSensitive, head.u8(bit(on)).bytes(), nil)
}

func bit(on bool) byte {
	if on {
		return 1
	}
	return 0
}

// Mark is media.Session.Mark, by what the lender told last and the time since.
func (s *Session) Mark() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hand.at(time.Now())
}

func (s *Session) marked(mark time.Duration, runs bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over() {
		s.hand.tell(mark, runs, now)
	}
}

// Stats are the figures that the lender told last.
func (s *Session) Stats() media.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Memo is media.Session.Memo.
func (s *Session) Memo() media.Memo {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.memo
	m.Formats = append(m.Formats[:0:0], m.Formats...)
	now := time.Now()
	m.Mark, m.At = s.hand.at(now), now.UTC()
	return m
}

// Close is media.Session.Close. The recording is fetched to Options.RecordPath before the channel yields it, which takes two
// minutes at most.
func (s *Session) Close() (media.Stats, <-chan media.Recording) {
	s.closing.Lock()
	defer s.closing.Unlock()
	s.mu.Lock()
	if s.closed {
		defer s.mu.Unlock()
		return s.stats, s.done
	}
	s.closed = true
	alive := !s.lost
	s.stop()
	s.mu.Unlock()
	if alive {
		s.link.live.Add(-1)
		r, err := s.link.ask(s, kindClose, nil)
		alive = err == nil
		if alive && !r.Keeps {
			s.settle(media.Recording{})
		}
		if alive && (!r.Keeps || s.settled.Load()) {
			s.link.forget(s)
		}
		s.endTaps()
	}
	if !alive {
		s.rescue()
	}
	return s.Stats(), s.done
}

// stop ends what goes on here. The lock is held.
func (s *Session) stop() {
	s.stopPump()
	s.hand.stop(time.Now())
	clear(s.feeds)
}

// lose closes a session whose link has ended, and tells its owner.
func (s *Session) lose() {
	s.mu.Lock()
	if !s.opened {
		s.mu.Unlock()
		return
	}
	s.lost = true
	told := s.closed
	s.stop()
	s.mu.Unlock()
	s.rescue()
	if told {
		return
	}
	s.link.live.Add(-1)
	defer func() {
		if cause := recover(); cause != nil {
			s.link.cfg.Log.Error("the owner of a lent session broke", slog.String("cause", fmt.Sprint(cause)))
		}
	}()
	s.endTaps()
	if s.notify != nil {
		s.notify(media.Vanished{Broken: true})
	}
}

// broke closes a session whose owner panicked, and tells it.
func (s *Session) broke() {
	s.Close()
	defer func() {
		if cause := recover(); cause != nil {
			s.link.cfg.Log.Error("the owner of a lent session broke again", slog.String("cause", fmt.Sprint(cause)))
		}
	}()
	if s.notify != nil {
		s.notify(media.Vanished{Broken: true})
	}
}

// Abandon is Close for whoever lets another process go on with the call: what was
// recorded stays at the lender for that one, and the channel yields nothing.
func (s *Session) Abandon() {
	s.abandoned.Store(true)
	s.Close()
}

// rescue fetches what the lender has kept of a session that it closed by itself.
func (s *Session) rescue() {
	if s.path == "" || s.abandoned.Load() {
		s.settle(media.Recording{})
		return
	}
	if s.settled.CompareAndSwap(false, true) {
		s.retrieve()
	}
}

func (s *Session) retrieve() {
	s.link.fetch.add(&errand{wanted: wanted{nameOf(s.path), s.token}, path: s.path, onward: s.onward, tell: s.yield})
}

// settle says what became of the recording, where that is known without fetching it.
func (s *Session) settle(r media.Recording) {
	if s.settled.CompareAndSwap(false, true) {
		s.yield(r)
	}
}

func (s *Session) yield(r media.Recording) {
	s.done <- r
	close(s.done)
}

// take takes what the lender tells of the session.
func (s *Session) take(f frame) error {
	in := fields{rest: f.payload}
	switch f.kind {
	case kindHeard:
		s.hears(f.payload)
	case kindTapped:
		n := in.u32()
		s.overhears(n, in.rest)
	case kindTapEnd:
		s.overhears(in.u32(), nil)
	case kindFed:
		s.heard(in.u32(), in.u32(), int(in.u32()), in.u8() != 0)
	case kindEvent:
		e, err := readEvent(f.payload)
		if err != nil {
			return err
		}
		s.event(e)
	case kindStats:
		var stats media.Stats
		if err := json.Unmarshal(f.payload, &stats); err != nil {
			return fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		s.mu.Lock()
		if !s.over() {
			s.stats = stats
		}
		s.mu.Unlock()
	case kindRecorded:
		var r recorded
		if err := json.Unmarshal(f.payload, &r); err != nil {
			return fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		s.completed(&r)
	}
	if in.short {
		return fmt.Errorf("%w: a short frame of kind %d", ErrProtocol, f.kind)
	}
	return nil
}

// completed: the lender has the whole recording, or knows that there is none.
func (s *Session) completed(r *recorded) {
	s.link.forget(s)
	switch {
	case s.abandoned.Load():
		s.settle(media.Recording{})
		return
	case r.None, r.Failed != nil:
		s.settle(r.recording(s.path))
		return
	}
	if s.settled.CompareAndSwap(false, true) {
		s.retrieve()
	}
}

// event tells the owner, unless it has closed the session.
func (s *Session) event(e media.Event) {
	s.mu.Lock()
	quiet := s.over() || s.notify == nil
	s.mu.Unlock()
	if !quiet {
		s.notify(e)
	}
}

// hand is where the media clock stands, as far as we know.
type hand struct {
	mark time.Duration // when it was told
	told time.Time
	runs bool
	high time.Duration
}

func (h *hand) tell(mark time.Duration, runs bool, now time.Time) {
	h.mark, h.told, h.runs = mark, now, runs
}

// at is never less than before.
func (h *hand) at(now time.Time) time.Duration {
	mark := h.mark
	if h.runs {
		mark += now.Sub(h.told)
	}
	h.high = max(h.high, mark)
	return h.high
}

// stop stops the hand for good.
func (h *hand) stop(now time.Time) { h.mark, h.runs = h.at(now), false }

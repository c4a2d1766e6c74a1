package lend

import (
	"encoding/binary"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/media"
)

// lent is a session of a borrower's, at the lender.
type lent struct {
	guest  *guest
	number uint32
	name   string // of the recording; "": none
	token  uint64
	media  *media.Session
	runs   atomic.Bool
	taps   map[uint32]*media.Tap // the reading goroutine's

	bridges []uint32  // that it was part of; under the guest's lock
	kept    sync.Once // what becomes of the recording is awaited

	mu    sync.Mutex
	plays []play // those of which Played was not told, the one that sounds last
}

// play is something that sounds: a feed, or a clip, of which nothing else is to be known.
type play struct {
	feed   *media.Feed
	number uint32
	told   int
	cuts   uint32
	beyond int // samples that were heard in spite of being taken back
}

// heard is how much of the feed was, as the borrower counts.
func (p *play) heard() int { return max(p.feed.Heard()-p.beyond, 0) }

// take does what the borrower orders.
func (s *lent) take(kind byte, in *fields) {
	m := s.media
	switch kind {
	case kindOffer, kindAccept, kindAnswer, kindAwait, kindClose:
		s.ask(kind, in)
	case kindRekey:
		m.Rekey()
	case kindEarly:
		m.Early()
		s.tellMark()
	case kindBegin:
		m.Begin()
		s.tellMark()
	case kindPlay, kindPlayFeed, kindFeed, kindFeedCut, kindFeedEnd:
		s.sound(kind, in)
	case kindStop:
		m.StopPlaying()
	case kindPause:
		m.PausePlaying()
	case kindContinue:
		m.ContinuePlaying()
	case kindHear:
		s.hear(in.u8() != 0)
	case kindDigits:
		id := in.u64()
		m.SendDigits(id, string(in.rest[:min(len(in.rest), digitsMost)]))
	case kindPressed:
		key := in.u8()
		m.Pressed(key, time.Duration(in.u64())) //nolint:gosec // never so long
	case kindHold:
		m.Hold(s.guest.copies.all[in.u32()])
	case kindResume:
		m.Resume()
	case kindPauseRecording:
		m.PauseRecording()
	case kindResumeRecording:
		m.ResumeRecording()
	case kindSensitive:
		m.Sensitive(in.u8() != 0)
	case kindBridge:
		number, other, preview := in.u32(), s.guest.session(in.u32()), in.u8() != 0
		if other != nil {
			s.guest.bridge(number, s, other, preview)
		}
	case kindTap, kindUntap, kindSay:
		s.listen(kind, in)
	}
}

// ask answers.
func (s *lent) ask(kind byte, in *fields) {
	request := in.u32()
	if in.short {
		return
	}
	var r reply
	switch kind {
	case kindOffer:
		r.Body = s.media.Offer()
	case kindAccept:
		r.Failed = failed(s.media.Accept(in.rest))
	case kindAnswer:
		body, err := s.media.Answer(in.rest)
		r.Body, r.Failed = body, failed(err)
	case kindAwait:
		r.Count = s.media.Await()
	case kindClose:
		s.guest.mu.Lock()
		delete(s.guest.sessions, s.number)
		s.guest.mu.Unlock()
		stats := s.guest.end(s)
		r.Stats, r.Keeps = &stats, s.name != "" && stats.Recorded
	}
	if kind == kindOffer || kind == kindAccept || kind == kindAnswer {
		memo, stats := s.media.Memo(), s.media.Stats()
		r.Memo, r.Stats = &memo, &stats
	}
	s.guest.reply(s.number, request, &r)
}

func (s *lent) sound(kind byte, in *fields) {
	switch kind {
	case kindPlay:
		id, clip := in.u64(), s.guest.copies.all[in.u32()]
		if !in.short {
			s.expect(play{})
			s.media.Play(id, clip)
		}
	case kindPlayFeed:
		id, number := in.u64(), in.u32()
		if feed := new(media.Feed); !in.short {
			s.expect(play{feed: feed, number: number})
			s.media.PlayFeed(id, feed)
		}
	default:
		s.feed(kind, in.u32(), in)
	}
}

// expect notes that Played is to come.
func (s *lent) expect(p play) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plays = append(s.plays, p)
}

// feed goes on with the feed that sounds; what comes for another one is too late.
func (s *lent) feed(kind byte, number uint32, in *fields) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.plays) == 0 {
		return
	}
	p := &s.plays[len(s.plays)-1]
	if p.feed == nil || p.number != number {
		return
	}
	switch kind {
	case kindFeed:
		if room := 4*aheadMost - (p.feed.Len() - p.feed.Heard()); room > 0 {
			p.feed.Write(in.rest[:min(len(in.rest), room)])
		}
	case kindFeedCut:
		p.cuts++
		p.told = 0
		p.beyond += p.feed.TakeBack(int(in.u32()) + p.beyond)
	case kindFeedEnd:
		p.feed.End()
	}
}

// told is called by the media clock.
func (s *lent) told(e media.Event) {
	if played, is := e.(media.Played); is {
		e = s.playedOut(played)
	}
	b, err := appendEvent(make([]byte, 0, 128), e)
	if err == nil {
		s.guest.out.put(kindEvent, s.number, nil, b, soon)
	}
}

// playedOut says before the end of a feed how much of it was heard.
func (s *lent) playedOut(e media.Played) media.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.plays) == 0 {
		return e
	}
	p := s.plays[0]
	s.plays = append(s.plays[:0], s.plays[1:]...)
	if p.feed != nil {
		s.sendFed(&p, p.heard(), 1)
		e.Heard -= time.Duration(p.beyond) * time.Second / 8000
	}
	return e
}

// tellFed tells how much of the feed that sounds was heard since it was told last.
func (s *lent) tellFed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.plays) == 0 {
		return
	}
	p := &s.plays[len(s.plays)-1]
	if p.feed == nil {
		return
	}
	if heard := p.heard(); heard > p.told {
		p.told = heard
		s.sendFed(p, heard, 0)
	}
}

func (s *lent) sendFed(p *play, heard int, last byte) {
	var head numbers
	s.guest.out.put(kindFed, s.number, head.u32(p.number).u32(p.cuts).u32(uint32(heard)).u8(last).bytes(), nil, soon) //nolint:gosec // never negative
}

func (s *lent) hear(on bool) {
	if !on {
		s.media.Hear(nil)
		return
	}
	s.media.Hear(func(frame []byte) { s.guest.out.put(kindHeard, s.number, nil, frame, droppable) })
}

// listen is about those who listen.
func (s *lent) listen(kind byte, in *fields) {
	n := in.u32()
	t := s.taps[n]
	switch kind {
	case kindTap:
		if mode := media.TapMode(in.u8()); t == nil && !in.short && mode <= media.Barge {
			s.tap(n, mode)
		}
	case kindUntap:
		delete(s.taps, n)
		if t != nil {
			t.Close()
		}
	case kindSay:
		if t != nil {
			t.Say(in.rest)
		}
	}
}

func (s *lent) tap(n uint32, mode media.TapMode) {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	head := b[:]
	out := func(frame []byte) {
		if frame == nil {
			s.guest.out.put(kindTapEnd, s.number, head, nil, soon)
			return
		}
		s.guest.out.put(kindTapped, s.number, head, frame, droppable)
	}
	t, err := s.media.Tap(mode, out)
	if err != nil {
		out(nil)
		return
	}
	if s.taps == nil {
		s.taps = make(map[uint32]*media.Tap)
	}
	s.taps[n] = t
}

// tellMark says that the media time runs.
func (s *lent) tellMark() {
	s.runs.Store(true)
	s.guest.out.put(kindMarks, 0, nil, s.appendMark(nil), soon)
}

func (s *lent) appendMark(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, s.number)
	return binary.BigEndian.AppendUint64(b, uint64(s.media.Mark())) //nolint:gosec // never negative
}

func (s *lent) tellStats() {
	stats := s.media.Stats()
	if b, err := json.Marshal(&stats); err == nil {
		s.guest.out.put(kindStats, s.number, nil, b, soon)
	}
}

// evict closes the session because another one is to go on with its recording; its borrower, who may live, is told.
func (s *lent) evict() {
	s.mu.Lock()
	m := s.media
	s.mu.Unlock()
	if m != nil {
		_, done := m.Close()
		s.told(media.Vanished{Broken: true})
		s.guest.keep(s, done)
	}
}

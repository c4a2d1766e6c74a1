package lend

import (
	"context"

	"github.com/callboard/callboard/media"
)

const tapsMost = 8 // as media has it

// listener is one who listens to a session.
type listener struct{ out func(frame []byte) }

// Hear is media.Session.Hear. Sound comes over the link only while somebody hears.
func (s *Session) Hear(ear func(frame []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over() {
		return
	}
	s.hearing.Lock()
	s.ear = ear
	s.hearing.Unlock()
	var head numbers
	s.tell(kindHear, head.u8(bit(ear != nil)).bytes(), nil)
}

func (s *Session) hears(frame []byte) {
	s.hearing.Lock()
	defer s.hearing.Unlock()
	if s.ear != nil {
		s.ear(frame)
	}
}

// Tap is media.Session.Tap. Errors: media.ErrClosed, media.ErrTaps.
func (s *Session) Tap(mode media.TapMode, out func(frame []byte)) (*media.Tap, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over() {
		return nil, media.ErrClosed
	}
	s.hearing.Lock()
	if len(s.taps) >= tapsMost {
		s.hearing.Unlock()
		return nil, media.ErrTaps
	}
	if s.taps == nil {
		s.taps = make(map[uint32]*listener)
	}
	s.tapped++
	n := s.tapped
	s.taps[n] = &listener{out}
	s.hearing.Unlock()
	var head numbers
	s.tell(kindTap, head.u32(n).u8(byte(mode)).bytes(), nil)
	say := func(mu []byte) {
		if mode == media.Listen || len(mu) == 0 {
			return
		}
		var head numbers
		s.link.out.put(kindSay, s.number, head.u32(n).bytes(), mu[max(len(mu)-sayMost, 0):], droppable)
	}
	return media.NewTap(say, func() {
		s.hearing.Lock()
		_, listens := s.taps[n]
		delete(s.taps, n)
		s.hearing.Unlock()
		if listens {
			var head numbers
			s.tell(kindUntap, head.u32(n).bytes(), nil)
		}
	}), nil
}

// overhears hands a listener a frame; nil: that was all.
func (s *Session) overhears(n uint32, frame []byte) {
	s.hearing.Lock()
	defer s.hearing.Unlock()
	t := s.taps[n]
	if t == nil {
		return
	}
	if frame == nil {
		delete(s.taps, n)
	}
	t.out(frame)
}

// endTaps tells everybody who listens that it is over, and lets go of who hears.
func (s *Session) endTaps() {
	s.hearing.Lock()
	defer s.hearing.Unlock()
	s.ear = nil
	for n, t := range s.taps {
		delete(s.taps, n)
		t.out(nil)
	}
}

// PlayFeed is media.Session.PlayFeed: the feed is sent as it is made, and little more than is heard of it.
func (s *Session) PlayFeed(id uint64, feed *media.Feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over() {
		return
	}
	s.stopPump()
	s.played++
	n := s.played
	s.feeds[n] = &fed{feed: feed}
	var head numbers
	s.tell(kindPlayFeed, head.u64(id).u32(n).bytes(), nil)
	var ctx context.Context
	ctx, s.pump = context.WithCancel(context.Background())
	go s.send(ctx, n, feed)
}

// stopPump ends the sending of a feed. The lock is held.
func (s *Session) stopPump() {
	if s.pump != nil {
		s.pump()
		s.pump = nil
	}
}

// send sends a feed until all of it is sent, or something else plays.
func (s *Session) send(ctx context.Context, n uint32, feed *media.Feed) {
	for sent := 0; ; {
		at, more, over, err := feed.Onward(ctx, sent, aheadMost)
		if err != nil {
			return
		}
		var head numbers
		if at < sent {
			var back numbers
			s.cut(n)
			s.tell(kindFeedCut, back.u32(n).u32(uint32(at)).bytes(), nil) //nolint:gosec // never negative
			sent = at
		}
		if sent += len(more); len(more) > 0 {
			s.tell(kindFeed, head.u32(n).bytes(), more)
		} else if over {
			s.tell(kindFeedEnd, head.u32(n).bytes(), nil)
			return
		}
	}
}

// fed is a feed whose end was not told.
type fed struct {
	feed *media.Feed
	cuts uint32 // how often some of it was taken back
}

// cut notes that what is told of a feed from now on is old, until the lender knows of it.
func (s *Session) cut(n uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.feeds[n]; f != nil {
		f.cuts++
	}
}

// heard: the lender has played so much of a feed, which had been cut so often; last: no more of it.
func (s *Session) heard(n, cuts uint32, heard int, last bool) {
	s.mu.Lock()
	f := s.feeds[n]
	if last {
		delete(s.feeds, n)
	}
	known := f != nil && f.cuts == cuts
	s.mu.Unlock()
	if known {
		f.feed.Passed(heard)
	}
}

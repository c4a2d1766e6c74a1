package media

// playback is what a session plays of its own: a clip or a feed, and music on hold in its place.
type playback struct {
	clip   Clip
	at     int // samples that were played
	id     uint64
	active bool
	paused bool
	dry    bool  // nothing of the feed was there for the last frame
	feed   *Feed // in place of clip
	hold   holdMusic
}

// start plays a clip, or else a feed.
func (p *playback) start(id uint64, clip Clip, feed *Feed) {
	p.id, p.clip, p.feed, p.at, p.active, p.paused, p.dry = id, clip, feed, 0, true, false, feed != nil
}

// interrupt ends what plays.
func (p *playback) interrupt(events *eventList) {
	if p.active {
		p.end(events, true)
	}
}

func (p *playback) end(events *eventList, interrupted bool) {
	events.add(Played{ID: p.id, Interrupted: interrupted, Heard: samples(p.at)})
	p.active, p.clip, p.feed = false, nil, nil
}

// isAudible says whether something plays that is not paused.
func (p *playback) isAudible() bool { return p.active && !p.paused }

// fill fills a frame as far as there is audio, and says how far.
func (p *playback) fill(right []byte, events *eventList) (n int) {
	var over bool
	if p.feed != nil {
		n, over = p.feed.fill(right, p.at, p.dry)
		p.dry = n < len(right)
		p.at += n
	} else {
		n = copy(right, p.clip[p.at:])
		p.at += n
		over = p.at == len(p.clip)
	}
	if over {
		p.end(events, false)
	}
	return n
}

// holdMusic is what the peer hears while it is on hold.
type holdMusic struct {
	on    bool
	music Clip
	at    int
}

// fill fills a frame with the next of the music, over and over.
func (h *holdMusic) fill(dst []byte) {
	if len(h.music) == 0 {
		quiet(dst)
		return
	}
	for n := 0; n < len(dst); {
		k := copy(dst[n:], h.music[h.at:])
		n += k
		h.at = (h.at + k) % len(h.music)
	}
}

// Play plays a clip in place of what plays, which is reported as interrupted. The clip waits while there is nowhere to send to.
func (s *Session) Play(id uint64, clip Clip) { s.play(id, clip, nil) }

// PlayFeed plays audio that is still being made. Played comes once the feed has ended and all of it was heard.
func (s *Session) PlayFeed(id uint64, feed *Feed) { s.play(id, nil, feed) }

func (s *Session) play(id uint64, clip Clip, feed *Feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.playback.interrupt(&s.events)
	if !s.closed {
		s.playback.start(id, clip, feed)
	}
}

// StopPlaying interrupts what plays.
func (s *Session) StopPlaying() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.playback.interrupt(&s.events)
}

// PausePlaying pauses what plays until ContinuePlaying. A new Play is heard at once.
func (s *Session) PausePlaying() { s.setPaused(true) }

// ContinuePlaying ends a PausePlaying.
func (s *Session) ContinuePlaying() { s.setPaused(false) }

func (s *Session) setPaused(paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.playback.paused = paused
}

// Hold plays music to the peer, over and over, in place of everything else; without music it hears silence. Its audio
// goes to no bridge meanwhile, and a clip that plays waits. The owner signals the hold to the peer.
func (s *Session) Hold(music Clip) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.playback.hold = holdMusic{on: true, music: music}
	}
}

// Resume ends a Hold: what waited goes on.
func (s *Session) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.playback.hold = holdMusic{}
}

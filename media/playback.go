package media

// playback is the audio that the session plays: a clip or a feed, or hold music in place of them.
type playback struct {
	clip   Clip
	at     int // samples played so far
	id     uint64
	active bool
	paused bool
	dry    bool  // the feed had no audio for the last frame
	feed   *Feed // played instead of clip
	hold   holdMusic
}

// start plays feed if it is set, otherwise clip.
func (p *playback) start(id uint64, clip Clip, feed *Feed) {
	p.id, p.clip, p.feed, p.at, p.active, p.paused, p.dry = id, clip, feed, 0, true, false, feed != nil
}

// interrupt stops playback and adds a Played event that says how much was heard.
func (p *playback) interrupt(events *eventList) {
	if p.active {
		p.end(events, true)
	}
}

func (p *playback) end(events *eventList, interrupted bool) {
	events.add(Played{ID: p.id, Interrupted: interrupted, Heard: samples(p.at)})
	p.active, p.clip, p.feed = false, nil, nil
}

// isAudible says whether something plays and is not paused.
func (p *playback) isAudible() bool { return p.active && !p.paused }

// fill fills a frame with the next audio of the clip or feed and returns how many samples it filled.
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

// holdMusic is the audio that the peer hears while on hold.
type holdMusic struct {
	on    bool
	music Clip
	at    int
}

// fill fills a frame with the next samples of the music, repeated endlessly.
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

// Play plays a clip and interrupts the current playback. The clip waits until the peer's address is known.
func (s *Session) Play(id uint64, clip Clip) { s.play(id, clip, nil) }

// PlayFeed plays audio that is still being produced. The event Played follows when the feed has ended and was played
// completely.
func (s *Session) PlayFeed(id uint64, feed *Feed) { s.play(id, nil, feed) }

func (s *Session) play(id uint64, clip Clip, feed *Feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.playback.interrupt(&s.events)
	if !s.closed {
		s.playback.start(id, clip, feed)
	}
}

// StopPlaying interrupts the current playback.
func (s *Session) StopPlaying() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.playback.interrupt(&s.events)
}

// PausePlaying pauses the current playback until ContinuePlaying. A new Play starts unpaused.
func (s *Session) PausePlaying() { s.setPaused(true) }

// ContinuePlaying resumes the playback that PausePlaying paused.
func (s *Session) ContinuePlaying() { s.setPaused(false) }

func (s *Session) setPaused(paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.playback.paused = paused
}

// Hold plays music to the peer repeatedly, in place of all other audio. Without music the peer hears silence. During
// the hold, a bridge gets no audio of the peer, and the current clip waits. The owner signals the hold by SIP.
func (s *Session) Hold(music Clip) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.playback.hold = holdMusic{on: true, music: music}
	}
}

// Resume ends a Hold and continues the interrupted playback.
func (s *Session) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.playback.hold = holdMusic{}
}

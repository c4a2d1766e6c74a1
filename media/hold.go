package media

// hold is what the far end hears while it is held.
type hold struct {
	on    bool
	music Clip
	at    int
}

// Hold lets the far end hear music, over and over, in place of everything else; without music it hears silence. What it says
// goes to no bridge meanwhile, and what plays waits. The far end's signalling is the owner's.
func (s *Session) Hold(music Clip) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.hold = hold{on: true, music: music}
	}
}

// Resume ends a Hold: what waited goes on.
func (s *Session) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = hold{}
}

// fill is the next of the music.
func (h *hold) fill(dst []byte) {
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

// lingerFor is how long sound that was said before may still be on its way: 200 ms in the buffer against jitter of either
// side of a bridge, and a frame between them.
const lingerFor = 2*1600 + frameMost

// hush is what must not be kept or overheard. What was hushed when it was said stays so when it arrives late: the counters
// are samples, and do not fall while the reason lasts.
type hush struct {
	paused    bool
	sensitive bool
	unkept    int // not in the recording
	secret    int // not for those who listen
}

// PauseRecording leaves a gap in the recording, of silence as long as the pause. The call goes on as before.
func (s *Session) PauseRecording() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hush.paused = true
	s.hush.unkept = lingerFor
}

// ResumeRecording ends the gap. What was said in the pause and arrives late stays out of the file as well: the gap is
// 440 ms longer.
func (s *Session) ResumeRecording() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hush.paused = false
}

// Sensitive says whether what is said now must neither be kept nor overheard: it is silence in the recording and to all who
// listen by a Tap, as long as with PauseRecording, of which it is independent.
func (s *Session) Sensitive(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hush.sensitive = on
	if on {
		s.hush.unkept, s.hush.secret = lingerFor, lingerFor
	}
}

// keepFrame records a frame, or the gap in its place. The file begins with the first frame that was heard or said, behind
// the silence before it: a call that never had sound has none.
func (s *Session) keepFrame(left, right []byte) {
	if s.recorder == nil {
		if s.o.RecordPath == "" || s.o.After == nil && s.in.samples == 0 && mute(left) && mute(right) {
			return
		}
		if s.o.After != nil {
			s.recorder = s.engine.disk.Continue(s.o.RecordPath)
		} else {
			s.recorder = s.engine.disk.Create(s.o.RecordPath)
		}
		s.recorder.Silence(int(s.media) - len(left))
	}
	if s.hush.unkept > 0 {
		s.recorder.Silence(len(left))
	} else {
		s.recorder.Write(left, right)
	}
}

// pass lets n samples go by.
func (h *hush) pass(n int) {
	if !h.sensitive {
		h.secret = max(h.secret-n, 0)
		if !h.paused {
			h.unkept = max(h.unkept-n, 0)
		}
	}
}

package media

import (
	"time"

	"github.com/callboard/callboard/media/record"
)

// recording is the media time of a session and what is recorded of it.
type recording struct {
	recorder *record.Recorder // nil: nothing was recorded so far
	position int64            // samples since Begin or Early
	privacy  privacy
	human    []Span // bridges that are over
	done     chan Recording
}

// now is the media time.
func (r *recording) now() time.Duration { return samples(uint64(r.position)) } //nolint:gosec // never negative

// skip lets samples pass in which nothing was sent or received.
func (r *recording) skip(n int64) {
	r.position += n
	if r.recorder != nil {
		r.recorder.Silence(int(n))
	}
}

// write records a frame, or silence while it must not be kept.
func (r *recording) write(left, right []byte) {
	if r.privacy.unrecorded > 0 {
		r.recorder.Silence(len(left))
	} else {
		r.recorder.Write(left, right)
	}
}

// addHuman notes that a bridge has ended that began at a sample.
func (r *recording) addHuman(from int64) {
	r.human = append(r.human, Span{samples(uint64(from)), r.now()}) //nolint:gosec // never negative
}

// record records a frame. The file begins with the first frame that has audio, behind the silence before it: a call without
// any audio has no file.
func (s *Session) record(left, right []byte) {
	r := &s.recording
	r.position += int64(len(left))
	if r.recorder == nil {
		if s.o.RecordPath == "" || s.o.After == nil && s.in.samples == 0 && isSilence(left) && isSilence(right) {
			return
		}
		if s.o.After != nil {
			r.recorder = s.engine.disk.Continue(s.o.RecordPath)
		} else {
			r.recorder = s.engine.disk.Create(s.o.RecordPath)
		}
		r.recorder.Silence(int(r.position) - len(left))
	}
	r.write(left, right)
}

// lingerFor is how long audio that was said before may still be on its way: 200 ms in the jitter buffer of either side of a
// bridge, and a frame between them.
const lingerFor = 2*1600 + frameMost

// privacy is what must not be recorded, or heard by listeners. Private audio that arrives late stays private: the
// counters are samples, and do not fall while the reason lasts.
type privacy struct {
	paused     bool
	sensitive  bool
	unrecorded int // samples that are not recorded
	unheard    int // samples that listeners do not hear
}

// pass lets n samples go by.
func (p *privacy) pass(n int) {
	if !p.sensitive {
		p.unheard = max(p.unheard-n, 0)
		if !p.paused {
			p.unrecorded = max(p.unrecorded-n, 0)
		}
	}
}

// setSensitive begins or ends what must be neither recorded nor heard.
func (p *privacy) setSensitive(on bool) {
	p.sensitive = on
	if on {
		p.unrecorded, p.unheard = lingerFor, lingerFor
	}
}

// PauseRecording leaves a gap in the recording, of silence as long as the pause. The call goes on as before.
func (s *Session) PauseRecording() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recording.privacy.paused = true
	s.recording.privacy.unrecorded = lingerFor
}

// ResumeRecording ends the gap. Audio of the pause that arrives late stays out of the file as well: the gap is 440 ms longer.
func (s *Session) ResumeRecording() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recording.privacy.paused = false
}

// Sensitive says whether what is said now must be neither recorded nor overheard. It is silence in the recording and to the
// listeners of a Tap, as long as with PauseRecording, of which it is independent.
func (s *Session) Sensitive(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recording.privacy.setSensitive(on)
}

// Mark is the position on the media clock, which is that of the recording; zero before Begin, or Early.
func (s *Session) Mark() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recording.now()
}

// Human are the parts of the media time in which the session was bridged, the last up to now.
func (s *Session) Human() []Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := append([]Span(nil), s.recording.human...)
	if l := s.mixer.link; l != nil && !l.preview {
		out = append(out, Span{samples(uint64(l.from)), s.recording.now()}) //nolint:gosec // never negative
	}
	return out
}

// closeRecording completes the file, or discards it if the call was not answered; done gets one Recording.
func (s *Session) closeRecording() {
	r := &s.recording
	r.done = make(chan Recording, 1)
	if r.recorder == nil {
		r.done <- Recording{}
		close(r.done)
		return
	}
	end := r.recorder.Close
	if !s.begun {
		end = r.recorder.Discard
	}
	human, written := r.human, end()
	s.engine.work.Go(func() {
		w := <-written
		r.done <- Recording{Path: w.Path, Duration: w.Duration, Human: human, Gap: w.Gap, Err: w.Err}
		close(r.done)
	})
}

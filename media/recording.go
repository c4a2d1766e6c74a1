package media

import (
	"time"

	"github.com/callboard/callboard/media/record"
)

// recording is the media time of a session and the state of its recording.
type recording struct {
	recorder *record.Recorder // nil: no audio so far
	position int64            // samples since Begin or Early
	privacy  privacy
	human    []Span // bridges that have ended
	done     chan Recording
}

// now returns the media time.
func (r *recording) now() time.Duration { return samples(uint64(r.position)) } //nolint:gosec // never negative

// skip advances the media time by n samples of silence, for example after the machine was suspended.
func (r *recording) skip(n int64) {
	r.position += n
	if r.recorder != nil {
		r.recorder.Silence(int(n))
	}
}

// write records a frame of both channels, or silence while the audio must not be recorded.
func (r *recording) write(left, right []byte) {
	if r.privacy.unrecorded > 0 {
		r.recorder.Silence(len(left))
	} else {
		r.recorder.Write(left, right)
	}
}

// addHuman records the span of a bridge that began at sample from and ends now.
func (r *recording) addHuman(from int64) {
	r.human = append(r.human, Span{samples(uint64(from)), r.now()}) //nolint:gosec // never negative
}

// record records a frame. The file starts with the first frame that has audio. The time before it becomes silence. A
// call without audio has no file.
func (s *Session) record(left, right []byte) {
	r := &s.recording
	r.position += int64(len(left))
	if r.recorder == nil {
		if s.o.RecordPath == "" || s.o.ResumeFrom == nil && s.in.samples == 0 && isSilence(left) && isSilence(right) {
			return
		}
		if s.o.ResumeFrom != nil {
			r.recorder = s.engine.disk.Continue(s.o.RecordPath)
		} else {
			r.recorder = s.engine.disk.Create(s.o.RecordPath)
		}
		r.recorder.Silence(int(r.position) - len(left))
	}
	r.write(left, right)
}

// lingerFor is the time for which private audio may still be in transit, in samples. It covers 200 ms in the jitter
// buffer of each session of a bridge, and a frame.
const lingerFor = 2*1600 + frameMost

// privacy says which audio must be neither recorded nor heard by listeners. After the private time has ended, the
// counters count down in samples, so that delayed private audio is also kept out.
type privacy struct {
	paused     bool
	sensitive  bool
	unrecorded int // samples still to be recorded as silence
	unheard    int // samples still silent for listeners
}

// pass lets the counters count down by n samples, unless the private time continues.
func (p *privacy) pass(n int) {
	if !p.sensitive {
		p.unheard = max(p.unheard-n, 0)
		if !p.paused {
			p.unrecorded = max(p.unrecorded-n, 0)
		}
	}
}

// setSensitive starts or ends a time whose audio must be neither recorded nor heard by listeners.
func (p *privacy) setSensitive(on bool) {
	p.sensitive = on
	if on {
		p.unrecorded, p.unheard = lingerFor, lingerFor
	}
}

// PauseRecording replaces the recorded audio with silence until ResumeRecording. The call itself continues.
func (s *Session) PauseRecording() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recording.privacy.paused = true
	s.recording.privacy.unrecorded = lingerFor
}

// ResumeRecording ends the pause. Silence is recorded for 440 ms longer, so that delayed audio of the pause does not
// get into the file.
func (s *Session) ResumeRecording() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recording.privacy.paused = false
}

// SetSensitive starts (on) or ends private audio. Private audio is silence in the recording and for the listeners of a
// Tap, also for 440 ms after its end. It is independent of PauseRecording.
func (s *Session) SetSensitive(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recording.privacy.setSensitive(on)
}

// Position returns the current position on the media clock, which is also the position in the recording. The position is
// zero before Begin or Early.
func (s *Session) Position() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recording.now()
}

// HumanSpans returns the spans of the media time in which the session was bridged. A span of the current bridge ends now.
func (s *Session) HumanSpans() []Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := append([]Span(nil), s.recording.human...)
	if l := s.mixer.link; l != nil && !l.preview {
		out = append(out, Span{samples(uint64(l.from)), s.recording.now()}) //nolint:gosec // never negative
	}
	return out
}

// closeRecording completes the file, or discards it if the call was not answered. It delivers a Recording to r.done.
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

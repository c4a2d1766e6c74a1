package media

import (
	"github.com/callboard/callboard/media/amd"
	"github.com/callboard/callboard/media/vad"
)

// analysis is what listens to the peer's audio from Begin on: the owner's listener, voice activity detection and the detection
// of answering machines.
type analysis struct {
	listener func(frame []byte)
	voice    vad.Detector
	answerer *amd.Detector // nil: the answer is not classified, or is no more
}

// analyze takes a frame.
func (a *analysis) analyze(left []byte, events *eventList) {
	if a.listener != nil {
		a.listener(left)
	}
	switch a.voice.Frame(left) {
	case vad.Began:
		events.add(SpeechBegan{})
	case vad.Ended:
		events.add(SpeechEnded{})
	case vad.None:
	}
	if a.answerer != nil {
		a.classifyAnswer(left, events)
	}
}

func (a *analysis) classifyAnswer(left []byte, events *eventList) {
	e := a.answerer.Frame(left)
	if e.Verdict {
		events.add(Answerer{By: e.Class})
	}
	if e.Beep {
		events.add(Beep{})
	}
	if e.Over {
		events.add(GreetingOver{})
	}
	if a.answerer.Done() {
		a.answerer = nil
	}
}

// Hear hands what the peer says to listener, from Begin on and frame by frame, as 8 kHz mono µ-law; nil: to nobody. The frame
// is overwritten afterwards. listener is called from the media clock and must neither block nor call the session.
func (s *Session) Hear(listener func(frame []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.analysis.listener = listener
	}
}

package media

import (
	"github.com/callboard/callboard/media/amd"
	"github.com/callboard/callboard/media/vad"
)

// analysis processes the peer's audio after Begin: for the owner's listener, for voice activity detection and
// for answering machine detection.
type analysis struct {
	listener func(frame []byte)
	voice    vad.Detector
	answerer *amd.Detector // nil: answering machine detection is off or finished
}

// analyze passes a frame of the peer's audio to the listener and the detectors, and adds their events.
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
		events.add(AnswerClassified{By: e.Class})
	}
	if e.Beep {
		events.add(Beep{})
	}
	if e.Over {
		events.add(GreetingEnded{})
	}
	if a.answerer.Done() {
		a.answerer = nil
	}
}

// SetListener sets a listener that receives the peer's audio after Begin, frame by frame, as 8 kHz mono µ-law. nil removes the
// listener. The frame is valid only during the call of listener, which runs on the media clock and must neither
// block nor call the session.
func (s *Session) SetListener(listener func(frame []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.analysis.listener = listener
	}
}

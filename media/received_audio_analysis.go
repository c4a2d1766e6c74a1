package media

import (
	"time"

	"github.com/callboard/callboard/media/amd"
	"github.com/callboard/callboard/media/vad"
)

// analysis processes the peer's audio after Begin: for the owner's listener, for voice activity detection and
// for answering machine detection.
type analysis struct {
	listener func(frame []byte)
	energy   vad.Detector
	neural   *vad.Neural   // detects speech in place of energy; nil: no words are listened for
	answerer *amd.Detector // nil: answering machine detection is off or finished
}

// analyze passes a frame of the peer's audio to the listener and the detectors, and adds their events. playing says that the
// peer hears the agent.
func (a *analysis) analyze(left []byte, playing bool, events *eventList) {
	if a.listener != nil {
		a.listener(left)
	}
	switch a.detectSpeech(left, playing) {
	case vad.Began:
		events.add(SpeechBegan{})
	case vad.Ended:
		events.add(SpeechEnded{Silence: a.endSilence()})
	case vad.None:
	}
	if a.answerer != nil {
		a.classifyAnswer(left, events)
	}
}

// endSilence returns the silence after which the detection says that speech has ended.
func (a *analysis) endSilence() time.Duration {
	if a.neural != nil {
		return vad.NeuralEndSilence
	}
	return vad.EndSilence
}

func (a *analysis) detectSpeech(left []byte, playing bool) vad.Edge {
	if a.neural != nil {
		a.neural.SetInterrupting(playing)
		return a.neural.Frame(left)
	}
	return a.energy.Frame(left)
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

// SetListener sets a listener that receives the peer's audio after Begin, frame by frame, as 8 kHz mono µ-law, and detects
// speech by a neural network from then on, which costs about 1 ms of CPU per second. nil removes the listener. The frame is
// valid only during the call of listener, which runs on the media clock and must neither block nor call the session.
func (s *Session) SetListener(listener func(frame []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.analysis.listener = listener
	switch {
	case listener == nil:
		s.analysis.neural = nil
	case s.analysis.neural == nil:
		s.analysis.neural, _ = vad.NewNeural() // an error leaves the detection by energy, as callboard doctor reports
	}
}

// RejectSpeech says that the peer's latest speech had no words. It is called by the owner of a listener, whose speech
// detection expects louder speech from then on, unless it knows the level of the peer's voice.
func (s *Session) RejectSpeech() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.analysis.neural != nil {
		s.analysis.neural.Reject()
	}
}

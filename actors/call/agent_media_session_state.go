package call

import (
	"slices"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// audio holds the media session between the agent and the peer, and the hold and recording state of that session.
type audio struct {
	session         leg.Session // of the answered call; nil before the answer
	leg             int         // number of the leg that owns the session
	previewedTag    string      // remote tag of the early dialog whose media the session accepted
	early           bool        // an inbound caller gets early media before the answer
	confidential    bool        // the signalling of the call is encrypted
	held            bool        // the peer has put the call on hold
	recordingPaused bool
	music           holdMusic
}

// connectEngines connects the caller's audio to the speech recognizer or the realtime engine. It returns nil if
// neither needs audio. The recognizer is needed if the pathway listens to speech, if spoken keywords can opt the caller
// out, or, as listensToGreeting says, for the words with which the call is answered.
func (a *audio) connectEngines(cfg *Config, s *domain.Script, optOut []string, listensToGreeting bool) *speech.AudioTap {
	recognizer, language := cfg.recognizer(s), s.RecognitionLanguage()
	needsSpeech := recognizer != nil && slices.ContainsFunc(pathway.SpeechLanguages(s), recognizer.SupportsLanguage) && (pathway.UsesSpeech(&s.Pathway) || conversation.ListensForOptOut(recognizer, language, optOut))
	if !needsSpeech && !listensToGreeting && s.Realtime == nil {
		return nil
	}
	tap := new(speech.AudioTap)
	a.session.SetListener(tap.Frame)
	return tap
}

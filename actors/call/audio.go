package call

import (
	"slices"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// audio is the media session that the caller hears.
type audio struct {
	session         leg.Session // of the answered call; nil before
	leg             int         // number of the leg with this session
	previewed       string      // remote tag of the early dialog whose media is heard
	early           bool        // an inbound call hears our early media
	confidential    bool        // its signalling is encrypted
	held            bool        // by the peer
	recordingPaused bool
	music           holdMusic
}

// connectEngines connects the caller's audio to the speech engines, if the pathway needs words,
// some words mean an opt-out, or a realtime engine listens; nil: nothing listens.
func (a *audio) connectEngines(cfg *Config, s *domain.Script, optOut []string) *speech.AudioTap {
	ears, language := cfg.recognizer(s), s.RecognitionLanguage()
	words := ears != nil && slices.ContainsFunc(pathway.SpeechLanguages(s), ears.SupportsLanguage) && (pathway.UsesSpeech(&s.Pathway) || conversation.ListensForOptOut(ears, language, optOut))
	if !words && s.Realtime == nil {
		return nil
	}
	ear := new(speech.AudioTap)
	a.session.Hear(ear.Frame)
	return ear
}

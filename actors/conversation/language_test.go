package conversation_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
)

func TestPronunciationsChangeSpeechButNotTranscript(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := menuScript()
		script.Voice.Pronunciations = []domain.Pronunciation{{Word: "ada", Say: "ay da"}}
		s := openConversation(t, sys, script, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		s.voice.mu.Lock()
		assert.Equal(t, 1, s.voice.synthesized["Ask ay da"], "%v", s.voice.synthesized)
		assert.Zero(t, s.voice.synthesized["Ask Ada"])
		s.voice.mu.Unlock()
		all := s.close()
		require.IsType(t, conversation.FinishReply{}, all[len(all)-1])
		assert.Equal(t, "Ask Ada", all[len(all)-1].(conversation.FinishReply).Segments[0].Text)
	})
}

// languageMenuScript returns a script whose pathway asks the caller for a language.
func languageMenuScript() domain.Script {
	listens := func(id, prompt, language string) domain.Node {
		return domain.Node{ID: id, Type: domain.NodeCollect, Input: "both", Prompt: prompt, TimeoutSeconds: 9, Set: &domain.Assign{Language: language}}
	}
	word := func(from, to, word string) domain.Edge {
		return domain.Edge{From: from, To: to, When: domain.When{Type: domain.EdgeIntent, Intent: to, Words: []string{word}}}
	}
	return domain.Script{
		Language: "en-US", Voice: domain.Voice{Name: "en-us"}, STT: &domain.AgentSTT{Language: "en-GB"},
		Languages: []domain.AgentLanguage{{Language: "de-DE", Voice: domain.Voice{Name: "de+f2"}}},
		Pathway: domain.Pathway{
			Start: "which",
			Nodes: []domain.Node{
				listens("which", "Which language?", ""), listens("german", "Kommen Sie?", "de-DE"), listens("french", "Vous venez ?", "fr-FR"), listens("english", "Will you come?", "en-US"),
				{ID: "bye", Type: domain.NodeEnd, Outcome: domain.OutcomeConfirmed},
			},
			Edges: []domain.Edge{
				word("which", "german", "deutsch"), word("german", "french", "weiter"), edge("french", "english", domain.EdgeDTMF, "1"), word("english", "bye", "yes"),
			},
		},
	}
}

func TestLanguageChangeSwitchesVoiceAndRecognizer(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, languageMenuScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(3 * time.Second)
		s.callerSays("deutsch", 0.9, time.Second)
		time.Sleep(3 * time.Second)
		s.callerSays("weiter", 0.9, time.Second)
		time.Sleep(3 * time.Second)
		s.callerSays("yes", 0.9, time.Second)
		s.pressKeys("1")
		time.Sleep(3 * time.Second)
		s.callerSays("yes", 0.9, time.Second)
		s.recognizer.mu.Lock()
		assert.Equal(t, []string{"en-GB", "de-DE", "en-GB"}, s.recognizer.languages, "French is not recognized")
		s.recognizer.mu.Unlock()
		s.voice.mu.Lock()
		for _, want := range []string{"en-us en-US Which language?", "de+f2 de-DE Kommen Sie?", " fr-FR Vous venez ?", "en-us en-US Will you come?"} {
			assert.Contains(t, s.voice.voices, want)
		}
		s.voice.mu.Unlock()
		all := s.close()
		var faults []conversation.Fault
		for _, m := range all {
			if f, ok := m.(conversation.Fault); ok {
				faults = append(faults, f)
			}
		}
		assert.Equal(t, []conversation.Fault{{Stage: "stt", Code: "language_not_heard", Message: "no speech recognizer supports fr-FR; only keys are recognized", Recovered: true}}, faults)
		require.IsType(t, conversation.FinishReply{}, all[len(all)-1])
		assert.Equal(t, domain.OutcomeConfirmed, all[len(all)-1].(conversation.FinishReply).Result.Outcome)
	})
}

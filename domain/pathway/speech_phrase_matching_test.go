package pathway_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

func intent(from, to, name string, words ...string) domain.Edge {
	return domain.Edge{From: from, To: to, When: domain.When{Type: domain.EdgeIntent, Intent: name, Words: words}}
}

// visitPathway returns a pathway that asks whether the caller will come and accepts words and keys as the answer.
func visitPathway() domain.Pathway {
	return domain.Pathway{
		Name: "visit", Start: "hello",
		Nodes: []domain.Node{
			{ID: "hello", Type: domain.NodeSay, Prompt: "Hello.", Interruptible: no()},
			{ID: "ask", Type: domain.NodeCollect, Input: "both", Prompt: "Will you come?", SaveAs: "choice", Retries: 1, TimeoutSeconds: 3},
			{ID: "yes", Type: domain.NodeEnd, Outcome: domain.OutcomeConfirmed},
			{ID: "no", Type: domain.NodeEnd, Outcome: domain.OutcomeDeclined},
			{ID: "person", Type: domain.NodeEnd, Notes: "person"},
			{ID: "gone", Type: domain.NodeEnd, Notes: "gone"},
		},
		Edges: []domain.Edge{
			edge("hello", "ask", domain.EdgeAlways),
			edge("ask", "yes", domain.EdgeDTMF, "1"),
			intent("ask", "yes", "confirm"), intent("ask", "no", "no", "no", "i cannot come"),
			edge("ask", "gone", domain.EdgeElse),
			intent("*", "person", "human", "talk to someone"),
		},
	}
}

func said(text string) pathway.Utterance { return pathway.Utterance{Text: text, Confidence: 0.9} }

func TestWordsFollowEdgesLikeKeys(t *testing.T) {
	t.Parallel()
	asked := []pathway.Input{began, spoken, spoken}
	for name, c := range map[string]struct {
		in   []pathway.Input
		want string // notes, intent and outcome
	}{
		"a usual word":                           {[]pathway.Input{said("Yes, please!")}, "/confirm/confirmed"},
		"words of the edge":                      {[]pathway.Input{said("well I cannot come")}, "/no/declined"},
		"a part of a word is none":               {[]pathway.Input{said("nothing"), said("yes")}, ""},
		"the longest one counts":                 {[]pathway.Input{said("no I want to talk to someone")}, "person/human/completed"},
		"the longest one counts at any position": {[]pathway.Input{said("not this one, I cannot come")}, "/no/declined"},
		"the name of a key":                      {[]pathway.Input{said("one")}, "//confirmed"},
		"a key":                                  {[]pathway.Input{key('1')}, "//confirmed"},
		"unknown words, twice":                   {[]pathway.Input{said("banana"), spoken, said("")}, "gone//completed"},
		"hardly trusted words are none":          {[]pathway.Input{pathway.Utterance{Text: "yes", Confidence: 0.2}, spoken, timeout}, "gone//completed"},
		"unsure, and yes":                        {[]pathway.Input{pathway.Utterance{Text: "i cannot come", Confidence: 0.5}, spoken, said("yes")}, "/no/declined"},
		"unsure, and the same again":             {[]pathway.Input{pathway.Utterance{Text: "i cannot come", Confidence: 0.5}, spoken, pathway.Utterance{Text: "i cannot come", Confidence: 0.5}}, "/no/declined"},
		"unsure, and no, then yes":               {[]pathway.Input{pathway.Utterance{Text: "i cannot come", Confidence: 0.5}, spoken, said("nope"), spoken, said("yes")}, "/confirm/confirmed"},
		"unsure, and other words":                {[]pathway.Input{pathway.Utterance{Text: "yes", Confidence: 0.5}, spoken, said("talk to someone")}, "person/human/completed"},
		"unsure, and a key":                      {[]pathway.Input{pathway.Utterance{Text: "no", Confidence: 0.5}, key('1')}, "//confirmed"},
		"unsure, and silence, twice":             {[]pathway.Input{pathway.Utterance{Text: "no", Confidence: 0.5}, spoken, timeout, spoken, timeout}, "gone//completed"},
		"unsure, then other words":               {[]pathway.Input{pathway.Utterance{Text: "no", Confidence: 0.5}, pathway.ResumeNode{}, spoken, said("yes")}, "/confirm/confirmed"},
		"a question is heard before its end":     {[]pathway.Input{said("banana"), said("yes")}, "/confirm/confirmed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := run(t, visitPathway(), nil, append(asked[:3:3], c.in...)...)
			r := s.Result()
			if c.want == "" {
				assert.Equal(t, "confirm", r.Intent)
				return
			}
			assert.True(t, s.Over())
			assert.Equal(t, c.want, r.Notes+"/"+r.Intent+"/"+string(r.Outcome))
		})
	}
}

func TestWordsDuringPromptInterruptOrAreKept(t *testing.T) {
	t.Parallel()
	s, commands := run(t, visitPathway(), nil, began, said("yes"), spoken, spoken)
	assert.Empty(t, commands[1], "the greeting goes on")
	assert.True(t, s.Over(), "words during the prompt answer the question")
	assert.Equal(t, domain.OutcomeConfirmed, s.Result().Outcome)
	assert.Equal(t, map[string]string{"choice": "yes"}, s.Result().Variables)

	s, commands = run(t, visitPathway(), nil, began, said("banana"), spoken, spoken)
	assert.False(t, s.Over(), "unknown words are dropped")
	assert.Equal(t, []pathway.Command{pathway.CollectInput{Length: 1, Timeout: 3 * time.Second}}, commands[3])

	_, commands = run(t, visitPathway(), nil, began, spoken, said("yes"))
	assert.Equal(t, pathway.StopSpeaking{}, commands[2][0])
}

func TestRepeatedQuestionUsesRetryPrompt(t *testing.T) {
	t.Parallel()
	p := visitPathway()
	p.Nodes[1].Retries, p.Nodes[1].RetryPrompt = 2, "Please say yes or no, {{name | dear caller}}."
	asks := func(commands []pathway.Command) (texts []string) {
		for _, d := range commands {
			if say, ok := d.(pathway.Say); ok {
				texts = append(texts, say.Text)
			}
		}
		return texts
	}
	s, commands := run(t, p, map[string]string{"name": "Ada"}, began, spoken, spoken, said("banana"), spoken, timeout)
	assert.Equal(t, []string{"Will you come?"}, asks(commands[1]))
	assert.Equal(t, []string{"Please say yes or no, Ada."}, asks(commands[3]))
	assert.Equal(t, []string{"Please say yes or no, Ada."}, asks(commands[5]))
	assert.NotContains(t, s.UpcomingTexts(), "Please say yes or no, Ada.", "it is not asked a fourth time")
	s, _ = run(t, p, map[string]string{"name": "Ada"}, began, spoken)
	assert.Contains(t, s.UpcomingTexts(), "Please say yes or no, Ada.", "so that it can be spoken at once")
	p.Nodes[1].RetryPrompt = "Please."
	assert.Contains(t, pathway.FixedTexts(&domain.Script{Pathway: p}), "Please.")
}

func TestNodeSwitchesLanguage(t *testing.T) {
	t.Parallel()
	p := visitPathway()
	p.Nodes[1].Set = &domain.Assign{Language: "de-DE"}
	_, commands := run(t, p, nil, began, spoken, spoken, timeout, spoken, pathway.Utterance{Text: "yes", Confidence: 0.5})
	assert.Contains(t, commands[1], pathway.Command(pathway.SetLanguage{Language: "de-DE"}))
	for _, d := range commands[5] {
		if say, ok := d.(pathway.Say); ok {
			assert.NotContains(t, say.Text, "Did you say", "no question in English")
		}
	}
	script := domain.Script{Language: "en-US", Pathway: p}
	assert.Equal(t, []string{"en-US", "de-DE"}, pathway.SpeechLanguages(&script))
	p.Nodes[1].Set.Language = "german!"
	assert.Equal(t, map[string]int{"nodes[1].set.language": 1}, params(t, pathway.Validate(&p)))
}

func TestExpectedPhrases(t *testing.T) {
	t.Parallel()
	s, _ := run(t, visitPathway(), nil, began)
	phrases, hears := s.ExpectedPhrases()
	assert.True(t, hears, "for the question that follows")
	assert.Subset(t, phrases, []string{"yes", "i cannot come", "one", "talk to someone"})
	s, _ = run(t, visitPathway(), nil, began, spoken, spoken, pathway.Utterance{Text: "i cannot come", Confidence: 0.4})
	phrases, _ = s.ExpectedPhrases()
	assert.Subset(t, phrases, []string{"yes", "nope"})
	p := confirmPathway()
	s, _ = run(t, p, nil, began, spoken, spoken)
	_, hears = s.ExpectedPhrases()
	assert.False(t, hears, "a question for keys")
	assert.False(t, pathway.UsesSpeech(&p))
}

func TestConfirmationIsAskedInEnglishOnly(t *testing.T) {
	t.Parallel()
	s := pathway.New(domain.Script{Language: "de-DE", Pathway: visitPathway()}, nil)
	var do []pathway.Command
	for _, in := range []pathway.Input{began, spoken, spoken, pathway.Utterance{Text: "i cannot come", Confidence: 0.5}} {
		s, do = pathway.Step(s, in)
	}
	assert.Equal(t, []pathway.Command{pathway.Say{Node: "ask", Text: "Will you come?", Shown: "Will you come?", Interruptible: true}}, do, "the question again")
}

func TestWordsNeedAnEngineThatHearsSpeech(t *testing.T) {
	t.Parallel()
	p := visitPathway()
	assert.NotEmpty(t, pathway.MissingCapabilities(&p, pathway.Capabilities{}))
	assert.Empty(t, pathway.MissingCapabilities(&p, pathway.Capabilities{Speech: true}))
	p.Edges = append(p.Edges, intent("ask", "no", "unheard_of"))
	assert.Len(t, pathway.MissingCapabilities(&p, pathway.Capabilities{Speech: true}), 1, "an intent without words")
	free := domain.Pathway{
		Start: "a",
		Nodes: []domain.Node{{ID: "a", Type: domain.NodeCollect, Input: "speech"}, {ID: "b", Type: domain.NodeEnd}},
		Edges: []domain.Edge{edge("a", "b", domain.EdgeAlways)},
	}
	assert.Len(t, pathway.MissingCapabilities(&free, pathway.Capabilities{Speech: true}), 1, "any words")
	assert.Empty(t, pathway.MissingCapabilities(&free, pathway.Capabilities{Text: true}))
	play := pathway.TextSession{State: pathway.New(domain.Script{Pathway: free}, nil)}
	play.StartSession()
	assert.True(t, play.HearsSpeech())
	play.Speak("whatever")
	assert.True(t, play.State.Over())

	bad := visitPathway()
	bad.Edges[2].When.Words = []string{"?!", strings.Repeat("a", 300)}
	var wrong *domain.Error
	require.ErrorAs(t, pathway.Validate(&bad), &wrong)
	require.Len(t, wrong.Details, 2)
	assert.Equal(t, "edges[2].when.words[0]", wrong.Details[0].Param)
}

func TestReplayOfSpokenCall(t *testing.T) {
	t.Parallel()
	lines, s := pathway.Replay(domain.Script{Pathway: visitPathway()}, nil, pathway.RecordedCall{Segments: []domain.Segment{
		{Speaker: "agent", Text: "Hello.", EndMs: 1000},
		{Speaker: "agent", Text: "Will you come?", StartMs: 1000, EndMs: 2000},
		{Speaker: "caller", Text: pathway.NotUnderstood, StartMs: 2100},
		{Speaker: "agent", Text: "Will you come?", StartMs: 3000, EndMs: 4000},
		{Speaker: "caller", Text: "okay", StartMs: 3500, EndMs: 3600, Confidence: 0.9},
		{Speaker: "caller", Text: "yes", StartMs: 4500, EndMs: 5000, Confidence: 0.9},
	}, ByAgent: true})
	assert.Equal(t, domain.OutcomeConfirmed, s.Result().Outcome)
	for _, l := range lines {
		assert.True(t, l.IsSame(), "%+v", l)
	}
}

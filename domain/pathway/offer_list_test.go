package pathway_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// offerPathway looks up free times, offers them one by one and books the chosen one.
func offerPathway() domain.Pathway {
	return domain.Pathway{
		Name: "book", Start: "times",
		Nodes: []domain.Node{
			{ID: "times", Type: domain.NodeAppointment, Action: "availability", SaveAs: "times"},
			{ID: "offer", Type: domain.NodeOffer, List: "times.free", SaveAs: "slot", Retries: 1, Prompt: "Can you come on {{ item | say-as: date}}?", RetryPrompt: "Press 1 for {{item}}."},
			{ID: "book", Type: domain.NodeAppointment, Action: "book", Arguments: map[string]string{"datetime": "{{slot}}"}},
			{ID: "done", Type: domain.NodeEnd, Outcome: domain.OutcomeConfirmed, Prompt: "See you on {{slot}}."},
			{ID: "none", Type: domain.NodeEnd, Outcome: domain.OutcomeDeclined, Prompt: "We will call you back."},
			{ID: "silent", Type: domain.NodeEnd, Prompt: "Goodbye."},
			{ID: "person", Type: domain.NodeEnd, Prompt: "A person."},
		},
		Edges: []domain.Edge{
			edge("times", "offer", domain.EdgeSuccess), edge("times", "none", domain.EdgeFailure),
			edge("offer", "book", domain.EdgeAlways), edge("offer", "none", domain.EdgeElse), edge("offer", "silent", domain.EdgeTimeout),
			edge("offer", "person", domain.EdgeDTMF, "0"),
			edge("book", "done", domain.EdgeSuccess), edge("book", "offer", domain.EdgeFailure),
		},
	}
}

const freeTimes = `{"free":["2030-01-14T09:00:00+01:00","2030-01-14T09:20:00+01:00","2030-01-15T14:00:00+01:00"]}`

// offerSession returns a text session of offerPathway in a language, whose bookings of the given times fail.
func offerSession(language, free string, taken ...string) (*pathway.TextSession, *[]string) {
	var booked []string
	p := offerPathway()
	s := &pathway.TextSession{State: pathway.New(domain.Script{Language: language, Pathway: p}, nil)}
	s.RunAction = func(a pathway.ActionRequest) pathway.ActionEnded {
		out := pathway.ActionEnded{Round: a.Round, OK: true}
		if a.Target == "availability" {
			out.Result = free
			return out
		}
		for _, t := range taken {
			out.OK = out.OK && a.Arguments["datetime"] != t
		}
		booked = append(booked, a.Arguments["datetime"])
		return out
	}
	return s, &booked
}

// saidIn returns the texts of the agent in commands, as the transcript shows them.
func saidIn(commands []pathway.Command) string {
	return strings.Join(spokenTexts(commands), " ")
}

func TestOfferSpeaksItemsUntilOneIsTaken(t *testing.T) {
	t.Parallel()
	const one, two, three = "2030-01-14T09:00:00+01:00", "2030-01-14T09:20:00+01:00", "2030-01-15T14:00:00+01:00"
	ask := func(item string) string { return "Can you come on " + item + "?" }
	none := "We will call you back."
	for name, c := range map[string]struct {
		inputs []string // keys, words, or "" for silence
		says   []string // after each input
		booked []string
		taken  []string
		saved  string
	}{
		"takes the first":                   {[]string{"1"}, []string{"See you on " + one + "."}, []string{one}, nil, one},
		"takes the second by keys":          {[]string{"2", "1"}, []string{ask(two), "See you on " + two + "."}, []string{two}, nil, two},
		"takes the third in words":          {[]string{"no, another one please", "what about the next one?", "yes, that works for me"}, []string{ask(two), ask(three), "See you on " + three + "."}, []string{three}, nil, three},
		"asks to hear it again":             {[]string{"*", "2", "say that again", "sure, no problem"}, []string{ask(one), ask(two), ask(two), "See you on " + two + "."}, []string{two}, nil, two},
		"refuses after a yes":               {[]string{"yes please, no", "1"}, []string{ask(two), "See you on " + two + "."}, []string{two}, nil, two},
		"refuses all":                       {[]string{"2", "2", "2"}, []string{ask(two), ask(three), none}, nil, nil, ""},
		"is silent twice":                   {[]string{"", ""}, []string{"Press 1 for " + one + ".", "Goodbye."}, nil, nil, ""},
		"is not understood twice":           {[]string{"hm", "purple"}, []string{"Press 1 for " + one + ".", none}, nil, nil, ""},
		"presses a wrong key":               {[]string{"7", "1"}, []string{"Press 1 for " + one + ".", "See you on " + one + "."}, []string{one}, nil, one},
		"asks for a person":                 {[]string{"0"}, []string{"A person."}, nil, nil, ""},
		"gets the next after a taken time":  {[]string{"1", "1"}, []string{ask(two), "See you on " + two + "."}, []string{one, two}, []string{one}, two},
		"gets none after the last is taken": {[]string{"2", "2", "1"}, []string{ask(two), ask(three), none}, []string{three}, []string{three}, three},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, booked := offerSession("en-US", freeTimes, c.taken...)
			assert.Equal(t, ask(one), saidIn(s.StartSession()))
			for i, in := range c.inputs {
				var got []pathway.Command
				if keys, ok := pathway.ParseKeys(in); ok {
					got = s.PressKeys(keys)
				} else {
					assert.Equal(t, in != "hm" && in != "purple", s.State.Understands(in), in)
					got = s.Speak(in)
				}
				assert.Equal(t, c.says[i], saidIn(got), in)
			}
			assert.True(t, s.State.Over())
			assert.Equal(t, c.booked, append([]string(nil), *booked...))
			assert.Equal(t, c.saved, s.State.Result().Variables["slot"])
		})
	}
}

func TestOfferIsHeardInSevenLanguages(t *testing.T) {
	t.Parallel()
	for language, words := range map[string][3]string{ // another one, again, yes
		"en": {"Another one, please.", "Pardon?", "Yes."}, "de-AT": {"Nein, den nächsten bitte.", "Noch einmal, bitte.", "Ja, das passt."},
		"es": {"No, otra hora.", "Repita, por favor.", "Sí, claro."}, "fr": {"Non, le suivant.", "Pardon ?", "Oui, pourquoi pas."},
		"it": {"No, un'altra.", "Di nuovo.", "Va bene, non c'è problema."}, "pt-BR": {"Não, outro horário.", "Outra vez, repita.", "Sim, pode ser."},
		"nl": {"Nee, de volgende.", "Nog een keer.", "Ja, graag."}, "sv": {"another one", "repeat", "yes"},
	} {
		s, booked := offerSession(language, freeTimes)
		s.StartSession()
		phrases, hears := s.State.ExpectedPhrases()
		assert.True(t, hears && len(phrases) > 10, language)
		assert.Contains(t, saidIn(s.Speak(words[0])), "09:20", language)
		assert.Contains(t, saidIn(s.Speak(words[1])), "09:20", language)
		s.Speak(words[2])
		assert.Equal(t, []string{"2030-01-14T09:20:00+01:00"}, *booked, language)
	}
}

func TestOfferWithoutItemsTakesElseEdge(t *testing.T) {
	t.Parallel()
	for free, lost := range map[string]bool{`{"free":[]}`: false, `{"free":"soon"}`: true, `{}`: true, "plain": true} {
		s, _ := offerSession("en-US", free)
		got := s.StartSession()
		assert.Equal(t, "We will call you back.", saidIn(got), free)
		assert.Equal(t, lost, slices.Contains(got, pathway.Command(pathway.MissingVariable{Node: "offer", Name: "times.free"})), free)
	}
}

func TestOfferedTimeIsSpokenInItsForm(t *testing.T) {
	t.Parallel()
	s, _ := offerSession("en-US", freeTimes)
	for _, c := range s.StartSession() {
		if say, ok := c.(pathway.Say); ok {
			assert.Equal(t, `Can you come on <say-as interpret-as="date">2030-01-14T09:00:00+01:00</say-as>?`, say.Text)
		}
	}
	assert.Contains(t, s.State.UpcomingTexts(), "Press 1 for 2030-01-14T09:00:00+01:00.")
}

func TestKeysPressedBeforeAnOfferChooseNothing(t *testing.T) {
	t.Parallel()
	p := offerPathway()
	s, _ := pathway.Step(pathway.New(domain.Script{Pathway: p}, nil), pathway.Started{})
	s, got := stepAll(s, pathway.Digit{Key: '1'}, pathway.Utterance{Text: "yes", Confidence: 1}, pathway.ActionEnded{Round: 1, OK: true, Result: freeTimes})
	assert.Contains(t, saidIn(got), "09:00", "the caller has not heard the time")
	s, got = stepAll(s, pathway.PromptDone{})
	assert.Equal(t, []pathway.Command{pathway.CollectInput{Length: 1, Timeout: 5 * time.Second}}, got)
	assert.True(t, s.IsQuestion())
	assert.False(t, s.NeedsSpeech(), "keys are enough")

	s, got = stepAll(s, pathway.Digit{Key: '2'}, pathway.Digit{Key: '2'}) // the second key interrupts the second time
	assert.Contains(t, saidIn(got), "15T14:00")
	assert.Contains(t, got, pathway.StopSpeaking{})
	_, got = stepAll(s, pathway.ResumeNode{})
	assert.Contains(t, saidIn(got), "15T14:00", "after a pause the same time is offered")
}

func TestOfferContinuesInAnotherProcess(t *testing.T) {
	t.Parallel()
	s, _ := offerSession("en-US", freeTimes)
	s.StartSession()
	before := s.State.Mark()
	s.PressKeys("2")
	assert.NotEqual(t, before, s.State.Mark(), "the state is stored again")
	saved, ok := s.State.Save(nil)
	require.True(t, ok)
	restored, ok := pathway.Restore(domain.Script{Pathway: offerPathway()}, saved)
	require.True(t, ok)
	_, got := stepAll(restored, pathway.Restored{})
	assert.Contains(t, saidIn(got), "09:20")
}

func TestOfferStartsAgainWithNewList(t *testing.T) {
	t.Parallel()
	p := offerPathway()
	p.Edges = append(p.Edges, edge("book", "times", domain.EdgeFailure))
	p.Edges[7].To = "times" // after a failed booking the times are looked up again
	s := &pathway.TextSession{State: pathway.New(domain.Script{Pathway: p}, nil)}
	lookups := []string{freeTimes, `{"free":["2031-02-02T10:00:00Z"]}`}
	s.RunAction = func(a pathway.ActionRequest) pathway.ActionEnded {
		if a.Target != "availability" {
			return pathway.ActionEnded{Round: a.Round}
		}
		lookup := lookups[0]
		lookups = lookups[1:]
		return pathway.ActionEnded{Round: a.Round, OK: true, Result: lookup}
	}
	s.StartSession()
	assert.Contains(t, saidIn(s.PressKeys("2")), "09:20")
	assert.Equal(t, "Can you come on 2031-02-02T10:00:00Z?", saidIn(s.PressKeys("1")))
}

func TestOfferStartsAgainAfterAllWereRefused(t *testing.T) {
	t.Parallel()
	p := offerPathway()
	p.Nodes[4] = domain.Node{ID: "none", Type: domain.NodeSay, Prompt: "Once more."}
	p.Edges = append(p.Edges, edge("none", "offer", domain.EdgeAlways))
	s, _ := offerSession("en-US", freeTimes)
	s.State = pathway.New(domain.Script{Pathway: p}, nil)
	s.StartSession()
	assert.Contains(t, saidIn(s.PressKeys("222")), "Once more. Can you come on 2030-01-14T09:00:00+01:00?")
}

func TestOfferOfObjectsSavesTheObject(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{
		Name: "rooms", Start: "offer", Variables: []domain.Variable{{Name: "rooms", Required: true}},
		Nodes: []domain.Node{
			{ID: "offer", Type: domain.NodeOffer, List: "rooms", SaveAs: "room", Prompt: "{{item.name}} for {{item.price | say-as: money:EUR}}{{item.note | }}?", Input: "dtmf"},
			{ID: "dear", Type: domain.NodeEnd, Prompt: "Expensive: {{room.name}}."},
			{ID: "cheap", Type: domain.NodeEnd, Prompt: "Cheap: {{room.name}}."},
			{ID: "none", Type: domain.NodeEnd},
		},
		Edges: []domain.Edge{
			{From: "offer", To: "dear", When: domain.When{Type: domain.EdgeExpr, Expr: "room.price > 100"}}, edge("offer", "cheap", domain.EdgeAlways), edge("offer", "none", domain.EdgeElse),
		},
	}
	require.NoError(t, pathway.Validate(&p))
	for keys, want := range map[string]string{"1": "Cheap: Single.", "21": "Suite for 200? Expensive: Suite.", "22": "Suite for 200?"} {
		s := &pathway.TextSession{State: pathway.New(domain.Script{Pathway: p}, map[string]string{"rooms": `[{"name":"Single","price":80},{"name":"Suite","price":200}]`})}
		assert.Equal(t, "Single for 80?", saidIn(s.StartSession()))
		assert.False(t, s.HearsSpeech())
		assert.Equal(t, want, saidIn(s.PressKeys(keys)), keys)
	}
}

func TestOfferOfSecretListIsHidden(t *testing.T) {
	t.Parallel()
	p := offerPathway()
	p.Nodes[0].Sensitive = true
	s, _ := pathway.Step(pathway.New(domain.Script{Pathway: p}, nil), pathway.Started{})
	s, got := stepAll(s, pathway.ActionEnded{Round: 1, OK: true, Result: freeTimes})
	assert.Equal(t, "Can you come on [hidden]?", saidIn(got))
	s, _ = stepAll(s, pathway.PromptDone{}, pathway.Digit{Key: '1'})
	assert.Empty(t, s.Result().Variables["slot"])
}

func TestOfferNodeIsValidated(t *testing.T) {
	t.Parallel()
	p := offerPathway()
	require.NoError(t, pathway.Validate(&p))
	assert.Empty(t, pathway.Warnings(&p))
	assert.Empty(t, pathway.MissingCapabilities(&p, pathway.Capabilities{Actions: true}), "keys are enough")
	p.Nodes[1].Input = "both"
	assert.Len(t, pathway.MissingCapabilities(&p, pathway.Capabilities{Actions: true}), 1)

	for name, c := range map[string]struct {
		change func(p *domain.Pathway, n *domain.Node)
		param  string
		text   string
	}{
		"no list":          {func(_ *domain.Pathway, n *domain.Node) { n.List = "" }, "nodes[1].list", "is required for an offer node"},
		"no name":          {func(_ *domain.Pathway, n *domain.Node) { n.List = "{{times}}" }, "nodes[1].list", "write it like times.free"},
		"unknown list":     {func(_ *domain.Pathway, n *domain.Node) { n.List = "rooms.free" }, "nodes[1].list", `"rooms.free" is neither declared nor the save_as`},
		"no prompt":        {func(_ *domain.Pathway, n *domain.Node) { n.Prompt = " " }, "nodes[1].prompt", "it names the item, as in {{item}}"},
		"list is replaced": {func(_ *domain.Pathway, n *domain.Node) { n.SaveAs = "times" }, "nodes[1].save_as", "use another name"},
		"length":           {func(_ *domain.Pathway, n *domain.Node) { n.Length = 2 }, "nodes[1]", "an offer takes the keys 1, 2 and *"},
		"input":            {func(_ *domain.Pathway, n *domain.Node) { n.Input = "smell" }, "nodes[1].input", "none of dtmf, speech and both"},
		"retries":          {func(_ *domain.Pathway, n *domain.Node) { n.Retries = 11 }, "nodes[1].retries", "between 0 and 10"},
		"own key":          {func(p *domain.Pathway, _ *domain.Node) { p.Edges[5].When.Digits = "2" }, "edges[5].when.digits", "is a key of the offer"},
		"own word": {func(p *domain.Pathway, _ *domain.Node) {
			p.Edges[5].When = domain.When{Type: domain.EdgeIntent, Intent: "Yes"}
		}, "edges[5].when.intent", "use always for the chosen item"},
		"leads nowhere": {func(p *domain.Pathway, _ *domain.Node) {
			p.Edges[2].When.Type = domain.EdgeLLM
			p.Edges[2].When.Prompt = "x"
		}, "nodes[1]", "no edge of type always or expr"},
		"item outside":        {func(p *domain.Pathway, _ *domain.Node) { p.Nodes[4].Prompt = "{{item}}" }, "nodes[4].prompt", "{{item}} is neither declared"},
		"success of an offer": {func(p *domain.Pathway, _ *domain.Node) { p.Edges[4].When.Type = domain.EdgeSuccess }, "edges[4].when.type", "transfer, tool, appointment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := offerPathway()
			c.change(&p, &p.Nodes[1])
			err := pathway.Validate(&p)
			assert.Equal(t, 1, params(t, err)[c.param], "%v", err)
			assert.ErrorContains(t, err, c.text)
		})
	}
}

func TestSilenceTakesNoItem(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(s *pathway.TextSession) []pathway.Command{
		"silence":    func(s *pathway.TextSession) []pathway.Command { return s.PressKeys("") },
		"other key":  func(s *pathway.TextSession) []pathway.Command { return s.PressKeys("9") },
		"other word": func(s *pathway.TextSession) []pathway.Command { return s.Speak("purple") },
	} {
		s, booked := offerSession("en-US", freeTimes)
		p := offerPathway()
		p.Edges = append(p.Edges[:3], p.Edges[6:]...) // only an edge for the chosen item leaves the offer
		s.State = pathway.New(domain.Script{Pathway: p}, nil)
		s.StartSession()
		answer(s)
		got := answer(s)
		assert.Empty(t, *booked, name)
		assert.True(t, s.State.Over(), "%s: %v", name, got)
	}
}

func TestReplayOffersTheTimesOfTheCall(t *testing.T) {
	t.Parallel()
	call := pathway.RecordedCall{
		ByAgent: true, Variables: map[string]string{"times": freeTimes},
		Segments: []domain.Segment{
			{Speaker: "agent", Text: "Can you come on 2030-01-14T09:00:00+01:00?", StartMs: 100, EndMs: 2000},
			{Speaker: "caller", Text: "[pressed 2]", StartMs: 2500, EndMs: 2500},
			{Speaker: "agent", Text: "Can you come on 2030-01-14T09:20:00+01:00?", StartMs: 3000, EndMs: 5000},
			{Speaker: "caller", Text: "Yes, please.", Confidence: 0.9, StartMs: 5500, EndMs: 6000},
			{Speaker: "agent", Text: "See you on 2030-01-14T09:20:00+01:00.", StartMs: 7000, EndMs: 8000},
		},
	}
	lines, state := pathway.Replay(domain.Script{Language: "en-US", Pathway: offerPathway()}, nil, call)
	for _, l := range lines {
		assert.True(t, l.IsSame(), "%+v", l)
	}
	assert.Len(t, lines, 5)
	assert.Equal(t, domain.OutcomeConfirmed, state.Result().Outcome)
}

func TestOtherWordsAreNotSavedAsItem(t *testing.T) {
	t.Parallel()
	p := offerPathway()
	p.Edges = append(p.Edges, domain.Edge{From: "offer", To: "person", When: domain.When{Type: domain.EdgeIntent, Intent: "person"}})
	require.NoError(t, pathway.Validate(&p))
	s, _ := offerSession("en-US", freeTimes)
	s.State = pathway.New(domain.Script{Pathway: p}, nil)
	s.StartSession()
	assert.Equal(t, "A person.", saidIn(s.Speak("a real person, please")))
	assert.NotContains(t, s.State.Result().Variables, "slot")
}

func TestKeyBeforeAPauseTakesNoItem(t *testing.T) {
	t.Parallel()
	p := offerPathway()
	p.Nodes[1].Interruptible = no()
	s, _ := pathway.Step(pathway.New(domain.Script{Pathway: p}, nil), pathway.Started{})
	s, _ = stepAll(s, pathway.ActionEnded{Round: 1, OK: true, Result: freeTimes}, pathway.Digit{Key: '1'}, pathway.ResumeNode{})
	_, got := stepAll(s, pathway.PromptDone{})
	assert.Equal(t, []pathway.Command{pathway.CollectInput{Length: 1, Timeout: 5 * time.Second}}, got, "the prompt was spoken again from its start")
}

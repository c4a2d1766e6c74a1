package llm_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/engines/llm/llmtest"
)

func client() *llm.Client {
	return &llm.Client{Free: &http.Client{}, Guarded: &http.Client{Transport: refusing{}}}
}

type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, access.ErrEgress }

func hello() llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.System, Text: "Be brief."}, {Role: llm.User, Text: "Hello"}}}
}

func file(t *testing.T, name string) llmtest.Reply {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return llmtest.Reply{Raw: string(text)}
}

func TestChatCompletionFollowsDocumentation(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Replies(file(t, "words.sse"), file(t, "tools.sse")))
	e := []llm.Engine{{Name: "one", URL: s.URL, Key: "sk-secret", Model: "gpt-4o-mini"}}
	var said []string
	a, err := client().Ask(t.Context(), e, hello(), func(text string, first time.Duration) {
		assert.Positive(t, first)
		said = append(said, text)
	}, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"Hello there.", "It costs 3.50 euros, Dr. Lee says"}, said)
	assert.Equal(t, "Hello there. It costs 3.50 euros, Dr. Lee says", a.Text)
	assert.Equal(t, "one", a.Engine)

	warm := 0.2
	r := hello()
	r.Temperature, r.MaxTokens = &warm, 99
	r.Tools = []llm.Tool{{Name: "get_weather", Description: "Tells the weather.", Parameters: map[string]any{"type": "object"}}}
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "c1", Name: "x", Arguments: "{}"}}}, llm.Message{Role: llm.ToolRole, ID: "c1", Text: "done"})
	a, err = client().Ask(t.Context(), e, r, nil, nil)
	require.NoError(t, err)
	assert.Equal(t, []llm.Call{
		{ID: "call_DdmO9pD3xa9XTPNJ32zg2hcA", Name: "get_weather", Arguments: `{"location":"Paris"}`}, {ID: "call_iTQa", Name: "get_weather", Arguments: `{"location":"Bonn"}`},
	}, a.Calls)

	asked := s.Requests()[1]
	assert.Equal(t, "Bearer sk-secret", asked.Authorization)
	assert.True(t, asked.Stream)
	assert.Equal(t, "gpt-4o-mini", asked.Model)
	assert.Equal(t, []string{"get_weather"}, asked.Names())
	assert.Equal(t, "c1", asked.Messages[2].ToolCalls[0].ID)
	assert.Equal(t, "c1", asked.Messages[3].ToolCallID)
	assert.InDelta(t, 0.2, *asked.Temperature, 1e-9)
	assert.Equal(t, 99, asked.MaxTokens)
}

func TestToolCallsOfLocalServersAreTakenApart(t *testing.T) {
	t.Parallel()
	chunk := func(calls string) string {
		return `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[` + calls + `]},"finish_reason":null}]}` + "\n\n"
	}
	end := `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	for name, stream := range map[string]string{
		"Ollama: whole calls, all with index 0": chunk(`{"id":"call_a","index":0,"type":"function","function":{"name":"book","arguments":"{\"day\":1}"}}`) +
			chunk(`{"id":"call_b","index":0,"type":"function","function":{"name":"end","arguments":"{}"}}`),
		"Ollama: two calls in a chunk": chunk(`{"id":"call_a","index":0,"type":"function","function":{"name":"book","arguments":"{\"day\":1}"}},{"id":"call_b","index":0,"type":"function","function":{"name":"end","arguments":"{}"}}`),
		"LocalAI: the ID and the name in each chunk": chunk(`{"index":0,"id":"call_a","type":"function","function":{"name":"book","arguments":""}}`) +
			chunk(`{"index":0,"id":"call_a","type":"function","function":{"name":"book","arguments":"{\"day\":1}"}}`) +
			chunk(`{"index":1,"id":"call_b","type":"function","function":{"name":"end","arguments":"{}"}}`),
		"vLLM: arguments in pieces": chunk(`{"id":"call_a","type":"function","index":0,"function":{"name":"book"}}`) + chunk(`{"index":0,"function":{"arguments":"{\"day\""}}`) +
			chunk(`{"index":0,"function":{"arguments":":1}"}}`) + chunk(`{"id":"call_b","type":"function","index":1,"function":{"name":"end","arguments":"{}"}}`),
	} {
		s := llmtest.New(t, llmtest.Replies(llmtest.Reply{Raw: stream + end}))
		a, err := client().Ask(t.Context(), []llm.Engine{{Name: "one", URL: s.URL}}, hello(), nil, nil)
		require.NoError(t, err, name)
		assert.Equal(t, []llm.Call{{ID: "call_a", Name: "book", Arguments: `{"day":1}`}, {ID: "call_b", Name: "end", Arguments: "{}"}}, a.Calls, name)
	}
	s := llmtest.New(t, llmtest.Replies(llmtest.Reply{Raw: chunk(`{"index":0,"id":"same","function":{"name":"a","arguments":"{}"}}`) + chunk(`{"index":1,"id":"same","function":{"name":"b","arguments":"{}"}}`) + end}))
	a, err := client().Ask(t.Context(), []llm.Engine{{Name: "one", URL: s.URL}}, hello(), nil, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"same", "call_1"}, []string{a.Calls[0].ID, a.Calls[1].ID}, "results are matched by ID")
}

func TestRequestFollowsSettingsOfTheEngine(t *testing.T) {
	t.Parallel()
	var bodies []string
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer far.Close()
	r := llm.Request{MaxTokens: 99, Messages: []llm.Message{{Role: llm.Assistant, Calls: []llm.Call{{ID: "c1", Name: "end"}}}, {Role: llm.ToolRole, ID: "c1", Text: "done"}}}
	for _, e := range []llm.Engine{{Model: "m"}, {Model: "m", ReasoningEffort: "none", MaxCompletionTokens: true}} {
		e.URL = far.URL
		_, err := client().Ask(t.Context(), []llm.Engine{e}, r, nil, nil)
		require.NoError(t, err)
	}
	messages := `"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"end","arguments":"{}"}}]},{"role":"tool","content":"done","tool_call_id":"c1"}]`
	assert.JSONEq(t, `{"model":"m","stream":true,"max_tokens":99,`+messages+`}`, bodies[0])
	assert.JSONEq(t, `{"model":"m","stream":true,"max_completion_tokens":99,"reasoning_effort":"none",`+messages+`}`, bodies[1])
}

// broken returns faulty responses of an engine, each with the fault code that the client must report.
func broken() map[string]struct {
	reply llmtest.Reply
	code  string
} {
	type fault = struct {
		reply llmtest.Reply
		code  string
	}
	return map[string]fault{
		"it hangs":                   {llmtest.Reply{Hang: true}, "timeout"},
		"it stands still":            {llmtest.Reply{Say: []string{"I thin"}, Stall: true}, "stalled"},
		"it drops the connection":    {llmtest.Reply{Say: []string{"I thin"}, Drop: true}, "dropped"},
		"it ends without an end":     {llmtest.Reply{Raw: "data: {\"choices\":[{\"delta\":{\"content\":\"I\"}}]}\n\n"}, "dropped"},
		"it answers garbage":         {llmtest.Reply{Raw: "data: {\"choices\n\ndata: [DONE]\n\n"}, "garbage"},
		"it answers a page":          {llmtest.Reply{Kind: "text/html", Raw: "<html>"}, "garbage"},
		"it answers an endless line": {llmtest.Reply{Raw: "data: " + strings.Repeat("x", 70<<10) + "\n\n"}, "garbage"},
		"it answers nothing":         {llmtest.Reply{Raw: "data: [DONE]\n\n"}, "empty"},
		"it never ends":              {llmtest.Reply{Say: []string{strings.Repeat("word ", 4000), strings.Repeat("word ", 4000)}}, "too_long"},
		"it wants too much":          {llmtest.Reply{Calls: make([]llmtest.Call, 17)}, "too_long"},
		"it breaks off":              {llmtest.Reply{Raw: "data: {\"error\":{\"message\":\"sk-secret\"}}\n\n"}, "overloaded"},
		"it knows no such key":       {llmtest.Reply{Status: 401}, "refused"},
		"it is busy":                 {llmtest.Reply{Status: 429}, "overloaded"},
		"it is down":                 {llmtest.Reply{Status: 503}, "overloaded"},
		"it does not like us":        {llmtest.Reply{Status: 400}, "rejected"},
		"it is elsewhere":            {llmtest.Reply{Status: 302}, "rejected"},
	}
}

func TestNextEngineAnswersAfterFailure(t *testing.T) {
	t.Parallel()
	for name, c := range broken() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad, good := llmtest.New(t, llmtest.Replies(c.reply)), llmtest.New(t, llmtest.Replies(llmtest.ChunkedReply("All is well.")))
			engines := []llm.Engine{
				{Name: "bad", URL: bad.URL, Key: "sk-secret", First: 300 * time.Millisecond, Stall: 300 * time.Millisecond}, {Name: "good", URL: good.URL},
			}
			var lost []*llm.Fault
			var said []string
			a, err := client().Ask(t.Context(), engines, hello(), func(text string, _ time.Duration) { said = append(said, text) }, func(f *llm.Fault) { lost = append(lost, f) })
			require.Len(t, lost, 1)
			assert.Equal(t, c.code, lost[0].Code, lost[0].Message)
			assert.Equal(t, "bad", lost[0].Engine)
			assert.NotContains(t, lost[0].Error(), "secret", "nothing of the far end's")
			require.NoError(t, err)
			assert.Equal(t, "All is well.", said[len(said)-1])
			assert.Equal(t, lost[0].Spoke, len(said) > 1)
			assert.Equal(t, "good", a.Engine)
		})
	}
}

// Reasoning is neither spoken nor part of the answer, and its length does not count as length of the answer.
func TestReasoningIsNotPartOfAnswer(t *testing.T) {
	t.Parallel()
	reasoning := strings.Repeat("The caller wants this. ", 2000)
	server := llmtest.New(t, llmtest.Replies(llmtest.Reply{Say: []string{"<thi", "nk>" + reasoning, reasoning, "</think>Hello", " again. How", " are you?"}}))
	var said []string
	a, err := client().Ask(t.Context(), []llm.Engine{{Name: "one", URL: server.URL}}, hello(), func(text string, _ time.Duration) { said = append(said, text) }, func(*llm.Fault) {})
	require.NoError(t, err)
	assert.Equal(t, []string{"Hello again.", "How are you?"}, said)
	assert.Equal(t, "Hello again. How are you?", a.Text)
}

func TestAnswerOfReasoningOnlyIsEmpty(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t, llmtest.Replies(llmtest.Reply{Say: []string{"<think>I never come to an end."}}))
	_, err := client().Ask(t.Context(), []llm.Engine{{Name: "one", URL: server.URL}}, hello(), nil, func(*llm.Fault) {})
	fault := new(llm.Fault)
	require.ErrorAs(t, err, &fault)
	assert.Equal(t, "empty", fault.Code)
}

func TestWholeAnswerHasATimeLimit(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Replies(llmtest.Reply{Say: []string{"I thin"}, Stall: true}))
	_, err := client().Ask(t.Context(), []llm.Engine{{Name: "one", URL: s.URL, Total: 200 * time.Millisecond}}, hello(), nil, nil)
	require.Equal(t, &llm.Fault{Engine: "one", Code: "timeout", Message: "the response took too long"}, err)
	<-s.Disconnects()
}

func TestNextEngineContinuesAnswerThatBrokeOff(t *testing.T) {
	t.Parallel()
	bad := llmtest.New(t, llmtest.Replies(llmtest.Reply{Say: []string{"It is here. And", " then"}, Drop: true}))
	good := llmtest.New(t, llmtest.Replies(llmtest.ChunkedReply("All is well.")))
	var said []string
	hear := func(text string, _ time.Duration) { said = append(said, text) }
	a, err := client().Ask(t.Context(), []llm.Engine{{Name: "bad", URL: bad.URL}, {Name: "good", URL: good.URL}}, hello(), hear, nil)
	require.NoError(t, err)
	assert.Equal(t, "It is here. All is well.", a.Text)
	assert.Equal(t, "good", a.Engine)
	assert.Equal(t, []string{"It is here.", "All is well."}, said)
	messages := good.Requests()[0].Messages
	assert.Equal(t, "It is here.", messages[len(messages)-2].Content)
	assert.Len(t, hello().Messages, len(messages)-2)

	alone := llmtest.New(t, llmtest.Replies(llmtest.Reply{Say: []string{"It is here. And", " then"}, Drop: true}))
	a, err = client().Ask(t.Context(), []llm.Engine{{Name: "alone", URL: alone.URL}}, hello(), hear, nil)
	var f *llm.Fault
	require.ErrorAs(t, err, &f)
	assert.True(t, f.Spoke)
	assert.Equal(t, "It is here.", a.Text)
}

func TestInterruptionCancelsModelRequest(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Replies(llmtest.Reply{Say: []string{"I will tell you. A long"}, Stall: true}))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := client().Ask(ctx, []llm.Engine{{Name: "one", URL: s.URL}, {Name: "two", URL: s.URL}}, hello(), func(string, time.Duration) { cancel() }, nil)
	require.ErrorIs(t, err, context.Canceled)
	<-s.Disconnects()
	assert.Len(t, s.Requests(), 1, "nobody else is asked")
}

func TestTenantEngineUsesGuardedClient(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Replies(llmtest.ChunkedReply("Hello.")))
	_, err := client().Ask(t.Context(), []llm.Engine{{Name: "theirs", URL: s.URL, Tenant: true}}, hello(), nil, nil)
	var f *llm.Fault
	require.ErrorAs(t, err, &f)
	assert.Equal(t, "unreachable", f.Code)
	assert.Empty(t, s.Requests())
	_, err = client().Ask(t.Context(), nil, hello(), nil, nil)
	assert.ErrorAs(t, err, &f)
}

func TestSentencesSplitAtSentenceEnds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Hello there. How are you?":                     {"Hello there.", "How are you?"},
		"It costs 3.50 euros. Fine!":                    {"It costs 3.50 euros.", "Fine!"},
		"Dr. Lee and Mr. Poe come at 5 p.m. on Monday.": {"Dr. Lee and Mr. Poe come at 5 p.m. on Monday."},
		"No! Wait… what?":                               {"No!", "Wait… what?"},
		`He said "go." Then left.`:                      {`He said "go."`, "Then left."},
		"See ```\na. B. c\n``` there. Yes.":             {"See ```\na. B. c\n``` there.", "Yes."},
		"1. Milk and bread\n2. Eggs":                    {"1. Milk and bread", "2. Eggs"},
		"你好。再见！":                                        {"你好。", "再见！"},
		"":                                              nil,
		"   ":                                           nil,
	} {
		for size := 1; size < 8; size += 3 {
			var s llm.Sentences
			var got []string
			for piece := range slices.Chunk([]rune(text), size) {
				got = append(got, s.Add(string(piece))...)
			}
			if left := s.Rest(); left != "" {
				got = append(got, left)
			}
			assert.Equal(t, want, got, "%q in pieces of %d", text, size)
		}
	}
	var s llm.Sentences
	assert.NotEmpty(t, s.Add(strings.Repeat("word ", 100)), "a text without an end is cut between words")
}

func FuzzSentencesKeepAllText(f *testing.F) {
	f.Add("Hello. You.", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		var s llm.Sentences
		n = max(0, min(n, len(text)))
		if !utf8.ValidString(text[:n]) || !utf8.ValidString(text[n:]) {
			return
		}
		all := strings.Join(append(append(s.Add(text[:n]), s.Add(text[n:])...), s.Rest()), "")
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		assert.Equal(t, squeeze(text), squeeze(all))
	})
}

package main_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines/enginetest"
	"github.com/callboard/callboard/engines/llm/llmtest"
)

// engineFaultCase is a call with a faulty engine and the expected result.
type illCase struct {
	name   string
	agent  object        // additional fields of the agent
	nodes  string        // pathway of the call
	part   func(*talker) // script of the caller
	errors []string      // all agent.error events, each at least once, as "stage code recovered"
	said   []string      // complete sentences of the agent in the transcript
	never  []string      // words that must not be in the transcript
	ends   string        // expected outcome
	hum    [2]float64    // minimum and maximum seconds of the faulty engine's audio in the recording
	voice  float64       // minimum seconds of another voice
	// check makes further checks of the call, its transcript and both channels of its recording.
	look func(t *testing.T, call object, segments []any, left, right []float64)
}

// engineFaultSuite holds the service, the fake engine servers and the simulated callers.
type faultyEngines struct {
	t       *testing.T
	file    strings.Builder
	people  *gathering
	cases   []illCase
	release []func()
	numbers int // number of phone numbers in use
}

func (h *faultyEngines) engine(name, kind, url, does string) string {
	key := filepath.Join(h.t.TempDir(), "key")
	require.NoError(h.t, os.WriteFile(key, []byte(enginetest.Key), 0o600))
	fmt.Fprintf(&h.file, "  %s: {kind: %s, url: %q, key_file: %s, %s}\n", name, kind, url, key, does)
	return name
}

// callerWords is what the recognizer returns for the caller's audio.
const illWords = "yes please"

// listenAndAnswer waits until the agent has spoken, and answers.
func illTurn(o *talker) {
	o.await(true)
	o.await(false)
	o.hums(800 * time.Millisecond)
}

// addTTSCases adds cases of faulty speech synthesizers.
func (h *faultyEngines) speech() {
	const text = "This is the clinic on the corner with a message for you."
	for kind, role := range map[string]string{"openai": "speech", "elevenlabs": "elevenlabs"} {
		for fault, code := range map[enginetest.Fault]string{
			enginetest.Hangs: "engine_slow", enginetest.Stalls: "engine_stalled", enginetest.Garbage: "engine_garbage",
			enginetest.Drops: "engine_unreachable", enginetest.Refuses: "engine_refused",
		} {
			server := enginetest.New(h.t)
			server.Is(role, fault)
			at := server.URL
			if kind == "openai" {
				at += "/v1"
			}
			name := h.engine("tts-"+kind+"-"+string(fault), kind, at, "tts: {voice: v, "+firstOf(fault)+", "+stallOf(fault)+"}")
			c := illCase{
				name: name, nodes: "say", agent: object{"voice": object{"engine": name}}, part: func(*talker) {},
				errors: []string{"tts " + code + " true"}, said: []string{text}, ends: "completed", voice: 1.5,
			}
			if fault == enginetest.Stalls || fault == enginetest.Drops {
				c.hum = [2]float64{0, 0.4} // up to the fault
			}
			h.cases = append(h.cases, c)
		}
	}
	server, barged := enginetest.New(h.t), make(chan struct{})
	server.Is("speech", enginetest.Late)
	name := h.engine("tts-late", "openai", server.URL+"/v1", "tts: {voice: v, first_ms: 20000}")
	h.cases = append(h.cases, illCase{
		name: name + " after words over it", nodes: "ask", agent: object{"voice": object{"engine": name}},
		part: func(o *talker) { o.hums(900 * time.Millisecond); close(barged) },
		said: []string{"Fine."}, never: []string{"Will you come"}, ends: "confirmed", hum: [2]float64{0.2, 0.5},
		errors: nil,
	})
	h.after(barged, func() bool { return len(server.Requests()) > 1 }, server.Release)
}

// releaseAfter calls then after a caller has reached a point and the engine has received a request.
func (h *faultyEngines) after(far <-chan struct{}, asked func() bool, then func()) {
	h.release = append(h.release, func() {
		<-far
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for !asked() && h.t.Context().Err() == nil {
			<-tick.C
		}
		then()
	})
}

// addSTTCases adds cases of faulty speech recognizers.
func (h *faultyEngines) hearing() {
	for kind, role := range map[string]string{"openai": "transcriptions", "deepgram": "deepgram"} {
		for fault, code := range map[enginetest.Fault]string{
			enginetest.Hangs: "engine_slow", enginetest.Stalls: "engine_slow", enginetest.Garbage: "engine_garbage",
			enginetest.Drops: "engine_unreachable", enginetest.Refuses: "engine_refused",
		} {
			server := enginetest.New(h.t)
			server.Is(role, fault)
			server.Says("no never")
			at := server.WS()
			if kind == "openai" {
				at = server.URL + "/v1"
			}
			wait := "30000"
			if code == "engine_slow" {
				wait = "500"
			}
			name := h.engine("stt-"+kind+"-"+string(fault), kind, at, "stt: {model: m, final_ms: "+wait+"}")
			h.cases = append(h.cases, illCase{
				name: name, nodes: "ask", agent: object{"stt": object{"engine": name}}, part: illTurn,
				errors: []string{"stt " + code + " true"}, said: []string{"Will you come tomorrow?", "Fine."}, never: []string{"no never"}, ends: "confirmed", voice: 1,
			})
		}
	}
	server, pressed := enginetest.New(h.t), make(chan struct{})
	server.Is("transcriptions", enginetest.Late)
	server.Says("no never")
	name := h.engine("stt-late", "openai", server.URL+"/v1", "stt: {model: m, final_ms: 20000}")
	h.cases = append(h.cases, illCase{
		name: name + " after a key", nodes: "ask", agent: object{"stt": object{"engine": name}},
		part: func(o *talker) {
			illTurn(o)
			for len(server.Requests()) == 0 && o.ctx.Err() == nil {
				<-time.After(10 * time.Millisecond)
			}
			o.presses("2")
			close(pressed)
			o.await(true)
			o.await(false)
			o.presses("3")
		},
		said: []string{"Which day?", "Noted."}, never: []string{"no never"}, ends: "confirmed",
	})
	h.after(pressed, func() bool { return true }, server.Release)
}

// addLLMCases adds cases of faulty language models. A working model is their fallback, except for agents without a
// fallback.
func (h *faultyEngines) models() {
	fine := llmtest.Reply{Say: []string{"Fine, ", "goodbye."}, Calls: []llmtest.Call{{ID: "c1", Name: "end_call", Arguments: `{"outcome":"confirmed"}`}}}
	spare := llmtest.New(h.t, func(_ int, r *llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Messages[0].Content, "You are alone.") {
			return llmtest.Reply{Status: 503}
		}
		return fine
	})
	h.engine("spare", "openai", spare.URL, "llm: {model: m}")
	again := func(o *talker) { illTurn(o); illTurn(o) }
	model := func(name string, replies ...llmtest.Reply) string {
		wait := "first_ms: 30000, stall_ms: 30000"
		if replies[0].Hang {
			wait = "first_ms: 500"
		} else if replies[0].Stall {
			wait = "first_ms: 30000, stall_ms: 500"
		}
		return h.engine("llm-"+name, "openai", llmtest.New(h.t, llmtest.Replies(replies...)).URL, "llm: {model: m, "+wait+"}")
	}
	for name, c := range map[string]struct {
		reply llmtest.Reply
		code  string
		half  bool // whether a sentence was spoken before the fault
	}{
		"hangs":             {llmtest.Reply{Hang: true}, "timeout", false},
		"garbage":           {llmtest.Reply{Kind: "text/html", Raw: "<html>Welcome to the proxy</html>"}, "garbage", false},
		"nonsense":          {llmtest.Reply{Raw: "data: <html>\n\n"}, "garbage", false},
		"empty":             {llmtest.Reply{}, "empty", false},
		"drops":             {llmtest.Reply{Drop: true, Say: []string{"Well"}}, "dropped", false},
		"refuses":           {llmtest.Reply{Status: 401}, "refused", false},
		"stalls":            {llmtest.Reply{Stall: true, Say: []string{"Let me", " see"}}, "stalled", false},
		"stalls-in-midst":   {llmtest.Reply{Stall: true, Say: []string{"First things first. ", "And then"}}, "stalled", true},
		"drops-in-midst":    {llmtest.Reply{Drop: true, Say: []string{"First things first. ", "And then"}}, "dropped", true},
		"half-of-an-action": {llmtest.Reply{Raw: `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","type":"function","function":{"name":"end_call","arguments":"{\"outcome\":\"decl"}}]}}]}` + "\n\n"}, "dropped", false},
	} {
		engine := model(name, c.reply, fine)
		x := illCase{
			name: "llm-" + name, nodes: "talk", agent: object{"llm": object{"engine": engine}, "system_prompt": "Be kind."}, part: illTurn,
			errors: []string{"llm " + c.code + " true"}, said: []string{"Hello.", "Fine, goodbye."}, never: []string{"Well", "Let me", "And then"}, ends: "confirmed", voice: 1,
		}
		if c.half {
			x.errors, x.said, x.part = []string{"llm " + c.code + " false"}, []string{"Hello.", "First things first.", "Fine, goodbye."}, again
		}
		h.cases = append(h.cases, x)
	}
	engine := model("dead", llmtest.Reply{Hang: true})
	h.cases = append(h.cases, illCase{
		name: "llm-dead without fallback", nodes: "talk", agent: object{"llm": object{"engine": engine}, "system_prompt": "You are alone."}, part: again,
		errors: []string{"llm timeout true", "llm overloaded false", "pathway model_failed false"}, ends: "failed", voice: 2,
		said: []string{"Hello.", "I'm sorry, I didn't get that. Could you say it again, please?", "I'm sorry, I can't help you right now. Goodbye."},
	})
	late := make(chan struct{})
	held := llmtest.New(h.t, llmtest.Replies(llmtest.Reply{Say: []string{"Well, listen to me now. ", "Old words. "}, Late: late}, fine))
	engine = h.engine("llm-late", "openai", held.URL, "llm: {model: m, first_ms: 20000, stall_ms: 20000}")
	over := make(chan struct{})
	h.cases = append(h.cases, illCase{
		name: "llm-late after words over it", nodes: "talk", agent: object{"llm": object{"engine": engine}, "system_prompt": "Be kind."},
		part: func(o *talker) {
			illTurn(o)
			o.await(true)
			o.hums(900 * time.Millisecond)
			close(over)
		},
		said: []string{"Hello.", "Fine, goodbye."}, never: []string{"Old words"}, ends: "confirmed",
	})
	h.after(over, func() bool { return len(held.Asked()) > 1 }, func() { close(late) })
}

// addSpeculativeCases adds cases of agents whose model is requested before the caller's turn ends.
func (h *faultyEngines) hasty() {
	recognizer := enginetest.New(h.t)
	recognizer.Says("Friday") // the recognizer returns a partial result during the turn
	stt := h.engine("stt-hasty", "deepgram", recognizer.WS(), "stt: {model: m}")
	h.cases = append(h.cases, illCase{
		name: "llm-hasty", nodes: "talk", agent: object{"stt": object{"engine": stt}, "llm": object{"speculative": true}, "system_prompt": "Be kind.", "turn_taking": object{"end_of_turn_ms": 1000}}, part: illTurn,
		said: []string{"Hello.", "Fine, goodbye."}, ends: "confirmed", voice: 1, errors: nil,
		look: func(t *testing.T, call object, _ []any, _, _ []float64) {
			t.Helper()
			turn := call["latency"].(object)["turns"].([]any)[0].(object)
			assert.Equal(t, "hit", turn["speculative"], "%v", turn)
		},
	})
}

// firstTimeoutSetting and stallTimeoutSetting return timeouts for a faulty engine. A timeout is short if it must
// detect the fault, and long otherwise, so that a busy machine does not exceed it.
func firstOf(f enginetest.Fault) string {
	if f == enginetest.Hangs || f == enginetest.Late {
		return "first_ms: 700"
	}
	return "first_ms: 30000"
}

func stallOf(f enginetest.Fault) string {
	if f == enginetest.Stalls {
		return "stall_ms: 700"
	}
	return "stall_ms: 30000"
}

func TestEngineFaultsGetFallbackSpeechAndRecordedReason(t *testing.T) {
	t.Parallel()
	h := &faultyEngines{t: t, people: newGathering(t)}
	h.file.WriteString("engines:\n")
	recognizer := enginetest.New(t)
	recognizer.Says(illWords)
	h.engine("well", "openai", recognizer.URL+"/v1", "stt: {model: m}")
	h.speech()
	h.hearing()
	h.models()
	h.hasty()
	h.lively()
	h.streams()
	h.file.WriteString("stt: [well]\nllm: [spare]\n")
	path := filepath.Join(t.TempDir(), "engines.yaml")
	require.NoError(t, os.WriteFile(path, []byte(h.file.String()), 0o600))
	s := newPlainService(t, "CALLBOARD_ENGINES_FILE="+path)
	s.unlimited()
	s.trunk("", h.people.port)
	pathways := s.illPathways()
	for _, then := range h.release {
		go then()
	}
	for group := range slices.Chunk(h.cases, 16) { // few calls at a time, so that the machine keeps up
		ids := make([]string, len(group))
		for i, c := range group {
			h.numbers++
			number := fmt.Sprintf("+120255502%02d", h.numbers)
			h.people.plays(number, c.part)
			body := object{"name": c.name, "turn_taking": object{"end_of_turn_ms": 500}}
			if c.nodes != "" {
				body["pathway_id"] = pathways[c.nodes]
			}
			maps.Copy(body, c.agent)
			ids[i] = s.outbound(number, s.api("POST", "/v1/agents", body)["id"].(string), nil)
		}
		for i, c := range group {
			t.Run(c.name, func(t *testing.T) { s.illCall(t, &c, ids[i]) })
		}
	}
	assert.NotContains(t, s.logged(), enginetest.Key)
}

func (s *service) illPathways() map[string]any {
	out := map[string]any{}
	intent := func(from, to, intent string) object {
		return object{"from": from, "to": to, "when": object{"type": "intent", "intent": intent}}
	}
	edge := func(from, to, kind string) object {
		return object{"from": from, "to": to, "when": object{"type": kind}}
	}
	for name, p := range map[string]object{
		"say": {
			"start": "say", "nodes": []object{{"id": "say", "type": "say", "prompt": "This is the clinic on the corner with a message for you."}, {"id": "end", "type": "end"}},
			"edges": []object{edge("say", "end", "always")},
		},
		"ask": {
			"start": "ask",
			"nodes": []object{
				{"id": "ask", "type": "collect", "input": "both", "prompt": "Will you come tomorrow?", "retries": 2, "timeout_seconds": 30},
				{"id": "day", "type": "collect", "input": "dtmf", "prompt": "Which day?", "timeout_seconds": 30},
				{"id": "noted", "type": "end", "prompt": "Noted.", "outcome": "confirmed"},
				{"id": "yes", "type": "end", "prompt": "Fine.", "outcome": "confirmed"},
				{"id": "no", "type": "end", "outcome": "declined"},
				{"id": "none", "type": "end"},
			},
			"edges": []object{
				intent("ask", "yes", "yes"), intent("ask", "no", "no"),
				{"from": "ask", "to": "day", "when": object{"type": "dtmf", "digits": "2"}},
				edge("ask", "none", "else"),
				{"from": "day", "to": "noted", "when": object{"type": "dtmf", "digits": "3"}},
				edge("day", "none", "else"),
			},
		},
		"talk": {
			"start": "hello",
			"nodes": []object{
				{"id": "hello", "type": "say", "prompt": "Hello."},
				{"id": "talk", "type": "converse", "prompt": "Talk.", "tools": []string{"end"}, "timeout_seconds": 30},
			},
			"edges": []object{edge("hello", "talk", "always")},
		},
	} {
		p["name"] = name
		out[name] = s.api("POST", "/v1/pathways", p)["id"]
	}
	return out
}

// checkFaultCall compares an ended call with the expectations of its case.
func (s *service) illCall(t *testing.T, c *illCase, id string) {
	call := s.ended(id, 3*time.Minute) // the agent repeats its question after half a minute without an answer
	var said, all []string
	segments := s.api("GET", "/v1/calls/"+id+"/transcript", nil)["segments"].([]any)
	for _, x := range segments {
		segment := x.(object)
		all = append(all, fmt.Sprint(segment["speaker"], ": ", segment["text"]))
		if segment["speaker"] == "agent" {
			said = append(said, segment["text"].(string))
		}
	}
	reported := map[string]bool{}
	for _, x := range s.list("/v1/calls/" + id + "/events") {
		if e := x.(object); e["type"] == "agent.error" {
			d := e["data"].(object)
			reported[fmt.Sprint(d["stage"], " ", d["code"], " ", d["recovered"])] = true
		}
	}
	var errors []string
	for what := range reported {
		errors = append(errors, what)
	}
	assert.ElementsMatch(t, c.errors, errors, "%v", all)
	assert.Equal(t, c.ends, call["disposition"], "%v", all)
	for _, text := range c.said {
		assert.Contains(t, said, text, "%v", all)
	}
	for _, text := range c.never {
		assert.NotContains(t, strings.Join(all, "\n"), text)
	}
	recording := s.recording(id)
	sound := samples(t, recording, 2)
	hum, voice := 0.0, 0.0
	const piece = rate / 20
	for at := 0; at+piece <= len(sound); at += piece {
		switch now := sound[at : at+piece]; {
		case pure(now, 400) > 0.8:
			hum += 0.05
		case loud(now) > 200:
			voice += 0.05
		}
	}
	assert.True(t, hum >= c.hum[0] && hum <= c.hum[1]+0.05, "%.2f s of the engine's audio, want %v", hum, c.hum)
	assert.GreaterOrEqual(t, voice, c.voice, "seconds of speech")
	if c.look != nil {
		c.look(t, call, segments, samples(t, recording, 1), sound)
	}
}

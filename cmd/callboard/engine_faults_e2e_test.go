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
type engineFaultCase struct {
	name            string
	agent           object           // additional fields of the agent
	pathway         string           // pathway of the call
	script          func(*phoneUser) // script of the caller
	wantErrors      []string         // all agent.error events, each at least once, as "stage code recovered"
	wantSaid        []string         // complete sentences of the agent in the transcript
	forbiddenWords  []string         // words that must not be in the transcript
	wantOutcome     string           // expected outcome
	toneSeconds     [2]float64       // minimum and maximum seconds of the faulty engine's audio in the recording
	minVoiceSeconds float64          // minimum seconds of another voice
	// check makes additional checks. left and right are the two channels of the call's recording.
	check func(t *testing.T, call object, segments []any, left, right []float64)
}

// engineFaultSuite holds the service, the fake engine servers and the simulated callers.
type engineFaultSuite struct {
	t           *testing.T
	file        strings.Builder
	callees     *phoneBank
	cases       []engineFaultCase
	release     []func()
	usedNumbers int // number of phone numbers in use
}

func (h *engineFaultSuite) addEngine(name, kind, url, does string) string {
	key := filepath.Join(h.t.TempDir(), "key")
	require.NoError(h.t, os.WriteFile(key, []byte(enginetest.Key), 0o600))
	fmt.Fprintf(&h.file, "  %s: {kind: %s, url: %q, key_file: %s, %s}\n", name, kind, url, key, does)
	return name
}

// callerWords is the text that the fake recognizer returns for the caller's audio.
const callerWords = "yes please"

// listenAndAnswer waits until the agent has spoken and is silent again, and then speaks the caller's answer.
func listenAndAnswer(o *phoneUser) {
	o.awaitSpeech(true)
	o.awaitSpeech(false)
	o.speak(800 * time.Millisecond)
}

// addTTSCases adds cases of faulty speech synthesizers.
func (h *engineFaultSuite) addTTSCases() {
	const text = "This is the clinic on the corner with a message for you."
	for kind, role := range map[string]string{"openai": "speech", "elevenlabs": "elevenlabs"} {
		for fault, code := range map[enginetest.Fault]string{
			enginetest.Hangs: "engine_slow", enginetest.Stalls: "engine_stalled", enginetest.Garbage: "engine_garbage",
			enginetest.Drops: "engine_unreachable", enginetest.Refuses: "engine_refused",
		} {
			server := enginetest.New(h.t)
			server.SetFault(role, fault)
			at := server.URL
			if kind == "openai" {
				at += "/v1"
			}
			name := h.addEngine("tts-"+kind+"-"+string(fault), kind, at, "tts: {voice: v, "+firstTimeoutSetting(fault)+", "+stallTimeoutSetting(fault)+"}")
			c := engineFaultCase{
				name: name, pathway: "say", agent: object{"voice": object{"engine": name}}, script: func(*phoneUser) {},
				wantErrors: []string{"tts " + code + " true"}, wantSaid: []string{text}, wantOutcome: "completed", minVoiceSeconds: 1.5,
			}
			if fault == enginetest.Stalls || fault == enginetest.Drops {
				c.toneSeconds = [2]float64{0, 0.4} // up to the fault
			}
			h.cases = append(h.cases, c)
		}
	}
	server, barged := enginetest.New(h.t), make(chan struct{})
	server.SetFault("speech", enginetest.Late)
	name := h.addEngine("tts-late", "openai", server.URL+"/v1", "tts: {voice: v, first_ms: 20000}")
	h.cases = append(h.cases, engineFaultCase{
		name: name + " after words over it", pathway: "ask", agent: object{"voice": object{"engine": name}},
		script:   func(o *phoneUser) { o.speak(900 * time.Millisecond); close(barged) },
		wantSaid: []string{"Fine."}, forbiddenWords: []string{"Will you come"}, wantOutcome: "confirmed", toneSeconds: [2]float64{0.2, 0.5},
		wantErrors: nil,
	})
	h.releaseAfter(barged, func() bool { return len(server.Requests()) > 1 }, server.Release)
}

// releaseAfter adds a release function that waits until far is closed and asked returns true, and then calls then.
func (h *engineFaultSuite) releaseAfter(far <-chan struct{}, asked func() bool, then func()) {
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
func (h *engineFaultSuite) addSTTCases() {
	for kind, role := range map[string]string{"openai": "transcriptions", "deepgram": "deepgram"} {
		for fault, code := range map[enginetest.Fault]string{
			enginetest.Hangs: "engine_slow", enginetest.Stalls: "engine_slow", enginetest.Garbage: "engine_garbage",
			enginetest.Drops: "engine_unreachable", enginetest.Refuses: "engine_refused",
		} {
			server := enginetest.New(h.t)
			server.SetFault(role, fault)
			server.SetTranscript("no never")
			at := server.WS()
			if kind == "openai" {
				at = server.URL + "/v1"
			}
			wait := "30000"
			if code == "engine_slow" {
				wait = "500"
			}
			name := h.addEngine("stt-"+kind+"-"+string(fault), kind, at, "stt: {model: m, final_ms: "+wait+"}")
			h.cases = append(h.cases, engineFaultCase{
				name: name, pathway: "ask", agent: object{"stt": object{"engine": name}}, script: listenAndAnswer,
				wantErrors: []string{"stt " + code + " true"}, wantSaid: []string{"Will you come tomorrow?", "Fine."}, forbiddenWords: []string{"no never"}, wantOutcome: "confirmed", minVoiceSeconds: 1,
			})
		}
	}
	server, pressed := enginetest.New(h.t), make(chan struct{})
	server.SetFault("transcriptions", enginetest.Late)
	server.SetTranscript("no never")
	name := h.addEngine("stt-late", "openai", server.URL+"/v1", "stt: {model: m, final_ms: 20000}")
	h.cases = append(h.cases, engineFaultCase{
		name: name + " after a key", pathway: "ask", agent: object{"stt": object{"engine": name}},
		script: func(o *phoneUser) {
			listenAndAnswer(o)
			for len(server.Requests()) == 0 && o.ctx.Err() == nil {
				<-time.After(10 * time.Millisecond)
			}
			o.pressKeys("2")
			close(pressed)
			o.awaitSpeech(true)
			o.awaitSpeech(false)
			o.pressKeys("3")
		},
		wantSaid: []string{"Which day?", "Noted."}, forbiddenWords: []string{"no never"}, wantOutcome: "confirmed",
	})
	h.releaseAfter(pressed, func() bool { return true }, server.Release)
}

// addLLMCases adds cases of faulty language models. A working model is their fallback, except for agents without a
// fallback.
func (h *engineFaultSuite) addLLMCases() {
	fine := llmtest.Reply{Say: []string{"Fine, ", "goodbye."}, Calls: []llmtest.Call{{ID: "c1", Name: "end_call", Arguments: `{"outcome":"confirmed"}`}}}
	spare := llmtest.New(h.t, func(_ int, r *llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Messages[0].Content, "You are alone.") {
			return llmtest.Reply{Status: 503}
		}
		return fine
	})
	h.addEngine("spare", "openai", spare.URL, "llm: {model: m}")
	again := func(o *phoneUser) { listenAndAnswer(o); listenAndAnswer(o) }
	model := func(name string, replies ...llmtest.Reply) string {
		wait := "first_ms: 30000, stall_ms: 30000"
		if replies[0].Hang {
			wait = "first_ms: 500"
		} else if replies[0].Stall {
			wait = "first_ms: 30000, stall_ms: 500"
		}
		return h.addEngine("llm-"+name, "openai", llmtest.New(h.t, llmtest.Replies(replies...)).URL, "llm: {model: m, "+wait+"}")
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
		x := engineFaultCase{
			name: "llm-" + name, pathway: "talk", agent: object{"llm": object{"engine": engine}, "system_prompt": "Be kind."}, script: listenAndAnswer,
			wantErrors: []string{"llm " + c.code + " true"}, wantSaid: []string{"Hello.", "Fine, goodbye."}, forbiddenWords: []string{"Well", "Let me", "And then"}, wantOutcome: "confirmed", minVoiceSeconds: 1,
		}
		if c.half {
			x.wantSaid = []string{"Hello.", "First things first.", "Fine, goodbye."} // the spare model continues
		}
		h.cases = append(h.cases, x)
	}
	engine := model("dead", llmtest.Reply{Hang: true})
	h.cases = append(h.cases, engineFaultCase{
		name: "llm-dead without fallback", pathway: "talk", agent: object{"llm": object{"engine": engine}, "system_prompt": "You are alone."}, script: again,
		wantErrors: []string{"llm timeout true", "llm overloaded false", "pathway model_failed false"}, wantOutcome: "failed", minVoiceSeconds: 2,
		wantSaid: []string{"Hello.", "I'm sorry, I didn't get that. Could you say it again, please?", "I'm sorry, I can't help you right now. Goodbye."},
	})
	late := make(chan struct{})
	held := llmtest.New(h.t, llmtest.Replies(llmtest.Reply{Say: []string{"Well, listen to me now. ", "Old words. "}, Late: late}, fine))
	engine = h.addEngine("llm-late", "openai", held.URL, "llm: {model: m, first_ms: 20000, stall_ms: 20000}")
	over := make(chan struct{})
	h.cases = append(h.cases, engineFaultCase{
		name: "llm-late after words over it", pathway: "talk", agent: object{"llm": object{"engine": engine}, "system_prompt": "Be kind."},
		script: func(o *phoneUser) {
			listenAndAnswer(o)
			o.awaitSpeech(true)
			o.speak(900 * time.Millisecond)
			close(over)
		},
		wantSaid: []string{"Hello.", "Fine, goodbye."}, forbiddenWords: []string{"Old words"}, wantOutcome: "confirmed",
	})
	h.releaseAfter(over, func() bool { return len(held.Requests()) > 1 }, func() { close(late) })
}

// addSpeculativeCases adds cases of agents whose model is requested before the caller's turn ends.
func (h *engineFaultSuite) addSpeculativeCases() {
	recognizer := enginetest.New(h.t)
	recognizer.SetTranscript("Friday") // the recognizer returns a partial result during the turn
	stt := h.addEngine("stt-hasty", "deepgram", recognizer.WS(), "stt: {model: m}")
	h.cases = append(h.cases, engineFaultCase{
		name: "llm-hasty", pathway: "talk", agent: object{"stt": object{"engine": stt}, "llm": object{"speculative": true}, "system_prompt": "Be kind.", "turn_taking": object{"end_of_turn_ms": 1000}}, script: listenAndAnswer,
		wantSaid: []string{"Hello.", "Fine, goodbye."}, wantOutcome: "confirmed", minVoiceSeconds: 1, wantErrors: nil,
		check: func(t *testing.T, call object, _ []any, _, _ []float64) {
			t.Helper()
			turn := call["latency"].(object)["turns"].([]any)[0].(object)
			assert.Equal(t, "hit", turn["speculative"], "%v", turn)
		},
	})
}

// firstTimeoutSetting returns the time limit for an engine's first response. It is short if the fault must exceed it.
// Otherwise it is long, so that an engine on a busy machine does not exceed it.
func firstTimeoutSetting(f enginetest.Fault) string {
	if f == enginetest.Hangs || f == enginetest.Late {
		return "first_ms: 700"
	}
	return "first_ms: 30000"
}

func stallTimeoutSetting(f enginetest.Fault) string {
	if f == enginetest.Stalls {
		return "stall_ms: 700"
	}
	return "stall_ms: 30000"
}

func TestEngineFaultsGetFallbackSpeechAndRecordedReason(t *testing.T) {
	t.Parallel()
	h := &engineFaultSuite{t: t, callees: newPhoneBank(t)}
	h.file.WriteString("engines:\n")
	recognizer := enginetest.New(t)
	recognizer.SetTranscript(callerWords)
	h.addEngine("well", "openai", recognizer.URL+"/v1", "stt: {model: m}")
	h.addTTSCases()
	h.addSTTCases()
	h.addLLMCases()
	h.addSpeculativeCases()
	h.addRealtimeCases()
	h.addMediaStreamCases()
	h.file.WriteString("stt: [well]\nllm: [spare]\n")
	path := filepath.Join(t.TempDir(), "engines.yaml")
	require.NoError(t, os.WriteFile(path, []byte(h.file.String()), 0o600))
	s := newRaceFreeService(t, "CALLBOARD_ENGINES_FILE="+path)
	s.removeLimits()
	s.createTrunk("", h.callees.port)
	pathways := s.createFaultPathways()
	for _, then := range h.release {
		go then()
	}
	for group := range slices.Chunk(h.cases, 16) { // few calls at a time, so that the machine keeps up
		ids := make([]string, len(group))
		for i, c := range group {
			h.usedNumbers++
			number := fmt.Sprintf("+120255502%02d", h.usedNumbers)
			h.callees.setScript(number, c.script)
			body := object{"name": c.name, "turn_taking": object{"end_of_turn_ms": 500}}
			if c.pathway != "" {
				body["pathway_id"] = pathways[c.pathway]
			}
			maps.Copy(body, c.agent)
			ids[i] = s.placeCall(number, s.api("POST", "/v1/agents", body)["id"].(string), nil)
		}
		for i, c := range group {
			t.Run(c.name, func(t *testing.T) { s.checkFaultCall(t, &c, ids[i]) })
		}
	}
	assert.NotContains(t, s.logText(), enginetest.Key)
}

func (s *service) createFaultPathways() map[string]any {
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

// checkFaultCall waits for the end of a call and compares the call, its transcript and its recording with the test case.
func (s *service) checkFaultCall(t *testing.T, c *engineFaultCase, id string) {
	call := s.awaitCallEnd(id, 3*time.Minute) // the agent repeats its question after half a minute without an answer
	var sentences, all []string
	segments := s.api("GET", "/v1/calls/"+id+"/transcript", nil)["segments"].([]any)
	for _, x := range segments {
		segment := x.(object)
		all = append(all, fmt.Sprint(segment["speaker"], ": ", segment["text"]))
		if segment["speaker"] == "agent" {
			sentences = append(sentences, segment["text"].(string))
		}
	}
	reported := map[string]bool{}
	for _, x := range s.listData("/v1/calls/" + id + "/events") {
		if e := x.(object); e["type"] == "agent.error" {
			d := e["data"].(object)
			reported[fmt.Sprint(d["stage"], " ", d["code"], " ", d["recovered"])] = true
		}
	}
	var errors []string
	for what := range reported {
		errors = append(errors, what)
	}
	assert.ElementsMatch(t, c.wantErrors, errors, "%v", all)
	assert.Equal(t, c.wantOutcome, call["disposition"], "%v", all)
	for _, text := range c.wantSaid {
		assert.True(t, slices.ContainsFunc(sentences, func(said string) bool {
			begun, interrupted := strings.CutSuffix(said, " —") // the caller speaks between two sentences
			return said == text || interrupted && strings.HasPrefix(text, begun)
		}), "%q in %v", text, all)
	}
	for _, text := range c.forbiddenWords {
		assert.NotContains(t, strings.Join(all, "\n"), text)
	}
	recording := s.saveRecording(id)
	sound := readSamples(t, recording, 2)
	hum, voice := 0.0, 0.0
	const piece = sampleRate / 20
	for at := 0; at+piece <= len(sound); at += piece {
		switch now := sound[at : at+piece]; {
		case pitchShare(now, 400) > 0.8:
			hum += 0.05
		case rmsPower(now) > 200:
			voice += 0.05
		}
	}
	assert.True(t, hum >= c.toneSeconds[0] && hum <= c.toneSeconds[1]+0.05, "%.2f s of the engine's audio, want %v", hum, c.toneSeconds)
	assert.GreaterOrEqual(t, voice, c.minVoiceSeconds, "seconds of speech")
	if c.check != nil {
		c.check(t, call, segments, readSamples(t, recording, 1), sound)
	}
}

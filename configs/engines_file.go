package configs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knadh/koanf/parsers/yaml"
)

// Kinds of external speech and language engines. The kind selects the protocol.
const (
	EngineOpenAI      = "openai"       // OpenAI's HTTP API: speech, transcription, chat, realtime, embeddings
	EngineDeepgram    = "deepgram"     // speech recognition over a WebSocket
	EngineElevenLabs  = "elevenlabs"   // streamed speech synthesis
	EngineMediaStream = "media-stream" // the customer's own server, over a WebSocket with Twilio's Media Streams protocol
)

// Roles of an engine. An engine may have several.
const (
	RoleTTS = "tts"
	RoleSTT = "stt"
	RoleLLM = "llm"
	// RoleRealtime is the role of a model that receives speech and returns speech.
	RoleRealtime = "realtime"
	// RoleEmbeddings is the role of a model that computes embedding vectors of texts.
	RoleEmbeddings = "embeddings"
)

// Engine is an external speech or language engine of the engines file.
type Engine struct {
	Name string
	Kind string
	URL  string // without a final slash
	Key  Secret // empty: the engine requires no key
	TTS  *EngineTTS
	STT  *EngineSTT
	LLM  *EngineLLM
	// Realtime configures a model that receives and returns speech. It is nil if the engine has no such model.
	Realtime *EngineRealtime
	// Embeddings configures the computation of embedding vectors. It is nil if the engine has no such model.
	Embeddings *EngineEmbeddings
}

// EngineEmbeddings configures the embedding model of an engine.
type EngineEmbeddings struct {
	Model string `json:"model"`
}

// EngineTTS configures speech synthesis. Its model and voice are defaults for agents that name none.
type EngineTTS struct {
	Model      string `json:"model"`
	Voice      string `json:"voice"`
	SampleRate int    `json:"sample_rate"` // of the audio that the engine sends, Hz
	FirstMs    int    `json:"first_ms"`    // timeout for the first audio, milliseconds
	StallMs    int    `json:"stall_ms"`    // timeout between two pieces of audio, milliseconds
	SSML       bool   `json:"ssml"`        // the engine reads SSML: texts with elements of SSML are sent as SSML documents
}

// EngineSTT configures speech recognition.
type EngineSTT struct {
	Model   string `json:"model"`
	FinalMs int    `json:"final_ms"` // timeout from the end of an utterance to its text, milliseconds
}

// EngineLLM configures a language model.
type EngineLLM struct {
	Model   string `json:"model"`
	FirstMs int    `json:"first_ms"` // timeout for the first token, milliseconds
	StallMs int    `json:"stall_ms"` // timeout between two tokens, milliseconds
	// ReasoningEffort is sent as reasoning_effort, for example "none". It is empty if the parameter is not sent.
	ReasoningEffort string `json:"reasoning_effort"`
	// MaxTokensParameter is the request parameter that limits the length of a response: max_tokens or
	// max_completion_tokens.
	MaxTokensParameter string `json:"max_tokens_parameter"`
}

// EngineRealtime configures the model of an engine that receives speech and returns speech.
type EngineRealtime struct {
	Model              string `json:"model"`
	Voice              string `json:"voice"`
	TranscriptionModel string `json:"transcription_model"` // model that transcribes the caller
	FirstMs            int    `json:"first_ms"`            // timeout for the session and for the begin of an answer, milliseconds
	StallMs            int    `json:"stall_ms"`            // timeout between two pieces of an answer, milliseconds
}

// Engines holds the content of the engines file.
type Engines struct {
	List []Engine // sorted by name
	// TTS, STT, LLM and Realtime list the default engines of each role in the order of preference. For TTS, STT and
	// LLM they are also the fallbacks if the engine of an agent fails. Realtime has no such fallback.
	TTS, STT, LLM, Realtime []string
	// Embeddings names the engine that computes embedding vectors. It has at most one element.
	Embeddings []string
}

// Limits and default timeouts of the engines file. Timeouts are in milliseconds.
const (
	maxEngines   = 50
	minDeadline  = 50
	maxDeadline  = 60_000
	defaultFirst = 2500
	defaultStall = 2000
	defaultFinal = 3000
)

var (
	engineName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)
	effortName = regexp.MustCompile(`^[a-z]{1,32}$`)
	// embeddedEngines are the names of the engines that need no configuration. The engines file cannot use them.
	embeddedEngines = []string{"espeak-ng", "pocketsphinx", "wav"}
)

// describeEngineKind returns the roles, the default URL and the permitted URL schemes of a kind of engine.
func describeEngineKind(kind string) (roles []string, address string, schemes []string) {
	web, socket := []string{"http", "https"}, []string{"ws", "wss"}
	switch kind {
	case EngineOpenAI:
		return []string{RoleTTS, RoleSTT, RoleLLM, RoleRealtime, RoleEmbeddings}, "https://api.openai.com/v1", web
	case EngineDeepgram:
		return []string{RoleSTT}, "wss://api.deepgram.com", socket
	case EngineMediaStream:
		return []string{RoleRealtime}, "", []string{"wss"}
	case EngineElevenLabs:
		return []string{RoleTTS}, "https://api.elevenlabs.io", web
	}
	return nil, "", nil
}

// engineFile is the engines file before validation.
type engineFile struct {
	Engines    map[string]engineEntry `json:"engines"`
	TTS        []string               `json:"tts"`
	STT        []string               `json:"stt"`
	LLM        []string               `json:"llm"`
	Realtime   []string               `json:"realtime"`
	Embeddings []string               `json:"embeddings"`
}

type engineEntry struct {
	Kind       string            `json:"kind"`
	URL        string            `json:"url"`
	KeyFile    string            `json:"key_file"`
	KeyEnv     string            `json:"key_env"`
	TTS        *EngineTTS        `json:"tts"`
	STT        *EngineSTT        `json:"stt"`
	LLM        *EngineLLM        `json:"llm"`
	Realtime   *EngineRealtime   `json:"realtime"`
	Embeddings *EngineEmbeddings `json:"embeddings"`
}

// ReadEngines reads and checks the engines file at path. An empty path means no engines. Keys come from files or
// from variables of env (in the form of os.Environ), never from the engines file itself. An *InvalidError lists
// every problem.
func ReadEngines(path string, env []string) (Engines, error) {
	if path == "" {
		return Engines{}, nil
	}
	text, err := readBounded(path)
	if err != nil {
		return Engines{}, fmt.Errorf("configs: %w", err)
	}
	raw, err := yaml.Parser().Unmarshal(text)
	if err != nil {
		return Engines{}, fmt.Errorf("configs: %s is not a YAML map: %w", path, err)
	}
	again, err := json.Marshal(raw)
	if err != nil {
		return Engines{}, fmt.Errorf("configs: %s: every key must be a string: %w", path, err)
	}
	var file engineFile
	d := json.NewDecoder(bytes.NewReader(again))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return Engines{}, fmt.Errorf("configs: %s: %s", path, strings.TrimPrefix(err.Error(), "json: "))
	}
	r := engineReader{env: env}
	out := r.readEngines(&file)
	if len(r.problems) > 0 {
		return Engines{}, &InvalidError{Problems: r.problems}
	}
	return out, nil
}

type engineReader struct {
	env      []string
	problems []Problem
}

func (r *engineReader) addProblem(name, value, rule string) {
	r.problems = append(r.problems, Problem{Name: name, Value: value, Rule: rule})
}

func (r *engineReader) readEngines(file *engineFile) Engines {
	if len(file.Engines) > maxEngines {
		r.addProblem("engines", strconv.Itoa(len(file.Engines)), fmt.Sprintf("at most %d engines", maxEngines))
	}
	var out Engines
	for _, name := range slices.Sorted(maps.Keys(file.Engines)) {
		out.List = append(out.List, r.readEngine(name, file.Engines[name]))
	}
	for _, o := range []struct {
		role string
		from []string
		to   *[]string
	}{{RoleTTS, file.TTS, &out.TTS}, {RoleSTT, file.STT, &out.STT}, {RoleLLM, file.LLM, &out.LLM}, {RoleRealtime, file.Realtime, &out.Realtime}, {RoleEmbeddings, file.Embeddings, &out.Embeddings}} {
		for i, name := range o.from {
			j := slices.IndexFunc(out.List, func(e Engine) bool { return e.Name == name })
			if j < 0 || !out.List[j].HasRole(o.role) || slices.Contains(o.from[:i], name) {
				r.addProblem(fmt.Sprintf("%s[%d]", o.role, i), name, "the name of a configured engine with "+o.role+", listed once")
			}
		}
		*o.to = o.from
	}
	if len(out.Embeddings) > 1 {
		r.addProblem("embeddings", strings.Join(out.Embeddings, ", "), "one engine: embeddings of two models cannot be compared")
	}
	return out
}

// HasRole reports whether the engines file configures a role, such as RoleTTS, for the engine.
func (e *Engine) HasRole(role string) bool {
	switch role {
	case RoleTTS:
		return e.TTS != nil
	case RoleSTT:
		return e.STT != nil
	case RoleLLM:
		return e.LLM != nil
	case RoleRealtime:
		return e.Realtime != nil
	case RoleEmbeddings:
		return e.Embeddings != nil
	}
	return false
}

func (r *engineReader) readEngine(name string, w engineEntry) Engine {
	at := "engines." + name
	if !engineName.MatchString(name) || slices.Contains(embeddedEngines, name) {
		r.addProblem(at, name, "lower-case letters, digits, - and _, beginning with a letter, and not the name of an embedded engine ("+strings.Join(embeddedEngines, ", ")+")")
	}
	e := Engine{Name: name, Kind: w.Kind, URL: w.URL, TTS: w.TTS, STT: w.STT, LLM: w.LLM, Realtime: w.Realtime, Embeddings: w.Embeddings}
	roles, address, schemes := describeEngineKind(w.Kind)
	if roles == nil {
		r.addProblem(at+".kind", w.Kind, "openai, deepgram, elevenlabs or media-stream")
		return e
	}
	if e.URL == "" {
		e.URL = address
	}
	u, err := url.Parse(e.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || !slices.Contains(schemes, u.Scheme) {
		r.addProblem(at+".url", showURL(w.URL), "a URL of "+strings.Join(schemes, " or ")+" without user and fragment")
	}
	e.URL = strings.TrimRight(e.URL, "/")
	e.Key = r.readKey(at, w)
	does := false
	for _, role := range []string{RoleTTS, RoleSTT, RoleLLM, RoleRealtime, RoleEmbeddings} {
		if e.HasRole(role) && !slices.Contains(roles, role) {
			r.addProblem(at+"."+role, "", "omitted: "+w.Kind+" supports only "+strings.Join(roles, ", "))
		}
		does = does || e.HasRole(role)
	}
	if !does {
		r.addProblem(at, "", "configured with at least one role: "+strings.Join(roles, ", "))
	}
	r.fillRoles(at, &e)
	return e
}

// fillRoles checks the settings of an engine's roles and fills in defaults. at is the engine's place in the file, for
// error messages.
func (r *engineReader) fillRoles(at string, e *Engine) {
	if t := e.TTS; t != nil {
		e.TTS = &EngineTTS{Model: t.Model, Voice: t.Voice, SampleRate: t.SampleRate, FirstMs: r.checkTimeout(at+".tts.first_ms", t.FirstMs, defaultFirst), StallMs: r.checkTimeout(at+".tts.stall_ms", t.StallMs, defaultStall), SSML: t.SSML}
		if t.SampleRate == 0 {
			e.TTS.SampleRate = 24000
		}
		if !slices.Contains([]int{8000, 16000, 22050, 24000, 44100, 48000}, e.TTS.SampleRate) {
			r.addProblem(at+".tts.sample_rate", strconv.Itoa(t.SampleRate), "8000, 16000, 22050, 24000, 44100 or 48000")
		}
		r.checkName(at+".tts.model", &e.TTS.Model, map[string]string{EngineOpenAI: "gpt-4o-mini-tts", EngineElevenLabs: "eleven_flash_v2_5"}[e.Kind])
		r.checkName(at+".tts.voice", &e.TTS.Voice, map[string]string{EngineOpenAI: "alloy"}[e.Kind])
	}
	if s := e.STT; s != nil {
		e.STT = &EngineSTT{Model: s.Model, FinalMs: r.checkTimeout(at+".stt.final_ms", s.FinalMs, defaultFinal)}
		r.checkName(at+".stt.model", &e.STT.Model, map[string]string{EngineOpenAI: "gpt-4o-mini-transcribe", EngineDeepgram: "nova-3"}[e.Kind])
	}
	if l := e.LLM; l != nil {
		e.LLM = &EngineLLM{Model: l.Model, ReasoningEffort: l.ReasoningEffort, MaxTokensParameter: l.MaxTokensParameter, FirstMs: r.checkTimeout(at+".llm.first_ms", l.FirstMs, 2*defaultFirst), StallMs: r.checkTimeout(at+".llm.stall_ms", l.StallMs, 2*defaultStall)}
		r.checkName(at+".llm.model", &e.LLM.Model, "")
		r.checkName(at+".llm.max_tokens_parameter", &e.LLM.MaxTokensParameter, "max_tokens")
		if p := e.LLM.MaxTokensParameter; p != "max_tokens" && p != "max_completion_tokens" {
			r.addProblem(at+".llm.max_tokens_parameter", p, "max_tokens or max_completion_tokens")
		}
		if l.ReasoningEffort != "" && !effortName.MatchString(l.ReasoningEffort) {
			r.addProblem(at+".llm.reasoning_effort", l.ReasoningEffort, "a name of at most 32 lower-case letters that the model knows, such as none, minimal or low")
		}
	}
	if m := e.Embeddings; m != nil {
		e.Embeddings = &EngineEmbeddings{Model: m.Model}
		r.checkName(at+".embeddings.model", &e.Embeddings.Model, "text-embedding-3-small")
	}
	if e.Realtime != nil {
		r.fillRealtime(at, e)
	}
}

// fillRealtime checks the settings of an engine's realtime role and fills in defaults. at is the engine's place in the
// file, for error messages.
func (r *engineReader) fillRealtime(at string, e *Engine) {
	l := e.Realtime
	e.Realtime = &EngineRealtime{
		Model: l.Model, Voice: l.Voice, TranscriptionModel: l.TranscriptionModel,
		FirstMs: r.checkTimeout(at+".realtime.first_ms", l.FirstMs, defaultFinal), StallMs: r.checkTimeout(at+".realtime.stall_ms", l.StallMs, 2*defaultStall),
	}
	if e.Kind != EngineMediaStream {
		r.checkName(at+".realtime.model", &e.Realtime.Model, "gpt-realtime")
		r.checkName(at+".realtime.voice", &e.Realtime.Voice, "marin")
		r.checkName(at+".realtime.transcription_model", &e.Realtime.TranscriptionModel, "gpt-4o-mini-transcribe")
		return
	}
	if l.Model+l.Voice+l.TranscriptionModel != "" || l.StallMs != 0 {
		r.addProblem(at+".realtime", "", "limited to first_ms: the server chooses everything else")
	}
	if e.Key.Reveal() == "" {
		r.addProblem(at+".key_file", "", "set, or key_env: the server authenticates Callboard by a signature with this key")
	}
}

func (r *engineReader) checkTimeout(name string, ms, usual int) int {
	if ms == 0 {
		return usual
	}
	if ms < minDeadline || ms > maxDeadline {
		r.addProblem(name, strconv.Itoa(ms), fmt.Sprintf("a whole number of milliseconds from %d to %d", minDeadline, maxDeadline))
	}
	return ms
}

func (r *engineReader) checkName(name string, to *string, usual string) {
	if *to == "" {
		*to = usual
	}
	if *to == "" || len(*to) > 200 || strings.ContainsAny(*to, "\r\n\x00") {
		r.addProblem(name, *to, "set, with at most 200 characters")
	}
}

// readKey reads the secret key of an engine from its file or environment variable.
func (r *engineReader) readKey(at string, w engineEntry) Secret {
	var value string
	var err error
	switch {
	case w.KeyFile != "" && w.KeyEnv != "":
		r.addProblem(at+".key_env", w.KeyEnv, "empty if key_file is set")
	case w.KeyFile != "":
		value, err = readSecretFile(w.KeyFile)
		if err != nil {
			r.addProblem(at+".key_file", w.KeyFile, "a file with the key on its one line")
		}
	case w.KeyEnv != "":
		i := slices.IndexFunc(r.env, func(line string) bool { return strings.HasPrefix(line, w.KeyEnv+"=") })
		if i < 0 || strings.TrimSpace(r.env[i][len(w.KeyEnv)+1:]) == "" {
			r.addProblem(at+".key_env", w.KeyEnv, "a variable of the environment that holds the key")
			break
		}
		value = strings.TrimSpace(r.env[i][len(w.KeyEnv)+1:])
	}
	return Secret{value}
}

func readSecretFile(path string) (string, error) {
	text, err := readBounded(path)
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(string(text))
	if value == "" || strings.ContainsAny(value, "\r\n\x00") || len(value) > 4096 {
		return "", errors.New("the file must contain one line with a key of at most 4096 characters")
	}
	return value, nil
}

// FirstTimeout returns how long Callboard waits for the first audio of the engine.
func (t *EngineTTS) FirstTimeout() time.Duration { return time.Duration(t.FirstMs) * time.Millisecond }

// StallTimeout returns the longest pause between two pieces of synthesized audio, after which the engine counts as
// failed.
func (t *EngineTTS) StallTimeout() time.Duration { return time.Duration(t.StallMs) * time.Millisecond }

// FinalTimeout returns how long Callboard waits for the text of an utterance after its end.
func (s *EngineSTT) FinalTimeout() time.Duration { return time.Duration(s.FinalMs) * time.Millisecond }

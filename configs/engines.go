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

// The kinds of engines, by the protocol that they speak.
const (
	EngineOpenAI     = "openai"       // HTTP in OpenAI's shape: speech, transcriptions, chat
	EngineDeepgram   = "deepgram"     // words, over a WebSocket
	EngineElevenLabs = "elevenlabs"   // speech, streamed
	EngineStream     = "media-stream" // a developer's own server, over a WebSocket in the shape of Twilio's Media Streams
)

// What engines can do.
const (
	RoleTTS = "tts"
	RoleSTT = "stt"
	RoleLLM = "llm"
	// RoleRealtime hears and speaks by itself.
	RoleRealtime = "realtime"
	// RoleEmbeddings tells what texts mean.
	RoleEmbeddings = "embeddings"
)

// Engine is one that the operator has configured.
type Engine struct {
	Name string
	Kind string
	URL  string // without a slash at its end
	Key  Secret // empty: it asks for none
	TTS  *EngineTTS
	STT  *EngineSTT
	LLM  *EngineLLM
	// Realtime is how it hears and speaks by itself.
	Realtime *EngineRealtime
	// Embeddings is how it tells what texts mean.
	Embeddings *EngineEmbeddings
}

// EngineEmbeddings is how it tells what texts mean.
type EngineEmbeddings struct {
	Model string `json:"model"`
}

// EngineTTS is how it speaks where an agent says nothing else.
type EngineTTS struct {
	Model      string `json:"model"`
	Voice      string `json:"voice"`
	SampleRate int    `json:"sample_rate"` // of what it sends, Hz
	FirstMs    int    `json:"first_ms"`    // until the first sound
	StallMs    int    `json:"stall_ms"`    // from one piece of sound to the next
}

// EngineSTT is how it hears.
type EngineSTT struct {
	Model   string `json:"model"`
	FinalMs int    `json:"final_ms"` // from the end of what was said to its text
}

// EngineLLM is how it thinks.
type EngineLLM struct {
	Model   string `json:"model"`
	FirstMs int    `json:"first_ms"` // until the first word
	StallMs int    `json:"stall_ms"`
}

// EngineRealtime is how it hears and speaks by itself.
type EngineRealtime struct {
	Model   string `json:"model"`
	Voice   string `json:"voice"`
	Words   string `json:"transcription_model"` // writes down what the caller says
	FirstMs int    `json:"first_ms"`            // until it hears, and until an answer begins
	StallMs int    `json:"stall_ms"`            // from one piece of it to the next
}

// Engines are those of the engines file.
type Engines struct {
	List []Engine // by name
	// TTS, STT, LLM and Realtime name the ones that are tried where an agent
	// names none, and behind the one that it names, in this order; of Realtime
	// none stands behind one that is named.
	TTS, STT, LLM, Realtime []string
	// Embeddings names the one whose model tells what texts mean; none or one.
	Embeddings []string
}

// The limits of what the engines file says.
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
	// local are the names of what the machine itself has.
	local = []string{"espeak-ng", "pocketsphinx", "wav"}
)

// kindOf says what a kind of engine does, and where it is found unless said.
func kindOf(kind string) (roles []string, address string, schemes []string) {
	web, socket := []string{"http", "https"}, []string{"ws", "wss"}
	switch kind {
	case EngineOpenAI:
		return []string{RoleTTS, RoleSTT, RoleLLM, RoleRealtime, RoleEmbeddings}, "https://api.openai.com/v1", web
	case EngineDeepgram:
		return []string{RoleSTT}, "wss://api.deepgram.com", socket
	case EngineStream:
		return []string{RoleRealtime}, "", []string{"wss"}
	case EngineElevenLabs:
		return []string{RoleTTS}, "https://api.elevenlabs.io", web
	}
	return nil, "", nil
}

// engineFile is the file as it is written.
type engineFile struct {
	Engines map[string]writtenEngine `json:"engines"`
	TTS     []string                 `json:"tts"`
	STT     []string                 `json:"stt"`
	LLM     []string                 `json:"llm"`
	Live    []string                 `json:"realtime"`
	Embed   []string                 `json:"embeddings"`
}

type writtenEngine struct {
	Kind    string            `json:"kind"`
	URL     string            `json:"url"`
	KeyFile string            `json:"key_file"`
	KeyEnv  string            `json:"key_env"`
	TTS     *EngineTTS        `json:"tts"`
	STT     *EngineSTT        `json:"stt"`
	LLM     *EngineLLM        `json:"llm"`
	Live    *EngineRealtime   `json:"realtime"`
	Embed   *EngineEmbeddings `json:"embeddings"`
}

// ReadEngines reads the engines file at path; none where it is empty. Keys
// stand in files or in variables of env (as os.Environ gives them), never in
// the file itself. Every problem is in the *InvalidError.
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
		return Engines{}, fmt.Errorf("configs: %s is no YAML map: %w", path, err)
	}
	again, err := json.Marshal(raw)
	if err != nil {
		return Engines{}, fmt.Errorf("configs: %s: every key must be a text: %w", path, err)
	}
	var file engineFile
	d := json.NewDecoder(bytes.NewReader(again))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return Engines{}, fmt.Errorf("configs: %s: %s", path, strings.TrimPrefix(err.Error(), "json: "))
	}
	r := engineReader{env: env}
	out := r.engines(&file)
	if len(r.problems) > 0 {
		return Engines{}, &InvalidError{Problems: r.problems}
	}
	return out, nil
}

type engineReader struct {
	env      []string
	problems []Problem
}

func (r *engineReader) bad(name, value, rule string) {
	r.problems = append(r.problems, Problem{Name: name, Value: value, Rule: rule})
}

func (r *engineReader) engines(file *engineFile) Engines {
	if len(file.Engines) > maxEngines {
		r.bad("engines", strconv.Itoa(len(file.Engines)), fmt.Sprintf("%d at most", maxEngines))
	}
	var out Engines
	for _, name := range slices.Sorted(maps.Keys(file.Engines)) {
		out.List = append(out.List, r.engine(name, file.Engines[name]))
	}
	for _, o := range []struct {
		role string
		from []string
		to   *[]string
	}{{RoleTTS, file.TTS, &out.TTS}, {RoleSTT, file.STT, &out.STT}, {RoleLLM, file.LLM, &out.LLM}, {RoleRealtime, file.Live, &out.Realtime}, {RoleEmbeddings, file.Embed, &out.Embeddings}} {
		for i, name := range o.from {
			j := slices.IndexFunc(out.List, func(e Engine) bool { return e.Name == name })
			if j < 0 || !out.List[j].Does(o.role) || slices.Contains(o.from[:i], name) {
				r.bad(fmt.Sprintf("%s[%d]", o.role, i), name, "the name of an engine above that does "+o.role+", once")
			}
		}
		*o.to = o.from
	}
	if len(out.Embeddings) > 1 {
		r.bad("embeddings", strings.Join(out.Embeddings, ", "), "one engine: meanings of two models cannot be compared")
	}
	return out
}

// Does says whether the engine has a role.
func (e *Engine) Does(role string) bool {
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

func (r *engineReader) engine(name string, w writtenEngine) Engine {
	at := "engines." + name
	if !engineName.MatchString(name) || slices.Contains(local, name) {
		r.bad(at, name, "named by small letters, digits, - and _, beginning with a letter, and not like an engine of the machine ("+strings.Join(local, ", ")+")")
	}
	e := Engine{Name: name, Kind: w.Kind, URL: w.URL, TTS: w.TTS, STT: w.STT, LLM: w.LLM, Realtime: w.Live, Embeddings: w.Embed}
	roles, address, schemes := kindOf(w.Kind)
	if roles == nil {
		r.bad(at+".kind", w.Kind, "openai, deepgram, elevenlabs or media-stream")
		return e
	}
	if e.URL == "" {
		e.URL = address
	}
	u, err := url.Parse(e.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || !slices.Contains(schemes, u.Scheme) {
		r.bad(at+".url", showURL(w.URL), "a URL of "+strings.Join(schemes, " or ")+" without user and fragment")
	}
	e.URL = strings.TrimRight(e.URL, "/")
	e.Key = r.key(at, w)
	does := false
	for _, role := range []string{RoleTTS, RoleSTT, RoleLLM, RoleRealtime, RoleEmbeddings} {
		if e.Does(role) && !slices.Contains(roles, role) {
			r.bad(at+"."+role, "", "left out: "+w.Kind+" does "+strings.Join(roles, ", "))
		}
		does = does || e.Does(role)
	}
	if !does {
		r.bad(at, "", "told what it does: "+strings.Join(roles, ", "))
	}
	r.roles(at, &e)
	return e
}

// roles fills in and checks how an engine does what it does.
func (r *engineReader) roles(at string, e *Engine) {
	if t := e.TTS; t != nil {
		e.TTS = &EngineTTS{Model: t.Model, Voice: t.Voice, SampleRate: t.SampleRate, FirstMs: r.deadline(at+".tts.first_ms", t.FirstMs, defaultFirst), StallMs: r.deadline(at+".tts.stall_ms", t.StallMs, defaultStall)}
		if t.SampleRate == 0 {
			e.TTS.SampleRate = 24000
		}
		if !slices.Contains([]int{8000, 16000, 22050, 24000, 44100, 48000}, e.TTS.SampleRate) {
			r.bad(at+".tts.sample_rate", strconv.Itoa(t.SampleRate), "8000, 16000, 22050, 24000, 44100 or 48000")
		}
		r.named(at+".tts.model", &e.TTS.Model, map[string]string{EngineOpenAI: "gpt-4o-mini-tts", EngineElevenLabs: "eleven_flash_v2_5"}[e.Kind])
		r.named(at+".tts.voice", &e.TTS.Voice, map[string]string{EngineOpenAI: "alloy"}[e.Kind])
	}
	if s := e.STT; s != nil {
		e.STT = &EngineSTT{Model: s.Model, FinalMs: r.deadline(at+".stt.final_ms", s.FinalMs, defaultFinal)}
		r.named(at+".stt.model", &e.STT.Model, map[string]string{EngineOpenAI: "gpt-4o-mini-transcribe", EngineDeepgram: "nova-3"}[e.Kind])
	}
	if l := e.LLM; l != nil {
		e.LLM = &EngineLLM{Model: l.Model, FirstMs: r.deadline(at+".llm.first_ms", l.FirstMs, 2*defaultFirst), StallMs: r.deadline(at+".llm.stall_ms", l.StallMs, 2*defaultStall)}
		r.named(at+".llm.model", &e.LLM.Model, "")
	}
	if m := e.Embeddings; m != nil {
		e.Embeddings = &EngineEmbeddings{Model: m.Model}
		r.named(at+".embeddings.model", &e.Embeddings.Model, "text-embedding-3-small")
	}
	if e.Realtime != nil {
		r.realtime(at, e)
	}
}

// realtime fills in and checks how an engine hears and speaks by itself.
func (r *engineReader) realtime(at string, e *Engine) {
	l := e.Realtime
	e.Realtime = &EngineRealtime{
		Model: l.Model, Voice: l.Voice, Words: l.Words,
		FirstMs: r.deadline(at+".realtime.first_ms", l.FirstMs, defaultFinal), StallMs: r.deadline(at+".realtime.stall_ms", l.StallMs, 2*defaultStall),
	}
	if e.Kind != EngineStream {
		r.named(at+".realtime.model", &e.Realtime.Model, "gpt-realtime")
		r.named(at+".realtime.voice", &e.Realtime.Voice, "marin")
		r.named(at+".realtime.transcription_model", &e.Realtime.Words, "gpt-4o-mini-transcribe")
		return
	}
	if l.Model+l.Voice+l.Words != "" || l.StallMs != 0 {
		r.bad(at+".realtime", "", "told first_ms and nothing else: the server chooses")
	}
	if e.Key.Reveal() == "" {
		r.bad(at+".key_file", "", "named, or key_env: the server knows us by what it signs")
	}
}

func (r *engineReader) deadline(name string, ms, usual int) int {
	if ms == 0 {
		return usual
	}
	if ms < minDeadline || ms > maxDeadline {
		r.bad(name, strconv.Itoa(ms), fmt.Sprintf("a whole number of milliseconds from %d to %d", minDeadline, maxDeadline))
	}
	return ms
}

func (r *engineReader) named(name string, to *string, usual string) {
	if *to == "" {
		*to = usual
	}
	if *to == "" || len(*to) > 200 || strings.ContainsAny(*to, "\r\n\x00") {
		r.bad(name, *to, "named, in 200 characters at most")
	}
}

// key is the secret that an engine asks for.
func (r *engineReader) key(at string, w writtenEngine) Secret {
	var value string
	var err error
	switch {
	case w.KeyFile != "" && w.KeyEnv != "":
		r.bad(at+".key_env", w.KeyEnv, "empty beside key_file")
	case w.KeyFile != "":
		value, err = secretFile(w.KeyFile)
		if err != nil {
			r.bad(at+".key_file", w.KeyFile, "a file with the key on its one line")
		}
	case w.KeyEnv != "":
		i := slices.IndexFunc(r.env, func(line string) bool { return strings.HasPrefix(line, w.KeyEnv+"=") })
		if i < 0 || strings.TrimSpace(r.env[i][len(w.KeyEnv)+1:]) == "" {
			r.bad(at+".key_env", w.KeyEnv, "a variable of the environment that holds the key")
			break
		}
		value = strings.TrimSpace(r.env[i][len(w.KeyEnv)+1:])
	}
	return Secret{value}
}

func secretFile(path string) (string, error) {
	text, err := readBounded(path)
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(string(text))
	if value == "" || strings.ContainsAny(value, "\r\n\x00") || len(value) > 4096 {
		return "", errors.New("no key")
	}
	return value, nil
}

// First is the longest wait for the engine's first sound.
func (t *EngineTTS) First() time.Duration { return time.Duration(t.FirstMs) * time.Millisecond }

// Stall is the longest wait for more of it.
func (t *EngineTTS) Stall() time.Duration { return time.Duration(t.StallMs) * time.Millisecond }

// Final is the longest wait for the text of what was said.
func (s *EngineSTT) Final() time.Duration { return time.Duration(s.FinalMs) * time.Millisecond }

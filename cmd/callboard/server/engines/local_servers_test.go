package engines_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/media/wav"
)

// localServer answers with the routes, the framing and the refusals that the project of the server documents.
type localServer struct{ *http.ServeMux }

func newLocalServer() localServer { return localServer{http.NewServeMux()} }

func writeJSON(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// chatRequest is the body of a chat completions request.
type chatRequest struct {
	Model    string
	Stream   bool
	Messages []struct {
		Role      string
		Content   any
		ToolCalls []struct {
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	Tools []any
}

// readChat reads a request and checks what all servers check: the model and the arguments of earlier tool calls.
func readChat(w http.ResponseWriter, r *http.Request, model string) (in chatRequest, ok bool) {
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || !in.Stream {
		writeJSON(w, http.StatusBadRequest, `{"error":{"message":"invalid request","type":"invalid_request_error"}}`)
		return in, false
	}
	if in.Model != model {
		writeJSON(w, http.StatusNotFound, `{"error":{"message":"model not found","type":"not_found_error","param":null,"code":null}}`)
		return in, false
	}
	for _, m := range in.Messages {
		for _, c := range m.ToolCalls {
			if !json.Valid([]byte(c.Function.Arguments)) {
				writeJSON(w, http.StatusBadRequest, `{"error":{"message":"invalid tool call arguments","type":"invalid_request_error"}}`)
				return in, false
			}
		}
		if _, isText := m.Content.(string); !isText && len(m.ToolCalls) == 0 {
			writeJSON(w, http.StatusBadRequest, `{"error":{"message":"invalid message content type: <nil>","type":"invalid_request_error"}}`)
			return in, false
		}
	}
	return in, true
}

// stream writes server-sent events of chat completion chunks. Each delta is the JSON of a delta.
func stream(w http.ResponseWriter, finish string, deltas ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, delta := range append(deltas, "") {
		reason := "null"
		if delta == "" {
			delta, reason = `{"content":""}`, `"`+finish+`"`
		}
		_, _ = fmt.Fprintf(w, "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, reason)
		_ = http.NewResponseController(w).Flush()
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// embed answers POST /v1/embeddings: the second component of a vector is the length of the text.
func embed(model string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model string
			Input []string
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Model != model {
			writeJSON(w, http.StatusNotFound, `{"error":{"message":"model not found","type":"not_found_error"}}`)
			return
		}
		var data []map[string]any
		for i, text := range in.Input {
			data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": []float64{0.5, float64(len(text))}})
		}
		out, _ := json.Marshal(map[string]any{"object": "list", "data": data, "model": model})
		writeJSON(w, http.StatusOK, string(out))
	}
}

// newOllama returns a server like Ollama (openai/openai.go): reasoning in a field of its own, whole tool calls that all
// have the index 0, finish_reason "stop" with tool calls.
func newOllama(recipe) localServer {
	s := newLocalServer()
	s.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		in, ok := readChat(w, r, "llama3.1:8b")
		switch {
		case !ok:
		case len(in.Tools) > 0:
			stream(w, "stop", `{"role":"assistant","content":"","reasoning":"They want ten."}`,
				`{"role":"assistant","content":"","tool_calls":[{"id":"call_x1","index":0,"type":"function","function":{"name":"book","arguments":"{\"time\":\"10:00\"}"}}]}`,
				`{"role":"assistant","content":"","tool_calls":[{"id":"call_x2","index":0,"type":"function","function":{"name":"end","arguments":"{}"}}]}`)
		default:
			stream(w, "stop", `{"role":"assistant","content":"","reasoning":"A greeting."}`, `{"role":"assistant","content":"Good morning. What"}`, `{"role":"assistant","content":" can I do for you?"}`)
		}
	})
	s.HandleFunc("POST /v1/embeddings", embed("nomic-embed-text"))
	return s
}

// newVLLM returns a server like vLLM: a key, tool calls in pieces without a name in later pieces, and a refusal of tools
// if the server was started without --enable-auto-tool-choice.
func newVLLM(r recipe) localServer {
	s := newLocalServer()
	toolChoice := strings.Contains(r.commands, "--enable-auto-tool-choice") && strings.Contains(r.commands, "--tool-call-parser")
	s.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer local-key" {
			writeJSON(w, http.StatusUnauthorized, `{"error":"Unauthorized"}`)
			return
		}
		in, ok := readChat(w, r, "Qwen/Qwen2.5-7B-Instruct")
		switch {
		case !ok:
		case len(in.Tools) > 0 && !toolChoice:
			writeJSON(w, http.StatusBadRequest, `{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}}`)
		case len(in.Tools) > 0:
			stream(w, "tool_calls", `{"role":"assistant","content":"","reasoning_content":null}`,
				`{"tool_calls":[{"id":"chatcmpl-tool-1","type":"function","index":0,"function":{"name":"book"}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":"{\"time\":"}}]}`,
				`{"tool_calls":[{"index":0,"function":{"arguments":" \"10:00\"}"}}]}`, `{"tool_calls":[{"id":"chatcmpl-tool-2","type":"function","index":1,"function":{"name":"end"}}]}`,
				`{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}`)
		default:
			stream(w, "stop", `{"role":"assistant","content":""}`, `{"reasoning_content":"A greeting."}`, `{"content":"Good"}`, `{"content":" morning."}`, `{"content":" What can I do for you?"}`)
		}
	})
	return s
}

// readTurn reads the WAV file of a transcription request and returns the value of response_format.
func readTurn(w http.ResponseWriter, r *http.Request) (format string, ok bool) {
	file, _, err := r.FormFile("file")
	if err != nil {
		writeJSON(w, http.StatusBadRequest, `{"error":"no 'file' field in the request"}`)
		return "", false
	}
	audio, _ := io.ReadAll(file)
	if sound, err := wav.Decode(audio); err != nil || sound.Duration() != time.Second {
		writeJSON(w, http.StatusBadRequest, `{"error":"failed to read audio data"}`)
		return "", false
	}
	return r.FormValue("response_format"), true
}

// newWhisperCpp returns a server like examples/server of whisper.cpp: it ignores the model, divides a text into segments
// of 60 characters and notes silence.
func newWhisperCpp(r recipe) localServer {
	s := newLocalServer()
	if !strings.Contains(r.commands, "--inference-path /v1/audio/transcriptions") {
		return s // its route is POST /inference
	}
	s.HandleFunc("POST /v1/audio/transcriptions", func(w http.ResponseWriter, r *http.Request) {
		switch format, ok := readTurn(w, r); {
		case !ok:
		case format == "verbose_json":
			writeJSON(w, http.StatusOK, `{"task":"transcribe","language":"english","duration":1.0,"text":" I would like to book\n an appointment for tomorrow.\n [BLANK_AUDIO]\n","segments":[
				{"id":0,"text":" I would like to book","start":0.0,"end":0.5,"tokens":[286],"words":[],"temperature":0.0,"avg_logprob":-0.12,"no_speech_prob":0.01},
				{"id":1,"text":" an appointment for tomorrow.","start":0.5,"end":0.9,"tokens":[364],"words":[],"temperature":0.0,"avg_logprob":-0.14,"no_speech_prob":0.01},
				{"id":2,"text":" [BLANK_AUDIO]","start":0.9,"end":1.0,"tokens":[542],"words":[],"temperature":0.0,"avg_logprob":-0.13,"no_speech_prob":0.2}]}`)
		default:
			writeJSON(w, http.StatusOK, `{"text":" I would like to book\n an appointment for tomorrow.\n"}`)
		}
	})
	return s
}

// spokenLength returns the length of the audio of a text: 60 ms for each byte.
func spokenLength(text string) time.Duration { return time.Duration(len(text)) * 60 * time.Millisecond }

// synthesize returns a tone of 400 Hz for a text, as 16-bit samples.
func synthesize(text string, rate int) []int16 {
	samples := make([]int16, int(spokenLength(text).Milliseconds())*rate/1000)
	for i := range samples {
		samples[i] = int16(8000 * math.Sin(2*math.Pi*400*float64(i)/float64(rate)))
	}
	return samples
}

// writePCM writes samples in chunks, as a streaming server does.
func writePCM(w http.ResponseWriter, samples []int16) {
	w.Header().Set("Content-Type", "audio/pcm")
	for chunk := range slices.Chunk(samples, 4001) {
		_ = binary.Write(w, binary.LittleEndian, chunk)
		_ = http.NewResponseController(w).Flush()
	}
}

// speechRequest is the body of a speech request.
type speechRequest struct {
	Model, Input, Voice string
	Format              string   `json:"response_format"`
	Speed               *float64 `json:"speed"`
}

// readSpeech reads a request and checks the speed, as FastAPI does from the schema of both servers.
func readSpeech(w http.ResponseWriter, r *http.Request) (in speechRequest, ok bool) {
	err := json.NewDecoder(r.Body).Decode(&in)
	if err != nil || in.Input == "" || in.Voice == "" || in.Speed != nil && (*in.Speed < 0.25 || *in.Speed > 4) || !slices.Contains([]string{"", "mp3", "wav", "flac", "pcm"}, in.Format) {
		writeJSON(w, http.StatusUnprocessableEntity, `{"detail":[{"type":"value_error","loc":["body"],"msg":"invalid"}]}`)
		return in, false
	}
	return in, true
}

// newSpeaches returns a server like Speaches with a Piper voice of medium quality: PCM at the sample rate of the voice, and
// an error for a model that was not downloaded.
func newSpeaches(r recipe) localServer {
	s := newLocalServer()
	s.HandleFunc("POST /v1/audio/speech", func(w http.ResponseWriter, request *http.Request) {
		in, ok := readSpeech(w, request)
		switch {
		case !ok:
		case !strings.Contains(r.commands, "/v1/models/"+in.Model):
			writeJSON(w, http.StatusNotFound, `{"detail":"Model '`+in.Model+`' is not installed locally. You can download the model using `+"`POST /v1/models`"+`"}`)
		case in.Format != "pcm":
			w.Header().Set("Content-Type", "audio/mpeg")
		default:
			writePCM(w, synthesize(in.Input, 22050))
		}
	})
	return s
}

// newKokoroFastAPI returns a server like Kokoro-FastAPI: it knows a few models and voices and refuses others with 400.
func newKokoroFastAPI(recipe) localServer {
	s := newLocalServer()
	s.HandleFunc("POST /v1/audio/speech", func(w http.ResponseWriter, r *http.Request) {
		in, ok := readSpeech(w, r)
		switch {
		case !ok:
		case !slices.Contains([]string{"tts-1", "tts-1-hd", "kokoro"}, in.Model):
			writeJSON(w, http.StatusBadRequest, `{"detail":{"error":"invalid_model","message":"Unsupported model","type":"invalid_request_error"}}`)
		case !slices.Contains([]string{"af_heart", "af_bella", "bm_george"}, in.Voice):
			writeJSON(w, http.StatusBadRequest, `{"detail":{"error":"validation_error","message":"Voice not found","type":"invalid_request_error"}}`)
		case in.Format != "pcm":
			w.Header().Set("Content-Type", "audio/mpeg")
		default:
			writePCM(w, synthesize(in.Input, 24000))
		}
	})
	return s
}

// newLocalAI returns a server like LocalAI: tool calls with the ID in each piece, segments without probabilities, and a WAV
// file for response_format "pcm", which it does not know.
func newLocalAI(r recipe) localServer {
	s := newLocalServer()
	installed := func(model string) bool { return strings.Contains(r.commands, " "+model) }
	s.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		in, ok := readChat(w, r, "llama-3.2-1b-instruct:q4_k_m")
		switch {
		case !ok:
		case !installed(in.Model):
			writeJSON(w, http.StatusNotFound, `{"error":{"code":404,"message":"model not found","type":""}}`)
		case len(in.Tools) > 0:
			stream(w, "tool_calls", `{"role":"assistant"}`,
				`{"role":"assistant","tool_calls":[{"index":0,"id":"c-0","type":"function","function":{"name":"book","arguments":""}}]}`,
				`{"role":"assistant","tool_calls":[{"index":0,"id":"c-0","type":"function","function":{"arguments":"{\"time\":\"10:00\"}"}}]}`,
				`{"role":"assistant","tool_calls":[{"index":1,"id":"c-1","type":"function","function":{"name":"end","arguments":""}}]}`,
				`{"role":"assistant","tool_calls":[{"index":1,"id":"c-1","type":"function","function":{"arguments":"{}"}}]}`)
		default:
			stream(w, "stop", `{"role":"assistant"}`, `{"content":"Good morning. "}`, `{"content":"What can I do for you?"}`)
		}
	})
	s.HandleFunc("POST /v1/embeddings", embed("bert-embeddings"))
	s.HandleFunc("POST /v1/audio/transcriptions", func(w http.ResponseWriter, r *http.Request) {
		switch format, ok := readTurn(w, r); {
		case !ok:
		case !installed(r.FormValue("model")):
			writeJSON(w, http.StatusInternalServerError, `{"error":{"code":500,"message":"could not load model","type":""}}`)
		case format == "json":
			writeJSON(w, http.StatusOK, `{"text":"I would like to book an appointment for tomorrow."}`)
		case format == "verbose_json" || format == "":
			writeJSON(w, http.StatusOK, `{"segments":[{"id":0,"start":0,"end":500000000,"text":" I would like to book","tokens":[286]},
				{"id":1,"start":500000000,"end":1000000000,"text":" an appointment for tomorrow.","tokens":[364]}],"text":"I would like to book an appointment for tomorrow."}`)
		default:
			writeJSON(w, http.StatusInternalServerError, `{"error":{"code":500,"message":"invalid response_format","type":""}}`)
		}
	})
	s.HandleFunc("POST /v1/audio/speech", func(w http.ResponseWriter, r *http.Request) {
		var in speechRequest
		if json.NewDecoder(r.Body).Decode(&in) != nil || !installed(in.Model) {
			writeJSON(w, http.StatusInternalServerError, `{"error":{"code":500,"message":"could not load model","type":""}}`)
			return
		}
		w.Header().Set("Content-Type", "audio/x-wav")
		w.Header().Set("Content-Disposition", `attachment; filename="tts.wav"`)
		_, _ = w.Write(waveFile(synthesize(in.Input, 16000), 16000)) // voices of low quality
	})
	return s
}

// waveFile returns a mono WAV file of 16-bit PCM.
func waveFile(samples []int16, rate int) []byte {
	head := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	head = binary.LittleEndian.AppendUint32(head, uint32(rate))
	head = binary.LittleEndian.AppendUint32(head, uint32(2*rate))
	head = append(head, "\x02\x00\x10\x00data"...)
	head = binary.LittleEndian.AppendUint32(head, uint32(2*len(samples)))
	binary.LittleEndian.PutUint32(head[4:], uint32(len(head)-8+2*len(samples)))
	for _, sample := range samples {
		head = binary.LittleEndian.AppendUint16(head, uint16(sample))
	}
	return head
}

package realtime

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

type historyEntry = speech.RealtimeHistoryEntry

// Messages of the OpenAI Realtime API that this client sends, as its reference defines them.
type (
	request struct {
		Type    string       `json:"type"`
		Session *sessionWire `json:"session,omitempty"`
		Item    *item        `json:"item,omitempty"`
		ItemID  string       `json:"item_id,omitempty"`
		Index   *int         `json:"content_index,omitempty"`
		EndMs   *int64       `json:"audio_end_ms,omitempty"`
	}
	item struct {
		Type      string  `json:"type"`
		ID        string  `json:"id,omitempty"`
		Role      string  `json:"role,omitempty"`
		Content   []part  `json:"content,omitempty"`
		CallID    string  `json:"call_id,omitempty"`
		Name      string  `json:"name,omitempty"`
		Arguments string  `json:"arguments,omitempty"`
		Output    *string `json:"output,omitempty"`
	}
	part struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	format struct {
		Type string `json:"type"`
	}
	sessionWire struct {
		Type         string   `json:"type"`
		Instructions string   `json:"instructions"`
		Modalities   []string `json:"output_modalities"`
		Audio        audio    `json:"audio"`
		Tools        []tool   `json:"tools"`
		Choice       string   `json:"tool_choice"`
	}
	audio struct {
		Input  input  `json:"input"`
		Output output `json:"output"`
	}
	input struct {
		Format        format         `json:"format"`
		Transcription *transcription `json:"transcription,omitempty"`
		Turns         turnDetection  `json:"turn_detection"`
	}
	output struct {
		Format format `json:"format"`
		Voice  string `json:"voice,omitempty"`
	}
	transcription struct {
		Model    string `json:"model"`
		Language string `json:"language,omitempty"`
		Prompt   string `json:"prompt,omitempty"`
	}
	turnDetection struct {
		Type      string `json:"type"`
		SilenceMs int64  `json:"silence_duration_ms,omitempty"`
		Create    bool   `json:"create_response"`
		Interrupt bool   `json:"interrupt_response"`
	}
	tool struct {
		Type        string         `json:"type"`
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  map[string]any `json:"parameters"`
	}
)

func (o request) bytes() []byte {
	b, _ := json.Marshal(o) // Marshal cannot fail for strings, numbers and decoded JSON
	return b
}

// historyMessages returns the messages that add one entry of the history to the engine's conversation.
func historyMessages(l historyEntry) []request {
	if c := l.Call; c != nil {
		return []request{{Type: createItem, Item: &item{Type: "function_call", CallID: c.ID, Name: c.Name, Arguments: c.Arguments}}, toolResult(c.ID, l.Text)}
	}
	i := item{Type: "message", Role: "assistant", Content: []part{{Type: "output_text", Text: l.Text}}}
	if l.Caller {
		i.Role, i.Content[0].Type = "user", "input_text"
	}
	return []request{{Type: createItem, Item: &i}}
}

const createItem = "conversation.item.create"

// toolResult returns the message with the result of a tool call.
func toolResult(id, text string) request {
	return request{Type: createItem, Item: &item{Type: "function_call_output", CallID: id, Output: &text}}
}

// sessionUpdate returns the message that configures the session.
func (s *session) sessionUpdate() request {
	o := &s.request
	w := &sessionWire{Type: "realtime", Instructions: o.Instructions, Modalities: []string{"audio"}, Tools: []tool{}, Choice: "auto"}
	w.Audio.Input.Format.Type, w.Audio.Output.Format.Type = "audio/pcmu", "audio/pcmu"
	w.Audio.Output.Voice = o.Voice
	w.Audio.Input.Turns = turnDetection{Type: "server_vad", SilenceMs: o.EndOfTurn.Milliseconds(), Create: true, Interrupt: o.Interruptible}
	if s.engine.TranscriptionModel != "" {
		language, _, _ := strings.Cut(o.Language, "-")
		w.Audio.Input.Transcription = &transcription{Model: s.engine.TranscriptionModel, Language: strings.ToLower(language), Prompt: strings.Join(o.Keywords, ", ")}
	}
	for _, t := range o.Tools {
		w.Tools = append(w.Tools, tool{"function", t.Name, t.Description, t.Parameters})
	}
	return request{Type: "session.update", Session: w}
}

// event is a message from the engine. It has only the fields that this client uses.
type event struct {
	Type       string `json:"type"`
	ItemID     string `json:"item_id"`
	Delta      string `json:"delta"`
	Transcript string `json:"transcript"`
	Response   *struct {
		Status  string `json:"status"`
		Details struct {
			Error struct {
				Type string `json:"type"`
				Code any    `json:"code"`
			} `json:"error"`
		} `json:"status_details"`
		Output []item `json:"output"`
	} `json:"response"`
	Error *struct {
		Type string `json:"type"`
		Code any    `json:"code"`
	} `json:"error"`
}

// errorCode matches the engine's error codes that errors of this package may contain. Other text of the engine is
// never included.
var errorCode = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,48}$`)

// takeMessage handles one message of the engine.
func (s *session) takeMessage(b []byte) error {
	var e event
	if json.Unmarshal(b, &e) != nil || e.Type == "" || len(e.ItemID) > maxItemBytes {
		return fmt.Errorf("%w: no event", engines.ErrInvalidResponse)
	}
	if s.responding {
		s.setTimeout(s.engine.PauseTimeout, ErrStalled)
	}
	switch e.Type {
	case "session.updated":
		s.setReady()
	case "input_audio_buffer.speech_started":
		if s.callerSpeaks = true; !s.responding {
			s.setTimeout(cmp.Or(s.engine.MaxTurn, defaultMaxTurn), ErrStalled)
		}
		s.report(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: e.ItemID})
	case "input_audio_buffer.speech_stopped":
		s.callerSpeaks = false
		s.report(speech.RealtimeEvent{Kind: speech.RealtimeSpeechEnded, Item: e.ItemID})
		s.setTimeout(s.engine.ResponseTimeout, ErrResponseTimeout)
	case "conversation.item.input_audio_transcription.completed":
		s.report(speech.RealtimeEvent{Kind: speech.RealtimeCallerTranscript, Item: e.ItemID, Text: clip(strings.TrimSpace(e.Transcript))})
	case "response.created":
		s.responding = true
		s.setTimeout(s.engine.ResponseTimeout, ErrResponseTimeout)
	case "response.output_audio.delta", "response.audio.delta":
		return s.addAudio(&e)
	case "response.output_audio.done", "response.audio.done":
		if e.ItemID == s.item {
			s.endAudio()
		}
	case "response.output_audio_transcript.delta", "response.audio_transcript.delta":
		return s.addTranscript(&e)
	case "response.output_audio_transcript.done", "response.audio_transcript.done":
		delete(s.transcripts, e.ItemID)
		s.report(speech.RealtimeEvent{Kind: speech.RealtimeAgentTranscript, Item: e.ItemID, Text: clip(e.Transcript)})
	case "response.done":
		return s.responseDone(&e)
	case "error":
		return s.engineError(&e)
	}
	return nil
}

func clip(text string) string {
	if len(text) > maxTranscriptBytes {
		return strings.ToValidUTF8(text[:maxTranscriptBytes], "")
	}
	return text
}

// setReady starts the conversation when the engine has accepted the session settings. It queues the history and
// allows audio to be sent.
func (s *session) setReady() {
	s.mu.Lock()
	first := !s.ready
	s.ready = true
	s.mu.Unlock()
	if !first {
		return
	}
	s.setTimeout(0, nil)
	s.ring.Open()
	var past [][]byte
	for _, l := range s.request.History {
		for _, o := range historyMessages(l) {
			past = append(past, o.bytes())
		}
	}
	s.mu.Lock()
	s.history = past
	s.mu.Unlock()
	if s.request.SpeaksFirst {
		s.RequestResponse("")
	}
	s.report(speech.RealtimeEvent{Kind: speech.RealtimeReady})
	s.wake()
}

// addAudio adds a part of a response's audio to the audio that plays. It ignores audio of interrupted responses.
func (s *session) addAudio(e *event) error {
	mu, err := base64.StdEncoding.DecodeString(e.Delta)
	if err != nil || e.ItemID == "" {
		return fmt.Errorf("%w: no audio", engines.ErrInvalidResponse)
	}
	s.mu.Lock()
	cut := s.interrupted[e.ItemID]
	s.mu.Unlock()
	if cut || len(mu) == 0 {
		return nil // the response was interrupted
	}
	fresh := e.ItemID != s.item
	if fresh {
		s.endAudio()
		s.item, s.feed = e.ItemID, new(media.Feed)
	}
	if s.feed.Len()+len(mu) > maxResponseSamples {
		return speech.ErrTooMuchAudio
	}
	s.feed.Write(mu)
	if fresh {
		s.report(speech.RealtimeEvent{Kind: speech.RealtimeAudioStarted, Item: e.ItemID, Feed: s.feed})
	}
	return nil
}

// addTranscript adds a part to the transcript of a response and reports the transcript so far.
func (s *session) addTranscript(e *event) error {
	b := s.transcripts[e.ItemID]
	if b == nil {
		if len(s.transcripts) >= maxQueuedMessages {
			return speech.ErrTooMuchAudio
		}
		b = new(strings.Builder)
		s.transcripts[e.ItemID] = b
	}
	if b.Len()+len(e.Delta) > maxTranscriptBytes {
		return speech.ErrTooMuchAudio
	}
	b.WriteString(e.Delta)
	s.report(speech.RealtimeEvent{Kind: speech.RealtimeAgentTranscript, Item: e.ItemID, Text: b.String()})
	return nil
}

// responseDone handles the event that a response is complete. It reports the tool calls of the response.
func (s *session) responseDone(e *event) error {
	s.responding = false
	if s.setTimeout(0, nil); s.callerSpeaks { // the caller's speech has ended the response
		s.setTimeout(cmp.Or(s.engine.MaxTurn, defaultMaxTurn), ErrStalled)
	}
	s.endAudio()
	clear(s.transcripts)
	if e.Response == nil {
		return fmt.Errorf("%w: no response", engines.ErrInvalidResponse)
	}
	if e.Response.Status == "failed" {
		return refusal(e.Response.Details.Error.Code, e.Response.Details.Error.Type)
	}
	s.mu.Lock()
	clear(s.interrupted)
	s.mu.Unlock()
	var calls []speech.RealtimeToolCall
	for _, i := range e.Response.Output {
		if i.Type != "function_call" || e.Response.Status != "completed" {
			continue
		}
		if len(calls) == maxToolCalls || len(i.Arguments) > maxArgumentBytes || len(i.Name) > maxItemBytes || len(i.CallID) > maxItemBytes {
			return fmt.Errorf("%w: too many tool calls", engines.ErrInvalidResponse)
		}
		calls = append(calls, speech.RealtimeToolCall{ID: i.CallID, Name: i.Name, Arguments: i.Arguments})
	}
	s.mu.Lock()
	for _, c := range calls {
		if len(s.toolCalls) < maxToolCalls*maxQueuedMessages {
			s.toolCalls[c.ID] = true
		}
	}
	s.mu.Unlock()
	s.report(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone, Calls: calls})
	return nil
}

// engineError handles an error message of the engine. It returns the error that ends the session. It returns nil for an
// invalid request after the session is ready.
func (s *session) engineError(e *event) error {
	if e.Error == nil {
		return fmt.Errorf("%w: no error", engines.ErrInvalidResponse)
	}
	s.mu.Lock()
	ready := s.ready
	s.mu.Unlock()
	if ready && e.Error.Type == "invalid_request_error" { // for example both sides interrupted the response at the same time
		return nil
	}
	return refusal(e.Error.Code, e.Error.Type)
}

// refusal returns the error for an error code and error type of the engine. It is ErrRequestInvalid for an invalid
// request, and ErrRequestRefused for a wrong API key and other errors.
func refusal(code any, kind string) error {
	err := engines.ErrRequestRefused
	if kind == "invalid_request_error" && code != "invalid_api_key" {
		err = engines.ErrRequestInvalid
	}
	for _, v := range []any{code, kind} {
		if text, ok := v.(string); ok && errorCode.MatchString(strings.ToLower(text)) && !strings.HasPrefix(text, "sk-") {
			return fmt.Errorf("%w: %s", err, strings.ToLower(text))
		}
	}
	return err
}

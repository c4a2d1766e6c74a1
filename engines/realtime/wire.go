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

type line = speech.RealtimeHistoryEntry

// The shapes of what we send, as the API's reference has them.
type (
	order struct {
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
		Turns         turns          `json:"turn_detection"`
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
	turns struct {
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

func (o order) bytes() []byte {
	b, _ := json.Marshal(o) // texts, numbers and schemas that were JSON: cannot fail
	return b
}

// itemsOf are something that was said or done before.
func itemsOf(l line) []order {
	if c := l.Call; c != nil {
		return []order{{Type: create, Item: &item{Type: "function_call", CallID: c.ID, Name: c.Name, Arguments: c.Arguments}}, resultOf(c.ID, l.Text)}
	}
	i := item{Type: "message", Role: "assistant", Content: []part{{Type: "output_text", Text: l.Text}}}
	if l.Caller {
		i.Role, i.Content[0].Type = "user", "input_text"
	}
	return []order{{Type: create, Item: &i}}
}

const create = "conversation.item.create"

// resultOf is what came of a call.
func resultOf(id, text string) order {
	return order{Type: create, Item: &item{Type: "function_call_output", CallID: id, Output: &text}}
}

// opening is what the session shall be.
func (s *session) opening() order {
	o := &s.order
	w := &sessionWire{Type: "realtime", Instructions: o.Instructions, Modalities: []string{"audio"}, Tools: []tool{}, Choice: "auto"}
	w.Audio.Input.Format.Type, w.Audio.Output.Format.Type = "audio/pcmu", "audio/pcmu"
	w.Audio.Output.Voice = o.Voice
	w.Audio.Input.Turns = turns{Type: "server_vad", SilenceMs: o.EndOfTurn.Milliseconds(), Create: true, Interrupt: o.Interruptible}
	if s.of.Words != "" {
		language, _, _ := strings.Cut(o.Language, "-")
		w.Audio.Input.Transcription = &transcription{Model: s.of.Words, Language: strings.ToLower(language), Prompt: strings.Join(o.Keywords, ", ")}
	}
	for _, t := range o.Tools {
		w.Tools = append(w.Tools, tool{"function", t.Name, t.Description, t.Parameters})
	}
	return order{Type: "session.update", Session: w}
}

// event is what the far end tells, as far as it matters.
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

// word is what a code of theirs looks like; nothing else of what they say is repeated.
var word = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,48}$`)

// takeMessage acts on a message.
func (s *session) takeMessage(b []byte) error {
	var e event
	if json.Unmarshal(b, &e) != nil || e.Type == "" || len(e.ItemID) > itemMost {
		return fmt.Errorf("%w: no event", engines.ErrGarbage)
	}
	if s.busy {
		s.wind(s.of.Stall, ErrStalled)
	}
	switch e.Type {
	case "session.updated":
		s.setReady()
	case "input_audio_buffer.speech_started":
		if s.speaks = true; !s.busy {
			s.wind(cmp.Or(s.of.Turn, turnMost), ErrStalled)
		}
		s.report(speech.RealtimeEvent{Kind: speech.RealtimeSpeechStarted, Item: e.ItemID})
	case "input_audio_buffer.speech_stopped":
		s.speaks = false
		s.report(speech.RealtimeEvent{Kind: speech.RealtimeSpeechEnded, Item: e.ItemID})
		s.wind(s.of.First, ErrSlow)
	case "conversation.item.input_audio_transcription.completed":
		s.report(speech.RealtimeEvent{Kind: speech.RealtimeCallerTranscript, Item: e.ItemID, Text: clip(strings.TrimSpace(e.Transcript))})
	case "response.created":
		s.busy = true
		s.wind(s.of.First, ErrSlow)
	case "response.output_audio.delta", "response.audio.delta":
		return s.sound(&e)
	case "response.output_audio.done", "response.audio.done":
		if e.ItemID == s.item {
			s.silence()
		}
	case "response.output_audio_transcript.delta", "response.audio_transcript.delta":
		return s.words(&e)
	case "response.output_audio_transcript.done", "response.audio_transcript.done":
		delete(s.said, e.ItemID)
		s.report(speech.RealtimeEvent{Kind: speech.RealtimeAgentTranscript, Item: e.ItemID, Text: clip(e.Transcript)})
	case "response.done":
		return s.done(&e)
	case "error":
		return s.failed(&e)
	}
	return nil
}

func clip(text string) string {
	if len(text) > textMost {
		return strings.ToValidUTF8(text[:textMost], "")
	}
	return text
}

// begin: the far end hears from now on.
func (s *session) setReady() {
	s.mu.Lock()
	first := !s.ready
	s.ready = true
	s.mu.Unlock()
	if !first {
		return
	}
	s.wind(0, nil)
	s.ring.Open()
	var past [][]byte
	for _, l := range s.order.History {
		for _, o := range itemsOf(l) {
			past = append(past, o.bytes())
		}
	}
	s.mu.Lock()
	s.past = past
	s.mu.Unlock()
	if s.order.SpeaksFirst {
		s.RequestResponse("")
	}
	s.report(speech.RealtimeEvent{Kind: speech.RealtimeReady})
	s.wake()
}

// sound is a piece of an answer.
func (s *session) sound(e *event) error {
	mu, err := base64.StdEncoding.DecodeString(e.Delta)
	if err != nil || e.ItemID == "" {
		return fmt.Errorf("%w: no sound", engines.ErrGarbage)
	}
	s.mu.Lock()
	cut := s.cut[e.ItemID]
	s.mu.Unlock()
	if cut || len(mu) == 0 {
		return nil // it was interrupted: nobody hears the rest
	}
	fresh := e.ItemID != s.item
	if fresh {
		s.silence()
		s.item, s.feed = e.ItemID, new(media.Feed)
	}
	if s.feed.Len()+len(mu) > answerMost {
		return speech.ErrTooMuchAudio
	}
	s.feed.Write(mu)
	if fresh {
		s.report(speech.RealtimeEvent{Kind: speech.RealtimeAudioStarted, Item: e.ItemID, Feed: s.feed})
	}
	return nil
}

// words are a piece of what is said in an answer.
func (s *session) words(e *event) error {
	b := s.said[e.ItemID]
	if b == nil {
		if len(s.said) >= ordersMost {
			return speech.ErrTooMuchAudio
		}
		b = new(strings.Builder)
		s.said[e.ItemID] = b
	}
	if b.Len()+len(e.Delta) > textMost {
		return speech.ErrTooMuchAudio
	}
	b.WriteString(e.Delta)
	s.report(speech.RealtimeEvent{Kind: speech.RealtimeAgentTranscript, Item: e.ItemID, Text: b.String()})
	return nil
}

// done ends an answer.
func (s *session) done(e *event) error {
	s.busy = false
	if s.wind(0, nil); s.speaks { // which has ended the answer
		s.wind(cmp.Or(s.of.Turn, turnMost), ErrStalled)
	}
	s.silence()
	clear(s.said)
	if e.Response == nil {
		return fmt.Errorf("%w: no response", engines.ErrGarbage)
	}
	if e.Response.Status == "failed" {
		return refusal(e.Response.Details.Error.Code, e.Response.Details.Error.Type)
	}
	s.mu.Lock()
	clear(s.cut)
	s.mu.Unlock()
	var calls []speech.RealtimeToolCall
	for _, i := range e.Response.Output {
		if i.Type != "function_call" || e.Response.Status != "completed" {
			continue
		}
		if len(calls) == callsMost || len(i.Arguments) > givenMost || len(i.Name) > itemMost || len(i.CallID) > itemMost {
			return fmt.Errorf("%w: it wants too much done", engines.ErrGarbage)
		}
		calls = append(calls, speech.RealtimeToolCall{ID: i.CallID, Name: i.Name, Arguments: i.Arguments})
	}
	s.mu.Lock()
	for _, c := range calls {
		if len(s.wanted) < callsMost*ordersMost {
			s.wanted[c.ID] = true
		}
	}
	s.mu.Unlock()
	s.report(speech.RealtimeEvent{Kind: speech.RealtimeResponseDone, Calls: calls})
	return nil
}

// failed takes an error of theirs; most end nothing.
func (s *session) failed(e *event) error {
	if e.Error == nil {
		return fmt.Errorf("%w: no error", engines.ErrGarbage)
	}
	s.mu.Lock()
	ready := s.ready
	s.mu.Unlock()
	if ready && e.Error.Type == "invalid_request_error" { // they and we thought of the same at once, as of an interruption
		return nil
	}
	return refusal(e.Error.Code, e.Error.Type)
}

// refusal is what they refused with: their code and their type of error. An invalid request is to blame itself, as for a voice
// that there is not, but for its key.
func refusal(code any, kind string) error {
	err := engines.ErrRefused
	if kind == "invalid_request_error" && code != "invalid_api_key" {
		err = engines.ErrUnfit
	}
	for _, v := range []any{code, kind} {
		if text, ok := v.(string); ok && word.MatchString(strings.ToLower(text)) && !strings.HasPrefix(text, "sk-") {
			return fmt.Errorf("%w: %s", err, strings.ToLower(text))
		}
	}
	return err
}

package realtime_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/engines/enginetest"
	"github.com/callboard/callboard/engines/realtime"
	"github.com/callboard/callboard/media/speech"
)

// openSession opens a session that ends with the test. The returned channel receives the events of the session.
func openSession(t *testing.T, e *realtime.Engine, o speech.RealtimeRequest) (speech.RealtimeSession, <-chan speech.RealtimeEvent) {
	t.Helper()
	told := make(chan speech.RealtimeEvent, 256)
	l := e.OpenSession(o, func(e speech.RealtimeEvent) { told <- e })
	t.Cleanup(l.Close)
	return l, told
}

// until reads events until the first event of a kind and returns that event. The test fails if the session fails.
func until(t *testing.T, told <-chan speech.RealtimeEvent, kind speech.RealtimeEventKind) speech.RealtimeEvent {
	t.Helper()
	for {
		select {
		case e := <-told:
			if e.Kind == kind {
				return e
			}
			if e.Kind == speech.RealtimeFailed {
				require.NoError(t, e.Err)
			}
		case <-t.Context().Done():
			t.FailNow()
		}
	}
}

func TestSessionFollowsRealtimeDocumentation(t *testing.T) {
	t.Parallel()
	at := enginetest.Transcript(t, "testdata/conversation.txt", func(r *http.Request) {
		assert.Equal(t, "/v1/realtime", r.URL.Path)
		assert.Equal(t, "gpt-realtime", r.URL.Query().Get("model"))
		assert.Equal(t, "Bearer sk-key", r.Header.Get("Authorization"))
	})
	l, told := openSession(t, &realtime.Engine{
		URL: at + "/v1", Key: "sk-key", Model: "gpt-realtime", Voice: "marin", TranscriptionModel: "gpt-4o-mini-transcribe", ResponseTimeout: time.Minute, PauseTimeout: time.Minute, Client: http.DefaultClient,
	}, speech.RealtimeRequest{
		Instructions: "Be kind.", Language: "en-US", Keywords: []string{"Callboard", "Ada"}, EndOfTurn: 600 * time.Millisecond, Interruptible: true, SpeaksFirst: true,
		History: []speech.RealtimeHistoryEntry{{Text: "Hello."}}, Tools: []speech.RealtimeTool{{Name: "end_call", Description: "Ends the call.", Parameters: map[string]any{"type": "object"}}},
	})
	sounds := until(t, told, speech.RealtimeAudioStarted)
	assert.Equal(t, "item_C9G8p3", sounds.Item)
	assert.Equal(t, speech.RealtimeEvent{Kind: speech.RealtimeAgentTranscript, Item: "item_C9G8p3", Text: "Good morning."}, until(t, told, speech.RealtimeAgentTranscript))
	assert.Empty(t, until(t, told, speech.RealtimeResponseDone).Calls)
	assert.Equal(t, 8, sounds.Feed.Len())
	assert.Equal(t, "msg_003", until(t, told, speech.RealtimeSpeechStarted).Item)
	l.ReportPlayed("item_C9G8p3", 1900*time.Microsecond)
	assert.Equal(t, "msg_003", until(t, told, speech.RealtimeSpeechEnded).Item)
	assert.Equal(t, speech.RealtimeEvent{Kind: speech.RealtimeCallerTranscript, Item: "msg_003", Text: "Goodbye then."}, until(t, told, speech.RealtimeCallerTranscript))
	done := until(t, told, speech.RealtimeResponseDone)
	assert.Equal(t, []speech.RealtimeToolCall{{ID: "call_sHlR7iaFwQ2YQOqm", Name: "end_call", Arguments: `{"outcome": "confirmed"}`}}, done.Calls)
	l.SendToolResult(done.Calls[0].ID, "done")
	for e := range told {
		if e.Kind == speech.RealtimeFailed { // the server has sent its whole script and closed the connection
			assert.Equal(t, "engine_unreachable", speech.ErrorCode(e.Err))
			return
		}
	}
}

func engine(server *enginetest.Server) *realtime.Engine {
	return &realtime.Engine{URL: server.URL + "/v1", Key: enginetest.Key, Model: "m", Voice: "v", TranscriptionModel: "w", ResponseTimeout: time.Minute, PauseTimeout: time.Minute, Client: http.DefaultClient}
}

// engineWithShortTimeout returns an engine with the short timeout that detects the fault f.
func engineWithShortTimeout(server *enginetest.Server, f enginetest.Fault) *realtime.Engine {
	e := engine(server)
	switch f { //nolint:exhaustive // the engine reports the other faults itself
	case enginetest.Hangs, enginetest.Late:
		e.ResponseTimeout = 300 * time.Millisecond
	case enginetest.Stalls:
		e.PauseTimeout = 300 * time.Millisecond
	}
	return e
}

func TestFaultsOfEngineEndTheSession(t *testing.T) {
	t.Parallel()
	for fault, code := range map[enginetest.Fault]string{
		enginetest.Garbage: "engine_garbage", enginetest.Refuses: "engine_refused", enginetest.Drops: "engine_unreachable", enginetest.Stalls: "engine_stalled",
		enginetest.Late: "engine_slow", enginetest.Hangs: "engine_slow",
	} {
		server := enginetest.New(t)
		server.SetFault("realtime", fault)
		_, told := openSession(t, engineWithShortTimeout(server, fault), speech.RealtimeRequest{SpeaksFirst: true})
		for e := range told {
			if e.Kind != speech.RealtimeFailed {
				continue
			}
			assert.Equal(t, code, speech.ErrorCode(e.Err), "%s: %v", fault, e.Err)
			assert.NotContains(t, e.Err.Error(), enginetest.Key)
			break
		}
	}
	_, told := openSession(t, &realtime.Engine{URL: "http://127.0.0.1:1/v1", Client: http.DefaultClient}, speech.RealtimeRequest{})
	assert.NotErrorIs(t, (<-told).Err, engines.ErrRequestRefused)
}

func TestEngineWithoutResponseEndsTheSession(t *testing.T) {
	t.Parallel()
	server := enginetest.New(t)
	server.SetFault("realtime", enginetest.Late)
	impatient := engine(server)
	impatient.ResponseTimeout = 3 * time.Second
	l, told := openSession(t, impatient, speech.RealtimeRequest{})
	until(t, told, speech.RealtimeReady)
	sound := append(enginetest.MuLawAudio("hello"), silence(8000)...)
	for i := 0; i+160 <= len(sound); i += 160 {
		l.Write(sound[i : i+160])
	}
	until(t, told, speech.RealtimeSpeechEnded)
	for e := range told {
		if e.Kind == speech.RealtimeFailed {
			assert.Equal(t, "engine_slow", speech.ErrorCode(e.Err))
			return
		}
	}
}

func TestAudioBeforeReadyIsBuffered(t *testing.T) {
	t.Parallel()
	server := enginetest.New(t)
	server.SetTranscript("move it to Friday")
	l, told := openSession(t, engine(server), speech.RealtimeRequest{})
	sound := append(enginetest.MuLawAudio("hello"), silence(8000)...)
	for i := 0; i+160 <= len(sound); i += 160 { // connecting takes longer than this loop, so the session buffers the audio
		l.Write(sound[i : i+160])
	}
	until(t, told, speech.RealtimeReady)
	assert.Equal(t, "move it to Friday", until(t, told, speech.RealtimeCallerTranscript).Text)
}

func TestLongHistoryIsSentBeforeFirstResponse(t *testing.T) {
	t.Parallel()
	server := enginetest.New(t)
	o := speech.RealtimeRequest{SpeaksFirst: true, History: []speech.RealtimeHistoryEntry{{Text: `{"state":"sent"}`, Call: &speech.RealtimeToolCall{ID: "call_1", Name: "orders", Arguments: `{"n":7}`}}}}
	for i := range 200 { // more messages than the queue of the session holds
		o.History = append(o.History, speech.RealtimeHistoryEntry{Caller: i%2 == 0, Text: fmt.Sprint("line ", i)})
	}
	_, told := openSession(t, engine(server), o)
	until(t, told, speech.RealtimeResponseDone)
	all := server.SentMessages()
	require.Len(t, all, 204)
	assert.JSONEq(t, `{"type":"conversation.item.create","item":{"type":"function_call","call_id":"call_1","name":"orders","arguments":"{\"n\":7}"}}`, all[1])
	assert.JSONEq(t, `{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"call_1","output":"{\"state\":\"sent\"}"}}`, all[2])
	assert.JSONEq(t, `{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"line 198"}]}}`, all[201])
	assert.JSONEq(t, `{"type":"response.create"}`, all[203])
}

func TestLateToolResultOfEarlierSessionIsSentAsMessage(t *testing.T) {
	t.Parallel()
	server := enginetest.New(t)
	server.SetResponses(func(int, string) enginetest.Answer { return enginetest.Answer{Say: "One moment."} })
	l, told := openSession(t, engine(server), speech.RealtimeRequest{
		SpeaksFirst: true, History: []speech.RealtimeHistoryEntry{{Text: "It is being done.", Call: &speech.RealtimeToolCall{ID: "call_1", Name: "orders", Arguments: "{}"}}},
	})
	until(t, told, speech.RealtimeResponseDone)
	l.SendToolResult("call_1", `{"at":"Berlin"}`)
	l.SendToolResult("call_2", "ok")
	l.RequestResponse("")
	until(t, told, speech.RealtimeResponseDone)
	all := server.SentMessages()
	message, result := all[len(all)-3], all[len(all)-2]
	assert.Contains(t, message, `"role":"user"`)
	assert.Contains(t, message, `orders, which was under way: {\"at\":\"Berlin\"}`)
	assert.NotContains(t, message, "function_call_output", "it has one by the history")
	assert.JSONEq(t, `{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"call_2","output":"ok"}}`, result)
}

func TestOlderEventNamesAreAccepted(t *testing.T) {
	t.Parallel()
	at := enginetest.Transcript(t, "testdata/older.txt", func(*http.Request) {})
	_, told := openSession(t, &realtime.Engine{URL: at + "/v1", Model: "m", ResponseTimeout: time.Minute, PauseTimeout: time.Minute, Client: http.DefaultClient}, speech.RealtimeRequest{SpeaksFirst: true})
	sounds := until(t, told, speech.RealtimeAudioStarted)
	assert.Equal(t, "msg_008", sounds.Item)
	assert.Equal(t, "Good ", until(t, told, speech.RealtimeAgentTranscript).Text)
	assert.Equal(t, "Good day.", until(t, told, speech.RealtimeAgentTranscript).Text)
	until(t, told, speech.RealtimeResponseDone)
	assert.Equal(t, 4, sounds.Feed.Len())
}

func silence(n int) []byte { return bytes.Repeat([]byte{0xFF}, n) }

func TestWriteDoesNotAllocate(t *testing.T) { //nolint:paralleltest // the test counts allocations of the process
	server := enginetest.New(t)
	server.SetFault("realtime", enginetest.Hangs)
	l, _ := openSession(t, engine(server), speech.RealtimeRequest{})
	frame := silence(160)
	assert.Less(t, testing.AllocsPerRun(1000, func() { l.Write(frame) }), 1.0)
}

func TestInterruptedResponseIsNotPlayedOn(t *testing.T) {
	t.Parallel()
	server := enginetest.New(t)
	server.SetResponses(func(int, string) enginetest.Answer {
		return enginetest.Answer{Say: "a long answer that nobody wants to hear to its end"}
	})
	l, told := openSession(t, engine(server), speech.RealtimeRequest{Interruptible: true, SpeaksFirst: true})
	first := until(t, told, speech.RealtimeAudioStarted)
	l.ReportPlayed(first.Item, 120*time.Millisecond)
	sound := append(enginetest.MuLawAudio("stop it"), silence(8000)...)
	for i := 0; i+160 <= len(sound); i += 160 {
		l.Write(sound[i : i+160])
	}
	until(t, told, speech.RealtimeSpeechStarted)
	second := until(t, told, speech.RealtimeAudioStarted)
	assert.NotEqual(t, first.Item, second.Item)
	assert.Contains(t, server.SentMessages(), `{"type":"conversation.item.truncate","item_id":"`+first.Item+`","content_index":0,"audio_end_ms":120}`)
}

// startScriptedServer starts a WebSocket server that sends the given messages and then only reads. It returns the URL of the server.
func startScriptedServer(t *testing.T, all ...string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		for _, text := range all {
			_ = conn.Write(t.Context(), websocket.MessageText, []byte(text))
		}
		for {
			if _, _, err := conn.Read(t.Context()); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

func waitForFailure(told <-chan speech.RealtimeEvent) error {
	for e := range told {
		if e.Kind == speech.RealtimeFailed {
			return e.Err
		}
	}
	return nil
}

func TestEngineThatHangsDuringCallerSpeechIsDetected(t *testing.T) {
	t.Parallel()
	began := `{"type":"input_audio_buffer.speech_started","item_id":"msg_1"}`
	for name, all := range map[string][]string{
		"in silence":           {`{"type":"session.updated"}`, began},
		"which ends an answer": {`{"type":"session.updated"}`, `{"type":"response.created"}`, began, `{"type":"response.done","response":{"status":"cancelled"}}`},
	} {
		_, told := openSession(t, &realtime.Engine{URL: startScriptedServer(t, all...), ResponseTimeout: time.Minute, PauseTimeout: time.Minute, MaxTurn: 100 * time.Millisecond, Client: http.DefaultClient}, speech.RealtimeRequest{})
		assert.Equal(t, "engine_stalled", speech.ErrorCode(waitForFailure(told)), name)
	}
}

func TestRealtimeErrorsSeparateInvalidRequests(t *testing.T) {
	t.Parallel()
	for code, unfit := range map[string]bool{"invalid_value": true, "model_not_found": true, "invalid_api_key": false} {
		_, told := openSession(t, &realtime.Engine{
			URL: startScriptedServer(t, `{"type":"error","error":{"type":"invalid_request_error","code":"`+code+`"}}`), ResponseTimeout: time.Minute, PauseTimeout: time.Minute, Client: http.DefaultClient,
		}, speech.RealtimeRequest{Voice: "nobody"})
		err := waitForFailure(told)
		require.ErrorIs(t, err, engines.ErrRequestRefused)
		assert.Equal(t, unfit, errors.Is(err, engines.ErrRequestInvalid), code)
		assert.Contains(t, err.Error(), code)
	}
}

package speech_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/speech"
)

// fakeRecognizer is a recognizer that returns a prepared text or error. after is the delay from the end of a turn to the result.
// If after is zero, no result follows.
type fakeRecognizer struct {
	mu     sync.Mutex
	text   string
	err    error
	after  time.Duration // zero: it never answers
	breaks bool          // it reports an error when the first audio arrives
	free   bool
	got    int
	wanted speech.RecognitionRequest
	closed int
}

func (h *fakeRecognizer) SupportsLanguage(language string) bool      { return language != "xx" }
func (h *fakeRecognizer) TranscribesFreeSpeech(language string) bool { return h.free }

func (h *fakeRecognizer) Open(w speech.RecognitionRequest, told func(speech.RecognitionResult)) speech.Stream {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wanted, h.got = w, 0
	return &hearing{h, told}
}

type hearing struct {
	of   *fakeRecognizer
	told func(speech.RecognitionResult)
}

func (s *hearing) Write(mu []byte) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.of.got += len(mu); s.of.breaks {
		s.of.breaks = false
		go s.told(speech.RecognitionResult{Final: true, Err: errors.New("the connection broke")})
	}
}

func (s *hearing) End() {
	if s.of.after > 0 {
		time.AfterFunc(s.of.after, func() { s.told(speech.RecognitionResult{Text: s.of.text, Confidence: 0.9, Final: true, Err: s.of.err}) })
	}
}

func (s *hearing) Close() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.closed++
}

func TestFailedTurnIsRecognizedByNextEngine(t *testing.T) {
	for name, c := range map[string]struct {
		x, y  *fakeRecognizer
		text  string
		err   bool
		told  []string
		after time.Duration
	}{
		"well":                {x: &fakeRecognizer{text: "one", after: 100 * time.Millisecond}, text: "one", after: 100 * time.Millisecond},
		"hangs":               {y: &fakeRecognizer{text: "two", after: 100 * time.Millisecond}, text: "two", told: []string{"x engine_slow recovered"}, after: 1100 * time.Millisecond},
		"fails":               {x: &fakeRecognizer{err: speech.ErrInvalidResponse, after: 200 * time.Millisecond}, y: &fakeRecognizer{text: "two", after: 100 * time.Millisecond}, text: "two", told: []string{"x engine_garbage recovered"}, after: 300 * time.Millisecond},
		"drops":               {x: &fakeRecognizer{breaks: true}, y: &fakeRecognizer{text: "two", after: 100 * time.Millisecond}, text: "two", told: []string{"x engine_unreachable recovered"}, after: 100 * time.Millisecond},
		"both":                {text: "three", told: []string{"x engine_slow recovered", "y engine_slow recovered"}, after: 2050 * time.Millisecond},
		"understands nothing": {x: &fakeRecognizer{after: 100 * time.Millisecond}, y: &fakeRecognizer{text: "two", after: 1}, after: 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if c.x == nil {
					c.x = new(fakeRecognizer)
				}
				if c.y == nil {
					c.y = new(fakeRecognizer)
				}
				home := fakeRecognizer{text: "three", after: 50 * time.Millisecond}
				ears := speech.NewRecognizerChain([]speech.NamedRecognizer{
					{Name: "x", Recognizer: c.x, ResultTimeout: time.Second}, {Name: "y", Recognizer: c.y, ResultTimeout: time.Second},
				}, []string{"x", "y"}, &home)
				got := make(chan speech.RecognitionResult, 4)
				s := ears.Open(speech.RecognitionRequest{Language: "en-US"}, func(h speech.RecognitionResult) { got <- h })
				for range 5 {
					s.Write(make([]byte, 800))
					time.Sleep(100 * time.Millisecond)
				}
				s.End()
				start := time.Now()
				h := <-got
				assert.Equal(t, c.after, time.Since(start))
				assert.Equal(t, c.text, h.Text)
				require.NoError(t, h.Err)
				var f failureLog
				for _, x := range h.Failures {
					f.add(x)
				}
				assert.Equal(t, c.told, f.all)
				if c.text == "two" {
					assert.Equal(t, 4000, c.y.got, "the whole turn")
				}
				time.Sleep(10 * time.Second)
				assert.Empty(t, got, "nothing is told twice")
				s.Close()
				synctest.Wait()
			})
		})
	}
}

func TestTurnFailsIfNoRecognizerSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := fakeRecognizer{err: speech.ErrRequestRefused, after: time.Millisecond, free: true}
		ears := speech.NewRecognizerChain([]speech.NamedRecognizer{{Name: "x", Recognizer: &x}}, nil, nil)
		assert.False(t, ears.SupportsLanguage("en"), "nobody names it")
		assert.True(t, ears.SelectEngine("x").SupportsLanguage("en"))
		assert.True(t, ears.SelectEngine("x").TranscribesFreeSpeech("en"))
		assert.True(t, ears.HasEngine("x"))
		assert.False(t, ears.HasEngine("y"))
		assert.False(t, ears.HasEngine(speech.LocalRecognizer), "the machine has none")
		for engine, want := range map[string]string{"x": "x engine_refused", "": ""} {
			got := make(chan speech.RecognitionResult, 1)
			s := ears.SelectEngine(engine).Open(speech.RecognitionRequest{Model: "m", Language: "en"}, func(h speech.RecognitionResult) { got <- h })
			s.Write(make([]byte, 80))
			s.End()
			h := <-got
			require.Error(t, h.Err)
			assert.True(t, h.Final)
			var f failureLog
			for _, fault := range h.Failures {
				f.add(fault)
			}
			if want != "" {
				assert.Equal(t, []string{want}, f.all)
				assert.Equal(t, speech.RecognitionRequest{Engine: "x", Model: "m", Language: "en"}, x.wanted)
			}
		}
	})
}

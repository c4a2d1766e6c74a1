package llm_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines/llm"
)

// servers is an http.RoundTripper that simulates engines by host: a host sends a stream, answers with a status, or
// cannot be reached.
type servers struct {
	answers map[string]string // a stream; "": the connection fails
	status  map[string]int
	asked   map[string]int
}

func (s *servers) RoundTrip(r *http.Request) (*http.Response, error) {
	host := r.URL.Host
	s.asked[host]++
	if status := s.status[host]; status != 0 {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	}
	if s.answers[host] == "" {
		return nil, errors.New("nobody is there")
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(s.answers[host]))}, nil
}

func TestFailingModelIsSuspended(t *testing.T) {
	t.Parallel()
	words, err := os.ReadFile("testdata/words.sse")
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		s := &servers{answers: map[string]string{"well": string(words)}, status: map[string]int{"picky": 400}, asked: map[string]int{}}
		c := &llm.Client{Free: &http.Client{Transport: s}}
		dead, well := llm.Engine{Name: "dead", URL: "http://dead", Model: "m"}, llm.Engine{Name: "well", URL: "http://well"}
		lost := 0
		ask := func(engines ...llm.Engine) error {
			_, err := c.Ask(t.Context(), engines, hello(), nil, func(*llm.Fault) { lost++ })
			return err
		}
		for range 8 {
			require.NoError(t, ask(dead, well))
		}
		assert.Equal(t, map[string]int{"dead": 3, "well": 8}, s.asked, "nobody waits for it any more")
		assert.Equal(t, 3, lost)
		other := dead
		other.Model = "another"
		require.NoError(t, ask(other, well))
		assert.Equal(t, 4, s.asked["dead"], "another model of its server is asked")
		require.Error(t, ask(dead), "where nobody else is there it is asked nevertheless")
		assert.Equal(t, 5, s.asked["dead"])
		time.Sleep(21 * time.Second)
		require.NoError(t, ask(dead, well))
		assert.Equal(t, 6, s.asked["dead"], "it had its rest, and fails again")
		time.Sleep(21 * time.Second)
		require.NoError(t, ask(dead, well))
		assert.Equal(t, 6, s.asked["dead"], "so it has a longer one")
		time.Sleep(40 * time.Second)
		s.answers["dead"] = string(words)
		for range 3 {
			require.NoError(t, ask(dead, well))
		}
		assert.Equal(t, 9, s.asked["dead"])
		s.answers["dead"] = ""
		require.NoError(t, ask(dead, well))
		require.NoError(t, ask(dead, well))
		assert.Equal(t, 11, s.asked["dead"], "what was before it was well is forgotten")
		s.answers["well"] = ""
		s.answers["dead"] = string(words)
		require.NoError(t, ask(dead, well))
		s.answers["dead"] = ""
		for range 3 {
			require.Error(t, ask(dead))
		}
		s.answers["dead"] = string(words)
		require.NoError(t, ask(dead, well), "before nobody answers, one that rests does")
		s.answers["well"] = string(words)
		picky := llm.Engine{Name: "picky", URL: "http://picky"}
		for range 5 {
			require.NoError(t, ask(picky, well))
		}
		assert.Equal(t, 5, s.asked["picky"], "a request that is not taken tells nothing of the engine")
	})
}

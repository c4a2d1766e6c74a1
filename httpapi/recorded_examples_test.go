package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/openapi"
	"github.com/callboard/callboard/httpapi/router"
)

var recordExamples = flag.Bool("examples", false, "add what the tests sent and were answered to examples.json, where an example is missing")

const examplesFile = "router/examples.json"

// Limits of recorded examples, in bytes of JSON.
const (
	maxExampleRequest = 600
	maxExampleAnswer  = 4000
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *recordExamples {
		if err := recorded.writeExamples(); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

// recorder stores for each operation the example with the most JSON members that is within the limits.
type recorder struct {
	mu  sync.Mutex
	all map[string]*exchange
}

type exchange struct {
	request []byte
	answers map[string][]byte
	lines   []byte // of a response in JSON lines
}

var recorded recorder

// exchangeOf returns the recorded example of an operation and creates it if necessary. The caller holds r.mu.
func (r *recorder) exchangeOf(o *openapi.Operation) *exchange {
	if r.all == nil {
		r.all = make(map[string]*exchange)
	}
	e := r.all[o.ID]
	if e == nil {
		e = &exchange{answers: make(map[string][]byte)}
		r.all[o.ID] = e
	}
	return e
}

// add records a request and its response, both valid by the OpenAPI document, as the example of an operation.
func (r *recorder) add(o *openapi.Operation, request []byte, status int, answer []byte) {
	if len(answer) > maxExampleAnswer || len(request) > maxExampleRequest {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.exchangeOf(o)
	if len(request) > len(e.request) {
		e.request = request
	}
	if code := strconv.Itoa(status); len(answer) > len(e.answers[code]) {
		e.answers[code] = answer
	}
}

// writeExamples adds recorded examples to the examples file for operations that have none.
func (r *recorder) writeExamples() error {
	text, err := os.ReadFile(examplesFile)
	if err != nil {
		return err
	}
	var all map[string]router.Example
	if err = json.Unmarshal(text, &all); err != nil {
		return err
	}
	for id, e := range r.all {
		example := all[id]
		if example.Request == nil && len(e.request) > 0 {
			example.Request = plainExample(e.request)
		}
		for code, answer := range e.answers {
			if example.Responses[code] != nil {
				continue
			}
			if example.Responses == nil {
				example.Responses = make(map[string]any)
			}
			example.Responses[code] = plainExample(answer)
		}
		if example.Lines == "" {
			example.Lines = plainLines(e.lines)
		}
		all[id] = example
	}
	var out bytes.Buffer
	out.WriteString("{\n")
	for i, id := range slices.Sorted(maps.Keys(all)) {
		if i > 0 {
			out.WriteString(",\n")
		}
		line, err := json.Marshal(all[id])
		if err != nil {
			return err
		}
		out.WriteString(strconv.Quote(id) + ": ")
		out.Write(line)
	}
	out.WriteString("\n}\n")
	return os.WriteFile(examplesFile, out.Bytes(), 0o644)
}

var (
	exampleID     = regexp.MustCompile(`\b([a-z]+)_[0-9A-HJKMNP-TV-Z]{26}\b`)
	exampleTime   = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)
	exampleHost   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	exampleSecret = regexp.MustCompile(`^(svc_sk_(?:live|test)_|whsec_|svc_cs_|eyJ)\S+$`)
)

// plainExample replaces values that differ between test runs: ids, times, addresses and secrets. It shortens lists to
// their first element.
func plainExample(text []byte) any {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return nil
	}
	return plainValue(v)
}

// plainLines applies plainExample to each line of a JSON Lines text and returns the first two lines.
func plainLines(text []byte) string {
	var out strings.Builder
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		if plain := plainExample(line); plain != nil && i < 2 {
			one, _ := json.Marshal(plain) // decoded from JSON: marshaling cannot fail
			out.Write(append(one, '\n'))
		}
	}
	return out.String()
}

func plainValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if rows, ok := v["data"].([]any); ok && len(rows) > 1 && v["object"] == "list" {
			v["data"] = rows[:1]
		}
		for name, one := range v {
			v[name] = plainValue(one)
		}
	case []any:
		for i, one := range v {
			v[i] = plainValue(one)
		}
	case string:
		switch {
		case exampleTime.MatchString(v):
			return "2026-01-31T09:30:00.000Z"
		case exampleSecret.MatchString(v):
			return exampleSecret.FindStringSubmatch(v)[1] + "…"
		}
		v = exampleID.ReplaceAllString(v, "${1}_01J00000000000000000000001")
		return exampleHost.ReplaceAllString(v, "callboard.example")
	}
	return v
}

func TestEveryDocumentedBodyHasValidExample(t *testing.T) {
	c := startServer(t, httpapi.Config{}).contract()
	shown := map[string]bool{}
	for _, o := range c.Operations {
		for kind := range o.Bodies {
			example := o.Examples[kind]
			shown[o.ID] = true
			if !assert.NotNil(t, example, "%s has no example of a request of %s", o.ID, kind) || kind != "application/json" {
				continue
			}
			body, err := json.Marshal(example)
			require.NoError(t, err)
			require.NoError(t, c.CheckRequest(o, body), o.ID)
		}
		for status, r := range o.Responses {
			if lines, ok := r.Content["application/x-ndjson"]; ok {
				shown[o.ID] = true
				assert.NotEmpty(t, lines.Example, "%s has no example of a line", o.ID)
			}
			media, ok := r.Content["application/json"]
			if !strings.HasPrefix(status, "2") || !ok {
				continue
			}
			if !assert.NotNil(t, media.Example, "%s has no example of the answer %s", o.ID, status) {
				continue
			}
			shown[o.ID] = true
			body, err := json.Marshal(media.Example)
			require.NoError(t, err)
			code, err := strconv.Atoi(status)
			require.NoError(t, err)
			require.NoError(t, c.CheckResponse(o, code, body), o.ID)
		}
	}
	text, err := os.ReadFile(examplesFile)
	require.NoError(t, err)
	var all map[string]router.Example
	require.NoError(t, json.Unmarshal(text, &all))
	for id := range all {
		assert.True(t, shown[id], "no operation uses the example %s", id)
	}
}

// record stores a successful request and its response as an example if the tests run with the flag -examples.
func (d *testServer) record(method, path string, request []byte, got reply) {
	if !*recordExamples || got.Status >= http.StatusMultipleChoices {
		return
	}
	o := d.contract().Operation(method, path)
	if o == nil {
		return
	}
	if strings.HasPrefix(got.Header.Get("Content-Type"), "application/x-ndjson") {
		recorded.mu.Lock()
		defer recorded.mu.Unlock()
		if e := recorded.exchangeOf(o); len(e.lines) == 0 {
			e.lines = got.Body
		}
		return
	}
	if !json.Valid(got.Body) {
		return
	}
	if o.Bodies["application/json"] == nil || d.contract().CheckRequest(o, request) != nil {
		request = nil
	}
	recorded.add(o, request, got.Status, got.Body)
}

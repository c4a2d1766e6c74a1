package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/callboard/callboard/httpapi/openapi"
)

// Request is an HTTP request that a Walk sends.
type Request struct {
	Method string
	Path   string // the path and its query
	Kind   string // media type of the body; "": no body
	Body   []byte
	Header map[string]string
}

// Reply is the response to a Request.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Walk sends generated requests to every route of an OpenAPI document and checks the responses. The same seed
// generates the same requests if the service returns the same ids.
type Walk struct {
	Contract *Contract
	Seed     uint64
	Rounds   int // number of passes over all routes
	Send     func(Request) (Reply, error)
	Excluded []string                            // ids that are never used in a path, because the walk needs their resources
	Skip     func(method, path string) bool      // reports routes to skip; nil: none
	After    func(o *openapi.Operation, r Reply) // called after each request; nil: not called

	URL        string                               // base of URLs that the service may fetch or notify; "": example.com
	Concurrent bool                                 // the service changes its data in the background, so only checks that do not depend on data are made
	Refused    func(a string, body []byte, r Reply) // called for refused valid requests; nil: not called

	valueMaker
	sent     int
	accepted map[string]int    // accepted valid requests by operation
	bodies   map[string][]byte // last accepted JSON body by operation
}

// Tally holds the number of requests of a walk and the violations that it found.
type Tally struct {
	Sent       int
	Unaccepted []string // operations that accepted no valid request
	Faults     []string // violations, at most one of a kind per operation
}

// testRequest is a generated request with the properties that determine which responses are correct.
type testRequest struct {
	Request
	good        bool     // the request is valid by the OpenAPI document
	bad         bool     // the request is invalid by the OpenAPI document
	wrongFields []string // fields that an error may name; empty: an error may name none
	label       string   // description of the request in messages about faults
}

// Run sends the requests of all rounds and returns the violations that it found.
func (w *Walk) Run() (Tally, error) {
	w.valueMaker = valueMaker{
		Rand: rand.New(rand.NewPCG(w.Seed, w.Seed)), doc: w.Contract.Document, url: w.URL,
		pool: &idPool{ids: make(map[string][]string), kinds: make(map[string]string), excluded: make(map[string]bool)},
	}
	for _, id := range w.Excluded {
		w.pool.excluded[id] = true
	}
	w.accepted, w.bodies = make(map[string]int), make(map[string][]byte)
	faults := make(map[string]bool)
	for round := range w.Rounds {
		for _, o := range w.orderedOperations(round) {
			a := w.newAttempt(o, round)
			for attempt := 0; ; attempt++ {
				r, err := w.Send(a.Request)
				if err != nil {
					return Tally{}, fmt.Errorf("%s %s: %w", a.Method, a.Path, err)
				}
				w.sent++
				w.collectIDs(o, r)
				if what := w.checkResponse(o, a, r); what != "" {
					faults[fmt.Sprintf("%s %s: %s\n\t%s %s %s\n\t%.3000s\n\t→ %d %.3000s", o.Method, o.Path, what, a.label, a.Method, a.Path, a.Body, r.Status, r.Body)] = true
				}
				if w.After != nil {
					w.After(o, r)
				}
				if o.Method == http.MethodGet && w.sent%3 == 0 {
					what, err := w.checkHead(a)
					if err != nil {
						return Tally{}, err
					}
					if what != "" {
						faults[what] = true
					}
				}
				if !a.good || attempt == maxRepairs || !w.repairRequest(o, &a, r) {
					break
				}
				a.good = w.Contract.CheckRequest(o, a.Body) == nil
			}
		}
	}
	t := Tally{Sent: w.sent, Faults: slices.Sorted(maps.Keys(faults))}
	for _, o := range w.orderedOperations(0) {
		if w.accepted[o.ID] == 0 {
			t.Unaccepted = append(t.Unaccepted, o.Method+" "+o.Path)
		}
	}
	return t, nil
}

// checkHead sends a GET request again with the method HEAD. It describes what is wrong with the response, "" if
// nothing is.
func (w *Walk) checkHead(a testRequest) (string, error) {
	a.Method = http.MethodHead
	r, err := w.Send(a.Request)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", a.Method, a.Path, err)
	}
	w.sent++
	if err = w.Contract.Check(a.Method, a.Path, r.Status, r.Header, r.Body); err != nil {
		return err.Error(), nil //nolint:nilerr // the response is wrong, not the test
	}
	if r.Status >= http.StatusInternalServerError {
		return fmt.Sprintf("HEAD %s is a server error: %d", a.Path, r.Status), nil
	}
	return "", nil
}

// orderedOperations returns the operations of a round in the order of their requests: first those that create resources, last
// those that delete resources.
func (w *Walk) orderedOperations(round int) []*openapi.Operation {
	var creates, uses, removes []*openapi.Operation
	for _, o := range w.Contract.Operations {
		switch {
		case w.Skip != nil && w.Skip(o.Method, o.Path):
		case o.Method == http.MethodPost && !strings.Contains(o.Path, "{"):
			creates = append(creates, o)
		case o.Method == http.MethodDelete:
			if round%4 == 0 {
				removes = append(removes, o)
			}
		default:
			uses = append(uses, o)
		}
	}
	return slices.Concat(creates, uses, removes)
}

// newAttempt generates a request for an operation. The first rounds send valid requests only, so that resources exist.
func (w *Walk) newAttempt(o *openapi.Operation, round int) testRequest {
	a := testRequest{Request: Request{Method: o.Method, Header: map[string]string{}}, good: true, label: "good:"}
	kind := 0
	if round > 1 {
		kind = w.IntN(8)
	}
	a.Kind, a.Body = w.body(o, &a, kind)
	a.Path = w.path(o, &a, kind == 6)
	query := w.query(o, &a, kind)
	if len(query) > 0 {
		a.Path += "?" + query.Encode()
	}
	return a
}

// body generates a request body and records in the attempt whether the body is valid. kind selects the fault, if any,
// that the body gets.
func (w *Walk) body(o *openapi.Operation, a *testRequest, kind int) (media string, body []byte) {
	if len(o.Bodies) == 0 {
		return "", nil
	}
	medias := slices.Sorted(maps.Keys(o.Bodies))
	media = medias[w.IntN(len(medias))]
	if slices.Contains(medias, "application/json") && w.IntN(3) > 0 {
		media = "application/json"
	}
	if media != "application/json" {
		a.good = false
		return w.otherBody(o, media)
	}
	value := w.knownBody(o)
	if value == nil || kind != 0 && w.IntN(2) == 0 {
		value = w.value(o.Bodies[media], "", 0, kind == 1)
	}
	if kind >= 2 && kind <= 4 {
		value, a.wrongFields = invalidateValue(w.Rand, bodyValues(w.doc, o.Bodies[media], value, "", "", nil, nil))
		a.label = "spoiled:"
	}
	body, _ = json.Marshal(value) // marshaling cannot fail for decoded JSON
	if kind == 5 {
		body, a.good, a.label = malformedBody(w.Rand, body), false, "malformed:"
		return media, body
	}
	if kind == 7 && w.IntN(4) == 0 {
		a.good, a.label = false, "of another type:"
		return []string{"text/html", "application/xml", "", "application/json;charset=\""}[w.IntN(4)], body
	}
	if err := w.Contract.CheckRequest(o, withoutNulls(body)); err != nil {
		a.good, a.bad = false, a.wrongFields != nil
	}
	return media, body
}

// otherBody generates a request body of a media type other than JSON: a form, or an uploaded file.
func (w *Walk) otherBody(o *openapi.Operation, media string) (kind string, body []byte) {
	if media == "application/x-www-form-urlencoded" {
		form := url.Values{}
		if object, ok := w.value(o.Bodies[media], "", 0, w.IntN(4) == 0).(map[string]any); ok {
			for name, v := range object {
				form.Set(name, fmt.Sprint(v))
			}
		}
		if w.IntN(2) == 0 {
			form.Set("grant_type", []string{"client_credentials", "refresh_token", "authorization_code", "x"}[w.IntN(4)])
		}
		return media, []byte(form.Encode())
	}
	text := []string{
		"phone,name\n+12025550123,Ada\n", "phone\n", "", "\x00\x01\x02", "\"phone\n", strings.Repeat(",", 3000), "name\nAda\n", "sep=;\nphone;name\n+12025550123;Ada\n",
		`{"phone":"+12025550123"}` + "\n", `{"phone":`, "\xff\xfe+\x001\x00", "+12025550123\n+12025550124\n",
	}[w.IntN(12)]
	if media == "multipart/form-data" {
		return media + "; boundary=b", []byte("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n" + text + "\r\n--b--\r\n")
	}
	return media, []byte(text)
}

// path returns the path of an operation with generated parameters. With junk the parameters are invalid ids.
func (w *Walk) path(o *openapi.Operation, a *testRequest, junk bool) string {
	path := o.Path
	for _, p := range o.Parameters {
		if p.In != "path" {
			continue
		}
		collection, _, _ := strings.Cut(o.Path, "/{"+p.Name+"}")
		v := w.pool.random(w.Rand, w.kindBelow(collection, p.Name))
		if p.Name == "phone" {
			v = "12025550123"
		} else if s, _ := w.doc.Resolve(p.Schema); v == "" && s.Type() == "integer" {
			v = "1"
		}
		if v == "" || junk {
			a.good, a.bad = false, false
			v = []string{"x", "%00", "..%2f..", "call_01J9999999ZZZZZZZZZZZZZZZZ", strings.Repeat("a", 2000), "%F0%9F%98%80", "agent_", "-1", "%20"}[w.IntN(9)]
		}
		path = strings.Replace(path, "{"+p.Name+"}", v, 1)
	}
	return path
}

// kindBelow returns the id prefix, such as call, of the resources in a collection. name is the path parameter.
func (w *Walk) kindBelow(collection, name string) string {
	if kind, ok := strings.CutSuffix(name, "_id"); ok {
		return kind
	}
	return w.pool.kinds[collection]
}

// query generates the query parameters of a request. It also sets the header parameters of the attempt.
func (w *Walk) query(o *openapi.Operation, a *testRequest, kind int) url.Values {
	q := url.Values{}
	if kind == 7 && strings.HasPrefix(o.Path, "/v1/") && w.IntN(4) == 0 {
		q.Set("created_afterwards", "x")
		a.good, a.bad, a.label = false, a.wrongFields == nil || a.bad, "an unknown parameter:"
		a.wrongFields = append(a.wrongFields, "created_afterwards")
	}
	for _, p := range o.Parameters {
		if p.In == "path" || !p.Required && w.IntN(4) > 0 {
			continue
		}
		if p.In == "header" {
			v := fmt.Sprintf("key-%d", w.sent)
			if p.Name == "Range" {
				v = []string{"bytes=0-3", "bytes=-2", "bytes=9-1", "x", "bytes=999999-"}[w.IntN(5)]
				a.good = false
			}
			a.Header[p.Name] = v
			continue
		}
		s, _ := w.doc.Resolve(p.Schema)
		v := fmt.Sprint(w.value(p.Schema, p.Name, 0, kind == 1))
		if kind == 7 && (s.Type() == "integer" || len(s.Enum) > 0 || s.Format == "date-time") {
			v, a.good, a.bad, a.label = []string{"x", "-1", "1e9", "NaN", "\x00"}[w.IntN(5)], false, a.wrongFields == nil || a.bad, "a bad parameter:"
			a.wrongFields = append(a.wrongFields, p.Name)
		}
		if s.MaxLength == nil && s.Type() == "string" && len(s.Enum) == 0 || p.Name == "cursor" {
			a.good = false // the schema does not express the format of the parameter
		}
		q.Set(p.Name, v)
	}
	return q
}

// collectIDs adds the resource ids in a response to the pool, so that later requests use them.
func (w *Walk) collectIDs(o *openapi.Operation, r Reply) {
	if r.Status >= http.StatusMultipleChoices || r.Header.Get("Content-Type") != "application/json" {
		return
	}
	var body any
	if json.NewDecoder(bytes.NewReader(r.Body)).Decode(&body) != nil {
		return
	}
	object, _ := body.(map[string]any)
	id, _ := object["id"].(string)
	if kind, _, ok := cutLast(id, "_"); ok && o.Method == http.MethodPost && r.Status == http.StatusCreated && !strings.Contains(o.Path, "{") {
		w.pool.kinds[o.Path] = kind
		above, _, _ := cutLast(o.Path, "/")
		if w.pool.kinds[above] == "" {
			w.pool.kinds[above] = kind
		}
	}
	w.pool.add(id)
	rows, _ := object["data"].([]any)
	for _, row := range rows[:min(len(rows), 3)] {
		if row, ok := row.(map[string]any); ok {
			id, _ = row["id"].(string)
			w.pool.add(id)
		}
	}
}

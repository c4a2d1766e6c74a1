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

// Request is one that the walk wants sent, with a credential.
type Request struct {
	Method string
	Path   string // with the query
	Kind   string // of the body; "": there is none
	Body   []byte
	Header map[string]string
}

// Reply is what came back.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Walk sends requests to every route of a document and judges the answers. The
// same seed sends the same requests to a service that gives the same ids.
type Walk struct {
	Contract *Contract
	Seed     uint64
	Rounds   int // over all routes
	Send     func(Request) (Reply, error)
	Excluded []string                            // ids that are never used in a path: what the walk itself stands on
	Skip     func(method, path string) bool      // routes that are left out; nil: none
	After    func(o *openapi.Operation, r Reply) // of each request; nil: nothing

	URL        string                               // where the service may send to and fetch from; "": one that is not looked for
	Concurrent bool                                 // the service works on behind its answers: only what holds whatever it does is judged
	Refused    func(a string, body []byte, r Reply) // of good requests; nil: nothing

	maker
	sent   int
	taken  map[string]int    // good requests that were taken, by operation
	bodies map[string][]byte // the last JSON that was taken, by operation
}

// Tally is what a walk did.
type Tally struct {
	Sent       int
	Unaccepted []string // operations of which no good request was taken
	Faults     []string // what is wrong, each once for its operation
}

// attempt is a request with what is known of it.
type attempt struct {
	Request
	good  bool     // by the document
	bad   bool     // by the document
	named []string // an error about it names one of these; none: it may name nothing
	about string
}

// Run walks.
func (w *Walk) Run() (Tally, error) {
	w.maker = maker{
		Rand: rand.New(rand.NewPCG(w.Seed, w.Seed)), doc: w.Contract.Document, url: w.URL,
		pool: &pool{ids: make(map[string][]string), places: make(map[string]string), spare: make(map[string]bool)},
	}
	for _, id := range w.Excluded {
		w.pool.spare[id] = true
	}
	w.taken, w.bodies = make(map[string]int), make(map[string][]byte)
	faults := make(map[string]bool)
	for round := range w.Rounds {
		for _, o := range w.order(round) {
			a := w.attempt(o, round)
			for again := 0; ; again++ {
				r, err := w.Send(a.Request)
				if err != nil {
					return Tally{}, fmt.Errorf("%s %s: %w", a.Method, a.Path, err)
				}
				w.sent++
				w.collectIDs(o, r)
				if what := w.checkRefusal(o, a, r); what != "" {
					faults[fmt.Sprintf("%s %s: %s\n\t%s %s %s\n\t%.3000s\n\t→ %d %.3000s", o.Method, o.Path, what, a.about, a.Method, a.Path, a.Body, r.Status, r.Body)] = true
				}
				if w.After != nil {
					w.After(o, r)
				}
				if o.Method == http.MethodGet && w.sent%3 == 0 {
					what, err := w.head(a)
					if err != nil {
						return Tally{}, err
					}
					if what != "" {
						faults[what] = true
					}
				}
				if !a.good || again == maxRepairs || !w.repairRequest(o, &a, r) {
					break
				}
				a.good = w.Contract.Body(o, a.Body) == nil
			}
		}
	}
	t := Tally{Sent: w.sent, Faults: slices.Sorted(maps.Keys(faults))}
	for _, o := range w.order(0) {
		if w.taken[o.ID] == 0 {
			t.Unaccepted = append(t.Unaccepted, o.Method+" "+o.Path)
		}
	}
	return t, nil
}

// head asks by HEAD for what was asked for by GET, and says what is wrong with
// the answer; "": nothing.
func (w *Walk) head(a attempt) (string, error) {
	a.Method = http.MethodHead
	r, err := w.Send(a.Request)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", a.Method, a.Path, err)
	}
	w.sent++
	if err = w.Contract.Check(a.Method, a.Path, r.Status, r.Header, r.Body); err != nil {
		return err.Error(), nil //nolint:nilerr // what is wrong is the answer
	}
	if r.Status >= http.StatusInternalServerError {
		return fmt.Sprintf("HEAD %s is a fault of the service: %d", a.Path, r.Status), nil
	}
	return "", nil
}

// order is that of one round: what makes things comes first, what removes them
// last.
func (w *Walk) order(round int) []*openapi.Operation {
	var makes, uses, removes []*openapi.Operation
	for _, o := range w.Contract.Operations {
		switch {
		case w.Skip != nil && w.Skip(o.Method, o.Path):
		case o.Method == http.MethodPost && !strings.Contains(o.Path, "{"):
			makes = append(makes, o)
		case o.Method == http.MethodDelete:
			if round%4 == 0 {
				removes = append(removes, o)
			}
		default:
			uses = append(uses, o)
		}
	}
	return slices.Concat(makes, uses, removes)
}

// attempt makes a request: good for the first rounds, so that there is
// something to work on, then one of all kinds.
func (w *Walk) attempt(o *openapi.Operation, round int) attempt {
	a := attempt{Request: Request{Method: o.Method, Header: map[string]string{}}, good: true, about: "good:"}
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

// body makes the body and says in the attempt what is wrong with it.
func (w *Walk) body(o *openapi.Operation, a *attempt, kind int) (media string, body []byte) {
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
		return w.plain(o, media)
	}
	value := w.like(o)
	if value == nil || kind != 0 && w.IntN(2) == 0 {
		value = w.value(o.Bodies[media], "", 0, kind == 1)
	}
	if kind >= 2 && kind <= 4 {
		value, a.named = invalidateValue(w.Rand, places(w.doc, o.Bodies[media], value, "", "", nil, nil))
		a.about = "spoiled:"
	}
	body, _ = json.Marshal(value) // of plain values: cannot fail
	if kind == 5 {
		body, a.good, a.about = malformed(w.Rand, body), false, "malformed:"
		return media, body
	}
	if kind == 7 && w.IntN(4) == 0 {
		a.good, a.about = false, "of another type:"
		return []string{"text/html", "application/xml", "", "application/json;charset=\""}[w.IntN(4)], body
	}
	if err := w.Contract.Body(o, withoutNulls(body)); err != nil {
		a.good, a.bad = false, a.named != nil
	}
	return media, body
}

// plain makes a body that is no JSON.
func (w *Walk) plain(o *openapi.Operation, media string) (kind string, body []byte) {
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

// path fills the names in the path.
func (w *Walk) path(o *openapi.Operation, a *attempt, junk bool) string {
	path := o.Path
	for _, p := range o.Parameters {
		if p.In != "path" {
			continue
		}
		collection, _, _ := strings.Cut(o.Path, "/{"+p.Name+"}")
		v := w.pool.one(w.Rand, w.kindBelow(collection, p.Name))
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

// kindBelow is the kind of the ids below a collection.
func (w *Walk) kindBelow(collection, name string) string {
	if kind, ok := strings.CutSuffix(name, "_id"); ok {
		return kind
	}
	return w.pool.places[collection]
}

// query makes the query and the headers.
func (w *Walk) query(o *openapi.Operation, a *attempt, kind int) url.Values {
	q := url.Values{}
	if kind == 7 && strings.HasPrefix(o.Path, "/v1/") && w.IntN(4) == 0 {
		q.Set("created_afterwards", "x")
		a.good, a.bad, a.about = false, a.named == nil || a.bad, "an unknown parameter:"
		a.named = append(a.named, "created_afterwards")
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
			v, a.good, a.bad, a.about = []string{"x", "-1", "1e9", "NaN", "\x00"}[w.IntN(5)], false, a.named == nil || a.bad, "a bad parameter:"
			a.named = append(a.named, p.Name)
		}
		if s.MaxLength == nil && s.Type() == "string" && len(s.Enum) == 0 || p.Name == "cursor" {
			a.good = false // what it may be is said in words
		}
		q.Set(p.Name, v)
	}
	return q
}

// collectIDs takes the ids of what was made.
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
		w.pool.places[o.Path] = kind
		above, _, _ := cutLast(o.Path, "/")
		if w.pool.places[above] == "" {
			w.pool.places[above] = kind
		}
	}
	w.pool.put(id)
	rows, _ := object["data"].([]any)
	for _, row := range rows[:min(len(rows), 3)] {
		if row, ok := row.(map[string]any); ok {
			id, _ = row["id"].(string)
			w.pool.put(id)
		}
	}
}

package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// object is a resource as the API shows it.
type object = map[string]any

// list is a page of resources.
type list struct {
	Data []object `json:"data"`
	Logs []object `json:"logs"` // in place of it, where the specification says so
	More bool     `json:"has_more"`
	Next string   `json:"next_cursor"`
	// Newer is where the pages begin, "" on the first; Older leads to the next.
	Newer, Older string `json:"-"`
}

// problem is what the API refused, in its own words.
type problem struct {
	Status    int
	Code      string
	Message   string
	Param     string
	RequestID string
	Details   []struct{ Param, Message string }
}

func (p *problem) Error() string { return p.Message }

// get asks for a resource.
func (r *Request) get(path string) (object, error) {
	var o object
	return o, r.callAPI(http.MethodGet, path, nil, &o)
}

// list asks for the page of a list that the browser is on. Filters are those
// parts of the browser's query that it names.
func (r *Request) list(path, here string, filters ...string) (list, error) {
	return r.pageOf("cursor", path, here, filters...)
}

// pageOf is list where several stand on a page: cursor is the part of the
// browser's query that tells which of its pages is shown.
func (r *Request) pageOf(cursor, path, here string, filters ...string) (list, error) {
	q := url.Values{"limit": {pageSize}}
	kept := url.Values{}
	for _, name := range filters {
		if v := r.Query.Get(name); v != "" {
			q.Set(name, v)
			kept.Set(name, v)
		}
	}
	at := r.Query.Get(cursor)
	if at != "" {
		q.Set("cursor", at)
	}
	var l list
	if err := r.callAPI(http.MethodGet, path+"?"+q.Encode(), nil, &l); err != nil {
		return l, err
	}
	if at != "" {
		l.Newer = here
		if len(kept) > 0 {
			l.Newer += "?" + kept.Encode()
		}
	}
	if l.More {
		kept.Set(cursor, l.Next)
		l.Older = here + "?" + kept.Encode()
	}
	return l, nil
}

// newest asks for a list from its beginning on until enough says so, five
// hundred at most; whole says whether nothing is left out.
func (r *Request) newest(path string, enough func(last object) bool) (all []object, whole bool, err error) {
	q, separator := "", "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	for range 5 {
		var l list
		if err = r.callAPI(http.MethodGet, path+separator+"limit=100"+q, nil, &l); err != nil {
			return nil, false, err
		}
		all = append(all, l.Data...)
		if !l.More || len(l.Data) == 0 || enough(l.Data[len(l.Data)-1]) {
			return all, true, nil
		}
		q = "&cursor=" + url.QueryEscape(l.Next)
	}
	return all, false, nil
}

// send asks for a change. body may be nil.
func (r *Request) send(method, path string, body any) (object, error) {
	var o object
	return o, r.callAPI(method, path, body, &o)
}

// first asks for the beginning of a list that has no pages here.
func (r *Request) first(path string) (list, error) {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	var l list
	return l, r.callAPI(http.MethodGet, path+separator+"limit=100", nil, &l)
}

func (r *Request) callAPI(method, path string, body, into any) error {
	var text []byte
	kind, once := "", ""
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
		kind = "application/json"
	}
	if method == http.MethodPost {
		once = r.idempotencyKey()
	}
	for pause := minRepeatDelay; ; pause = min(2*pause, maxRepeatDelay) {
		var content io.Reader
		if body != nil {
			content = bytes.NewReader(text)
		}
		err := decodeResult(r.API(method, path, kind, once, content))(into)
		var p *problem
		if once == "" || !errors.As(err, &p) || p.Code != "idempotency_conflict" || pause == maxRepeatDelay {
			return err
		}
		if !r.waitToRepeat(pause) { // the first click of two is under way: the second one waits for its answer
			return err
		}
	}
}

// waitToRepeat lets a time go by; false: nobody waits for the answer any more.
func (r *Request) waitToRepeat(pause time.Duration) bool {
	for ; pause > 0; pause -= clientCheckInterval {
		select {
		case <-time.After(min(pause, clientCheckInterval)):
		case <-r.requestEnd():
			return false
		}
		if r.Gone != nil && r.Gone() {
			return false
		}
	}
	return true
}

// requestEnd is closed once nobody waits for the answer any more.
func (r *Request) requestEnd() <-chan struct{} {
	if r.Ended == nil {
		return nil
	}
	return r.Ended()
}

// How long the second click of two waits for the first, between asking and in
// all: about five seconds.
const minRepeatDelay, maxRepeatDelay = 20 * time.Millisecond, 5 * time.Second

// clientCheckInterval is how often it is looked meanwhile whether somebody is there still.
const clientCheckInterval = 100 * time.Millisecond

// decodeResult reads an answer of the API.
func decodeResult(status int, answer []byte) func(into any) error {
	return func(into any) error {
		if status < http.StatusMultipleChoices {
			if len(answer) == 0 {
				return nil
			}
			return decodeResponse(answer, into)
		}
		var e struct {
			Error struct {
				Code      string `json:"code"`
				Message   string `json:"message"`
				Param     string `json:"param"`
				RequestID string `json:"request_id"`
				Details   []struct {
					Param   string `json:"param"`
					Message string `json:"message"`
				} `json:"details"`
			} `json:"error"`
		}
		if err := json.Unmarshal(answer, &e); err != nil {
			return &problem{Status: status, Message: "The service gave no answer that could be read."}
		}
		p := &problem{Status: status, Code: e.Error.Code, Message: e.Error.Message, Param: e.Error.Param, RequestID: e.Error.RequestID}
		for _, d := range e.Error.Details {
			p.Details = append(p.Details, struct{ Param, Message string }(d))
		}
		return p
	}
}

// decodeResponse decodes a response of the API. Numbers that a float64 would change
// stay json.Number.
func decodeResponse(answer []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	switch v := into.(type) {
	case *object:
		numbersToFloat(*v)
	case *list:
		for _, o := range slices.Concat(v.Data, v.Logs) {
			numbersToFloat(o)
		}
	}
	return nil
}

// numbersToFloat replaces the json.Numbers in a value by float64, where that keeps
// their text.
func numbersToFloat(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && strconv.FormatFloat(f, 'f', -1, 64) == v.String() {
			return f
		}
	case object:
		for name, one := range v {
			v[name] = numbersToFloat(one)
		}
	case []any:
		for i, one := range v {
			v[i] = numbersToFloat(one)
		}
	}
	return v
}

// isNotVisible says whether an error is only that there is nothing, or nothing yet,
// or nothing that this visitor may see: a page shows what is left.
func isNotVisible(err error) bool {
	p, ok := err.(*problem) //nolint:errorlint // ask wraps nothing
	return ok && (p.Status == http.StatusNotFound || p.Status == http.StatusForbidden || p.Status == http.StatusConflict)
}

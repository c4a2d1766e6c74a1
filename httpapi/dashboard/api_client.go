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

// object is a resource as the API returns it, decoded from JSON.
type object = map[string]any

// resourceList is a page of resources.
type resourceList struct {
	Data []object `json:"data"`
	Logs []object `json:"logs"` // the delivery logs have this member instead of data
	More bool     `json:"has_more"`
	Next string   `json:"next_cursor"`
	// Newer is the link to the first page of the list, "" on the first page. Older is the link to the next page, "" on
	// the last page.
	Newer, Older string `json:"-"`
}

// problem is an error response of the API.
type problem struct {
	Status    int
	Code      string
	Message   string
	Param     string
	RequestID string
	Details   []problemDetail
}

// problemDetail is one fault of a request, with the parameter that it concerns.
type problemDetail struct{ Param, Message string }

func (p *problem) Error() string { return p.Message }

// all returns the faults of the request.
func (p *problem) all() []problemDetail {
	if len(p.Details) > 0 {
		return p.Details
	}
	return []problemDetail{{p.Param, p.Message}}
}

// withoutFields returns the problem as the page of a form shows it above the fields, which have messages of their own.
func (p *problem) withoutFields(others []string) *problem {
	c := *p
	c.Param, c.Details = "", nil
	if len(others) == 0 {
		others = []string{"Please correct the marked fields."}
	}
	c.Message = others[0]
	for _, o := range others {
		c.Details = append(c.Details, problemDetail{Message: o})
	}
	return &c
}

// messagesWithout returns the messages of all faults except those whose parameters are shown elsewhere.
func (p *problem) messagesWithout(shown map[string]bool) (all []string) {
	for _, d := range p.all() {
		if !shown[d.Param] || d.Param == "" {
			all = append(all, sentenceFor(d.Message, d.Param, paramLabel(d.Param)))
		}
	}
	return all
}

// Text returns the message that the page shows first.
func (p *problem) Text() string {
	if all := p.messagesWithout(nil); len(all) > 0 {
		return all[0]
	}
	return p.Message
}

// Others returns the messages of the other faults.
func (p *problem) Others() []string {
	if all := p.messagesWithout(nil); len(all) > 1 {
		return all[1:]
	}
	return nil
}

// get requests the resource at an API path.
func (r *Request) get(path string) (object, error) {
	var o object
	return o, r.callAPI(http.MethodGet, path, nil, &o)
}

// list requests the page of a list that the URL of the dashboard page selects. filters are the query parameters that
// it passes on to the API.
func (r *Request) list(path, here string, filters ...string) (resourceList, error) {
	return r.pageOf("cursor", path, here, filters...)
}

// pageOf requests a page of one of several lists on a dashboard page. cursor is the name of the query parameter that
// selects the page of this list. here is the path of the dashboard page.
func (r *Request) pageOf(cursor, path, here string, filters ...string) (resourceList, error) {
	q := url.Values{"limit": {pageSize}}
	params := url.Values{}
	for _, name := range filters {
		if v := r.Query.Get(name); v != "" {
			q.Set(name, v)
			params.Set(name, v)
		}
	}
	at := r.Query.Get(cursor)
	if at != "" {
		q.Set("cursor", at)
	}
	var l resourceList
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	if err := r.callAPI(http.MethodGet, path+separator+q.Encode(), nil, &l); err != nil {
		return l, err
	}
	if at != "" {
		l.Newer = here
		if len(params) > 0 {
			l.Newer += "?" + params.Encode()
		}
	}
	if l.More {
		params.Set(cursor, l.Next)
		l.Older = here + "?" + params.Encode()
	}
	return l, nil
}

// newest requests the newest resources of a list, at most five hundred, until enough returns true for the last one.
// whole is true if it has read the whole list or enough has returned true.
func (r *Request) newest(path string, enough func(last object) bool) (all []object, whole bool, err error) {
	q, separator := "", "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	for range 5 {
		var l resourceList
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

// send sends a request that changes data to the API and returns the response. body may be nil.
func (r *Request) send(method, path string, body any) (object, error) {
	var o object
	return o, r.callAPI(method, path, body, &o)
}

// first requests the first hundred resources of a list, for a dashboard page that shows no further ones.
func (r *Request) first(path string) (resourceList, error) {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	var l resourceList
	return l, r.callAPI(http.MethodGet, path+separator+"limit=100", nil, &l)
}

func (r *Request) callAPI(method, path string, body, into any) error {
	var text []byte
	kind, idempotencyKey := "", ""
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
		kind = "application/json"
	}
	if method == http.MethodPost {
		idempotencyKey = r.idempotencyKey()
	}
	for pause := minRepeatDelay; ; pause = min(2*pause, maxRepeatDelay) {
		var content io.Reader
		if body != nil {
			content = bytes.NewReader(text)
		}
		err := decodeResult(r.API(method, path, kind, idempotencyKey, content))(into)
		r.localize(into)
		var p *problem
		if idempotencyKey == "" || !errors.As(err, &p) || p.Code != "idempotency_conflict" || pause == maxRepeatDelay {
			return err
		}
		if !r.waitToRepeat(pause) { // a double click: the first request is running, and this one waits for its response
			return err
		}
	}
}

// localize sets the time zone of the times in a response to that of the visitor.
func (r *Request) localize(response any) {
	switch v := response.(type) {
	case *object:
		setTimeZones(*v, r.zone())
	case *resourceList:
		for _, o := range slices.Concat(v.Data, v.Logs) {
			setTimeZones(o, r.zone())
		}
	}
}

// zone returns the time zone of the visitor.
func (r *Request) zone() *time.Location {
	if r.Visitor.Zone == nil {
		return time.UTC
	}
	return r.Visitor.Zone
}

// waitToRepeat waits for the given time. It returns false if the browser disconnects or its request ends meanwhile.
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

// requestEnd returns a channel that is closed when the context of the browser's request ends.
func (r *Request) requestEnd() <-chan struct{} {
	if r.Ended == nil {
		return nil
	}
	return r.Ended()
}

// While an earlier request with the same idempotency key runs, a request is repeated after minRepeatDelay. The delay
// doubles each time. At maxRepeatDelay the request fails.
const minRepeatDelay, maxRepeatDelay = 20 * time.Millisecond, 5 * time.Second

// clientCheckInterval is the time between two checks whether the browser is still connected.
const clientCheckInterval = 100 * time.Millisecond

// decodeResult returns a function that decodes the response of the API. The function returns a *problem for an error
// response.
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
			return &problem{Status: status, Message: "The service returned an unreadable response."}
		}
		p := &problem{Status: status, Code: e.Error.Code, Message: e.Error.Message, Param: e.Error.Param, RequestID: e.Error.RequestID}
		for _, d := range e.Error.Details {
			p.Details = append(p.Details, problemDetail(d))
		}
		return p
	}
}

// decodeResponse decodes a response of the API into a value. Numbers become float64, except those that a float64
// cannot represent exactly: they stay json.Number.
func decodeResponse(answer []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	switch v := into.(type) {
	case *object:
		numbersToFloat(*v)
	case *resourceList:
		for _, o := range slices.Concat(v.Data, v.Logs) {
			numbersToFloat(o)
		}
	}
	return nil
}

// numbersToFloat replaces each json.Number in a value by a float64, unless the float64 has another decimal form.
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

// nameOf returns the name of the resource with an ID, or the ID if the user cannot see the resource. api is the API's list
// of such resources.
func (r *Request) nameOf(api, id string) string {
	if id == "" {
		return ""
	}
	path := api + "/" + id
	if name, ok := r.names[path]; ok {
		return name
	}
	name := short(id)
	if o, err := r.get(path); err == nil && text(o, "name") != "" {
		name = text(o, "name")
	}
	if r.names == nil {
		r.names = map[string]string{}
	}
	r.names[path] = name
	return name
}

// nameCell returns a cell with the name of a resource and a link to its page.
func (r *Request) nameCell(api, page, id string) cell {
	if id == "" {
		return cell{}
	}
	return cell{Text: r.nameOf(api, id), Link: page + "/" + id}
}

// isNotVisible reports whether an error means that a page has nothing to show: the resource does not exist, is not
// ready, or is hidden from the user. The page then omits the section with the resource.
func isNotVisible(err error) bool {
	p, ok := err.(*problem) //nolint:errorlint // callAPI wraps no errors
	return ok && (p.Status == http.StatusNotFound || p.Status == http.StatusForbidden || p.Status == http.StatusConflict)
}

package apitest

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/callboard/callboard/httpapi/openapi"
)

// Isolation is what came of asking for what is not one's own.
type Isolation struct {
	Checked   []string // routes that name something which is there for its owner
	Unchecked []string // routes that name something of which the walk has made none
	Faults    []string // what was not answered with 404 not_found
}

// maxBodies is how many good bodies a route is sent before it is believed that
// it looks at them before it looks for what its path names.
const maxBodies = 12

// CheckIsolation asks for everything whose name stands in a path, once Run has made it
// or it is among made, the ids by the path of their collection, as somebody who
// may do everything in another place: every route of the document has to answer
// that there is no such thing.
func (w *Walk) CheckIsolation(made map[string]string, send func(Request) (Reply, error)) (Isolation, error) {
	var out Isolation
	there := maps.Clone(made)
	for _, o := range w.order(0) {
		if !strings.Contains(o.Path, "{") {
			continue
		}
		route := o.Method + " " + o.Path
		collection, rest, _ := strings.Cut(o.Path, "/{")
		name, _, _ := strings.Cut(rest, "}")
		id, known := there[collection]
		if !known {
			var err error
			if id, err = w.standing(collection, name); err != nil {
				return out, err
			}
			there[collection] = id
		}
		if id == "" {
			out.Unchecked = append(out.Unchecked, route)
			continue
		}
		out.Checked = append(out.Checked, route)
		what, err := w.asks(o, name, id, send)
		if err != nil {
			return out, err
		}
		if what != "" {
			out.Faults = append(out.Faults, route+": "+what)
		}
	}
	return out, nil
}

// standing is the id of something below a collection that is there for its
// owner; "": there is nothing.
func (w *Walk) standing(collection, name string) (string, error) {
	kind := w.kindBelow(collection, name)
	for _, id := range slices.Backward(w.pool.ids[kind]) {
		r, err := w.Send(Request{Method: http.MethodGet, Path: collection + "/" + id})
		if err != nil {
			return "", err
		}
		if r.Status == http.StatusOK {
			return id, nil
		}
	}
	return "", nil
}

// asks sends good requests until one gets as far as its path, and says how the
// answer is not the one that a stranger gets; "": it is.
func (w *Walk) asks(o *openapi.Operation, name, id string, send func(Request) (Reply, error)) (string, error) {
	var r Reply
	for range maxBodies {
		a := attempt{Request: Request{Method: o.Method, Header: map[string]string{}}, good: true}
		a.Kind, a.Body = w.body(o, &a, 0)
		whole := *o
		whole.Path = strings.Replace(o.Path, "{"+name+"}", id, 1)
		a.Path = w.path(&whole, &a, false)
		if query := w.needed(o); query != "" {
			a.Path += "?" + query
		}
		var err error
		if r, err = send(a.Request); err != nil {
			return "", fmt.Errorf("%s %s: %w", a.Method, a.Path, err)
		}
		if err = w.Contract.Check(a.Method, a.Path, r.Status, r.Header, r.Body); err != nil {
			return err.Error(), nil //nolint:nilerr // what is wrong is the answer
		}
		switch {
		case r.Status == http.StatusNotFound && bytes.Contains(r.Body, []byte(`"code":"not_found"`)):
			return "", nil
		case r.Status != http.StatusUnprocessableEntity && r.Status != http.StatusBadRequest && r.Status != http.StatusUnsupportedMediaType:
			return fmt.Sprintf("%d %.300s", r.Status, r.Body), nil
		}
	}
	return fmt.Sprintf("only its body was looked at: %d %.300s", r.Status, r.Body), nil
}

// needed is the query that a route demands.
func (w *Walk) needed(o *openapi.Operation) string {
	var all []string
	for _, p := range o.Parameters {
		if p.In == "query" && p.Required {
			all = append(all, fmt.Sprintf("%s=%v", p.Name, w.value(p.Schema, p.Name, 0, false)))
		}
	}
	return strings.Join(all, "&")
}

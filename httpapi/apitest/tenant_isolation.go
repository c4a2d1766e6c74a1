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

// Isolation is the result of CheckIsolation, which requests the resources of another workspace.
type Isolation struct {
	Checked   []string // routes that were requested with the id of an existing resource
	Unchecked []string // routes for which the owner has no resource
	Faults    []string // routes that did not answer 404 not_found
}

// maxBodies is the number of valid bodies that are sent to a route until one passes the body validation. A route that
// refuses all of them validates the body before the id in the path.
const maxBodies = 12

// CheckIsolation requests resources with a credential of another workspace that has all permissions. Every route with
// an id must answer 404 not_found. The ids are those in made, by collection path, or those of resources that Run created.
func (w *Walk) CheckIsolation(made map[string]string, send func(Request) (Reply, error)) (Isolation, error) {
	var out Isolation
	there := maps.Clone(made)
	for _, o := range w.orderedOperations(0) {
		if !strings.Contains(o.Path, "{") {
			continue
		}
		route := o.Method + " " + o.Path
		collection, rest, _ := strings.Cut(o.Path, "/{")
		name, _, _ := strings.Cut(rest, "}")
		id, known := there[collection]
		if !known {
			var err error
			if id, err = w.existingID(collection, name); err != nil {
				return out, err
			}
			there[collection] = id
		}
		if id == "" {
			out.Unchecked = append(out.Unchecked, route)
			continue
		}
		out.Checked = append(out.Checked, route)
		what, err := w.requestForeign(o, name, id, send)
		if err != nil {
			return out, err
		}
		if what != "" {
			out.Faults = append(out.Faults, route+": "+what)
		}
	}
	return out, nil
}

// existingID returns the id of a resource that still exists in a collection, "" if there is none.
func (w *Walk) existingID(collection, name string) (string, error) {
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

// requestForeign requests a resource of another workspace with generated bodies until one passes the body validation.
// It describes how the response differs from 404 not_found, "" if it does not.
func (w *Walk) requestForeign(o *openapi.Operation, name, id string, send func(Request) (Reply, error)) (string, error) {
	var r Reply
	for range maxBodies {
		a := testRequest{Request: Request{Method: o.Method, Header: map[string]string{}}, good: true}
		a.Kind, a.Body = w.body(o, &a, 0)
		whole := *o
		whole.Path = strings.Replace(o.Path, "{"+name+"}", id, 1)
		a.Path = w.path(&whole, &a, false)
		if query := w.requiredQuery(o); query != "" {
			a.Path += "?" + query
		}
		var err error
		if r, err = send(a.Request); err != nil {
			return "", fmt.Errorf("%s %s: %w", a.Method, a.Path, err)
		}
		if err = w.Contract.Check(a.Method, a.Path, r.Status, r.Header, r.Body); err != nil {
			return err.Error(), nil //nolint:nilerr // the response is wrong, not the test
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

// requiredQuery returns a query string with generated values for the required query parameters of an operation.
func (w *Walk) requiredQuery(o *openapi.Operation) string {
	var all []string
	for _, p := range o.Parameters {
		if p.In == "query" && p.Required {
			all = append(all, fmt.Sprintf("%s=%v", p.Name, w.value(p.Schema, p.Name, 0, false)))
		}
	}
	return strings.Join(all, "&")
}

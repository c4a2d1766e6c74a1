// Package apitest tests the API against its own OpenAPI document. It sends valid, boundary and invalid requests to
// every route and validates the responses. It takes all routes from the document.
package apitest

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callboard/callboard/httpapi/openapi"
)

// Contract validates requests and responses against an OpenAPI document.
type Contract struct {
	*openapi.Document

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

const documentURL = "http://apitest/openapi.json"

// Read parses an OpenAPI document into a Contract. It fails if the document is not valid JSON.
func Read(document []byte) (*Contract, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("apitest: %w", err)
	}
	read, err := openapi.Parse(document)
	if err != nil {
		return nil, err
	}
	c := &Contract{Document: read, compiler: jsonschema.NewCompiler(), schemas: make(map[string]*jsonschema.Schema)}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	if err = c.compiler.AddResource(documentURL, doc); err != nil {
		return nil, fmt.Errorf("apitest: %w", err)
	}
	return c, nil
}

// Operation returns the operation of the document that serves a method and path, nil if there is none.
func (c *Contract) Operation(method, path string) *openapi.Operation {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	var best *openapi.Operation
	for _, o := range c.Operations {
		names := strings.Split(o.Path, "/")
		if o.Method != method || len(names) != len(parts) {
			continue
		}
		fits := true
		for i := range names {
			fits = fits && (names[i] == parts[i] || strings.HasPrefix(names[i], "{"))
		}
		if fits && (best == nil || strings.Count(o.Path, "{") < strings.Count(best.Path, "{")) {
			best = o
		}
	}
	return best
}

// Check returns an error that says how a response violates the OpenAPI document, nil if it does not.
func (c *Contract) Check(method, path string, status int, header http.Header, body []byte) error {
	if method == http.MethodOptions { // CORS preflight requests are not in the document
		return nil
	}
	head := method == http.MethodHead
	if head { // the document describes only GET
		method = http.MethodGet
	}
	o := c.Operation(method, path)
	if o == nil {
		if slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable}, status) {
			return nil
		}
		return fmt.Errorf("%s %s is not in the document, and answered %d", method, path, status)
	}
	at := fmt.Sprintf("%s %s %d", method, o.Path, status)
	code := strconv.Itoa(status)
	if head && len(body) > 0 {
		return fmt.Errorf("HEAD %s answered with a body: %.300s", o.Path, body)
	}
	if head && status == http.StatusMethodNotAllowed && isContinuous(o) {
		return nil
	}
	r := c.Response(o, code)
	if r == nil {
		return fmt.Errorf("%s: the document does not know the status; the answer was %.300s", at, body)
	}
	for name, h := range r.Headers {
		if header.Get(name) == "" && h.Ref != "" && !isOptionalHeader(name) {
			return fmt.Errorf("%s: the header %s is missing", at, name)
		}
	}
	if len(r.Content) == 0 && len(body) == 0 {
		return nil
	}
	if head && status >= http.StatusBadRequest {
		return nil
	}
	kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	content, ok := r.Content[kind]
	if !ok {
		return fmt.Errorf("%s: the document does not know the type %q", at, kind)
	}
	if kind != "application/json" || content.Schema == nil || head {
		return nil
	}
	place := []string{"paths", o.Path, strings.ToLower(method), "responses", code}
	if o.Responses[code].Ref != "" {
		place = []string{"components", "responses", code}
	}
	if err := c.validate(append(place, "content", kind, "schema"), body); err != nil {
		return fmt.Errorf("%s answered %.400s: %w", at, body, err)
	}
	return nil
}

// isOptionalHeader reports whether a response may omit a documented header. The rate limit headers are missing until
// the server has identified the client.
func isOptionalHeader(name string) bool {
	return strings.HasPrefix(name, "X-Ratelimit-") || strings.HasPrefix(name, "X-RateLimit-")
}

// CheckRequest returns an error that says how the JSON body of a request violates the OpenAPI document, nil if it does not.
func (c *Contract) CheckRequest(o *openapi.Operation, body []byte) error {
	return c.validate([]string{"paths", o.Path, strings.ToLower(o.Method), "requestBody", "content", "application/json", "schema"}, body)
}

// CheckResponse returns an error that says how the JSON body of a response violates the OpenAPI document, nil if it does not.
func (c *Contract) CheckResponse(o *openapi.Operation, status int, body []byte) error {
	return c.validate([]string{"paths", o.Path, strings.ToLower(o.Method), "responses", strconv.Itoa(status), "content", "application/json", "schema"}, body)
}

// CompileAll compiles the schemas of all responses and returns the errors of the invalid ones.
func (c *Contract) CompileAll() error {
	var errs []error
	for _, o := range c.Operations {
		for status, r := range o.Responses {
			for kind := range r.Content {
				_, err := c.schema([]string{"paths", o.Path, strings.ToLower(o.Method), "responses", status, "content", kind, "schema"})
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

func (c *Contract) validate(place []string, body []byte) error {
	s, err := c.schema(place)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return s.Validate(value)
}

func (c *Contract) schema(place []string) (*jsonschema.Schema, error) {
	at := pointer(place...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.schemas[at]; s != nil {
		return s, nil
	}
	s, err := c.compiler.Compile(at)
	if err != nil {
		return nil, fmt.Errorf("apitest: %w", err)
	}
	c.schemas[at] = s
	return s, nil
}

func pointer(parts ...string) string {
	clean := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	for i, p := range parts {
		parts[i] = clean.Replace(p)
	}
	return documentURL + "#/" + strings.Join(parts, "/")
}

// isContinuous reports whether a GET route is an event stream or a WebSocket. Such a route answers HEAD with 405.
func isContinuous(o *openapi.Operation) bool {
	if o.Responses["101"] != nil {
		return true
	}
	r := o.Responses["200"]
	if r == nil {
		return false
	}
	_, streams := r.Content["text/event-stream"]
	return streams
}

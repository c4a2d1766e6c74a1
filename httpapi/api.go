package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
)

// operation is a route as the document shows it.
type operation struct {
	method, path string
	id           string // operationId
	tag          string
	summary      string
	about        string       // more than the summary, if there is more to say
	status       int          // of success; 0: 200
	errors       []int        // beside those that every route can answer
	open         bool         // needs no credential
	unchecked    bool         // the handler checks the body against its schema, piece by piece
	later        *huma.Schema // of a 202: what was asked for is still to come
	credential   credentialKind
	live         bool // a stream or a socket: nothing to ask for by HEAD
}

func (o operation) key() string { return o.method + " " + o.path }

// failures are the error statuses of a route.
func (o operation) failures() []int {
	all := []int{
		http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge, http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusServiceUnavailable,
	}
	if !o.open {
		all = append(all, http.StatusUnauthorized, http.StatusForbidden)
	}
	if strings.Contains(o.path, "{id}") {
		all = append(all, http.StatusNotFound)
	}
	if strings.HasPrefix(o.path, underVersion) {
		all = append(all, http.StatusUnprocessableEntity)
	}
	if o.method != http.MethodGet && o.method != http.MethodDelete {
		all = append(all, http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge,
			http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity)
	}
	return append(all, o.errors...)
}

func (o operation) huma() huma.Operation {
	h := huma.Operation{
		OperationID: o.id, Method: o.method, Path: o.path, Summary: o.summary, Description: o.credential.describe(o.about),
		Tags: []string{o.tag}, DefaultStatus: o.status, Errors: o.failures(), MaxBodyBytes: -1, BodyReadTimeout: -1,
		SkipValidateBody: o.unchecked,
	}
	if h.DefaultStatus == 0 {
		h.DefaultStatus = http.StatusOK
	}
	if o.later != nil {
		h.Responses = map[string]*huma.Response{"202": response("Still to come: ask again.", fiber.MIMEApplicationJSON, o.later)}
	}
	h.Security = []map[string][]string{} // none, and said so
	if !o.open {
		h.Security = []map[string][]string{{"api_key": {}}}
	}
	return h
}

// paramEnd ends the name of a member in the text of an error: that is all that
// the library keeps of it.
const paramEnd = "\x00"

// unmarshal is domain.DecodeJSON for the library.
func unmarshal(text []byte, v any) error {
	err := domain.DecodeJSON(text, v)
	if e, ok := errors.AsType[*domain.Error](err); ok {
		return errors.New(e.Param + paramEnd + e.Message)
	}
	return err
}

// schemaName is the name of a type in the document.
func schemaName(t reflect.Type, hint string) string { return huma.DefaultSchemaNamer(t, hint) }

// add registers a JSON route: admit, read, validate, handle, respond.
func add[I, O any](r *Router, op operation, handle func(context.Context, domain.Principal, *I) (*O, error)) {
	r.ruleOf(op)
	if r.registering {
		registerJSON[I, O](r.Registry, op)
		return
	}
	r.handlers[op.key()] = withPathLimit(handle)
	r.serve(op)
}

// ruleOf returns the permissions of a route; a route without them is a fault of the program.
func (s *Router) ruleOf(op operation) rule {
	r, ok := s.rules[op.key()]
	if !ok {
		panic("httpapi: no rule for " + op.key())
	}
	if s.registering {
		s.credentials[op.key()] = op.credential
	}
	return r
}

// answer is a response with a body and nothing else.
type answer[T any] struct {
	Body T
}

func ok[T any](v T, err error) (*answer[T], error) {
	if err != nil {
		return nil, err
	}
	return &answer[T]{Body: v}, nil
}

// One names the resource in the path.
type One struct {
	ID string `path:"id" doc:"The resource's id."`
}

// named checks the id in the path: what cannot be one is not found.
func named(kind domain.Prefix, id string) (string, error) {
	good, err := domain.ParseID(kind, id)
	if err != nil {
		return "", domain.Errorf(domain.CodeNotFound, "There is no such %s.", kind)
	}
	return good, nil
}

// gate stands before every JSON route.
func gate(hc huma.Context, next func(huma.Context)) {
	c := humafiber.UnwrapV2(hc)
	tripOf(c.Context()).visit.router.gate(c, hc, next)
}

func (s *Router) gate(c *fiber.Ctx, hc huma.Context, next func(huma.Context)) {
	op := hc.Operation()
	route := op.Method + " " + op.Path
	if op.Method == http.MethodHead {
		route = http.MethodGet + " " + op.Path
	}
	r := s.rules[route]
	if err := s.access.Admit(c, r, route); err != nil {
		_ = s.refuse(c, err) // into memory: cannot fail
		return
	}
	if err := s.queries.check(c, route); err != nil {
		_ = s.refuse(c, err)
		return
	}
	b := bodyOf(c)
	b.limit = s.jsonLimit
	text, err := b.all(c.Request().Header.ContentLength())
	if err == nil {
		err = jsonOnly(c, len(text))
	}
	if err == nil && op.RequestBody != nil && len(text) > 0 {
		err = domain.CheckJSON(text)
	}
	if err == nil {
		err = patchObject(c, text)
	}
	if err != nil {
		_ = s.refuse(c, err)
		return
	}
	do := func() { next(&read{humaContext: hc, text: text, body: bytes.NewReader(text)}) }
	if isForwarded(c) { // another node has done the rest
		do()
		return
	}
	s.idempotency.RunOnce(c, text, func() {
		if sent, err := s.forwarder.Forward(c, route, text); err != nil {
			_ = s.refuse(c, err)
			return
		} else if sent {
			s.audit.RecordResponse(c, r)
			return
		}
		s.audit.RecordWithChange(c, r)
		do()
		s.audit.RecordResponse(c, r)
	})
}

// jsonOnly refuses a body that does not claim to be JSON in plain coding.
func jsonOnly(c *fiber.Ctx, size int) error {
	if enc := c.Get(fiber.HeaderContentEncoding); enc != "" && !strings.EqualFold(enc, "identity") {
		return domain.Errorf(domain.CodeUnsupportedMedia, "The body must not be compressed.")
	}
	kind := mediaType(c)
	if size > 0 && kind != fiber.MIMEApplicationJSON && (kind != mimeMergePatch || c.Method() != fiber.MethodPatch) {
		return domain.Errorf(domain.CodeUnsupportedMedia, "The body must be JSON: Content-Type: application/json.")
	}
	return nil
}

func mediaType(c *fiber.Ctx) string {
	kind, _, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil {
		return ""
	}
	return kind
}

func bodyOf(c *fiber.Ctx) *body { return &tripOf(c.Context()).body }

// read is a huma.Context whose body was read already, within its limits.
type read struct {
	humaContext
	text []byte
	body io.Reader // reads text
}

// humaContext is huma.Context under a name that hides none of its methods.
type humaContext huma.Context

// Unwrap lets the adapter find its own context.
func (r *read) Unwrap() huma.Context { return r.humaContext }

// Context is the request's as it is now: an Idempotency-Key adds to it.
func (r *read) Context() context.Context { return humafiber.UnwrapV2(r.humaContext).UserContext() }

// BodyReader is the body.
func (r *read) BodyReader() io.Reader { return r.body }

// raw registers a route that is not JSON in and out. The document learns of it
// from the operation that the caller has described.
func (s *Router) raw(op operation, describe func(*huma.Operation), handle fiber.Handler) {
	s.rawBy(op, func(c *fiber.Ctx, r rule, route string) error { return s.access.Admit(c, r, route) }, describe, handle)
}

// rawBy is raw with another way in.
func (s *Router) rawBy(op operation, admit func(*fiber.Ctx, rule, string) error, describe func(*huma.Operation), handle fiber.Handler) {
	r := s.ruleOf(op)
	if s.registering {
		h := op.huma()
		s.describeRaw(&h, op, describe)
		return
	}
	s.route(op, func(c *fiber.Ctx) error {
		err := admit(c, r, op.key())
		if err == nil {
			err = s.queries.check(c, op.key())
		}
		if err != nil {
			return s.refuse(c, err)
		}
		s.audit.RecordWithChange(c, r)
		if err = handle(c); err != nil {
			return s.refuse(c, err)
		}
		s.audit.RecordResponse(c, r)
		return nil
	})
}

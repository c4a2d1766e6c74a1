package router

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

// Operation is a route as the document shows it.
type Operation struct {
	Method, Path   string
	ID             string // operationId
	Tag            string
	Summary        string
	Description    string       // more than the summary, if there is more to say
	Status         int          // of success; 0: 200
	Errors         []int        // beside those that every route can answer
	Public         bool         // needs no credential
	SkipValidation bool         // the handler checks the body against its schema, piece by piece
	Pending        *huma.Schema // of a 202: what was asked for is still to come
	Credential     CredentialKind
	Stream         bool // a stream or a socket: nothing to ask for by HEAD
}

func (o Operation) key() string { return o.Method + " " + o.Path }

// failures are the error statuses of a route.
func (o Operation) failures() []int {
	all := []int{
		http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge, http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusServiceUnavailable,
	}
	if !o.Public {
		all = append(all, http.StatusUnauthorized, http.StatusForbidden)
	}
	if strings.Contains(o.Path, "{id}") {
		all = append(all, http.StatusNotFound)
	}
	if strings.HasPrefix(o.Path, underVersion) {
		all = append(all, http.StatusUnprocessableEntity)
	}
	if o.Method != http.MethodGet && o.Method != http.MethodDelete {
		all = append(all, http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge,
			http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity)
	}
	return append(all, o.Errors...)
}

func (o Operation) huma() huma.Operation {
	h := huma.Operation{
		OperationID: o.ID, Method: o.Method, Path: o.Path, Summary: o.Summary, Description: o.Credential.describe(o.Description),
		Tags: []string{o.Tag}, DefaultStatus: o.Status, Errors: o.failures(), MaxBodyBytes: -1, BodyReadTimeout: -1,
		SkipValidateBody: o.SkipValidation,
	}
	if h.DefaultStatus == 0 {
		h.DefaultStatus = http.StatusOK
	}
	if o.Pending != nil {
		h.Responses = map[string]*huma.Response{"202": DescribeResponse("Still to come: ask again.", fiber.MIMEApplicationJSON, o.Pending)}
	}
	h.Security = []map[string][]string{} // none, and said so
	if !o.Public {
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

// Add registers a JSON route: admit, read, validate, handle, respond.
func Add[I, O any](r *Router, op Operation, handle func(context.Context, domain.Principal, *I) (*O, error)) {
	r.ruleOf(op)
	if r.registering {
		registerJSON[I, O](r.Registry, op)
		return
	}
	r.handlers[op.key()] = withPathLimit(handle)
	r.serveJSON(op)
}

// ruleOf returns the permissions of a route; a route without them is a fault of the program.
func (s *Router) ruleOf(op Operation) Rule {
	r, ok := s.Rules[op.key()]
	if !ok {
		panic("httpapi: no rule for " + op.key())
	}
	if s.registering {
		s.Credentials[op.key()] = op.Credential
	}
	return r
}

// Response is a response with a body and nothing else.
type Response[T any] struct {
	Body T
}

// CachedResponse is a response that clients and proxies may store.
type CachedResponse[T any] struct {
	Control string `header:"Cache-Control"`
	Body    T
}

// Respond answers with a body, or with the error.
func Respond[T any](v T, err error) (*Response[T], error) {
	if err != nil {
		return nil, err
	}
	return &Response[T]{Body: v}, nil
}

// IDParam names the resource in the path.
type IDParam struct {
	ID string `path:"id" doc:"The resource's id."`
}

// PathID checks the id in the path: what cannot be one is not found.
func PathID(kind domain.Prefix, id string) (string, error) {
	good, err := domain.ParseID(kind, id)
	if err != nil {
		return "", domain.Errorf(domain.CodeNotFound, "There is no such %s.", kind)
	}
	return good, nil
}

// runOperation stands before every JSON route.
func runOperation(hc huma.Context, next func(huma.Context)) {
	c := humafiber.UnwrapV2(hc)
	ExchangeOf(c.Context()).Request.Router.runOperation(c, hc, next)
}

func (s *Router) runOperation(c *fiber.Ctx, hc huma.Context, next func(huma.Context)) {
	op := hc.Operation()
	route := op.Method + " " + op.Path
	if op.Method == http.MethodHead {
		route = http.MethodGet + " " + op.Path
	}
	r := s.Rules[route]
	if err := s.access.Admit(c, r, route); err != nil {
		_ = s.RespondError(c, err) // into memory: cannot fail
		return
	}
	if err := s.queries.check(c, route); err != nil {
		_ = s.RespondError(c, err)
		return
	}
	b := BodyOf(c)
	b.Limit = s.JSONLimit
	text, err := b.ReadAll(c.Request().Header.ContentLength())
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
		_ = s.RespondError(c, err)
		return
	}
	do := func() { next(&readContext{humaContext: hc, text: text, body: bytes.NewReader(text)}) }
	if IsForwarded(c) { // another node has done the rest
		do()
		return
	}
	s.idempotency.RunOnce(c, text, func() {
		if sent, err := s.forwarder.Forward(c, route, text); err != nil {
			_ = s.RespondError(c, err)
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
	kind := MediaType(c)
	if size > 0 && kind != fiber.MIMEApplicationJSON && (kind != mimeMergePatch || c.Method() != fiber.MethodPatch) {
		return domain.Errorf(domain.CodeUnsupportedMedia, "The body must be JSON: Content-Type: application/json.")
	}
	return nil
}

// MediaType returns the media type of a request body without its parameters.
func MediaType(c *fiber.Ctx) string {
	kind, _, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil {
		return ""
	}
	return kind
}

// BodyOf returns the body of a request.
func BodyOf(c *fiber.Ctx) *Body { return &ExchangeOf(c.Context()).Body }

// readContext is a huma.Context whose body was read already, within its limits.
type readContext struct {
	humaContext
	text []byte
	body io.Reader // reads text
}

// humaContext is huma.Context under a name that hides none of its methods.
type humaContext huma.Context

// Unwrap lets the adapter find its own context.
func (r *readContext) Unwrap() huma.Context { return r.humaContext }

// Context is the request's as it is now: an Idempotency-Key adds to it.
func (r *readContext) Context() context.Context {
	return humafiber.UnwrapV2(r.humaContext).UserContext()
}

// BodyReader is the body.
func (r *readContext) BodyReader() io.Reader { return r.body }

// AddRaw registers a route that is not JSON in and out. The document learns of it
// from the operation that the caller has described.
func (s *Router) AddRaw(op Operation, describe func(*huma.Operation), handle fiber.Handler) {
	s.AddRawAdmitted(op, func(c *fiber.Ctx, r Rule, route string) error { return s.access.Admit(c, r, route) }, describe, handle)
}

// AddRawAdmitted is raw with another way in.
func (s *Router) AddRawAdmitted(op Operation, admit func(*fiber.Ctx, Rule, string) error, describe func(*huma.Operation), handle fiber.Handler) {
	r := s.ruleOf(op)
	if s.registering {
		h := op.huma()
		s.describeRaw(&h, op, describe)
		return
	}
	s.AddHandler(op, func(c *fiber.Ctx) error {
		err := admit(c, r, op.key())
		if err == nil {
			err = s.queries.check(c, op.key())
		}
		if err != nil {
			return s.RespondError(c, err)
		}
		s.audit.RecordWithChange(c, r)
		if err = handle(c); err != nil {
			return s.RespondError(c, err)
		}
		s.audit.RecordResponse(c, r)
		return nil
	})
}

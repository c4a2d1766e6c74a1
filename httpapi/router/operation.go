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

// Operation describes a route of the API and its entry in the OpenAPI document.
type Operation struct {
	Method, Path   string
	ID             string // operationId in the OpenAPI document
	Tag            string
	Summary        string
	Description    string       // details beyond the summary
	Status         int          // status of a successful response; 0: 200
	Errors         []int        // error statuses beyond those of every route
	Public         bool         // the route needs no credential
	SkipValidation bool         // the handler validates the body itself, part by part
	Pending        *huma.Schema // schema of a 202 response: the result is not ready yet
	Credential     CredentialKind
	Stream         bool // a stream or a WebSocket, for which HEAD is 405
}

func (o Operation) key() string { return o.Method + " " + o.Path }

// failures returns the HTTP statuses of the errors that a route can return.
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
	if strings.HasPrefix(o.Path, versionPrefix) {
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
		h.Responses = map[string]*huma.Response{"202": DescribeResponse("The result is not ready yet: try again later.", fiber.MIMEApplicationJSON, o.Pending)}
	}
	h.Security = []map[string][]string{} // an empty list: no credential is needed
	if !o.Public {
		h.Security = []map[string][]string{{"api_key": {}}}
	}
	return h
}

// paramEnd ends the member name at the start of an error text. The name is in the text because huma keeps only the text
// of a decoding error.
const paramEnd = "\x00"

// unmarshal decodes JSON for huma. The text of its error begins with the name of the invalid member and paramEnd.
func unmarshal(text []byte, v any) error {
	err := domain.DecodeJSON(text, v)
	if e, ok := errors.AsType[*domain.Error](err); ok {
		return errors.New(e.Param + paramEnd + e.Message)
	}
	return err
}

// schemaName returns the name of the schema of a Go type in the OpenAPI document.
func schemaName(t reflect.Type, hint string) string { return huma.DefaultSchemaNamer(t, hint) }

// Add registers a JSON route. The router authenticates each request and decodes and validates its body before handle
// runs.
func Add[I, O any](r *Router, op Operation, handle func(context.Context, domain.Principal, *I) (*O, error)) {
	r.ruleOf(op)
	if r.registering {
		registerJSON[I, O](r.Registry, op)
		return
	}
	r.handlers[op.key()] = withPathLimit(handle)
	r.serveJSON(op)
}

// ruleOf returns the access rule of a route. It panics if the rule is missing, which is a programming error.
func (s *Router) ruleOf(op Operation) AccessRule {
	r, ok := s.Rules[op.key()]
	if !ok {
		panic("httpapi: no rule for " + op.key())
	}
	if s.registering {
		s.Credentials[op.key()] = op.Credential
	}
	return r
}

// Response is a JSON response that sets no headers of its own.
type Response[T any] struct {
	Body T
}

// CachedResponse is a response that clients and proxies may cache.
type CachedResponse[T any] struct {
	Control string `header:"Cache-Control"`
	Body    T
}

// Respond returns a response with body v, or err.
func Respond[T any](v T, err error) (*Response[T], error) {
	if err != nil {
		return nil, err
	}
	return &Response[T]{Body: v}, nil
}

// IDParam reads the id of a resource from the path.
type IDParam struct {
	ID string `path:"id" doc:"The id of the resource."`
}

// PathID returns the canonical form of an id in the path. Error: not_found for an invalid id.
func PathID(kind domain.Prefix, id string) (string, error) {
	good, err := domain.ParseID(kind, id)
	if err != nil {
		return "", domain.Errorf(domain.CodeNotFound, "There is no such %s.", kind)
	}
	return good, nil
}

// runOperation is the huma middleware of every JSON route. It calls the method runOperation of the request's Router.
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
		_ = s.RespondError(c, err) // writes to memory: cannot fail
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
	if IsForwarded(c) { // the forwarding node has handled idempotency and the audit log
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

// jsonOnly returns an error for a body that is compressed or whose Content-Type is not JSON.
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

// MediaType returns the media type of a request body without its parameters, "" if the header is invalid.
func MediaType(c *fiber.Ctx) string {
	kind, _, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil {
		return ""
	}
	return kind
}

// BodyOf returns the body of a request.
func BodyOf(c *fiber.Ctx) *Body { return &ExchangeOf(c.Context()).Body }

// readContext is a huma.Context for a request whose body was read before, within the limits of the route.
type readContext struct {
	humaContext
	text []byte
	body io.Reader // a reader of text
}

// humaContext is huma.Context under another name. readContext embeds it and needs the name Context for a method.
type humaContext huma.Context

// Unwrap returns the huma.Context that the Fiber adapter created.
func (r *readContext) Unwrap() huma.Context { return r.humaContext }

// Context returns the current context of the request, because the idempotency middleware may have replaced it.
func (r *readContext) Context() context.Context {
	return humafiber.UnwrapV2(r.humaContext).UserContext()
}

// BodyReader returns a reader of the body.
func (r *readContext) BodyReader() io.Reader { return r.body }

// AddRaw registers a route whose request or response is not JSON. describe completes the entry of the route in the
// OpenAPI document.
func (s *Router) AddRaw(op Operation, describe func(*huma.Operation), handle fiber.Handler) {
	s.AddRawAdmitted(op, func(c *fiber.Ctx, r AccessRule, route string) error { return s.access.Admit(c, r, route) }, describe, handle)
}

// AddRawAdmitted registers a route like AddRaw, with admit instead of the default access check.
func (s *Router) AddRawAdmitted(op Operation, admit func(*fiber.Ctx, AccessRule, string) error, describe func(*huma.Operation), handle fiber.Handler) {
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

package router

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
)

const documentIntro = "Campaigns and calls by voice agents. A successful response is the bare resource, a failed one " +
	"`{\"success\": false, \"error\": {code, message, param?, details?, request_id}}`. Lists are pages, newest first. " +
	"Times are ISO 8601 in UTC. HEAD returns the headers of GET, except for streams and WebSockets. POST accepts an Idempotency-Key, except under /oauth/* and on the sign-in pages. An optional field of a request may be null, which means the same as leaving it out. PATCH is a JSON merge patch (RFC 7396): null removes the member or resets it to its default. An unknown query parameter of a route under /v1 is 422 unknown_parameter with its name."

// Tags of the operations that ignore the Idempotency-Key header.
const (
	OAuthTag  = "OAuth 2.0"
	SignInTag = "Sign-in"
)

// The header that makes a request idempotent, and the maximum length of its value in characters.
const (
	IdempotencyHeader = "Idempotency-Key"
	MaxIdempotencyKey = 255
)

// LimitHeaders returns the names of the response headers that describe a rate limit.
func LimitHeaders() []string {
	return []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Window"}
}

// SchemaOf returns the schema of a Go type in the OpenAPI document.
func SchemaOf[T any](api huma.API) *huma.Schema {
	t := reflect.TypeFor[T]()
	return api.OpenAPI().Components.Schemas.Schema(t, true, t.Name())
}

// DescribeResponse returns the OpenAPI description of a response with one media type. about is its text.
func DescribeResponse(about, kind string, schema *huma.Schema) *huma.Response {
	return &huma.Response{Description: about, Content: map[string]*huma.MediaType{kind: {Schema: schema}}}
}

// describeRaw adds an operation to the OpenAPI document. The handler of the operation is registered with Fiber, so huma
// does not describe it.
func (b *Registry) describeRaw(h *huma.Operation, op Operation, describe func(*huma.Operation)) {
	h.Responses = map[string]*huma.Response{}
	failure := b.API.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Failure](), true, "Failure")
	for _, status := range op.failures() {
		h.Responses[strconv.Itoa(status)] = DescribeResponse(http.StatusText(status), fiber.MIMEApplicationJSON, failure)
	}
	for _, name := range pathNames(op.Path) {
		h.Parameters = append(h.Parameters, &huma.Param{Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}})
	}
	describe(h)
	b.Constraints.apply(h)
	b.API.OpenAPI().AddOperation(h)
}

// operationOf returns the operation of a path for an HTTP method, nil if there is none.
func operationOf(item *huma.PathItem, method string) *huma.Operation {
	switch method {
	case http.MethodGet:
		return item.Get
	case http.MethodPost:
		return item.Post
	case http.MethodPut:
		return item.Put
	case http.MethodPatch:
		return item.Patch
	}
	return item.Delete
}

func pathNames(path string) []string {
	var names []string
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// FinishDocument completes the OpenAPI document after all routes are registered. It adds credentials, common response
// headers, descriptions, nullable objects, the schemas of PATCH bodies and examples.
func (b *Registry) FinishDocument() {
	o := b.API.OpenAPI()
	o.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"api_key": {Type: "http", Scheme: "bearer", Description: "An API key: svc_sk_live_… or svc_sk_test_…"},
		"token":   {Type: "http", Scheme: "bearer", BearerFormat: "JWT", Description: "A JWT from POST /v1/auth/token, for users of your web pages."},
		"oauth": {Type: "oauth2", Description: "Requires the enterprise plan.", Flows: &huma.OAuthFlows{
			AuthorizationCode: &huma.OAuthFlow{AuthorizationURL: "/oauth/authorize", TokenURL: "/oauth/token", Scopes: oauthScopes()}, //nolint:gosec // a path, not a credential
			ClientCredentials: &huma.OAuthFlow{TokenURL: "/oauth/token", Scopes: oauthScopes()},                                       //nolint:gosec // a path, not a credential
		}},
	}
	integer := &huma.Schema{Type: huma.TypeInteger}
	o.Components.Headers = map[string]*huma.Header{
		"X-Request-Id":          {Description: "Id of the request. Quote it in support requests.", Schema: &huma.Schema{Type: huma.TypeString}},
		"X-RateLimit-Limit":     {Description: "Requests per window.", Schema: integer},
		"X-RateLimit-Remaining": {Description: "Requests left in the window.", Schema: integer},
		"X-RateLimit-Reset":     {Description: "When the window ends, in Unix seconds.", Schema: integer},
		"X-RateLimit-Window":    {Description: "The length of the window in seconds.", Schema: integer},
		"Retry-After":           {Description: "Seconds to wait.", Schema: integer},
		"WWW-Authenticate":      {Description: "The authentication scheme.", Schema: &huma.Schema{Type: huma.TypeString}},
	}
	o.Components.Responses = make(map[string]*huma.Response)
	for _, item := range o.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil {
				b.queries.addOperation(op)
				op.Security = b.credentialsOf(op)
				finishOperation(op, o.Components.Responses)
				describeParameters(op)
			}
		}
	}
	allowNull(o.Components.Schemas)
	describeFields(o.Components.Schemas.Map())
	b.writeUpdateSchemas()
	b.addExamples()
	b.Constraints = nil
}

// credentialsOf returns the security requirements of an operation. A request must meet one of them.
func (b *Registry) credentialsOf(op *huma.Operation) []map[string][]string {
	if len(op.Security) == 0 {
		return op.Security
	}
	route := op.Method + " " + op.Path
	takes := func(p domain.Principal) bool { return b.Credentials[route].Refuse(p) == nil }
	var list []map[string][]string
	if takes(domain.Principal{KeyID: "key"}) {
		list = append(list, map[string][]string{"api_key": {}})
	}
	if takes(domain.Principal{KeyID: "key", UserID: "user"}) {
		list = append(list, map[string][]string{"token": {}})
	}
	if takes(domain.Principal{ClientID: "client"}) {
		for _, scope := range b.Rules[route].Permissions {
			list = append(list, map[string][]string{"oauth": {string(scope)}})
		}
	}
	return append(list, op.Security[1:]...) // tickets and signed links, which replace a credential
}

// oauthScopes returns the OAuth scopes, which are the permissions, with their descriptions.
func oauthScopes() map[string]string {
	return map[string]string{
		string(domain.AllRead): "read all resources", string(domain.AllWrite): "write all resources",
		string(domain.CallsRead): "read call data", string(domain.CallsWrite): "create and modify calls",
		string(domain.AgentsRead): "read agent configurations", string(domain.AgentsWrite): "modify agent configurations",
		string(domain.AnalyticsRead): "read analytics data",
	}
}

// finishOperation adds the Idempotency-Key parameter and the common response headers to an operation. It moves the error
// responses into the shared components of the document.
func finishOperation(op *huma.Operation, shared map[string]*huma.Response) {
	if op.Method == http.MethodPost && !slices.Contains(op.Tags, OAuthTag) && !slices.Contains(op.Tags, SignInTag) {
		most := MaxIdempotencyKey
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: IdempotencyHeader, In: "header", Description: "A repeated request with the same key, query and body within 24 hours gets the stored response (Idempotent-Replayed: true).",
			Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &most},
		})
	}
	for status, r := range op.Responses {
		isError := status >= "400"
		if isError && !hasOwnErrorFormat(r) {
			op.Responses[status] = &huma.Response{Ref: "#/components/responses/" + status}
			if shared[status] != nil {
				continue
			}
			shared[status] = r
		}
		r.Headers = responseHeaders(op.Method, status, isError || len(op.Security) > 0, r.Headers)
	}
}

// hasOwnErrorFormat reports whether an error response is an OAuth error or an HTML page, not the error envelope of the
// API.
func hasOwnErrorFormat(r *huma.Response) bool {
	for kind, m := range r.Content {
		if kind != fiber.MIMEApplicationJSON || m.Schema != nil && strings.HasSuffix(m.Schema.Ref, "/OAuthFailure") {
			return true
		}
	}
	return false
}

// responseHeaders adds references to the common headers of a response with this method and status to headers. limited says
// whether the rate limit headers are among them.
func responseHeaders(method, status string, limited bool, headers map[string]*huma.Param) map[string]*huma.Param {
	names := []string{"X-Request-Id"}
	if limited {
		names = append(names, LimitHeaders()...)
	}
	switch status {
	case "401":
		names = append(names, "WWW-Authenticate")
	case "202":
		if method == http.MethodGet { // a GET route of a file that is still being written
			names = append(names, "Retry-After")
		}
	case "429", "503":
		names = append(names, "Retry-After")
	}
	if headers == nil {
		headers = make(map[string]*huma.Param)
	}
	for _, n := range names {
		headers[n] = &huma.Header{Ref: "#/components/headers/" + n}
	}
	return headers
}

// allowNull allows null in the schema of every field that a response always contains and that may be nil: a pointer to a
// struct without omitempty.
func allowNull(r huma.Registry) {
	schemas := r.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		t := r.TypeFromRef("#/components/schemas/" + name)
		if t == nil {
			continue
		}
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() == reflect.Struct {
			allowNullIn(t, schemas[name])
		}
	}
}

func allowNullIn(t reflect.Type, schema *huma.Schema) {
	for f := range walkFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		object := f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct && f.Type.Elem() != reflect.TypeFor[time.Time]()
		if old := schema.Properties[name]; old != nil && object && options == "" {
			schema.Properties[name] = &huma.Schema{AnyOf: []*huma.Schema{old, {Type: "null"}}}
		}
	}
}

// walkFields yields the fields of a struct, including those of embedded structs.
func walkFields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for f := range t.Fields() {
			if f.Anonymous && f.Type.Kind() == reflect.Struct {
				for inner := range walkFields(f.Type) {
					if !yield(inner) {
						return
					}
				}
				continue
			}
			if !yield(f) {
				return
			}
		}
	}
}

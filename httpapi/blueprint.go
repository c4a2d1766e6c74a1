package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
)

// blueprint is shared by all servers of a process: the routes of the document, the
// schemas of requests and responses, and the handlers that decode and validate by
// them. It is immutable after draw. A handler finds the server of a request in the
// request's context.
type blueprint struct {
	api       huma.API
	rules     map[string]rule
	ownLimits map[string]pathLimit // by route

	byOperators map[string]rule // routes that need an operator's credential

	queries    queries
	settings   map[reflect.Type]*huma.Schema // schemas of the settings that PATCH bodies change, by type
	ruleBodies map[string]reflect.Type       // types of bodies with a ruleChecker, by route
	served     map[string]fiber.Handler      // by method and path, as Fiber spells it

	credentials map[string]credentialKind // that a route takes, by route

	constraints *constraints // nil after the routes are registered

	mu   sync.Mutex
	last *papers // of the last server that was made
}

// papers are the document as servers of one address show it.
type papers struct {
	version, url string
	document     func() []byte
	reference    func() ([]byte, error) // the same as a page
}

// theBlueprint draws it, once for all servers of a process.
var theBlueprint = sync.OnceValue(draw) //nolint:gochecknoglobals // never changed

// Prepare makes what all front doors of a process share: the first of them is
// made sooner after it.
func Prepare() {
	theBlueprint()
	newBoard()
	newPages()
}

// draw registers all routes with the library, for a server that serves nobody.
func draw() *blueprint {
	useEnvelope()
	b := &blueprint{
		rules: routeTable(), byOperators: tenantRules(), ownLimits: limitsByRoute(), queries: make(queries), credentials: make(map[string]credentialKind),
		served: make(map[string]fiber.Handler), settings: make(map[reflect.Type]*huma.Schema), ruleBodies: make(map[string]reflect.Type),
	}
	for route := range b.ownLimits {
		if _, ok := b.rules[route]; !ok {
			panic("httpapi: a limit names " + route + ", which is no route")
		}
	}
	b.api = b.newAPI()
	b.constraints = newConstraints(b.api.OpenAPI().Components.Schemas)
	s := &Server{blueprint: b, draws: true, app: fiber.New(), pages: newPages(), asks: make(map[string]any)}
	s.routes()
	s.describeEvents()
	s.finishDocument()
	b.constraints = nil
	return b
}

// newAPI makes the part of the door that speaks JSON.
func (b *blueprint) newAPI() huma.API {
	format := huma.Format{
		Marshal: domain.WriteJSON, Unmarshal: unmarshal,
	}
	cfg := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Callboard", Description: documentIntro, License: &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"},
			},
			Components: &huma.Components{Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName)},
		},
		Formats:       map[string]huma.Format{fiber.MIMEApplicationJSON: format, "json": format},
		DefaultFormat: fiber.MIMEApplicationJSON,
	}
	api := headAPI{humafiber.NewV2WithGroup(nil, register{served: b.served}, cfg)}
	api.UseMiddleware(gate)
	return api
}

// register keeps the handlers that the library makes.
type register struct {
	fiber.Router // of which only Add is called

	served map[string]fiber.Handler
}

// Add is told of a route.
func (r register) Add(method, path string, handlers ...fiber.Handler) fiber.Router {
	r.served[method+" "+path] = handlers[0]
	return r
}

// serverOf is the front door that a request came to.
func serverOf(ctx context.Context) *Server { return visitOf(ctx).server }

// drawn registers a JSON route with the library.
func drawn[I, O any](b *blueprint, op operation) {
	route := op.key()
	b.recordPatchType(reflect.TypeFor[I]())
	b.recordRuleBody(route, reflect.TypeFor[I]())
	huma.Register(b.api, op.huma(), func(ctx context.Context, in *I) (*O, error) {
		s := serverOf(ctx)
		do, ok := s.asks[route].(func(context.Context, domain.Principal, *I) (*O, error))
		if !ok {
			return nil, s.failure(ctx, fiber.ErrInternalServerError) // never: add has seen to it
		}
		out, err := do(ctx, visitOf(ctx).principal, in)
		if err != nil {
			return nil, s.failure(ctx, err)
		}
		return out, nil
	})
	b.constraints.apply(operationOf(b.api.OpenAPI().Paths[op.path], op.method))
}

// serve serves a route by what the library has made of it.
func (s *Server) serve(op operation) {
	path := fiberPath(op.path)
	s.app.Add(op.method, path, s.served[op.method+" "+path])
	if op.method == http.MethodGet {
		s.app.Add(http.MethodHead, path, s.served[http.MethodHead+" "+path])
	}
}

// fiberPath is a path of the document as Fiber spells it.
func fiberPath(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(path, "{", ":"), "}", "")
}

// papersOf is the document for a server's version and address.
func (b *blueprint) papersOf(version, url string) *papers {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == nil || b.last.version != version || b.last.url != url {
		made := &papers{version: version, url: url}
		made.document = sync.OnceValue(func() []byte { return b.write(version, url) })
		made.reference = sync.OnceValues(func() ([]byte, error) { return writeDocs(made.document()) })
		b.last = made
	}
	return b.last
}

func (b *blueprint) write(version, url string) []byte {
	whole := *b.api.OpenAPI()
	info := *whole.Info
	info.Version = version
	whole.Info, whole.Servers = &info, []*huma.Server{{URL: cmp.Or(url, "/")}}
	text, err := json.Marshal(&whole)
	if err != nil {
		panic("httpapi: the OpenAPI document cannot be written: " + err.Error())
	}
	return text
}

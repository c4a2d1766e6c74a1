package router

import (
	"context"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
)

// Registry is shared by all routers of a process: the routes of the document, the
// schemas of requests and responses, and the handlers that decode and validate by
// them. It is immutable once the document is complete. A handler finds the router of a request
// in the request's context.
type Registry struct {
	API   huma.API
	Rules map[string]Rule

	queries    queries
	settings   map[reflect.Type]*huma.Schema // schemas of the settings that PATCH bodies change, by type
	ruleBodies map[string]reflect.Type       // types of bodies with a ruleChecker, by route
	served     map[string]fiber.Handler      // by method and path, as Fiber spells it

	Credentials map[string]CredentialKind // that a route takes, by route

	Constraints *constraints // nil after the routes are registered
}

// NewRegistry returns a Registry without routes. Its router registers them.
func NewRegistry() *Registry {
	useFailures()
	b := &Registry{
		Rules: routeTable(), queries: make(queries), Credentials: make(map[string]CredentialKind),
		served: make(map[string]fiber.Handler), settings: make(map[reflect.Type]*huma.Schema), ruleBodies: make(map[string]reflect.Type),
	}
	b.API = b.newAPI()
	b.Constraints = newConstraints(b.API.OpenAPI().Components.Schemas)
	return b
}

// RegisteringRouter returns a router that registers routes and serves none.
func (b *Registry) RegisteringRouter() *Router {
	return &Router{Registry: b, registering: true, App: fiber.New(), handlers: make(map[string]any)}
}

// ServesJSON says whether a route was registered as a JSON route.
func (b *Registry) ServesJSON(route string) bool {
	method, path, _ := strings.Cut(route, " ")
	return b.served[method+" "+fiberPath(path)] != nil
}

// newAPI makes the part that decodes and validates JSON.
func (b *Registry) newAPI() huma.API {
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
	api := headAPI{humafiber.NewV2WithGroup(nil, handlerCollector{served: b.served}, cfg)}
	api.UseMiddleware(runOperation)
	return api
}

// handlerCollector keeps the handlers that the library makes.
type handlerCollector struct {
	fiber.Router // of which only Add is called

	served map[string]fiber.Handler
}

// Add keeps the handler of a route.
func (r handlerCollector) Add(method, path string, handlers ...fiber.Handler) fiber.Router {
	r.served[method+" "+path] = handlers[0]
	return r
}

// registerJSON registers a JSON route with the library.
func registerJSON[I, O any](b *Registry, op Operation) {
	route := op.key()
	b.recordPatchType(reflect.TypeFor[I]())
	b.recordRuleBody(route, reflect.TypeFor[I]())
	huma.Register(b.API, op.huma(), func(ctx context.Context, in *I) (*O, error) {
		v := RequestOf(ctx)
		r := v.Router
		handle, ok := r.handlers[route].(func(context.Context, domain.Principal, *I) (*O, error))
		if !ok {
			return nil, r.Failure(ctx, fiber.ErrInternalServerError) // never: add has set it
		}
		out, err := handle(ctx, v.Principal, in)
		if err != nil {
			return nil, r.Failure(ctx, err)
		}
		return out, nil
	})
	b.Constraints.apply(operationOf(b.API.OpenAPI().Paths[op.Path], op.Method))
}

// fiberPath is a path of the document as Fiber spells it.
func fiberPath(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(path, "{", ":"), "}", "")
}

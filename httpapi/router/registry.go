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

// Registry holds what all routers of a process share: the routes, schemas and JSON handlers of the OpenAPI document. The
// handlers decode and validate requests by the schemas. The Registry does not change once the document is complete. A
// handler finds the router of a request in the request's context.
type Registry struct {
	API   huma.API
	Rules map[string]AccessRule

	queries      queryParameters
	settings     map[reflect.Type]*huma.Schema // schemas of the settings that PATCH bodies change
	ruleBodies   map[string]reflect.Type       // types of bodies that are ruleCheckers, by route
	jsonHandlers map[string]fiber.Handler      // JSON handlers by method and Fiber path

	Credentials map[string]CredentialKind // accepted credentials, by route

	Constraints *constraints // nil after all routes are registered
}

// NewRegistry returns a Registry without routes. The router that RegisteringRouter returns adds them.
func NewRegistry() *Registry {
	useErrorEnvelope()
	b := &Registry{
		Rules: routeTable(), queries: make(queryParameters), Credentials: make(map[string]CredentialKind),
		jsonHandlers: make(map[string]fiber.Handler), settings: make(map[reflect.Type]*huma.Schema), ruleBodies: make(map[string]reflect.Type),
	}
	b.API = b.newAPI()
	b.Constraints = newConstraints(b.API.OpenAPI().Components.Schemas)
	return b
}

// RegisteringRouter returns a router that adds routes to the Registry and serves no requests.
func (b *Registry) RegisteringRouter() *Router {
	return &Router{Registry: b, registering: true, App: fiber.New(), handlers: make(map[string]any)}
}

// ServesJSON reports whether a route was registered as a JSON route.
func (b *Registry) ServesJSON(route string) bool {
	method, path, _ := strings.Cut(route, " ")
	return b.jsonHandlers[method+" "+fiberPath(path)] != nil
}

// newAPI returns the huma API, which decodes and validates the JSON of requests.
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
	api := headAPI{humafiber.NewV2WithGroup(nil, handlerCollector{handlers: b.jsonHandlers}, cfg)}
	api.UseMiddleware(runOperation)
	return api
}

// handlerCollector is a fiber.Router that stores the handlers that huma creates, instead of serving them.
type handlerCollector struct {
	fiber.Router // only its method Add is called

	handlers map[string]fiber.Handler
}

// Add stores the handler of a route.
func (r handlerCollector) Add(method, path string, handlers ...fiber.Handler) fiber.Router {
	r.handlers[method+" "+path] = handlers[0]
	return r
}

// registerJSON registers a JSON route with huma, which creates its handler and its entry in the OpenAPI document.
func registerJSON[I, O any](b *Registry, op Operation) {
	route := op.key()
	b.recordPatchType(reflect.TypeFor[I]())
	b.recordRuleBody(route, reflect.TypeFor[I]())
	huma.Register(b.API, op.huma(), func(ctx context.Context, in *I) (*O, error) {
		v := RequestOf(ctx)
		r := v.Router
		handle, ok := r.handlers[route].(func(context.Context, domain.Principal, *I) (*O, error))
		if !ok {
			return nil, r.Failure(ctx, fiber.ErrInternalServerError) // cannot happen: Add has set the handler
		}
		out, err := handle(ctx, v.Principal, in)
		if err != nil {
			return nil, r.Failure(ctx, err)
		}
		return out, nil
	})
	b.Constraints.apply(operationOf(b.API.OpenAPI().Paths[op.Path], op.Method))
}

// fiberPath converts a path of the OpenAPI document to the syntax of Fiber.
func fiberPath(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(path, "{", ":"), "}", "")
}

package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/httpapi/cluster"
	"github.com/callboard/callboard/httpapi/dashboard"
	"github.com/callboard/callboard/httpapi/middleware"
	"github.com/callboard/callboard/httpapi/pages"
	"github.com/callboard/callboard/httpapi/reference"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/token"
	"github.com/callboard/callboard/httpapi/v1/events"
)

// document is the OpenAPI document for one version of Callboard and one server URL.
type document struct {
	version, url string
	text         func() []byte
	reference    func() ([]byte, error) // the document as an HTML page
}

// documents holds the Registry of a process and the most recently requested OpenAPI document.
type documents struct {
	Registry *router.Registry

	mu   sync.Mutex
	last *document
}

// sharedDocuments registers all routes once and returns the documents that all servers of a process share.
var sharedDocuments = sync.OnceValue(registerDocuments) //nolint:gochecknoglobals // never changed

// Prepare registers the routes and parses the page templates, which all servers of a process share. The first server
// then starts faster.
func Prepare() {
	sharedDocuments()
	dashboard.Prepare()
	pages.Prepare()
}

// registerDocuments records the descriptions of all routes in a new Registry. It registers the routes on a server
// without services, which serves no requests.
func registerDocuments() *documents {
	b := router.NewRegistry()
	r := b.RegisteringRouter()
	s := &Server{Router: r, access: &middleware.Access{}, cluster: cluster.New(cluster.Config{}), issuer: token.NewIssuer("", nil), life: context.Background}
	s.registerRoutes()
	for _, route := range middleware.LimitedRoutes() {
		if !b.ServesJSON(route) {
			panic("httpapi: a limit names " + route + ", which is no JSON route")
		}
	}
	events.DescribeEvents(b)
	b.FinishDocument()
	return &documents{Registry: b}
}

// document returns the document for a version and a server URL.
func (d *documents) document(version, url string) *document {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last == nil || d.last.version != version || d.last.url != url {
		doc := &document{version: version, url: url}
		doc.text = sync.OnceValue(func() []byte { return d.write(version, url) })
		doc.reference = sync.OnceValues(func() ([]byte, error) { return reference.Render(doc.text()) })
		d.last = doc
	}
	return d.last
}

func (d *documents) write(version, url string) []byte {
	whole := *d.Registry.API.OpenAPI()
	info := *whole.Info
	info.Version = version
	whole.Info, whole.Servers = &info, []*huma.Server{{URL: cmp.Or(url, "/")}}
	text, err := json.Marshal(&whole)
	if err != nil {
		panic("httpapi: the OpenAPI document cannot be written: " + err.Error())
	}
	return text
}

// Document returns the OpenAPI document of the server as JSON.
func (s *Server) Document() []byte { return s.document.text() }

// registerDocument registers the routes that return the OpenAPI document and its HTML reference page.
func (s *Server) registerDocument() {
	s.AddRaw(router.Operation{Method: http.MethodGet, Path: "/openapi.json", ID: "getDocument", Tag: "Document", Summary: "Get this document", Public: true},
		func(h *huma.Operation) {
			h.Responses["200"] = router.DescribeResponse("OpenAPI 3.1.", fiber.MIMEApplicationJSON, &huma.Schema{Type: huma.TypeObject})
		},
		func(c *fiber.Ctx) error {
			c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
			c.Set(fiber.HeaderCacheControl, "public, max-age=300")
			return c.Send(s.Document())
		})
	s.AddRaw(router.Operation{
		Method: http.MethodGet, Path: "/docs", ID: "getReference", Tag: "Document", Summary: "Get this document as an HTML page", Public: true,
		Description: "An HTML page for browsers. It loads no other resources.",
	}, func(h *huma.Operation) {
		h.Responses["200"] = router.DescribeResponse("The reference.", fiber.MIMETextHTML, &huma.Schema{Type: huma.TypeString})
	}, func(c *fiber.Ctx) error {
		text, err := s.document.reference()
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
		c.Set(fiber.HeaderContentSecurityPolicy, reference.Policy())
		c.Set(fiber.HeaderCacheControl, "public, max-age=300")
		return c.Send(text)
	})
}

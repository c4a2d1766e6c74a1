package httpapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/events"
)

// document is the OpenAPI document of the servers of one address.
type document struct {
	version, url string
	text         func() []byte
	reference    func() ([]byte, error) // the same as a page
}

// documents are the Registry of a process and the document of the last server.
type documents struct {
	Registry *router.Registry

	mu   sync.Mutex
	last *document
}

// theDocuments registers all routes, once for all servers of a process.
var theDocuments = sync.OnceValue(registerRoutes) //nolint:gochecknoglobals // never changed

// Prepare makes what all servers of a process share: the first of them is
// made sooner after it.
func Prepare() {
	theDocuments()
	newBoard()
	newPages()
}

// registerRoutes registers all routes with the library, for a server that serves nobody.
func registerRoutes() *documents {
	b := router.NewRegistry()
	r := b.RegisteringRouter()
	s := &Server{Router: r, pages: newPages(), otherNodes: &otherNodes{Router: r}}
	s.routes()
	for route := range limitsByRoute() {
		if !b.ServesJSON(route) {
			panic("httpapi: a limit names " + route + ", which is no JSON route")
		}
	}
	events.DescribeEvents(b)
	b.FinishDocument()
	return &documents{Registry: b}
}

// document returns the document for a server's version and address.
func (d *documents) document(version, url string) *document {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last == nil || d.last.version != version || d.last.url != url {
		made := &document{version: version, url: url}
		made.text = sync.OnceValue(func() []byte { return d.write(version, url) })
		made.reference = sync.OnceValues(func() ([]byte, error) { return writeDocs(made.text()) })
		d.last = made
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

// Document is the OpenAPI document as it is served.
func (s *Server) Document() []byte { return s.document.text() }

func (s *Server) documentRoutes() {
	s.AddRaw(router.Operation{Method: http.MethodGet, Path: "/openapi.json", ID: "getDocument", Tag: "Document", Summary: "This document", Public: true},
		func(h *huma.Operation) {
			h.Responses["200"] = router.DescribeResponse("OpenAPI 3.1.", fiber.MIMEApplicationJSON, &huma.Schema{Type: huma.TypeObject})
		},
		func(c *fiber.Ctx) error {
			c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
			c.Set(fiber.HeaderCacheControl, "public, max-age=300")
			return c.Send(s.Document())
		})
}

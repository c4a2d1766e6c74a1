// Package dashboard renders the web dashboard. Its pages work without JavaScript. With JavaScript, htmx updates them.
// The package reads and changes data only through the API, with the permissions of the signed-in user.
package dashboard

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

//go:embed templates/*.html
var templates embed.FS

//go:embed assets
var assets embed.FS

// Policy is the Content-Security-Policy of every page. It allows only scripts, styles and audio from the service's own
// origin, and no inline code.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// API sends a request to the API for the signed-in user. It returns the status and the JSON body of the response. once
// is the Idempotency-Key of the request, "" for none.
type API func(method, path, contentType, once string, body io.Reader) (status int, answer []byte)

// Visitor is the signed-in user.
type Visitor struct {
	Name, Role, Workspace string
	Test                  bool                         // the user belongs to the test environment
	Fresh                 bool                         // signed in within the last 15 minutes
	Operator              bool                         // the user may use the operator's page
	Rights                func(permission string) bool // reports whether the user has a permission such as calls:write
}

// May reports whether the user has a permission.
func (v Visitor) May(permission string) bool { return v.Rights != nil && v.Rights(permission) }

// Request is a request of a browser for a dashboard page or a form action.
type Request struct {
	Method      string
	Path        string // without the query
	ID          string // id in the path; "": none
	Verb        string // action in the path after the id; "": none
	Query, Form url.Values
	ContentType string
	Body        io.Reader // body of an upload
	Part        string    // the part of the page that htmx updates; "": the whole page
	Visitor     Visitor
	API         API
	Ended       func() <-chan struct{} // returns a channel that is closed when the context of the request ends; nil: never
	Gone        func() bool            // reports whether the browser has disconnected; nil: never
}

// Response is the response to a Request: a page, or a redirect to Location.
type Response struct {
	Status   int
	Location string
	Body     []byte
	Fault    error // error while the page was rendered
}

// Route is a page or a form action. Paths have the syntax of Fiber.
type Route struct {
	Method, Path      string
	Upload            bool // the body is streamed to the API
	LongForm          bool // the form may hold a pathway or a conversation
	ReadOnly          bool // a POST that changes nothing
	NeedsRecentSignIn bool // needs a sign-in within the last 15 minutes
	Operator          bool // the route is for operators only
	serve             func(*Request) (view, error)
}

// view is the result of a page function: a template with its data, or a redirect.
type view struct {
	name, title string
	data        any
	to          string
}

// Dashboard renders the pages.
type Dashboard struct {
	pages map[string]*template.Template
}

// New parses the templates. It panics if a template is invalid, which is a programming error.
func New() *Dashboard {
	d := &Dashboard{pages: map[string]*template.Template{}}
	files, err := templates.ReadDir("templates")
	if err != nil {
		panic(err)
	}
	shared := template.Must(template.New("").Funcs(functions()).ParseFS(templates, "templates/frame.html", "templates/parts.html"))
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".html")
		if name == "frame" || name == "parts" {
			continue
		}
		page := template.Must(shared.Clone())
		d.pages[name] = template.Must(page.ParseFS(templates, "templates/"+f.Name()))
	}
	return d
}

// Asset returns a static file and its media type, nil if the file does not exist.
func Asset(name string) (content []byte, kind string) {
	switch path.Ext(name) {
	case ".css":
		kind = "text/css; charset=utf-8"
	case ".js":
		kind = "text/javascript; charset=utf-8"
	case ".txt":
		kind = "text/plain; charset=utf-8"
	default:
		return nil, ""
	}
	content, err := assets.ReadFile("assets/" + path.Base(name))
	if err != nil {
		return nil, ""
	}
	return content, kind
}

// frame is the data of the layout template that surrounds every page.
type frame struct {
	Title   string
	Visitor Visitor
	Menu    []menuEntry
	Problem *problem
	Done    string
	Once    string // idempotency key of the page's form
	Data    any
}

type menuEntry struct {
	Name, Path string
	Here       bool
}

// Serve renders the page of a route, or runs its form action. req is the request of the browser.
func (d *Dashboard) Serve(r Route, req *Request) Response {
	v, err := r.serve(req)
	if err == nil && v.to != "" {
		return Response{Status: http.StatusSeeOther, Location: v.to}
	}
	status := http.StatusOK
	if err != nil {
		var p *problem
		if !errors.As(err, &p) {
			return Response{Status: http.StatusInternalServerError, Fault: err}
		}
		status = p.Status
		if again, ok := resendPage(req, err); ok && v.name == "" {
			v = again
		}
		if v.name == "" {
			v = view{name: "problem", title: "Action failed"}
		}
		return d.render(status, v, req, p)
	}
	return d.render(status, v, req, nil)
}

// SignedOut renders the page for a client without a session.
func (d *Dashboard) SignedOut() Response {
	return d.render(http.StatusUnauthorized, view{name: "signedout", title: "Sign in"}, &Request{}, nil)
}

func (d *Dashboard) render(status int, v view, req *Request, p *problem) Response {
	page, ok := d.pages[v.name]
	if !ok {
		panic("dashboard: no page " + v.name)
	}
	f := frame{Title: v.title, Visitor: req.Visitor, Problem: p, Done: doneTexts()[req.Query.Get("done")], Once: req.nextIdempotencyKey(p), Data: v.data}
	if req.Visitor.Name != "" {
		f.Menu = menu(v.name, req.Visitor)
	}
	name := "frame"
	if slices.Contains(updatedParts(), req.Part) {
		name = req.Part
	}
	var b bytes.Buffer
	if err := page.ExecuteTemplate(&b, name, f); err != nil {
		return Response{Status: http.StatusInternalServerError, Fault: err}
	}
	return Response{Status: status, Body: b.Bytes()}
}

// updatedParts returns the names of the page sections that htmx requests separately to update an open page.
func updatedParts() []string { return []string{"live", "people", "chart"} }

// menu returns the menu entries that the user may see. current is the template name of the current page.
func menu(current string, visitor Visitor) []menuEntry {
	all := []struct {
		name, path, right string
		of                []string
	}{
		{"Overview", "/", "calls:read", []string{"overview"}},
		{"Campaigns", "/campaigns", "calls:read", []string{"campaigns", "campaign", "newcampaign", "decisions", "rehearsal"}},
		{"Calls", "/calls", "calls:read", []string{"calls", "call", "listen"}},
		{"Agents", "/agents", "agents:read", []string{"agents", "agent", "pathway", "editpathway", "trypathway"}},
		{"Numbers", "/numbers", "calls:read", []string{"numbers"}},
		{"Appointments", "/appointments", "agents:read", []string{"appointments", "calendar", "appointment", "newappointment"}},
		{"Messages", "/messages", "calls:read", []string{"messages", "thread"}},
		{"Webhooks", "/webhooks", "*:read", []string{"webhooks", "webhook"}},
		{"Usage", "/usage", "analytics:read", []string{"usage"}},
		{"Access", "/access", "*:read", []string{"access", "newkey"}},
		{"Settings", "/settings", "*:read", []string{"settings"}},
		{"Audit", "/audit", "*:read", []string{"audit"}},
		{"Operator", operatorPath, "*:read", []string{"operator"}},
	}
	var m []menuEntry
	for _, e := range all {
		if visitor.May(e.right) && (visitor.Operator || e.path != operatorPath) {
			m = append(m, menuEntry{Name: e.name, Path: e.path, Here: slices.Contains(e.of, current)})
		}
	}
	return m
}

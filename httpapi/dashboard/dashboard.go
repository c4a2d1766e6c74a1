// Package dashboard is what people see of the service: pages that a browser
// shows without a script, and that htmx keeps fresh where it runs. It knows
// HTML and the shape of the API, which it asks in the name of who is signed in,
// so nobody sees or does more here than there.
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

// Policy is the Content-Security-Policy of every page: scripts, styles and
// sound of the service's own alone, and nothing inline.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// API answers requests in the name of who is signed in: the status, and the
// body as JSON. once, where it is not "", is the Idempotency-Key.
type API func(method, path, contentType, once string, body io.Reader) (status int, answer []byte)

// Visitor is who looks.
type Visitor struct {
	Name, Role, Workspace string
	Test                  bool                         // of the test environment
	Fresh                 bool                         // has signed in a moment ago
	Operator              bool                         // sees all workspaces
	Rights                func(permission string) bool // such as calls:write
}

// May says whether the visitor has a permission.
func (v Visitor) May(permission string) bool { return v.Rights != nil && v.Rights(permission) }

// Request is what a browser asks for.
type Request struct {
	Method      string
	Path        string // without its query
	ID          string // of the resource in the path, "" where there is none
	Verb        string // behind it, "" where there is none
	Query, Form url.Values
	ContentType string
	Body        io.Reader // of an upload
	Part        string    // htmx wants a part alone that changes, one of parts
	Visitor     Visitor
	API         API
	Ended       func() <-chan struct{} // closed once the answer comes too late; nil: never
	Gone        func() bool            // nobody is there any more to take the answer; nil: never
}

// Response is what it gets: a page, or where to go next.
type Response struct {
	Status   int
	Location string
	Body     []byte
	Fault    error // of a page that could not be made
}

// Route is a page or a button. Paths are Fiber's.
type Route struct {
	Method, Path string
	Upload       bool // the body is passed on as it comes
	Long         bool // its form may be as long as a pathway
	Reads        bool // a POST that changes nothing
	Again        bool // only for who has signed in a moment ago
	Operator     bool // only for operators
	serve        func(*Request) (view, error)
}

// view is a page: its template, what it shows, or where to go instead.
type view struct {
	name, title string
	data        any
	to          string
}

// Dashboard shows pages.
type Dashboard struct {
	pages map[string]*template.Template
}

// New parses the templates; it panics where one is broken, which is a fault of
// the program.
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

// Asset is a file that pages load, with its type; nil: there is none.
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

// frame is what every page is shown in.
type frame struct {
	Title   string
	Visitor Visitor
	Menu    []entry
	Problem *problem
	Done    string
	Once    string // names the form of the page, where it has one that makes something
	Data    any
}

type entry struct {
	Name, Path string
	Here       bool
}

// Serve answers a request for a route.
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
		if again, ok := returnForm(req, err); ok && v.name == "" {
			v = again
		}
		if v.name == "" {
			v = view{name: "problem", title: "Something is in the way"}
		}
		return d.render(status, v, req, p)
	}
	return d.render(status, v, req, nil)
}

// SignedOut is the page for whom nobody knows.
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

// updatedParts are the templates that htmx asks for alone.
func updatedParts() []string { return []string{"live", "people", "chart"} }

// menu are the pages that the head of each names; here is the template of the
// one that is shown.
func menu(here string, who Visitor) []entry {
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
	var m []entry
	for _, e := range all {
		if who.May(e.right) && (who.Operator || e.path != operatorPath) {
			m = append(m, entry{Name: e.name, Path: e.path, Here: slices.Contains(e.of, here)})
		}
	}
	return m
}

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
	"slices"
	"strings"
	"time"
)

//go:embed templates/*.html
var templates embed.FS

// Policy is the Content-Security-Policy of every page. It allows only scripts, styles and audio from the service's own
// origin, and no inline code.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// API sends a request to the API for the signed-in user. It returns the status and the JSON body of the response. once
// is the Idempotency-Key of the request, "" for none.
type API func(method, path, contentType, once string, body io.Reader) (status int, answer []byte)

// Visitor is the signed-in user.
type Visitor struct {
	Name, Role, Workspace string
	Theme                 string                       // light or dark; "": that of the system
	Zone                  *time.Location               // time zone in which pages show times
	Test                  bool                         // the session shows the test environment
	TestOnly              bool                         // the user cannot leave the test environment
	Fresh                 bool                         // signed in within the last 15 minutes
	Operator              bool                         // the user may use the operator's page
	Rights                func(permission string) bool // reports whether the user has a permission such as calls:write
}

// ZoneName returns the name of the time zone.
func (v Visitor) ZoneName() string {
	if v.Zone == nil {
		return time.UTC.String()
	}
	return v.Zone.String()
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
	Dialog      bool      // the browser shows a confirmation in a dialog
	Schemas     Schemas
	names       map[string]string // names of resources that were read, by API path
	Visitor     Visitor
	API         API
	Ended       func() <-chan struct{} // returns a channel that is closed when the context of the request ends; nil: never
	Gone        func() bool            // reports whether the browser has disconnected; nil: never
}

// Response is the response to a Request: a page, or a redirect to Location.
type Response struct {
	Status   int
	Location string
	Download string // API path whose response the browser gets
	Body     []byte
	Dialog   bool  // the body is the content of a dialog
	Fault    error // error while the page was rendered
}

// Route is a page or a form action. Paths have the syntax of Fiber.
type Route struct {
	Method, Path      string
	Upload            bool   // the body is streamed to the API
	LongForm          bool   // the form may hold a pathway or a conversation
	ReadOnly          bool   // a POST that changes nothing
	NeedsRecentSignIn bool   // needs a sign-in within the last 15 minutes
	Operator          bool   // the route is for operators only
	Needs             string // permission that the route needs besides those of its API requests; "": none
	serve             func(*Request) (view, error)
}

// view is the result of a page function: a template with its data, or a redirect.
type view struct {
	name, title string
	data        any
	to          string
	download    string   // API path of a file that the browser gets in place of a page
	parents     []crumb  // pages between that of the navigation and this one
	wide        bool     // the page uses the whole width
	notice      notice   // result of an action
	formErrors  []string // with a problem: its messages that belong to no field of the page's form
	hasForm     bool     // the page shows the messages of a problem at the fields of its form
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

// frame is the data of the layout template that surrounds every page.
type frame struct {
	Title, Path string
	Visitor     Visitor
	Menu        []menuGroup
	Crumbs      []crumb
	Problem     *problem
	Notice      notice
	Done        string
	Once        string // idempotency key of the page's form
	Search      string
	Wide        bool
	Data        any
}

// Serve renders the page of a route, or runs its form action. req is the request of the browser.
func (d *Dashboard) Serve(r Route, req *Request) Response {
	v, err := r.serve(req)
	if err == nil && v.download != "" {
		return Response{Download: v.download}
	}
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
			v = errorView(status, req)
		}
		return d.render(status, v, req, p)
	}
	return d.render(status, v, req, nil)
}

// errorView returns the page for an error of a page or an action that has no page of its own.
func errorView(status int, req *Request) view {
	if status == http.StatusNotFound && req.Method == http.MethodGet {
		return view{name: "notfound", title: "Page not found"}
	}
	return view{name: "problem", title: "Action failed"}
}

// SignedOut renders the page for a client without a session.
func (d *Dashboard) SignedOut() Response {
	return d.render(http.StatusUnauthorized, view{name: "signedout", title: "Sign in"}, &Request{}, nil)
}

// Forbidden renders the page for a user whose role does not permit the requested page or action.
func (d *Dashboard) Forbidden(path string, visitor Visitor) Response {
	return d.render(http.StatusForbidden, view{name: "forbidden", title: "Not permitted"}, &Request{Path: path, Visitor: visitor}, nil)
}

// NotFound renders the page for an unknown address.
func (d *Dashboard) NotFound(path string, visitor Visitor) Response {
	return d.render(http.StatusNotFound, view{name: "notfound", title: "Page not found"}, &Request{Path: path, Visitor: visitor}, nil)
}

func (d *Dashboard) render(status int, v view, req *Request, p *problem) Response {
	page, ok := d.pages[v.name]
	if !ok {
		panic("dashboard: no page " + v.name)
	}
	f := frame{
		Title: v.title, Path: req.Path, Visitor: req.Visitor, Problem: p, Notice: v.notice, Done: doneTexts()[req.Query.Get("done")], Once: req.nextIdempotencyKey(p),
		Wide: v.wide, Data: v.data,
	}
	if req.Path == "/search" {
		f.Search = req.Query.Get("q")
	}
	if p != nil && v.hasForm {
		f.Problem = p.withoutFields(v.formErrors)
	}
	if req.Visitor.Name != "" {
		f.Menu, f.Crumbs = menu(req.Path, req.Visitor), crumbsOf(req.Path, v.parents)
	}
	name := "frame"
	switch {
	case slices.Contains(updatedParts(), req.Part):
		name = req.Part
	case v.name == "confirm" && req.Dialog:
		name = "dialog"
	}
	var b bytes.Buffer
	if err := page.ExecuteTemplate(&b, name, f); err != nil {
		return Response{Status: http.StatusInternalServerError, Fault: err}
	}
	return Response{Status: status, Body: b.Bytes(), Dialog: name == "dialog"}
}

// updatedParts returns the names of the page sections that htmx requests separately to update an open page.
func updatedParts() []string { return []string{"live", "people", "chart"} }

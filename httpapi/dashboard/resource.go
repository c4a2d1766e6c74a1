package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// resource describes the pages for one kind of API resource: a list, the details of one, and forms that create, change and
// delete one.
type resource struct {
	One, Many   string // "trunk", "trunks"
	Path, API   string // of the list page and of the API's list
	Icon        string
	Read, Write string // permissions
	Empty       string // what the resource is for; shown if there is none
	NameOf      func(o object) string
	Columns     []column
	Filters     []filter
	Create      *schemaForm
	CreateText  string // label of the button that creates one, if it differs from "New …"
	Update      *schemaForm
	Recent      bool // creating one needs a sign-in within the last 15 minutes
	NoDelete    bool
	DeleteText  string // what happens when one is deleted
	Actions     []resourceAction
	Details     func(r *Request, o object) ([]detail, error)   // the first facts of the page of one resource
	Sections    func(r *Request, o object) ([]section, error)  // further content of that page
	Created     func(r *Request, created object) (view, error) // shows what a creation returns, such as a secret
}

// column is a column of a list.
type column struct {
	Head    string
	Numeric bool
	Cell    func(r *Request, o object) cell
}

// cell is the content of a table cell or of a fact.
type cell struct {
	Text, Sub string
	Link      string
	State     string // a state, shown as a colored tag
	Time      any    // a zonedTime
	Code      string // text that can be copied
	Tags      []string
}

// IsEmpty reports whether the cell shows nothing.
func (c cell) IsEmpty() bool {
	return c.Text == "" && c.Sub == "" && c.State == "" && c.Code == "" && len(c.Tags) == 0 && textOf(c.Time) == ""
}

// detail is a labeled value.
type detail struct {
	Label string
	cell
}

// filter is a filter of a list, whose value is part of the page's URL.
type filter struct {
	Param, Label string
	Options      []option // nil: a text field
	Type         string   // of a text field: "search", "date"
}

// section is a titled part of the page of one resource.
type section struct {
	Title string
	Heads []column
	Rows  [][]cell
	Forms []resourceAction // buttons in each row; their ID is RowIDs of the row
	IDs   []string
	Empty string
	Text  string // preformatted text in place of a table
	Form  *sectionForm
}

// sectionForm is a small form below a section.
type sectionForm struct {
	Verb, Button string
	Fields       []formField
}

// resourceAction is an action on one resource.
type resourceAction struct {
	Verb, Label string
	Danger      bool
	When        func(o object) bool
	Confirm     func(r *Request, o object) confirmation // nil: the action needs no confirmation
	Run         func(r *Request, o object) (notice, error)
}

// notice says what an action has done. Done is the name of a text of doneTexts, which the page shows after a redirect.
// Lines are the result of an action that changes nothing.
type notice struct {
	Done  string
	Lines []string
	Bad   bool
}

// routes returns the routes of the resource's pages.
func (s *resource) routes() []Route {
	get, post := http.MethodGet, http.MethodPost
	all := []Route{
		{Method: get, Path: s.Path, serve: s.listPage},
		{Method: get, Path: s.Path + "/:id", serve: s.itemPage},
	}
	if s.Create != nil {
		all = slices.Insert(all, 1,
			Route{Method: get, Path: s.Path + "/new", Needs: s.Write, serve: s.newPage},
			Route{Method: post, Path: s.Path, LongForm: true, NeedsRecentSignIn: s.Recent, Needs: s.Write, serve: s.create})
	}
	if s.Update != nil {
		all = append(all,
			Route{Method: get, Path: s.Path + "/:id/edit", Needs: s.Write, serve: s.editPage},
			Route{Method: post, Path: s.Path + "/:id", LongForm: true, Needs: s.Write, serve: s.update})
	}
	return append(all, Route{Method: post, Path: s.Path + "/:id/:verb", Needs: s.Write, serve: s.act})
}

func (s *resource) name(o object) string {
	if s.NameOf != nil {
		return s.NameOf(o)
	}
	if name := text(o, "name"); name != "" {
		return name
	}
	return text(o, "id")
}

// listPage shows the resources.
func (s *resource) listPage(r *Request) (view, error) {
	params := make([]string, len(s.Filters))
	for i, f := range s.Filters {
		params[i] = f.Param
	}
	l, err := r.list(s.API, s.Path, params...)
	if err != nil {
		return view{}, err
	}
	rows := make([]listRow, len(l.Data))
	for i, o := range l.Data {
		rows[i] = listRow{Path: s.Path + "/" + url.PathEscape(text(o, "id"))}
		for _, c := range s.Columns {
			rows[i].Cells = append(rows[i].Cells, c.Cell(r, o))
		}
	}
	return view{name: "list", title: upperFirst(s.Many), data: object{
		"resource": s, "rows": rows, "list": l, "query": r.Query, "mayCreate": s.Create != nil && r.Visitor.May(s.Write),
		"filtered": slices.ContainsFunc(params, func(p string) bool { return r.Query.Get(p) != "" }),
	}}, nil
}

// listRow is a row of a list.
type listRow struct {
	Path  string
	Cells []cell
}

// itemPage shows one resource.
func (s *resource) itemPage(r *Request) (view, error) {
	o, err := r.get(s.API + "/" + r.ID)
	if err != nil {
		return view{}, err
	}
	return s.itemView(r, o)
}

func (s *resource) itemView(r *Request, o object) (v view, err error) {
	data := object{"resource": s, "item": o, "mayChange": s.Update != nil && r.Visitor.May(s.Write), "mayDelete": !s.NoDelete && r.Visitor.May(s.Write)}
	var details []detail
	if s.Details != nil {
		if details, err = s.Details(r, o); err != nil {
			return view{}, err
		}
	}
	data["details"] = append(details, detail{"ID", cell{Code: text(o, "id")}}, detail{"Created", cell{Time: o["created_at"]}})
	if s.Sections != nil {
		if data["sections"], err = s.Sections(r, o); err != nil {
			return view{}, err
		}
	}
	var actions []resourceAction
	for _, a := range s.Actions {
		if r.Visitor.May(s.Write) && (a.When == nil || a.When(o)) {
			actions = append(actions, a)
		}
	}
	data["actions"], data["base"] = actions, s.Path+"/"+url.PathEscape(text(o, "id"))
	return view{name: "item", title: s.name(o), data: data}, nil
}

// newPage shows the form that creates a resource.
func (s *resource) newPage(r *Request) (view, error) {
	return s.formView(r, s.Create, r.Query, nil, nil)
}

// formView shows the form for a new or a changed resource.
func (s *resource) formView(r *Request, f *schemaForm, values url.Values, o object, p *problem) (view, error) {
	fields, others, err := f.fields(r, values, p)
	if err != nil {
		return view{}, err
	}
	data := object{"fields": fields, "action": s.Path, "button": "Create " + s.One, "back": s.Path, "stale": s.Recent && o == nil && !r.Visitor.Fresh}
	v := view{name: "form", title: "New " + s.One, data: data, hasForm: true, formErrors: others}
	if o != nil {
		data["action"] = s.Path + "/" + url.PathEscape(text(o, "id"))
		data["back"], data["button"] = data["action"], "Save"
		v.title = "Edit " + s.name(o)
		v.parents = []crumb{{s.name(o), s.Path + "/" + url.PathEscape(text(o, "id"))}}
	}
	return v, nil
}

// create creates a resource from the sent form.
func (s *resource) create(r *Request) (view, error) {
	body, err := s.Create.body(r, nil)
	var created object
	if err == nil {
		created, err = r.send(http.MethodPost, s.API, body)
	}
	if err != nil {
		return s.refused(r, s.Create, nil, err)
	}
	if s.Created != nil {
		return s.Created(r, created)
	}
	return view{to: s.Path + "/" + url.PathEscape(text(created, "id")) + "?done=created"}, nil
}

// refused shows the form again with the errors at its fields.
func (s *resource) refused(r *Request, f *schemaForm, o object, err error) (view, error) {
	p, ok := err.(*problem) //nolint:errorlint // callAPI wraps no errors
	if !ok {
		return view{}, err
	}
	v, again := s.formView(r, f, r.Form, o, p)
	if again != nil {
		return view{}, again
	}
	return v, err
}

// editPage shows the form that changes a resource.
func (s *resource) editPage(r *Request) (view, error) {
	o, err := r.get(s.API + "/" + r.ID)
	if err != nil {
		return view{}, err
	}
	return s.formView(r, s.Update, formValues(o, r.zone()), o, nil)
}

// update changes a resource as the sent form says.
func (s *resource) update(r *Request) (view, error) {
	o, err := r.get(s.API + "/" + r.ID)
	if err != nil {
		return view{}, err
	}
	body, err := s.Update.body(r, o)
	if err == nil && len(body) > 0 {
		_, err = r.send(s.Update.Method, s.API+"/"+r.ID, body)
	}
	if err != nil {
		return s.refused(r, s.Update, o, err)
	}
	return view{to: s.Path + "/" + r.ID + "?done=saved"}, nil
}

// act runs an action on a resource, or asks for its confirmation first.
func (s *resource) act(r *Request) (view, error) {
	o, err := r.get(s.API + "/" + r.ID)
	if err != nil {
		return view{}, err
	}
	if r.Verb == "delete" && !s.NoDelete {
		if c := s.deletion(o); !r.isConfirmed(c) {
			return r.confirm(c)
		}
		if _, err = r.send(http.MethodDelete, s.API+"/"+r.ID, nil); err != nil {
			return s.itemAfter(r, o, err)
		}
		return view{to: s.Path + "?done=deleted"}, nil
	}
	i := slices.IndexFunc(s.Actions, func(a resourceAction) bool { return a.Verb == r.Verb })
	if i < 0 {
		return view{}, &problem{Status: http.StatusNotFound, Message: "Unknown action."}
	}
	if ask := s.Actions[i].Confirm; ask != nil {
		if c := ask(r, o); !r.isConfirmed(c) {
			return r.confirm(c)
		}
	}
	n, err := s.Actions[i].Run(r, o)
	if err != nil {
		return s.itemAfter(r, o, err)
	}
	if len(n.Lines) > 0 {
		v, err := s.itemPage(r)
		v.notice = n
		return v, err
	}
	return view{to: s.Path + "/" + r.ID + "?done=" + url.QueryEscape(n.Done)}, nil
}

// deletion returns the question before a resource is deleted.
func (s *resource) deletion(o object) confirmation {
	return confirmation{
		Title: "Delete " + s.name(o) + "?", Text: strings.TrimSpace(s.DeleteText + " This cannot be undone."), Button: "Delete " + s.One, Danger: true, Typed: s.name(o),
	}
}

// itemAfter shows the page of a resource with the error of an action.
func (s *resource) itemAfter(r *Request, o object, err error) (view, error) {
	v, again := s.itemView(r, o)
	if again != nil {
		return view{}, again
	}
	return v, err
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

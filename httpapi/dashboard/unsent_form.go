package dashboard

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// UnsentForm is a submitted form that could not be processed, with a message for the user.
type UnsentForm struct {
	Status      int
	Title, Text string
	Path        string // path that receives the form
	Form        url.Values
}

// RenderUnsentForm renders a page with the values of a form, from which the user can submit the form again.
func (d *Dashboard) RenderUnsentForm(l UnsentForm) Response {
	return d.render(l.Status, view{name: "kept", title: l.Title, data: object{"path": l.Path, "fields": sentFields(l.Form)}},
		&Request{Form: l.Form}, &problem{Status: l.Status, Message: l.Text})
}

// sentValue is a field of a sent form.
type sentValue struct {
	Name, Value string
	Long        bool
}

// sentFields returns the fields of a form, sorted by name.
func sentFields(form url.Values) []sentValue {
	var all []sentValue
	for _, name := range slices.Sorted(maps.Keys(form)) {
		for _, v := range form[name] {
			v = strings.ReplaceAll(v, "\r\n", "\n") // browsers send CRLF
			all = append(all, sentValue{Name: name, Value: v, Long: len(v) > 100 || strings.Contains(v, "\n")})
		}
	}
	return all
}

// resendPage returns a page that offers to submit the form again after an error. It serves actions that have no page
// of their own. It returns false if the request has no form.
func resendPage(r *Request, err error) (view, bool) {
	var p *problem
	if r.Method != http.MethodPost || len(r.Form) == 0 || r.Path == "" || !errors.As(err, &p) {
		return view{}, false
	}
	return view{name: "kept", title: "Action failed", data: object{"path": r.Path, "fields": sentFields(r.Form)}}, true
}

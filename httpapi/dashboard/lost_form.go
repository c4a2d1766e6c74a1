package dashboard

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// LostForm is why there is no page for a form, in words for people.
type LostForm struct {
	Status      int
	Title, Text string
	Path        string // that the form goes to
	Form        url.Values
}

// KeepForm shows a form that could not be taken now with all that was typed, to be
// sent again.
func (d *Dashboard) KeepForm(l LostForm) Response {
	return d.render(l.Status, view{name: "kept", title: l.Title, data: object{"path": l.Path, "fields": formFields(l.Form)}},
		&Request{Form: l.Form}, &problem{Status: l.Status, Message: l.Text})
}

// formField is a field of a form as it came.
type formField struct {
	Name, Value string
	Long        bool
}

// formFields are the fields of a form, by name.
func formFields(form url.Values) []formField {
	var all []formField
	for _, name := range slices.Sorted(maps.Keys(form)) {
		for _, v := range form[name] {
			v = strings.ReplaceAll(v, "\r\n", "\n") // as browsers send the lines
			all = append(all, formField{Name: name, Value: v, Long: len(v) > 100 || strings.Contains(v, "\n")})
		}
	}
	return all
}

// returnForm is the page for a form that an error has left without one of its own.
func returnForm(r *Request, err error) (view, bool) {
	var p *problem
	if r.Method != http.MethodPost || len(r.Form) == 0 || r.Path == "" || !errors.As(err, &p) {
		return view{}, false
	}
	return view{name: "kept", title: "Something is in the way", data: object{"path": r.Path, "fields": formFields(r.Form)}}, true
}

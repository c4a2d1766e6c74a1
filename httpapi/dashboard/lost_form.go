package dashboard

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// onceField is the field of a form by which it is told from others: what it
// makes is made once, however often the form comes.
const onceField = "once"

// newIdempotencyKey names a form that is shown.
func newIdempotencyKey() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// idempotencyKey is what the form was called when it was shown, "" where it has no name.
func (r *Request) idempotencyKey() string {
	name := r.Form.Get(onceField)
	if b, err := hex.DecodeString(name); err != nil || len(b) != 16 {
		return ""
	}
	return name
}

// nextIdempotencyKey names the form that is shown after an error: as it was, so that what
// may have been made is not made twice, unless that name stands for something
// else by now.
func (r *Request) nextIdempotencyKey(p *problem) string {
	if name := r.idempotencyKey(); name != "" && p != nil && p.Code != "idempotency_mismatch" {
		return name
	}
	return newIdempotencyKey()
}

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

package dashboard

import "net/http"

// confirmation is a question that a user answers before something happens that cannot be undone or that reaches people.
type confirmation struct {
	Title, Text, Button string
	Danger              bool
	Typed               string // what the user must type; "": nothing
	Fields              []formField
	Problem             string
}

// confirmedField is the form field that confirms an action. typedField holds what the user had to type.
const (
	confirmedField = "confirmed"
	typedField     = "typed"
)

// isConfirmed reports whether the sent form confirms the action.
func (r *Request) isConfirmed(c confirmation) bool {
	return r.Form.Get(confirmedField) != "" && (c.Typed == "" || r.Form.Get(typedField) == c.Typed)
}

// confirm shows the question of a confirmation. Its form repeats the sent form.
func (r *Request) confirm(c confirmation) (view, error) {
	if r.Form.Get(confirmedField) != "" {
		c.Problem = "Type " + c.Typed + " to confirm."
	}
	var kept []formValue
	for name, values := range r.Form {
		if name == confirmedField || name == typedField {
			continue
		}
		for _, v := range values {
			kept = append(kept, formValue{name, v})
		}
	}
	v := view{name: "confirm", title: c.Title, data: object{"confirm": c, "path": r.Path, "kept": kept, "back": parentPath(r.Path)}}
	if c.Problem != "" {
		return v, &problem{Status: http.StatusUnprocessableEntity, Message: c.Problem}
	}
	return v, nil
}

// formValue is a value of a form that a confirmation repeats.
type formValue struct{ Name, Value string }

// parentPath returns the path of the page on which an action is offered: the path of the action without its last part.
func parentPath(path string) string {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '/' {
			return path[:i]
		}
	}
	return "/"
}

// fact is a labeled value on the page that shows a created resource.
type fact struct{ Name, Value string }

package dashboard

import (
	"net/http"
	"net/url"
	"time"
)

// keysPage shows the API keys of both environments.
func keysPage(r *Request) (view, error) {
	l, err := r.list("/v1/api-keys", "/keys", "environment")
	return view{name: "keys", title: "API keys", data: object{"list": l, "query": r.Query}}, err
}

// permissions returns the permissions that a key can have.
func permissions() []string {
	return []string{"calls:read", "calls:write", "agents:read", "agents:write", "analytics:read", "*:read", "*:write"}
}

// newKeyPage shows the form for a new key.
func newKeyPage(r *Request) (view, error) { return newKeyForm(r, nil) }

func newKeyForm(r *Request, p *problem) (view, error) {
	f := r.Form
	environment := f.Get("environment")
	if environment == "" {
		environment = map[bool]string{true: "test", false: "live"}[r.Visitor.Test]
	}
	options := []option{{"test", "Test"}}
	if !r.Visitor.TestOnly {
		options = append(options, option{"live", "Live"})
	}
	var rights []option
	for _, name := range permissions() {
		rights = append(rights, option{name, name})
	}
	fields := []formField{
		{Name: "name", Kind: lineField, Label: "Name", Required: true, Values: f["name"]},
		{Name: "permissions", Kind: choicesField, Label: "Permissions", Options: rights, Values: f["permissions"], Hint: "*:read and *:write cover all resources."},
		{Name: "environment", Kind: choiceField, Label: "Environment", Required: true, Options: options, Values: []string{environment}},
		{Name: "allowed_ips", Kind: linesField, Label: "Allowed addresses", Values: f["allowed_ips"], Hint: "Addresses or networks from which the key is accepted. Empty: all."},
		{Name: "expires_at", Kind: lineField, Label: "Last day", Values: f["expires_at"], Placeholder: "2027-12-31", Hint: "The key works until the end of this day (UTC). Empty: it does not expire."},
	}
	var others []string
	if p != nil {
		b := formBuilder{problem: p, used: map[string]bool{}}
		for i := range fields {
			fields[i].Error = b.errorAt(fields[i].Name, fields[i].Label)
		}
		others = p.messagesWithout(b.used)
	}
	return view{name: "form", title: "Create API key", hasForm: true, formErrors: others, data: object{
		"fields": fields, "action": "/keys", "button": "Create API key", "back": "/keys", "stale": !r.Visitor.Fresh,
	}}, nil
}

// createKey creates an API key and shows its secret once.
func createKey(r *Request) (view, error) {
	f := r.Form
	body := object{"name": f.Get("name"), "permissions": append([]string{}, f["permissions"]...)}
	if v := f.Get("environment"); v != "" {
		body["environment"] = v
	}
	if v := f.Get("expires_at"); v != "" {
		body["expires_at"] = v
	}
	if day, err := time.Parse(time.DateOnly, f.Get("expires_at")); err == nil {
		body["expires_at"] = day.AddDate(0, 0, 1).Add(-time.Second).Format(time.RFC3339) // until the end of the day
	}
	if from := splitWords(f.Get("allowed_ips")); len(from) > 0 {
		body["allowed_ips"] = from
	}
	created, err := r.send(http.MethodPost, "/v1/api-keys", body)
	if err != nil {
		p, ok := err.(*problem) //nolint:errorlint // callAPI wraps no errors
		if !ok {
			return view{}, err
		}
		v, again := newKeyForm(r, p)
		if again != nil {
			return view{}, again
		}
		return v, err
	}
	return view{name: "newkey", title: "API key " + text(created, "name"), data: object{"key": created}}, nil
}

// revokeKey revokes an API key and shows which resources that the key created remain. With cascade it also revokes
// these resources.
func revokeKey(r *Request) (view, error) {
	path := "/v1/api-keys/" + url.PathEscape(r.ID)
	key, err := r.get(path)
	if err != nil {
		return view{}, err
	}
	c := confirmation{
		Title: "Revoke " + text(key, "name") + "?", Text: "The key is refused at once, and with it its child keys and tokens. This cannot be undone.", Button: "Revoke key", Danger: true, Typed: text(key, "name"),
		Fields: []formField{{Name: "cascade", Kind: tickField, Label: "Also delete what the key created", Values: r.Form["cascade"]}},
	}
	if r.Form.Get("again") != "" { // the key is revoked already
		c.Typed = ""
	}
	if !r.isConfirmed(c) {
		return r.confirm(c)
	}
	if r.Form.Get("cascade") != "" {
		path += "?cascade=true"
	}
	done, err := r.send(http.MethodDelete, path, nil)
	if left, _ := done["remaining"].([]any); err == nil && len(left) > 0 {
		return view{name: "revoked", title: "Key revoked", data: object{"id": r.ID, "remaining": left, "ended": done["ended"], "cascade": r.Form.Get("cascade") != ""}}, nil
	}
	return view{to: "/keys?done=revoked"}, err
}

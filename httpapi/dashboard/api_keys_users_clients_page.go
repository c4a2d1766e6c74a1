package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// accessPage shows API keys, users and OAuth clients.
func accessPage(r *Request) (view, error) { return accessPageAfter(r, "") }

// accessPageAfter shows the access page after the API refused a form. sent names that form: newkey or newclient. The
// refused form keeps its values and its idempotency key.
func accessPageAfter(r *Request, sent string) (view, error) {
	data := object{"sent": sent, "typed": map[string]url.Values{sent: r.Form}, "permissions": permissions()}
	for _, l := range []struct{ name, path string }{{"keys", "/v1/api-keys"}, {"users", "/v1/users"}, {"clients", "/v1/oauth/clients"}} {
		page, err := r.pageOf(l.name, l.path, "/access")
		if err != nil && !isNotVisible(err) {
			return view{}, err
		}
		data[l.name] = page
	}
	return view{name: "access", title: "Access", data: data}, nil
}

// permissions returns the permissions that the form for a new API key offers.
func permissions() []string {
	return []string{"calls:read", "calls:write", "agents:read", "agents:write", "analytics:read", "*:read", "*:write"}
}

// createKey creates an API key and shows its secret once.
func createKey(r *Request) (view, error) {
	f := r.Form
	body := object{"name": f.Get("name"), "permissions": append([]string{}, f["permissions"]...)}
	for name, v := range map[string]string{"environment": f.Get("environment"), "expires_at": f.Get("expires_at")} {
		if v != "" {
			body[name] = v
		}
	}
	if day, err := time.Parse(time.DateOnly, f.Get("expires_at")); err == nil {
		body["expires_at"] = day.AddDate(0, 0, 1).Add(-time.Second).Format(time.RFC3339) // until the end of the day
	}
	if from := splitWords(f.Get("allowed_ips")); len(from) > 0 {
		body["allowed_ips"] = from
	}
	created, err := r.send(http.MethodPost, "/v1/api-keys", body)
	if err != nil {
		if v, again := accessPageAfter(r, "newkey"); again == nil {
			return v, err
		}
		return view{}, err
	}
	return view{name: "newkey", title: "A new key", data: object{"key": created}}, nil
}

// fact is a labeled value on the page that shows a created resource.
type fact struct{ Name, Value string }

// createClient creates an OAuth client and shows its secret once.
func createClient(r *Request) (view, error) {
	f := r.Form
	body := object{"name": f.Get("name"), "scopes": append([]string{}, f["scopes"]...)}
	if to := strings.Fields(f.Get("redirect_uris")); len(to) > 0 {
		body["redirect_uris"] = to
	}
	if f.Get("public") != "" {
		body["public"] = true
	}
	created, err := r.send(http.MethodPost, "/v1/oauth/clients", body)
	if err != nil {
		if v, again := accessPageAfter(r, "newclient"); again == nil {
			return v, err
		}
		return view{}, err
	}
	facts := []fact{{"client_id", text(created, "client_id")}, {"client_secret", text(created, "client_secret")}}
	return view{name: "newsecret", title: "A new OAuth client", data: object{"facts": facts, "back": "/access"}}, nil
}

// revokeKey revokes an API key and shows which resources that the key created remain. With cascade it also revokes
// these resources.
func revokeKey(r *Request) (view, error) {
	path := "/v1/api-keys/" + r.ID
	if r.Form.Get("cascade") != "" {
		path += "?cascade=true"
	}
	done, err := r.send(http.MethodDelete, path, nil)
	if left, _ := done["remaining"].([]any); err == nil && len(left) > 0 {
		return view{name: "revoked", title: "Key revoked", data: object{"id": r.ID, "remaining": left, "ended": done["ended"], "cascade": r.Form.Get("cascade") != ""}}, nil
	}
	return view{to: "/access?done=revoked"}, err
}

// isTicked reports whether a checkbox of a form is ticked.
func isTicked(values []string, value string) bool { return slices.Contains(values, value) }

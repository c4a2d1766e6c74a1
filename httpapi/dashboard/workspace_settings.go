package dashboard

import (
	"net/http"
	"net/url"
)

// settingsForm is the form for the settings of a workspace that need no operator.
func settingsForm() *schemaForm {
	return &schemaForm{
		Method: http.MethodPatch, Path: "/v1/workspace", Hidden: []string{"plan", "limits", "calling", "allowed_ips", "pricing", "sms_price_per_segment"}, Open: []string{"retention", "redaction", "frequency_caps"},
		Labels: map[string]string{"retention": "Retention, days", "redaction": "Redaction of transcripts", "frequency_caps": "Frequency caps"},
	}
}

func settingsPage(r *Request) (view, error) { return settingsView(r, nil, nil) }

// settingsView shows the settings, or the sent form with the errors of the API.
func settingsView(r *Request, sent url.Values, p *problem) (view, error) {
	w, err := r.get("/v1/workspace")
	if err != nil {
		return view{}, err
	}
	data := object{"workspace": w, "may": r.Visitor.May("*:write")}
	v := view{name: "settings", title: "Settings", data: data, hasForm: true}
	values := sent
	if values == nil {
		values = formValues(w, r.zone())
	}
	data["fields"], v.formErrors, err = settingsForm().fields(r, values, p)
	return v, err
}

func changeSettings(r *Request) (view, error) {
	w, err := r.get("/v1/workspace")
	if err != nil {
		return view{}, err
	}
	body, err := settingsForm().body(r, w)
	if err == nil && len(body) > 0 {
		_, err = r.send(http.MethodPatch, "/v1/workspace", body)
	}
	if err != nil {
		p, ok := err.(*problem) //nolint:errorlint // callAPI wraps no errors
		if !ok {
			return view{}, err
		}
		v, again := settingsView(r, r.Form, p)
		if again != nil {
			return view{}, again
		}
		return v, err
	}
	return view{to: "/settings?done=settings"}, nil
}

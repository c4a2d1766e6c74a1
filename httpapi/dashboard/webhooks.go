package dashboard

import (
	"net/http"
	"net/url"
	"strconv"
)

func webhooksPage(r *Request) (view, error) {
	l, err := r.list("/v1/webhooks", "/webhooks", "status", "campaign_id")
	return view{name: "webhooks", title: "Webhooks", data: object{"list": l}}, err
}

// webhookForm returns the form for a new or a changed webhook.
func webhookForm(method, path string) *schemaForm {
	return &schemaForm{
		Method: method, Path: path, Hidden: []string{"secret", "campaign_id"},
		Hints: map[string]string{"events": "Event types such as call.ended, categories such as call.*, or * for all events."},
	}
}

func newWebhookPage(r *Request) (view, error) { return webhookFormView(r, nil, r.Query, nil) }

// webhookFormView shows the form for a new webhook, or for the webhook w.
func webhookFormView(r *Request, w object, values url.Values, p *problem) (view, error) {
	form, v := webhookForm(http.MethodPost, "/v1/webhooks"), view{name: "form", title: "Add webhook", hasForm: true}
	data := object{"action": "/webhooks", "button": "Add webhook", "back": "/webhooks", "stale": w == nil && !r.Visitor.Fresh}
	if w != nil {
		page := "/webhooks/" + text(w, "id")
		form = webhookForm(http.MethodPatch, "/v1/webhooks/{id}")
		v.title, v.parents = "Edit webhook", []crumb{{text(w, "url"), page}}
		data = object{"action": page + "/edit", "button": "Save", "back": page}
	}
	if w == nil && !values.Has(sentField) && !values.Has("events") {
		values = url.Values{"events": {"*"}}
	}
	fields, others, err := form.fields(r, values, p)
	if err != nil {
		return view{}, err
	}
	data["fields"], v.formErrors, v.data = fields, others, data
	return v, nil
}

// webhookRefused shows the form again with the errors at its fields.
func webhookRefused(r *Request, w object, err error) (view, error) {
	p, ok := err.(*problem) //nolint:errorlint // callAPI wraps no errors
	if !ok {
		return view{}, err
	}
	v, again := webhookFormView(r, w, r.Form, p)
	if again != nil {
		return view{}, again
	}
	return v, err
}

// createWebhook creates a webhook endpoint and shows its secret once.
func createWebhook(r *Request) (view, error) {
	body, err := webhookForm(http.MethodPost, "/v1/webhooks").body(r, nil)
	var created object
	if err == nil {
		created, err = r.send(http.MethodPost, "/v1/webhooks", body)
	}
	if err != nil {
		return webhookRefused(r, nil, err)
	}
	return secretView("Webhook added", "/webhooks/"+text(created, "id"), fact{"URL", text(created, "url")}, fact{"Secret", text(created, "secret")}), nil
}

func editWebhookPage(r *Request) (view, error) {
	w, err := r.get("/v1/webhooks/" + r.ID)
	if err != nil {
		return view{}, err
	}
	return webhookFormView(r, w, formValues(w, r.zone()), nil)
}

func webhookPage(r *Request) (view, error) {
	path := "/v1/webhooks/" + r.ID
	w, err := r.get(path)
	if err != nil {
		return view{}, err
	}
	data := object{"webhook": w}
	if data["failed"], err = r.failedDeliveries(); err != nil && !isNotVisible(err) {
		return view{}, err
	}
	log, err := r.list(path+"/logs", "/webhooks/"+r.ID)
	data["log"] = log
	return view{name: "webhook", title: shortURL(text(w, "url")), data: data}, err
}

// shortURL returns the host and the path of a URL, without the query.
func shortURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return s
	}
	return u.Host + u.Path
}

// failedDeliveries returns the newest failed deliveries of a webhook endpoint. Their number is limited to the maximum
// that one replay request accepts.
func (r *Request) failedDeliveries() ([]object, error) {
	var l resourceList
	err := r.callAPI(http.MethodGet, "/v1/webhooks/"+r.ID+"/failed?limit=100", nil, &l)
	return l.Data, err
}

// failedEvents returns the event id in the submitted form, or the event ids of all failed deliveries.
func (r *Request) failedEvents() ([]string, error) {
	if one := r.Form.Get("event_id"); one != "" {
		return []string{one}, nil
	}
	failed, err := r.failedDeliveries()
	ids := make([]string, len(failed))
	for i, f := range failed {
		ids[i] = text(f, "event_id")
	}
	return ids, err
}

// changeWebhook changes, pauses, resumes, tests or deletes a webhook, gives it another secret, or sends events again.
func changeWebhook(r *Request) (view, error) {
	path, page := "/v1/webhooks/"+r.ID, "/webhooks/"+r.ID
	w, err := r.get(path)
	if err != nil {
		return view{}, err
	}
	switch r.Verb {
	case "edit":
		return updateWebhook(r, w, path, page)
	case "pause", "resume":
		_, err = r.send(http.MethodPost, path+"/"+r.Verb, nil)
		return view{to: page + "?done=" + r.Verb}, err
	case "test":
		return testWebhook(r, path)
	case "replay":
		return replayEvents(r, path, page)
	case "rotate":
		q := confirmation{Title: "Rotate the secret?", Text: "Deliveries carry signatures with both secrets for 24 hours. Then the new secret replaces the old one.", Button: "Rotate secret"}
		if !r.isConfirmed(q) {
			return r.confirm(q)
		}
		changed, refused := r.send(http.MethodPatch, path, object{"secret": nil})
		return secretView("New secret", page, fact{"Secret", text(changed, "secret")}), refused
	case "delete":
		q := confirmation{Title: "Delete this webhook?", Text: text(w, "url") + " gets no more events. This cannot be undone.", Button: "Delete webhook", Danger: true, Typed: "delete"}
		if !r.isConfirmed(q) {
			return r.confirm(q)
		}
		_, err = r.send(http.MethodDelete, path, nil)
		return view{to: "/webhooks?done=deleted"}, err
	}
	return view{}, &problem{Status: http.StatusNotFound, Message: "Unknown action."}
}

// updateWebhook changes a webhook as the sent form says.
func updateWebhook(r *Request, w object, path, page string) (view, error) {
	body, err := webhookForm(http.MethodPatch, "/v1/webhooks/{id}").body(r, w)
	if err == nil && len(body) > 0 {
		_, err = r.send(http.MethodPatch, path, body)
	}
	if err != nil {
		return webhookRefused(r, w, err)
	}
	return view{to: page + "?done=saved"}, nil
}

// testWebhook sends a test event and shows how the endpoint answered.
func testWebhook(r *Request, path string) (view, error) {
	result, err := r.send(http.MethodPost, path+"/test", object{})
	if err != nil {
		return view{}, err
	}
	v, err := webhookPage(r)
	said := "The endpoint answered " + number(result["response_status"])
	if ms, ok := result["response_time_ms"]; ok {
		said += " in " + number(ms) + " ms"
	}
	if result["delivered"] != true {
		said = "The test was not delivered: " + text(result, "error")
	}
	v.notice = notice{Lines: []string{said + "."}, Bad: result["delivered"] != true}
	return v, err
}

// replayEvents sends one event again, or all failed ones.
func replayEvents(r *Request, path, page string) (view, error) {
	ids, err := r.failedEvents()
	if err != nil {
		return view{}, err
	}
	if n := len(ids); n > 1 {
		q := confirmation{Title: "Send " + strconv.Itoa(n) + " events again?", Text: "The endpoint gets the events of these failed deliveries once more.", Button: "Send again"}
		if !r.isConfirmed(q) {
			return r.confirm(q)
		}
	}
	_, err = r.send(http.MethodPost, path+"/replay", object{"event_ids": ids})
	return view{to: page + "?done=replay"}, err
}

package dashboard

import "net/http"

func webhooksPage(r *Request) (view, error) {
	l, err := r.list("/v1/webhooks", "/webhooks", "status", "campaign_id")
	return view{name: "webhooks", title: "Webhooks", data: object{"list": l, "form": r.Form}}, err
}

// createWebhook creates a webhook endpoint and shows its secret once.
func createWebhook(r *Request) (view, error) {
	created, err := r.send(http.MethodPost, "/v1/webhooks", object{"url": r.Form.Get("url"), "events": splitWords(r.Form.Get("events"))})
	if err != nil {
		if v, again := webhooksPage(r); again == nil {
			return v, err
		}
		return view{}, err
	}
	facts := []fact{{"url", text(created, "url")}, {"secret", text(created, "secret")}}
	return view{name: "newsecret", title: "A new webhook", data: object{"facts": facts, "back": "/webhooks/" + text(created, "id")}}, nil
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
	return view{name: "webhook", title: text(w, "url"), data: data}, err
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

func changeWebhook(r *Request) (view, error) {
	path := "/v1/webhooks/" + r.ID + "/" + r.Verb
	var body any
	switch r.Verb {
	case "pause", "resume":
	case "test":
		body = object{}
	case "replay":
		ids, err := r.failedEvents()
		if err != nil {
			return view{}, err
		}
		body = object{"event_ids": ids}
	default:
		return view{}, &problem{Status: http.StatusNotFound, Message: "Unknown action."}
	}
	_, err := r.send(http.MethodPost, path, body)
	return view{to: "/webhooks/" + r.ID + "?done=" + r.Verb}, err
}

package dashboard

import (
	"maps"
	"net/http"
	"net/url"
	"time"
)

func (d *Dashboard) agents(r *Request) (view, error) {
	agents, err := r.list("/v1/agents", "/agents")
	if err != nil {
		return view{}, err
	}
	pathways, err := r.first("/v1/pathways")
	if err != nil && !absent(err) {
		return view{}, err
	}
	return view{name: "agents", title: "Agents", data: object{"agents": agents, "pathways": pathways.Data}}, nil
}

func (d *Dashboard) agent(r *Request) (view, error) {
	a, err := r.get("/v1/agents/" + r.ID)
	if err != nil {
		return view{}, err
	}
	versions, err := r.first("/v1/agents/" + r.ID + "/versions")
	if err != nil && !absent(err) {
		return view{}, err
	}
	return view{name: "agent", title: text(a, "name"), data: object{"agent": a, "versions": versions.Data}}, nil
}

// pathway is a plan as one reads it: each node with the ways out of it.
func (d *Dashboard) pathway(r *Request) (view, error) {
	p, err := r.get("/v1/pathways/" + r.ID)
	if err != nil {
		return view{}, err
	}
	return view{name: "pathway", title: text(p, "name"), data: object{"pathway": p, "nodes": nodesOf(p)}}, nil
}

type node struct {
	Node object
	Ways []object // the edges out of it
}

// nodesOf are the nodes in the order in which a conversation may reach them;
// those that it cannot come last.
func nodesOf(p object) []node {
	byID, ways := map[string]object{}, map[string][]object{}
	var order []string
	all, _ := p["nodes"].([]any)
	for _, n := range all {
		if o, ok := n.(object); ok {
			byID[text(o, "id")] = o
			order = append(order, text(o, "id"))
		}
	}
	edges, _ := p["edges"].([]any)
	for _, e := range edges {
		if o, ok := e.(object); ok {
			ways[text(o, "from")] = append(ways[text(o, "from")], o)
		}
	}
	var nodes []node
	seen := map[string]bool{}
	for queue := append([]string{text(p, "start")}, order...); len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		if seen[id] || byID[id] == nil {
			continue
		}
		seen[id] = true
		nodes = append(nodes, node{Node: byID[id], Ways: ways[id]})
		var next []string
		for _, e := range ways[id] {
			next = append(next, text(e, "to"))
		}
		if len(next) > 0 {
			queue = append(append([]string{id}, next...), queue[1:]...)
		}
	}
	return nodes
}

func (d *Dashboard) numbers(r *Request) (view, error) {
	numbers, err := r.list("/v1/phone-numbers", "/numbers")
	if err != nil {
		return view{}, err
	}
	trunks, err := r.first("/v1/trunks")
	if err != nil && !absent(err) {
		return view{}, err
	}
	phones, err := r.first("/v1/phones")
	if err != nil && !absent(err) {
		return view{}, err
	}
	return view{name: "numbers", title: "Numbers and trunks", data: object{"numbers": numbers, "trunks": trunks.Data, "phones": phones.Data}}, nil
}

func (d *Dashboard) appointments(r *Request) (view, error) {
	typed := r.Query
	r.Query = maps.Clone(typed)
	for name, later := range map[string]int{"from": 0, "to": 1} { // days as they are typed; the API has times, and ends before the last one
		if day, err := time.Parse(time.DateOnly, typed.Get(name)); err == nil {
			r.Query.Set(name, day.AddDate(0, 0, later).Format(time.RFC3339))
		}
	}
	l, err := r.list("/v1/appointments", "/appointments", "status", "provider", "from", "to")
	return view{name: "appointments", title: "Appointments", data: object{"list": l, "query": typed}}, err
}

func (d *Dashboard) driveAppointment(r *Request) (view, error) {
	if r.Verb != "confirm" && r.Verb != "cancel" {
		return view{}, &problem{Status: http.StatusNotFound, Message: "There is no such button."}
	}
	_, err := r.send(http.MethodPost, "/v1/appointments/"+r.ID+"/"+r.Verb, object{})
	return view{to: "/appointments?done=" + r.Verb}, err
}

func (d *Dashboard) messages(r *Request) (view, error) {
	l, err := r.list("/v1/sms", "/messages", "status", "direction", "to", "from", "conversation_id")
	return view{name: "messages", title: "Messages", data: object{"list": l, "query": r.Query}}, err
}

func (d *Dashboard) webhooks(r *Request) (view, error) {
	l, err := r.list("/v1/webhooks", "/webhooks", "status", "campaign_id")
	return view{name: "webhooks", title: "Webhooks", data: object{"list": l}}, err
}

func (d *Dashboard) webhook(r *Request) (view, error) {
	path := "/v1/webhooks/" + r.ID
	w, err := r.get(path)
	if err != nil {
		return view{}, err
	}
	data := object{"webhook": w}
	if data["failed"], err = r.failed(); err != nil && !absent(err) {
		return view{}, err
	}
	log, err := r.list(path+"/logs", "/webhooks/"+r.ID)
	data["log"] = log
	return view{name: "webhook", title: text(w, "url"), data: data}, err
}

// failed are the deliveries that were given up, newest first, as many as are
// sent again at once.
func (r *Request) failed() ([]object, error) {
	var l list
	err := r.ask(http.MethodGet, "/v1/webhooks/"+r.ID+"/failed?limit=100", nil, &l)
	return l.Data, err
}

// failedEvents are the ids of one that the form names, or of all that failed.
func (r *Request) failedEvents() ([]string, error) {
	if one := r.Form.Get("event_id"); one != "" {
		return []string{one}, nil
	}
	failed, err := r.failed()
	ids := make([]string, len(failed))
	for i, f := range failed {
		ids[i] = text(f, "event_id")
	}
	return ids, err
}

func (d *Dashboard) driveWebhook(r *Request) (view, error) {
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
		return view{}, &problem{Status: http.StatusNotFound, Message: "There is no such button."}
	}
	_, err := r.send(http.MethodPost, path, body)
	return view{to: "/webhooks/" + r.ID + "?done=" + r.Verb}, err
}

func (d *Dashboard) usage(r *Request) (view, error) {
	q := url.Values{}
	for _, name := range []string{"from", "to"} {
		if v := r.Query.Get(name); v != "" {
			q.Set(name, v)
		}
	}
	u, err := r.get("/v1/usage?" + q.Encode())
	if err != nil {
		return view{}, err
	}
	limits, err := r.get("/v1/usage/rate-limits")
	if err != nil && !absent(err) {
		return view{}, err
	}
	workspace, err := r.get("/v1/workspace")
	if err != nil && !absent(err) {
		return view{}, err
	}
	return view{name: "usage", title: "Usage and limits", data: object{"usage": u, "limits": limits, "workspace": workspace}}, nil
}

// access is who may come in: keys, users, OAuth clients.
func (d *Dashboard) access(r *Request) (view, error) {
	data := object{}
	for name, path := range map[string]string{"keys": "/v1/api-keys", "users": "/v1/users", "clients": "/v1/oauth/clients"} {
		l, err := r.first(path)
		if err != nil && !absent(err) {
			return view{}, err
		}
		data[name] = l.Data
	}
	return view{name: "access", title: "Access", data: data}, nil
}

func (d *Dashboard) revokeKey(r *Request) (view, error) {
	_, err := r.send(http.MethodDelete, "/v1/api-keys/"+r.ID, nil)
	return view{to: "/access?done=revoked"}, err
}

func (d *Dashboard) audit(r *Request) (view, error) {
	l, err := r.list("/v1/audit-logs", "/audit", "type", "action", "actor")
	return view{name: "audit", title: "Audit log", data: object{"list": l, "query": r.Query}}, err
}

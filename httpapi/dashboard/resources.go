package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

func (d *Dashboard) agents(r *Request) (view, error) {
	agents, err := r.list("/v1/agents", "/agents")
	if err != nil {
		return view{}, err
	}
	pathways, err := r.pageOf("pathways", "/v1/pathways", "/agents")
	if err != nil && !absent(err) {
		return view{}, err
	}
	return view{name: "agents", title: "Agents", data: object{"agents": agents, "pathways": pathways}}, nil
}

func (d *Dashboard) agent(r *Request) (view, error) {
	a, err := r.get("/v1/agents/" + r.ID)
	if err != nil {
		return view{}, err
	}
	versions, err := r.list("/v1/agents/"+r.ID+"/versions", "/agents/"+r.ID)
	if err != nil && !absent(err) {
		return view{}, err
	}
	return view{name: "agent", title: text(a, "name"), data: object{"agent": a, "versions": versions}}, nil
}

type node struct {
	Node object
	Ways []object // the edges out of it
}

// nodesOf are the nodes in the order in which a conversation may reach them;
// those that it cannot come last.
func nodesOf(p object) []node {
	handleByID, ways := map[string]object{}, map[string][]object{}
	var order []string
	all, _ := p["nodes"].([]any)
	for _, n := range all {
		if o, ok := n.(object); ok {
			handleByID[text(o, "id")] = o
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
		if seen[id] || handleByID[id] == nil {
			continue
		}
		seen[id] = true
		nodes = append(nodes, node{Node: handleByID[id], Ways: ways[id]})
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
	trunks, err := r.pageOf("trunks", "/v1/trunks", "/numbers")
	if err != nil && !absent(err) {
		return view{}, err
	}
	phones, err := r.pageOf("phones", "/v1/phones", "/numbers")
	if err != nil && !absent(err) {
		return view{}, err
	}
	return view{name: "numbers", title: "Numbers and trunks", data: object{"numbers": numbers, "trunks": trunks, "phones": phones}}, nil
}

func (d *Dashboard) messages(r *Request) (view, error) {
	if far := r.Query.Get("with"); far != "" {
		return d.thread(r, far)
	}
	l, err := r.list("/v1/sms", "/messages", "status", "direction", "to", "from", "conversation_id")
	return view{name: "messages", title: "Messages", data: object{"list": l, "query": r.Query}}, err
}

// thread is what was written to and by one number, the oldest first: the last
// hundred messages of each side, as far back as both are known.
func (d *Dashboard) thread(r *Request, far string) (view, error) {
	var all []object
	var since time.Time
	for _, side := range []string{"from", "to"} {
		l, err := r.first("/v1/sms?" + side + "=" + url.QueryEscape(far))
		if err != nil {
			return view{}, err
		}
		if l.More {
			if last := madeAt(l.Data[len(l.Data)-1]); last.After(since) {
				since = last
			}
		}
		all = append(all, l.Data...)
	}
	all = slices.DeleteFunc(all, func(m object) bool { return madeAt(m).Before(since) })
	slices.SortStableFunc(all, func(a, b object) int { return madeAt(a).Compare(madeAt(b)) })
	return view{name: "thread", title: "Messages with " + far, data: object{"messages": all, "more": !since.IsZero()}}, nil
}

// madeAt is when a resource was made.
func madeAt(o object) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, text(o, "created_at"))
	return t
}

func (d *Dashboard) webhooks(r *Request) (view, error) {
	l, err := r.list("/v1/webhooks", "/webhooks", "status", "campaign_id")
	return view{name: "webhooks", title: "Webhooks", data: object{"list": l, "form": r.Form}}, err
}

// createWebhook makes an endpoint. Its secret is shown this once.
func (d *Dashboard) createWebhook(r *Request) (view, error) {
	made, err := r.send(http.MethodPost, "/v1/webhooks", object{"url": r.Form.Get("url"), "events": words(r.Form.Get("events"))})
	if err != nil {
		if v, again := d.webhooks(r); again == nil {
			return v, err
		}
		return view{}, err
	}
	facts := []fact{{"url", text(made, "url")}, {"secret", text(made, "secret")}}
	return view{name: "newsecret", title: "A new webhook", data: object{"facts": facts, "back": "/webhooks/" + text(made, "id")}}, nil
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
	err := r.callAPI(http.MethodGet, "/v1/webhooks/"+r.ID+"/failed?limit=100", nil, &l)
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

func (d *Dashboard) changeWebhook(r *Request) (view, error) {
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
	return view{name: "usage", title: "Usage and limits", data: object{"usage": u, "limits": limits}}, nil
}

func (d *Dashboard) audit(r *Request) (view, error) {
	l, err := r.list("/v1/audit-logs", "/audit", "type", "action", "actor")
	return view{name: "audit", title: "Audit log", data: object{"list": l, "query": r.Query}}, err
}

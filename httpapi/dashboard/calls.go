package dashboard

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

func callsPage(r *Request) (view, error) {
	filters := []string{"status", "direction", "campaign_id", "contact_id", "agent_id", "transcript"}
	l, err := r.list("/v1/calls", "/calls", filters...)
	poll := url.Values{"part": {"people"}}
	for _, name := range append(filters, "cursor") {
		if v := r.Query.Get(name); v != "" {
			poll.Set(name, v)
		}
	}
	return view{name: "calls", title: "Calls", data: object{"list": l, "query": r.Query, "poll": "/calls?" + poll.Encode()}}, err
}

// callPage is one call: what happened, what was said, how it sounded.
func callPage(r *Request) (view, error) {
	path := "/v1/calls/" + r.ID
	c, err := r.get(path)
	if err != nil {
		return view{}, err
	}
	live, processing := text(c, "ended_at") == "", c["processing"] == true
	data := object{"call": c, "live": live, "grows": live || processing, "every": "2s"}
	if !live {
		data["every"] = "10s" // what is worked out takes longer than a word
	}
	transcript, err := r.get(path + "/transcript")
	if err != nil && !isNotVisible(err) {
		return view{}, err
	}
	data["transcript"] = transcript
	if !live && !processing { // they are looked for among all that happened: once is enough
		events, err := r.first(path + "/events")
		if err != nil && !isNotVisible(err) {
			return view{}, err
		}
		data["events"], data["more"] = events.Data, events.More
	}
	if r.Part == "" {
		status, ladder := r.API(http.MethodGet, path+"/sip?format=ladder", "", "", nil)
		if status == http.StatusOK && !json.Valid(ladder) {
			data["ladder"] = string(ladder)
		}
	}
	return view{name: "call", title: "Call " + text(c, "to"), data: data}, nil
}

// redirectToRecording leads the player to the sound, once somebody plays it.
func redirectToRecording(r *Request) (view, error) {
	link, err := r.send(http.MethodPost, "/v1/calls/"+r.ID+"/recording/link", object{})
	return view{to: pathOf(text(link, "url"))}, err
}

// listenToCall hands out a ticket that opens the sound of a live call, once.
func listenToCall(r *Request) (view, error) {
	if !r.Visitor.May("calls:write") { // as the route asks that the ticket opens
		return view{}, &problem{Status: http.StatusForbidden, Message: "Listening takes the permission calls:write."}
	}
	c, err := r.get("/v1/calls/" + r.ID)
	if err != nil {
		return view{}, err
	}
	ticket, err := r.send(http.MethodPost, "/v1/tickets", object{"path": "/v1/calls/" + r.ID + "/listen"})
	return view{name: "listen", title: "Listen to the call to " + text(c, "to"), data: object{"call": c, "path": pathOf(text(ticket, "url"))}}, err
}

// pathOf is a URL of the service's own without its host.
func pathOf(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		if _, path, ok := strings.Cut(rest, "/"); ok {
			return "/" + path
		}
	}
	return url
}

func hangUpCall(r *Request) (view, error) {
	_, err := r.send(http.MethodPost, "/v1/calls/"+r.ID+"/hangup", nil)
	return view{to: "/calls/" + r.ID + "?done=hangup"}, err
}

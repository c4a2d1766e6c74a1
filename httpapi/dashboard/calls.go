package dashboard

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
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
	if err != nil {
		return view{}, err
	}
	agents, err := r.first("/v1/agents")
	if err != nil && !isNotVisible(err) {
		return view{}, err
	}
	return view{name: "calls", title: "Calls", data: object{
		"list": l, "calls": r.callRows(l.Data), "query": r.Query, "poll": "/calls?" + poll.Encode(), "agents": agents.Data,
		"campaign": r.nameOf("/v1/campaigns", r.Query.Get("campaign_id")), "filtered": slices.ContainsFunc(filters, func(f string) bool { return r.Query.Get(f) != "" }),
	}}, nil
}

// callPage shows a call with its events, transcript and recording.
func callPage(r *Request) (view, error) {
	path := "/v1/calls/" + r.ID
	c, err := r.get(path)
	if err != nil {
		return view{}, err
	}
	live, processing := text(c, "ended_at") == "", c["processing"] == true
	data := object{
		"call": c, "live": live, "grows": live || processing, "every": "2s",
		"agent": r.nameCell("/v1/agents", "/agents", text(c, "agent_id")), "campaign": r.nameCell("/v1/campaigns", "/campaigns", text(c, "campaign_id")),
	}
	if !live {
		data["every"] = "10s" // the analysis of an ended call takes some time
	}
	transcript, err := r.get(path + "/transcript")
	if err != nil && !isNotVisible(err) {
		return view{}, err
	}
	data["transcript"] = transcript
	if !live && !processing { // reading the events scans the event log, so the page does not do it while it polls
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
	return view{name: "call", title: "Call with " + remoteParty(c), data: data}, nil
}

// redirectToRecording redirects the audio player to a signed link of the recording.
func redirectToRecording(r *Request) (view, error) {
	link, err := r.send(http.MethodPost, "/v1/calls/"+r.ID+"/recording/link", object{})
	return view{to: pathOf(text(link, "url"))}, err
}

// listenToCall shows a page that plays the live audio of a call. The page contains a ticket for one connection.
func listenToCall(r *Request) (view, error) {
	if !r.Visitor.May("calls:write") { // the permission that the route of the ticket needs
		return view{}, &problem{Status: http.StatusForbidden, Message: "Listening needs the permission calls:write."}
	}
	c, err := r.get("/v1/calls/" + r.ID)
	if err != nil {
		return view{}, err
	}
	ticket, err := r.send(http.MethodPost, "/v1/tickets", object{"path": "/v1/calls/" + r.ID + "/listen"})
	return view{name: "listen", title: "Listen to the call to " + text(c, "to"), data: object{"call": c, "path": pathOf(text(ticket, "url"))}}, err
}

// pathOf returns the path and query of a URL, without scheme and host.
func pathOf(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		if _, path, ok := strings.Cut(rest, "/"); ok {
			return "/" + path
		}
	}
	return url
}

func hangUpCall(r *Request) (view, error) {
	c, err := r.get("/v1/calls/" + r.ID)
	if err != nil {
		return view{}, err
	}
	if q := (confirmation{Title: "Hang up the call?", Text: "The call between " + text(c, "from") + " and " + text(c, "to") + " ends at once.", Button: "Hang up", Danger: true}); !r.isConfirmed(q) {
		return r.confirm(q)
	}
	_, err = r.send(http.MethodPost, "/v1/calls/"+r.ID+"/hangup", nil)
	return view{to: "/calls/" + r.ID + "?done=hangup"}, err
}

// remoteParty returns the number of the person in a call.
func remoteParty(c object) string {
	if text(c, "direction") == "inbound" {
		return text(c, "from")
	}
	return text(c, "to")
}

package dashboard

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const pageSize = "50"

// overview is what goes on now.
func (d *Dashboard) overview(r *Request) (view, error) {
	workspace, err := r.get("/v1/workspace")
	if err != nil && !absent(err) {
		return view{}, err
	}
	running, err := r.first("/v1/campaigns?status=running")
	if err != nil && !absent(err) {
		return view{}, err
	}
	for _, c := range running.Data {
		status, lost := r.get("/v1/campaigns/" + text(c, "id") + "/status")
		if lost != nil && !absent(lost) {
			return view{}, lost
		}
		c["progress"] = status["progress"]
	}
	live, err := r.first("/v1/calls?status=active")
	if err != nil && !absent(err) {
		return view{}, err
	}
	recent, err := r.first("/v1/calls")
	if err != nil && !absent(err) {
		return view{}, err
	}
	trunks, err := r.first("/v1/trunks")
	if err != nil && !absent(err) {
		return view{}, err
	}
	hooks, err := r.first("/v1/webhooks?status=disabled")
	if err != nil && !absent(err) {
		return view{}, err
	}
	newest := recent.Data
	if len(newest) > 8 {
		newest = newest[:8]
	}
	return view{name: "overview", title: "Overview", data: object{
		"workspace": workspace, "running": running.Data, "live": len(live.Data), "more": live.More,
		"outcomes": outcomesOf(recent.Data), "recent": newest, "counted": len(recent.Data), "trunks": trunks.Data, "disabled": hooks.Data,
	}}, nil
}

// outcomesOf are the shares of how calls ended, most first.
func outcomesOf(calls []object) []share {
	counts := map[string]float64{}
	for _, c := range calls {
		if how := text(c, "disposition"); how != "" {
			counts[how]++
		}
	}
	return shares(counts)
}

func (d *Dashboard) campaigns(r *Request) (view, error) {
	l, err := r.list("/v1/campaigns", "/campaigns", "status")
	return view{name: "campaigns", title: "Campaigns", data: object{"list": l, "status": r.Query.Get("status")}}, err
}

func (d *Dashboard) campaign(r *Request) (view, error) {
	v := view{name: "campaign", title: "Campaign"}
	path := "/v1/campaigns/" + r.ID
	c, err := r.get(path)
	if err != nil {
		return view{}, err
	}
	status, err := r.get(path + "/status")
	if err != nil {
		return view{}, err
	}
	counts := map[string]float64{}
	for _, kind := range []string{"outcomes", "skipped"} {
		of, _ := status[kind].(object)
		for name, n := range of {
			if count, _ := n.(float64); count > 0 {
				if kind == "skipped" {
					name = "skipped: " + name
				}
				counts[name] = count
			}
		}
	}
	data := object{"campaign": c, "status": status, "outcomes": shares(counts), "states": contactStates(), "state": r.Query.Get("status"), "cursor": r.Query.Get("cursor")}
	if r.Part != "live" {
		contacts, err := r.list(path+"/contacts", "/campaigns/"+r.ID, "status")
		if err != nil && !absent(err) {
			return view{}, err
		}
		data["contacts"] = contacts
		if id := r.Query.Get("upload"); id != "" {
			if data["upload"], err = r.get(path + "/uploads/" + url.PathEscape(id)); err != nil && !absent(err) {
				return view{}, err
			}
		}
	}
	v.title, v.data = text(c, "name"), data
	return v, nil
}

// contactStates are the states by which contacts are filtered.
func contactStates() []string {
	return []string{
		"pending", "dialing", "in_call", "retry_wait", "confirmed", "declined", "completed", "voicemail", "no_answer", "busy", "failed", "skipped", "expired", "cancelled",
	}
}

func (d *Dashboard) newCampaign(r *Request) (view, error) {
	agents, err := r.first("/v1/agents")
	if err != nil && !absent(err) {
		return view{}, err
	}
	return view{name: "newcampaign", title: "New campaign", data: object{"agents": agents.Data, "form": r.Form}}, nil
}

// createCampaign makes a draft; its contacts follow from its page.
func (d *Dashboard) createCampaign(r *Request) (view, error) {
	f := r.Form
	body := object{"name": f.Get("name"), "agent_id": f.Get("agent_id")}
	if n := f.Get("caller_id"); n != "" {
		body["caller_id"] = object{"number": n}
	}
	pacing := object{}
	problems := ""
	for _, name := range []string{"calls_per_minute", "max_concurrent"} {
		if t := strings.TrimSpace(f.Get(name)); t != "" {
			n, err := strconv.Atoi(t)
			if err != nil {
				problems = "pacing." + name
			}
			pacing[name] = n
		}
	}
	if len(pacing) > 0 {
		body["pacing"] = pacing
	}
	hours := object{}
	for _, name := range []string{"start", "end", "timezone"} {
		if t := f.Get("hours_" + name); t != "" {
			hours[name] = t
		}
	}
	if len(hours) > 0 {
		body["compliance"] = object{"calling_hours": hours}
	}
	var err error
	var made object
	if problems != "" {
		err = &problem{Status: http.StatusUnprocessableEntity, Message: problems + " must be a number.", Param: problems}
	} else {
		made, err = r.send(http.MethodPost, "/v1/campaigns", body)
	}
	if err != nil {
		v, again := d.newCampaign(r)
		if again != nil {
			return view{}, err
		}
		return v, err
	}
	return view{to: "/campaigns/" + text(made, "id") + "?done=created"}, nil
}

// uploadContacts passes a file on as it comes.
func (d *Dashboard) uploadContacts(r *Request) (view, error) {
	var answer object
	err := understand(r.API(http.MethodPost, "/v1/campaigns/"+r.ID+"/contacts", r.ContentType, r.Body))(&answer)
	if err != nil {
		return view{}, err
	}
	id, _ := answer["upload_id"].(string)
	return view{to: "/campaigns/" + r.ID + "?done=uploaded&upload=" + url.QueryEscape(id)}, nil
}

func (d *Dashboard) driveCampaign(r *Request) (view, error) {
	switch r.Verb {
	case "start", "pause", "resume", "cancel":
	default:
		return view{}, &problem{Status: http.StatusNotFound, Message: "There is no such button."}
	}
	if _, err := r.send(http.MethodPost, "/v1/campaigns/"+r.ID+"/"+r.Verb, nil); err != nil {
		return view{}, err
	}
	return view{to: "/campaigns/" + r.ID + "?done=" + r.Verb}, nil
}

func (d *Dashboard) decisions(r *Request) (view, error) {
	c, err := r.get("/v1/campaigns/" + r.ID)
	if err != nil {
		return view{}, err
	}
	l, err := r.list("/v1/campaigns/"+r.ID+"/decisions", "/campaigns/"+r.ID+"/decisions", "phone")
	return view{name: "decisions", title: "Why: " + text(c, "name"), data: object{"campaign": c, "list": l, "phone": r.Query.Get("phone")}}, err
}

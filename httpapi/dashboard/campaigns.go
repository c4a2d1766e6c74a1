package dashboard

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const pageSize = "50"

func campaignsPage(r *Request) (view, error) {
	l, err := r.list("/v1/campaigns", "/campaigns", "status")
	return view{name: "campaigns", title: "Campaigns", data: object{"list": l, "status": r.Query.Get("status")}}, err
}

func campaignPage(r *Request) (view, error) {
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
	counts := countsOf(status, "outcomes")
	for name, n := range countsOf(status, "skipped") {
		counts["skipped: "+name] = n
	}
	data := object{"campaign": c, "status": status, "outcomes": shares(counts), "states": contactStates(), "state": r.Query.Get("status"), "cursor": r.Query.Get("cursor")}
	if r.Part == "" || r.Part == "chart" {
		if data["rates"], err = r.rates("/v1/calls?campaign_id="+r.ID, time.Time{}, endOrNow(c)); err != nil && !isNotVisible(err) {
			return view{}, err
		}
	}
	if r.Part == "" || r.Part == "chart" {
		if data["marks"], err = r.progressMarks(c); err != nil {
			return view{}, err
		}
	}
	if r.Part == "" || r.Part == "people" {
		contacts, err := r.list(path+"/contacts", "/campaigns/"+r.ID, "status")
		if err != nil && !isNotVisible(err) {
			return view{}, err
		}
		data["contacts"] = contacts
		if id := r.Query.Get("upload"); id != "" {
			if data["upload"], err = r.get(path + "/uploads/" + url.PathEscape(id)); err != nil && !isNotVisible(err) {
				return view{}, err
			}
		}
	}
	v.title, v.data = text(c, "name"), data
	return v, nil
}

// progressMarks returns the progress of a campaign at successive times, starting with 0 percent at its start.
func (r *Request) progressMarks(c object) ([]object, error) {
	progress, err := r.get("/v1/campaigns/" + r.ID + "/progress")
	if err != nil && !isNotVisible(err) {
		return nil, err
	}
	var all []object
	if at := text(c, "started_at"); at != "" {
		all = append(all, object{"at": at, "percent": 0.0, "attempted": 0.0, "finished": 0.0, "reached": 0.0})
	}
	for _, one := range listOf(progress["marks"]) {
		if m, ok := one.(object); ok {
			m["reached"] = reachedContacts(countsOf(m, "outcomes"))
			all = append(all, m)
		}
	}
	return all, nil
}

// reachedContacts returns the number of contacts that were reached, from the number of contacts by outcome.
func reachedContacts(outcomes map[string]float64) (n float64) {
	for _, name := range []string{"completed", "confirmed", "declined"} {
		n += outcomes[name]
	}
	return n
}

// endOrNow returns the time at which a campaign ended, or the current time if it has not ended.
func endOrNow(c object) time.Time {
	if ended, err := time.Parse(time.RFC3339Nano, text(c, "ended_at")); err == nil {
		return ended
	}
	return time.Now().UTC()
}

// contactStates returns the values of the filter by contact status.
func contactStates() []string {
	return []string{
		"pending", "dialing", "in_call", "retry_wait", "confirmed", "declined", "completed", "voicemail", "no_answer", "busy", "failed", "skipped", "expired", "cancelled",
	}
}

func newCampaignPage(r *Request) (view, error) {
	agents, err := r.first("/v1/agents")
	if err != nil && !isNotVisible(err) {
		return view{}, err
	}
	return view{name: "newcampaign", title: "New campaign", data: object{"agents": agents.Data, "form": r.Form}}, nil
}

// createCampaign creates a draft campaign. The user then adds the contacts on the page of the campaign.
func createCampaign(r *Request) (view, error) {
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
	var created object
	if problems != "" {
		err = &problem{Status: http.StatusUnprocessableEntity, Message: problems + " must be a number.", Param: problems}
	} else {
		created, err = r.send(http.MethodPost, "/v1/campaigns", body)
	}
	if err != nil {
		v, again := newCampaignPage(r)
		if again != nil {
			return view{}, err
		}
		return v, err
	}
	return view{to: "/campaigns/" + text(created, "id") + "?done=created"}, nil
}

// uploadContacts streams an uploaded contact file to the API.
func uploadContacts(r *Request) (view, error) {
	var answer object
	err := decodeResult(r.API(http.MethodPost, "/v1/campaigns/"+r.ID+"/contacts", r.ContentType, "", r.Body))(&answer)
	if err != nil {
		v, again := campaignPage(r) // the page with the upload form
		if again != nil {
			return view{}, err
		}
		return v, err
	}
	id, _ := answer["upload_id"].(string)
	return view{to: "/campaigns/" + r.ID + "?done=uploaded&upload=" + url.QueryEscape(id)}, nil
}

// forecastPage shows the forecast of a campaign.
func forecastPage(r *Request) (view, error) {
	c, err := r.get("/v1/campaigns/" + r.ID)
	if err != nil {
		return view{}, err
	}
	played, err := r.send(http.MethodPost, "/v1/campaigns/"+r.ID+"/simulate", object{})
	if err != nil {
		return view{}, err
	}
	hours, _ := played["calls_per_hour"].([]any)
	if len(hours) > 500 {
		hours = hours[:500]
	}
	return view{name: "rehearsal", title: "Rehearsal: " + text(c, "name"), data: object{
		"campaign": c, "rehearsal": played, "outcomes": shares(countsOf(played, "outcomes")), "skipped": shares(countsOf(played, "skipped")), "hours": hours,
	}}, nil
}

// countsOf returns the positive numbers in the member of an object, by their names.
func countsOf(o object, name string) map[string]float64 {
	of, _ := o[name].(object)
	counts := map[string]float64{}
	for k, n := range of {
		if count, _ := n.(float64); count > 0 {
			counts[k] = count
		}
	}
	return counts
}

func changeCampaign(r *Request) (view, error) {
	switch r.Verb {
	case "start", "pause", "resume", "cancel":
	default:
		return view{}, &problem{Status: http.StatusNotFound, Message: "Unknown action."}
	}
	if _, err := r.send(http.MethodPost, "/v1/campaigns/"+r.ID+"/"+r.Verb, nil); err != nil {
		return view{}, err
	}
	return view{to: "/campaigns/" + r.ID + "?done=" + r.Verb}, nil
}

func decisionsPage(r *Request) (view, error) {
	c, err := r.get("/v1/campaigns/" + r.ID)
	if err != nil {
		return view{}, err
	}
	l, err := r.list("/v1/campaigns/"+r.ID+"/decisions", "/campaigns/"+r.ID+"/decisions", "phone")
	return view{name: "decisions", title: "Why: " + text(c, "name"), data: object{"campaign": c, "list": l, "phone": r.Query.Get("phone")}}, err
}

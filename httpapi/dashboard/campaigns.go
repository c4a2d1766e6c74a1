package dashboard

import (
	"net/http"
	"net/url"
	"time"
)

const pageSize = "50"

// campaignRow is a campaign in a list, with its progress.
type campaignRow struct {
	Campaign object
	Progress object
	Reached  float64
	Agent    cell
}

func campaignsPage(r *Request) (view, error) {
	l, err := r.list("/v1/campaigns", "/campaigns", "status")
	if err != nil {
		return view{}, err
	}
	rows := make([]campaignRow, len(l.Data))
	for i, c := range l.Data {
		status, err := r.get("/v1/campaigns/" + text(c, "id") + "/status")
		if err != nil && !isNotVisible(err) {
			return view{}, err
		}
		progress, _ := status["progress"].(object)
		rows[i] = campaignRow{c, progress, reachedContacts(countsOf(status, "outcomes")), r.nameCell("/v1/agents", "/agents", text(c, "agent_id"))}
	}
	return view{name: "campaigns", title: "Campaigns", data: object{"list": l, "rows": rows, "status": r.Query.Get("status")}}, nil
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
	data["agent"], data["pathway"] = r.nameCell("/v1/agents", "/agents", text(c, "agent_id")), r.nameCell("/v1/pathways", "/pathways", text(c, "pathway_id"))
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

// campaignForm returns the form for a new or a changed campaign.
func campaignForm(method, path string) *schemaForm {
	return &schemaForm{
		Method: method, Path: path, Hidden: []string{"contacts", "webhook_secret", "webhooks", "test", "draft"}, Open: []string{"pacing", "caller_id", "compliance"},
		Main: []string{"agent_id", "pathway_id", "schedule", "pacing", "caller_id", "compliance", "retry"},
		Hints: map[string]string{
			"agent_id": "A campaign needs an agent or a pathway.", "pathway_id": "Replaces the pathway of the agent.", "pacing": "", "compliance": "",
			"caller_id.number": "A number of the workspace, or a caller ID of a trunk. Empty: a number of the trunk that carries the call.", "compliance.dnc_scrub": "Contacts on a do-not-call list are not called.",
		},
		Labels: map[string]string{"caller_id": "Caller ID", "compliance.dnc_scrub": "Check do-not-call lists", "compliance.dnc_list_id": "Further do-not-call list", "pacing": "Pace", "retry": "Retries", "compliance.calling_hours": "Calling hours", "compliance": "Compliance"},
	}
}

func newCampaignPage(r *Request) (view, error) { return campaignFormView(r, nil, r.Query, nil) }

// campaignFormView shows the form for a new campaign, or for the campaign c.
func campaignFormView(r *Request, c object, values url.Values, p *problem) (view, error) {
	form, v := campaignForm(http.MethodPost, "/v1/campaigns"), view{name: "form", title: "New campaign", hasForm: true}
	data := object{"action": "/campaigns", "button": "Create campaign", "back": "/campaigns"}
	if c != nil {
		page := "/campaigns/" + text(c, "id")
		form = campaignForm(http.MethodPatch, "/v1/campaigns/{id}")
		v.title, v.parents = "Edit "+text(c, "name"), []crumb{{text(c, "name"), page}}
		data = object{"action": page + "/edit", "button": "Save", "back": page}
	}
	fields, others, err := form.fields(r, values, p)
	if err != nil {
		return view{}, err
	}
	data["fields"], v.formErrors, v.data = fields, others, data
	return v, nil
}

// createCampaign creates a draft campaign. The user then adds the contacts on the page of the campaign.
func createCampaign(r *Request) (view, error) {
	body, err := campaignForm(http.MethodPost, "/v1/campaigns").body(r, nil)
	var created object
	if err == nil {
		body["draft"] = true // it starts when the user says so, also if it has a start time
		created, err = r.send(http.MethodPost, "/v1/campaigns", body)
	}
	if err != nil {
		return campaignRefused(r, nil, err)
	}
	return view{to: "/campaigns/" + text(created, "id") + "?done=created"}, nil
}

// campaignRefused shows the form again with the errors at its fields.
func campaignRefused(r *Request, c object, err error) (view, error) {
	p, ok := err.(*problem) //nolint:errorlint // callAPI wraps no errors
	if !ok {
		return view{}, err
	}
	v, again := campaignFormView(r, c, r.Form, p)
	if again != nil {
		return view{}, again
	}
	return v, err
}

func editCampaignPage(r *Request) (view, error) {
	c, err := r.get("/v1/campaigns/" + r.ID)
	if err != nil {
		return view{}, err
	}
	return campaignFormView(r, c, formValues(c, r.zone()), nil)
}

func updateCampaign(r *Request) (view, error) {
	c, err := r.get("/v1/campaigns/" + r.ID)
	if err != nil {
		return view{}, err
	}
	body, err := campaignForm(http.MethodPatch, "/v1/campaigns/{id}").body(r, c)
	if err == nil && len(body) > 0 {
		_, err = r.send(http.MethodPatch, "/v1/campaigns/"+r.ID, body)
	}
	if err != nil {
		return campaignRefused(r, c, err)
	}
	return view{to: "/campaigns/" + r.ID + "?done=saved"}, nil
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

// changeCampaign starts, pauses, resumes, cancels, copies or deletes a campaign. It asks before people are called and
// before something cannot be undone.
func changeCampaign(r *Request) (view, error) {
	path, page := "/v1/campaigns/"+r.ID, "/campaigns/"+r.ID
	c, err := r.get(path)
	if err != nil {
		return view{}, err
	}
	var question *confirmation
	switch r.Verb {
	case "pause", "resume", "duplicate":
	case "start", "cancel", "redial", "delete":
		if question, err = campaignQuestion(r, c); err != nil {
			return view{}, err
		}
	default:
		return view{}, &problem{Status: http.StatusNotFound, Message: "Unknown action."}
	}
	if question != nil && !r.isConfirmed(*question) {
		return r.confirm(*question)
	}
	switch r.Verb {
	case "delete":
		_, err = r.send(http.MethodDelete, path, nil)
		return view{to: "/campaigns?done=deleted"}, err
	case "duplicate", "redial":
		var body any
		if r.Verb == "redial" {
			body = object{"outcomes": append([]string{}, r.Form["outcomes"]...)}
		}
		copied, refused := r.send(http.MethodPost, path+"/"+r.Verb, body)
		return view{to: "/campaigns/" + text(copied, "id") + "?done=created"}, refused
	}
	_, err = r.send(http.MethodPost, path+"/"+r.Verb, nil)
	return view{to: page + "?done=" + r.Verb}, err
}

// campaignQuestion returns the question before a campaign is started, cancelled, called again or deleted.
func campaignQuestion(r *Request, c object) (*confirmation, error) {
	status, err := r.get("/v1/campaigns/" + r.ID + "/status")
	if err != nil {
		return nil, err
	}
	progress, _ := status["progress"].(object)
	name := text(c, "name")
	switch r.Verb {
	case "start":
		caller, _ := c["caller_id"].(object)
		said := "Callboard calls " + number(progress["remaining"]) + " people"
		if from := text(caller, "number"); from != "" {
			said += " from " + from
		}
		if r.Visitor.Test {
			said = "This is the test environment: the built-in carrier answers for " + number(progress["remaining"]) + " contacts, and nobody is called"
		}
		return &confirmation{Title: "Start " + name + "?", Text: said + ". " + hoursOf(c), Button: "Start campaign"}, nil
	case "cancel":
		return &confirmation{Title: "Cancel " + name + "?", Text: number(progress["remaining"]) + " contacts are not called any more. A cancelled campaign cannot go on.", Button: "Cancel campaign", Danger: true}, nil
	case "delete":
		return &confirmation{Title: "Delete " + name + "?", Text: "Its contacts and decisions are deleted. Its calls remain. This cannot be undone.", Button: "Delete campaign", Danger: true, Typed: name}, nil
	}
	var outcomes []option
	for _, o := range []string{"no_answer", "busy", "voicemail", "failed", "declined", "confirmed", "completed", "skipped", "expired", "cancelled"} {
		outcomes = append(outcomes, option{o, labelOf(o)})
	}
	return &confirmation{
		Title: "Call contacts of " + name + " again?", Text: "A new draft campaign gets the contacts with these outcomes. It calls nobody until you start it.", Button: "Create campaign",
		Fields: []formField{{Name: "outcomes", Kind: choicesField, Label: "Outcomes", Options: outcomes, Values: []string{"no_answer", "busy"}}},
	}, nil
}

// hoursOf says when a campaign calls.
func hoursOf(c object) string {
	compliance, _ := c["compliance"].(object)
	hours, _ := compliance["calling_hours"].(object)
	if text(hours, "start") == "" {
		return ""
	}
	zone := text(hours, "timezone")
	if zone == "local" {
		zone = "the time zone of each contact"
	}
	return "Calling hours: " + text(hours, "start") + " to " + text(hours, "end") + ", " + zone + "."
}

// exportResults and exportContacts stream a file of the API to the browser.
func exportResults(r *Request) (view, error) {
	return view{download: "/v1/campaigns/" + r.ID + "/results"}, nil
}

func exportContacts(r *Request) (view, error) {
	return view{download: "/v1/campaigns/" + r.ID + "/contacts.csv"}, nil
}

func exportDecisions(r *Request) (view, error) {
	return view{download: "/v1/campaigns/" + r.ID + "/decisions.csv"}, nil
}

// downloadExport streams the file of an export to the browser.
func downloadExport(r *Request) (view, error) {
	return view{download: "/v1/exports/" + r.ID + "/download"}, nil
}

func decisionsPage(r *Request) (view, error) {
	c, err := r.get("/v1/campaigns/" + r.ID)
	if err != nil {
		return view{}, err
	}
	l, err := r.list("/v1/campaigns/"+r.ID+"/decisions", "/campaigns/"+r.ID+"/decisions", "phone")
	return view{name: "decisions", title: "Why: " + text(c, "name"), data: object{"campaign": c, "list": l, "phone": r.Query.Get("phone")}}, err
}

package dashboard

import (
	"cmp"
	"fmt"
	"slices"
)

// workspaceProblem is something that needs attention, as Home shows it: what is wrong, since when, and the page that helps.
type workspaceProblem struct {
	Severe bool
	Text   string
	Since  any // a zonedTime; nil: unknown
	Link   string
	Action string // label of the link
}

// workspaceProblems returns what is wrong in the workspace, the worst first.
func (r *Request) workspaceProblems() ([]workspaceProblem, error) {
	var all []workspaceProblem
	for _, find := range []func(*Request) ([]workspaceProblem, error){problemsOfTrunks, problemsOfWebhooks, problemsOfCampaigns, problemsOfAlerts} {
		found, err := find(r)
		if err != nil && !isNotVisible(err) {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b workspaceProblem) int {
		return cmp.Compare(map[bool]int{true: 0, false: 1}[a.Severe], map[bool]int{true: 0, false: 1}[b.Severe])
	})
	return all, nil
}

// problemsOfTrunks returns the trunks that are down, or whose last call failed.
func problemsOfTrunks(r *Request) ([]workspaceProblem, error) {
	l, err := r.first("/v1/trunks")
	var all []workspaceProblem
	for _, t := range l.Data {
		health, _ := t["health"].(object)
		status, reason := text(health, "status"), text(health, "last_error")
		if status != "down" && status != "degraded" && reason == "" {
			continue
		}
		said := "Trunk " + text(t, "name") + " is " + status
		if status == "up" {
			said = "Trunk " + text(t, "name") + " had an error"
		}
		if reason != "" {
			said += ": " + reason
		}
		all = append(all, workspaceProblem{Severe: status == "down", Text: said + ".", Link: "/trunks/" + text(t, "id"), Action: "Open trunk"})
	}
	return all, err
}

// problemsOfWebhooks returns the endpoints that are disabled or do not accept deliveries.
func problemsOfWebhooks(r *Request) ([]workspaceProblem, error) {
	l, err := r.first("/v1/webhooks")
	var all []workspaceProblem
	for _, w := range l.Data {
		one := workspaceProblem{Link: "/webhooks/" + text(w, "id"), Action: "Open webhook"}
		failures, _ := w["failure_count"].(float64)
		switch {
		case text(w, "status") == "disabled":
			one.Severe, one.Since, one.Text = true, w["disabled_at"], fmt.Sprintf("Webhook %s is disabled: %s.", text(w, "url"), labelOf(text(w, "disabled_reason")))
		case w["failing_since"] != nil:
			one.Since, one.Text = w["failing_since"], fmt.Sprintf("Webhook %s does not accept deliveries: %s failed.", text(w, "url"), number(failures))
		default:
			continue
		}
		all = append(all, one)
	}
	return all, err
}

// problemsOfCampaigns returns the campaigns that the service has paused.
func problemsOfCampaigns(r *Request) ([]workspaceProblem, error) {
	l, err := r.first("/v1/campaigns?status=paused")
	var all []workspaceProblem
	for _, c := range l.Data {
		if why := text(c, "pause_reason"); why != "" {
			all = append(all, workspaceProblem{Severe: true, Text: "Campaign " + text(c, "name") + " was paused: " + labelOf(why) + ".", Since: c["updated_at"], Link: "/campaigns/" + text(c, "id"), Action: "Open campaign"})
		}
	}
	return all, err
}

// problemsOfAlerts returns the alerts that fire, for operators.
func problemsOfAlerts(r *Request) ([]workspaceProblem, error) {
	if !r.Visitor.Operator {
		return nil, nil
	}
	l, err := r.first("/v1/alerts")
	var all []workspaceProblem
	for _, a := range l.Data {
		if text(a, "status") == "firing" {
			all = append(all, workspaceProblem{Severe: true, Text: "Alert " + text(a, "rule_name") + ": " + text(a, "subject_name") + ".", Since: a["fired_at"], Link: operatorPath, Action: "Open health"})
		}
	}
	return all, err
}

// setupStep is an item of the checklist for a new workspace.
type setupStep struct {
	Text, Link, Action string
	Done               bool
}

// checklist returns the first steps of a new workspace, nil if they are all done.
func (r *Request) checklist() ([]setupStep, error) {
	steps := []struct {
		setupStep
		api, right string
	}{
		{setupStep{Text: "Create an agent", Link: "/agents/new", Action: "New agent"}, "/v1/agents", "agents:write"},
		{setupStep{Text: "Connect a carrier", Link: "/trunks/new", Action: "Add trunk"}, "/v1/trunks", "calls:write"},
		{setupStep{Text: "Add a phone number for inbound calls", Link: "/numbers/new", Action: "Add number"}, "/v1/phone-numbers", "calls:write"},
		{setupStep{Text: "Create a campaign", Link: "/campaigns/new", Action: "New campaign"}, "/v1/campaigns", "calls:write"},
		{setupStep{Text: "Receive events by webhook", Link: "/webhooks/new", Action: "Add webhook"}, "/v1/webhooks", "*:write"},
	}
	var all []setupStep
	open := false
	for _, s := range steps {
		if !r.Visitor.May(s.right) {
			continue
		}
		var l resourceList
		if err := r.callAPI("GET", s.api+"?limit=1", nil, &l); err != nil && !isNotVisible(err) {
			return nil, err
		}
		s.Done = len(l.Data) > 0
		open = open || !s.Done
		all = append(all, s.setupStep)
	}
	if !open {
		return nil, nil
	}
	return all, nil
}

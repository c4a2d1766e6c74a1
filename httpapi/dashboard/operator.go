package dashboard

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// operatorPath is the path of the page with all workspaces, for operators only.
const operatorPath = "/operator"

// operatorPage shows the state of the nodes and workspaces, the alerts and the alert rules.
func operatorPage(r *Request) (view, error) {
	poll := func(part, cursor string) string { // URL of an update that shows the same page of the list
		q := url.Values{"part": {part}}
		if at := r.Query.Get(cursor); at != "" {
			q.Set(cursor, at)
		}
		return operatorPath + "?" + q.Encode()
	}
	data := object{"form": r.Form, "kinds": alertKinds(), "live": poll("live", "alerts"), "people": poll("people", "cursor")}
	// The page is shown even if some of its data cannot be read, because it has the button that stops all dialing. An
	// automatic update fails instead, and the browser keeps the old data.
	var missing []string
	read := func(name, what string, of any, err error) error {
		if err != nil && r.Part == "" {
			missing, err = append(missing, what), nil
		} else {
			data[name] = of
		}
		return err
	}
	if r.Part != "people" {
		load, err := r.get("/v1/operator/load")
		if err = read("load", "node load", load, err); err != nil {
			return view{}, err
		}
		nodes, err := r.get("/v1/operator/nodes")
		if err = read("nodes", "the nodes", nodes, err); err != nil {
			return view{}, err
		}
		alerts, err := r.pageOf("alerts", "/v1/alerts", operatorPath)
		if err = read("alerts", "alerts", alerts, err); err != nil {
			return view{}, err
		}
	}
	if r.Part != "live" {
		workspaces, err := r.list("/v1/operator/workspaces", operatorPath)
		if err = read("workspaces", "workspaces", workspaces, err); err != nil {
			return view{}, err
		}
	}
	if r.Part == "" {
		rules, err := r.pageOf("rules", "/v1/alert-rules", operatorPath)
		if err = read("rules", "alert rules", rules, err); err != nil {
			return view{}, err
		}
	}
	data["missing"] = strings.Join(missing, ", ")
	return view{name: "operator", title: "Health", data: data}, nil
}

// runOperatorAction runs the form action that stops or resumes dialing, or drains or undrains a node.
func runOperatorAction(r *Request) (view, error) {
	var body any
	switch r.Verb {
	case "dialling-stop":
		q := confirmation{Title: "Stop all dialing?", Text: "No campaign and no request of any workspace places a call until dialing is resumed. Calls in progress continue.", Button: "Stop all dialing", Danger: true}
		if !r.isConfirmed(q) {
			return r.confirm(q)
		}
		body = object{"reason": r.Form.Get("reason")}
	case "dialling-resume":
	case "drain", "undrain":
		q := confirmation{Title: "Drain this node?", Text: "It accepts no new calls. Calls in progress continue.", Button: "Drain node", Danger: true}
		if r.Verb == "drain" && !r.isConfirmed(q) {
			return r.confirm(q)
		}
		if node := r.Form.Get("node_id"); node != "" {
			body = object{"node_id": node}
		}
	default:
		return view{}, &problem{Status: http.StatusNotFound, Message: "Unknown action."}
	}
	_, err := r.send(http.MethodPost, "/v1/operator/"+strings.ReplaceAll(r.Verb, "-", "/"), body)
	return operatorPageAfter(r, r.Verb, err)
}

// operatorPageAfter redirects to the operator's page after a form action. After an error it shows the page with the
// submitted values instead.
func operatorPageAfter(r *Request, done string, err error) (view, error) {
	if err == nil {
		return view{to: operatorPath + "?done=" + done}, nil
	}
	if v, again := operatorPage(r); again == nil {
		return v, err
	}
	return view{}, err
}

// alertKind is a kind of alert rule with its label.
type alertKind struct{ Name, What string }

func alertKinds() []alertKind {
	return []alertKind{
		{"answer_rate", "Low answer rate"},
		{"trunk_down", "Trunk down"},
		{"spend", "Daily spend cap nearly reached"},
		{"endpoint_disabled", "Webhook endpoint disabled"},
	}
}

// createAlertRule creates an alert rule. It omits empty form fields, so that the API applies the defaults of the kind.
func createAlertRule(r *Request) (view, error) {
	body, err := ruleOf(r.Form)
	if err == nil {
		_, err = r.send(http.MethodPost, "/v1/alert-rules", body)
	}
	return operatorPageAfter(r, "rule", err)
}

func ruleOf(f url.Values) (object, error) {
	body := object{"name": f.Get("name"), "kind": f.Get("kind"), "emails": splitWords(f.Get("emails"))}
	bound := "below"
	if f.Get("kind") == "spend" {
		bound = "share"
	}
	refused := func(field, why string) (object, error) {
		return nil, &problem{Status: http.StatusUnprocessableEntity, Message: why, Param: field}
	}
	for _, n := range []struct {
		field, label, param string
		of                  float64
	}{{"percent", "Per cent", bound, 100}, {"minutes", "Minutes", "minutes", 1}, {"min_calls", "Calls", "min_calls", 1}} {
		text := strings.TrimSpace(f.Get(n.field))
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		switch kind := f.Get("kind"); {
		case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
			return refused(n.field, n.label+" must be a number.")
		case n.field == "percent" && kind != "answer_rate" && kind != "spend":
			return refused(n.field, "Per cent applies only to rules for answered calls or a spend cap.")
		case n.field == "percent" && (v <= 0 || v > 100):
			return refused(n.field, "Per cent must be above 0 and at most 100.")
		case v <= 0: // the API treats 0 as the default
			return refused(n.field, n.label+" must be above 0.")
		}
		body[n.param] = v / n.of
	}
	if id := strings.TrimSpace(f.Get("watches")); id != "" {
		body["watches_workspace_id"] = id
	}
	if f.Get("together") != "" {
		body["together"] = true
	}
	return body, nil
}

// splitWords splits a form field with several values separated by commas or spaces.
func splitWords(s string) []string {
	return append([]string{}, strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune(", \t\r\n", c) })...)
}

// changeAlertRule runs the form action that tests, pauses, resumes or deletes an alert rule.
func changeAlertRule(r *Request) (view, error) {
	path, done := "/v1/alert-rules/"+r.ID, r.Verb
	var err error
	switch r.Verb {
	case "pause", "resume":
		_, err = r.send(http.MethodPatch, path, object{"paused": r.Verb == "pause"})
	case "delete":
		if q := (confirmation{Title: "Delete this alert rule?", Text: "It raises no more alerts.", Button: "Delete rule", Danger: true}); !r.isConfirmed(q) {
			return r.confirm(q)
		}
		_, err = r.send(http.MethodDelete, path, nil)
		done = "rule-deleted"
	case "test":
		done = "rule-tested"
		var came object
		if came, err = r.send(http.MethodPost, path+"/test", nil); err == nil {
			err = unsentMails(came)
		}
	default:
		return view{}, &problem{Status: http.StatusNotFound, Message: "Unknown action."}
	}
	return operatorPageAfter(r, done, err)
}

// unsentMails returns an error that lists the test mails that no server accepted, nil if all were accepted.
func unsentMails(came object) error {
	p := &problem{Status: http.StatusBadGateway, Message: "The event was sent to the webhooks, but not every mail was accepted."}
	mails, _ := came["mails"].([]any)
	for _, m := range mails {
		m, _ := m.(object)
		if sent, _ := m["sent"].(bool); !sent {
			p.Details = append(p.Details, problemDetail{Message: text(m, "to") + ": " + text(m, "error")})
		}
	}
	if len(p.Details) == 0 {
		return nil
	}
	p.Message += " " + p.Details[0].Message
	return p
}

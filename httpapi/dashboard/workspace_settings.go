package dashboard

import (
	"net/http"
	"strconv"
	"strings"
)

// retentionPeriod is a kind of data with a retention period in days.
type retentionPeriod struct{ Field, What string }

// retentionPeriods returns the kinds of data that have a retention period, with the names of their API members.
func retentionPeriods() []retentionPeriod {
	return []retentionPeriod{
		{"calls_days", "Calls"},
		{"recordings_days", "Recordings"},
		{"transcripts_days", "Transcripts"},
		{"traces_days", "SIP messages of calls"},
		{"messages_days", "Text messages"},
		{"appointments_days", "Appointments"},
		{"events_days", "Events and logs of deliveries"},
		{"decisions_days", "Decisions of campaigns"},
		{"audit_days", "Audit log"},
		{"ledger_days", "Bills of attempts"},
		{"uploads_days", "Reports of uploads"},
	}
}

func settingsPage(r *Request) (view, error) {
	w, err := r.get("/v1/workspace")
	if err != nil {
		return view{}, err
	}
	values := map[string]string{"name": text(w, "name"), "default_country": text(w, "default_country")}
	for group, fields := range map[string][]string{"retention": fieldNames(retentionPeriods()), "frequency_caps": {"per_number_per_day"}} {
		of, _ := w[group].(object)
		for _, f := range fields {
			n, _ := of[f].(float64)
			values[f] = strconv.Itoa(int(n))
		}
	}
	origins, _ := w["allowed_origins"].([]any)
	for _, o := range origins {
		s, _ := o.(string)
		values["allowed_origins"] += s + "\n"
	}
	of, _ := w["redaction"].(object)
	patterns, _ := of["patterns"].([]any)
	for _, p := range patterns {
		s, _ := p.(string)
		values["patterns"] += s + "\n"
	}
	for name := range values {
		if r.Form.Has(name) {
			values[name] = r.Form.Get(name) // shows the values that the user has submitted
		}
	}
	for _, name := range []string{"allowed_origins", "patterns"} {
		if r.Form.Has(name) {
			values[name] = r.Form.Get(name)
		}
	}
	return view{name: "settings", title: "Settings", data: object{"workspace": w, "kept": retentionPeriods(), "values": values}}, nil
}

func fieldNames(all []retentionPeriod) []string {
	names := make([]string, len(all))
	for i, k := range all {
		names[i] = k.Field
	}
	return names
}

func changeSettings(r *Request) (view, error) {
	body, err := settingsOf(r)
	if err == nil {
		_, err = r.send(http.MethodPatch, "/v1/workspace", body)
	}
	if err != nil {
		v, again := settingsPage(r)
		if again != nil {
			return view{}, err
		}
		return v, err
	}
	return view{to: "/settings?done=settings"}, nil
}

// settingsOf returns the body of the API request that changes the workspace as the submitted settings form says.
func settingsOf(r *Request) (object, error) {
	numbers := func(group string, fields []string) (object, error) {
		o := object{}
		for _, f := range fields {
			if !r.Form.Has(f) {
				continue
			}
			n, err := strconv.Atoi(strings.TrimSpace(r.Form.Get(f)))
			if err != nil {
				return nil, &problem{Status: http.StatusUnprocessableEntity, Message: group + "." + f + " must be a number.", Param: group + "." + f}
			}
			o[f] = n
		}
		return o, nil
	}
	retention, err := numbers("retention", fieldNames(retentionPeriods()))
	if err != nil {
		return nil, err
	}
	caps, err := numbers("frequency_caps", []string{"per_number_per_day"})
	if err != nil {
		return nil, err
	}
	body := object{"retention": retention, "frequency_caps": caps}
	for _, f := range []string{"name", "default_country"} {
		if r.Form.Has(f) {
			body[f] = strings.TrimSpace(r.Form.Get(f))
		}
	}
	if r.Form.Has("allowed_origins") {
		body["allowed_origins"] = append([]string{}, strings.Fields(r.Form.Get("allowed_origins"))...)
	}
	if r.Form.Has("patterns") {
		patterns := []string{}
		for line := range strings.Lines(r.Form.Get("patterns")) {
			if line = strings.TrimRight(line, "\r\n"); line != "" { // spaces at the start may be intended
				patterns = append(patterns, line)
			}
		}
		body["redaction"] = object{"patterns": patterns}
	}
	return body, nil
}

package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/callboard/callboard/domain"
)

// pathwaysPage shows the pathways.
func pathwaysPage(r *Request) (view, error) {
	l, err := r.list("/v1/pathways", "/pathways")
	return view{name: "pathways", title: "Pathways", data: object{"list": l}}, err
}

// pathwayPage shows a pathway as a graph and as a list of nodes with their edges.
func pathwayPage(r *Request) (view, error) {
	p, err := r.get("/v1/pathways/" + r.ID)
	if err != nil {
		return view{}, err
	}
	return view{name: "pathway", title: text(p, "name"), data: object{"pathway": p, "plan": editableJSON(p), "nodes": nodesOf(p)}}, nil
}

// editableJSON returns the editable members of a pathway as JSON.
func editableJSON(p object) string {
	some := func(name string) any {
		if of, ok := p[name].([]any); ok {
			return of
		}
		return []any{}
	}
	return pretty(struct { // the struct sets the order of the members in the editor
		Name      any `json:"name"`
		Start     any `json:"start"`
		Variables any `json:"variables"`
		Nodes     any `json:"nodes"`
		Edges     any `json:"edges"`
	}{p["name"], p["start"], some("variables"), some("nodes"), some("edges")})
}

// readPlan parses the JSON of an edited pathway. An error gives the line and the column.
func readPlan(text string) (object, error) {
	bad := func(at int64, why string) error {
		before := text[:min(at, int64(len(text)))]
		line := 1 + strings.Count(before, "\n")
		column := 1 + len([]rune(before[strings.LastIndex(before, "\n")+1:]))
		return &problem{Status: http.StatusUnprocessableEntity, Param: "plan", Message: fmt.Sprintf("The pathway is not valid JSON: line %d, column %d: %s.", line, column, why)}
	}
	in := json.NewDecoder(strings.NewReader(text))
	in.UseNumber()
	var plan object
	err := in.Decode(&plan)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return nil, bad(max(0, syntax.Offset-1), strings.TrimPrefix(syntax.Error(), "json: "))
	case errors.As(err, &kind) || err == nil && plan == nil:
		return nil, bad(0, "it must be an object with name, start, nodes and edges")
	case err != nil:
		return nil, bad(int64(len(text)), "it ends too early")
	}
	if _, err = in.Token(); !errors.Is(err, io.EOF) {
		return nil, bad(in.InputOffset(), "unexpected data after the object")
	}
	if e, wrong := errors.AsType[*domain.Error](domain.CheckJSON([]byte(text))); wrong {
		return nil, &problem{Status: http.StatusUnprocessableEntity, Param: "plan", Message: e.Sentence()}
	}
	return plan, nil
}

// finding is an error or a warning about a pathway.
type finding struct{ Param, Message, Kind string }

// findings returns the findings of a validation report, errors first.
func findings(report object) []finding {
	var all []finding
	for _, kind := range []struct{ field, name string }{{"errors", "wrong"}, {"needs", "needs"}, {"warnings", "odd"}} {
		of, _ := report[kind.field].([]any)
		for _, one := range of {
			if o, ok := one.(object); ok {
				all = append(all, finding{text(o, "param"), text(o, "message"), kind.name})
			}
		}
	}
	return all
}

// findingsOfError returns the findings in the API error of a refused change.
func findingsOfError(err error) []finding {
	var p *problem
	if !errors.As(err, &p) {
		return nil
	}
	var all []finding
	for _, d := range p.Details {
		all = append(all, finding{d.Param, d.Message, "wrong"})
	}
	if len(all) == 0 && p.Param != "" {
		all = []finding{{p.Param, p.Message, "wrong"}}
	}
	return all
}

// editPathway shows the pathway editor with the saved pathway, or with the submitted text. It shows the submitted text
// even if the pathway cannot be read.
func editPathway(r *Request) (view, error) {
	p, err := r.get("/v1/pathways/" + r.ID)
	typed := r.Form.Has("plan")
	if err != nil && !typed {
		return view{}, err
	}
	plan, version := editableJSON(p), number(p["version"])
	if typed {
		plan, version = strings.ReplaceAll(r.Form.Get("plan"), "\r\n", "\n"), r.Form.Get("version") // browsers send CRLF
	}
	return view{name: "editpathway", title: strings.TrimSpace("Edit " + text(p, "name")), data: object{
		"id": r.ID, "plan": plan, "version": version, "typed": typed, "checked": false, "found": []finding(nil), "theirs": "", "saved": p, "differs": []string(nil),
	}}, err
}

// changePathway checks the submitted pathway and saves it. The action check only checks it.
func changePathway(r *Request) (view, error) {
	if r.Verb == "delete" {
		return deletePathway(r)
	}
	if r.Verb != "" && r.Verb != "check" {
		return view{}, &problem{Status: http.StatusNotFound, Message: "Unknown action."}
	}
	v, err := editPathway(r)
	if err != nil {
		return v, err
	}
	data, _ := v.data.(object)
	plan, err := readPlan(text(data, "plan"))
	if err != nil {
		return v, err
	}
	if r.Verb == "check" {
		var report object
		report, err = r.send(http.MethodPost, "/v1/pathways/validate", plan)
		data["checked"], data["found"] = err == nil, append(findings(report), findingsOfError(err)...)
		return v, err
	}
	change := maps.Clone(plan)
	version, _ := strconv.Atoi(text(data, "version"))
	change["version"] = max(1, version) // a pathway without a version in the form has version 1
	if _, err = r.send(http.MethodPatch, "/v1/pathways/"+r.ID, change); err != nil {
		var p *problem
		if errors.As(err, &p) && p.Status == http.StatusConflict && p.Param == "version" {
			return showPathwayConflict(r, v, plan, err)
		}
		data["found"] = findingsOfError(err)
		return v, err
	}
	return view{to: "/pathways/" + r.ID + "?done=pathway"}, nil
}

// deletePathway deletes a pathway after a confirmation.
func deletePathway(r *Request) (view, error) {
	p, err := r.get("/v1/pathways/" + r.ID)
	if err != nil {
		return view{}, err
	}
	name := text(p, "name")
	if q := (confirmation{Title: "Delete " + name + "?", Text: "Agents that use it cannot take calls. This cannot be undone.", Button: "Delete pathway", Danger: true, Typed: name}); !r.isConfirmed(q) {
		return r.confirm(q)
	}
	_, err = r.send(http.MethodDelete, "/v1/pathways/"+r.ID, nil)
	return view{to: "/pathways?done=deleted"}, err
}

// pathwayTemplate is a pathway that a new one can start from.
type pathwayTemplate struct {
	Name, About, Plan string
}

// pathwayTemplates returns the pathways that a new one can start from, by their names in the form.
func pathwayTemplates() map[string]pathwayTemplate {
	return map[string]pathwayTemplate{
		"confirmation": {"Appointment confirmation", "Asks whether the appointment is kept: yes or 1, no or 2.", `{"start":"ask","variables":[{"name":"name"},{"name":"time"}],"nodes":[
			{"id":"ask","type":"collect","input":"both","length":1,"values":["1","2"],"timeout_seconds":6,"retries":1,"prompt":"Hello {{name}}. You have an appointment at {{time}}. Will you come? Say yes or no, or press 1 or 2.","retry_prompt":"Please say yes or no, or press 1 or 2."},
			{"id":"yes","type":"end","prompt":"Thank you. See you then.","outcome":"confirmed"},{"id":"no","type":"end","prompt":"Thank you. We will call you for a new time.","outcome":"declined"},{"id":"bye","type":"end","prompt":"Goodbye."}],
			"edges":[{"from":"ask","to":"yes","when":{"type":"intent","intent":"yes"}},{"from":"ask","to":"yes","when":{"type":"dtmf","digits":"1"}},{"from":"ask","to":"no","when":{"type":"intent","intent":"no"}},{"from":"ask","to":"no","when":{"type":"dtmf","digits":"2"}},{"from":"ask","to":"bye","when":{"type":"else"}}]}`},
		"survey": {"Survey", "Asks for a grade from 1 to 5 by key.", `{"start":"grade","variables":[],"nodes":[
			{"id":"grade","type":"collect","input":"dtmf","length":1,"values":["1","2","3","4","5"],"timeout_seconds":8,"retries":1,"prompt":"How satisfied are you with our service? Press a key from 1, not at all, to 5, very much.","retry_prompt":"Please press a key from 1 to 5."},
			{"id":"thanks","type":"end","prompt":"Thank you for your answer.","outcome":"completed"},{"id":"bye","type":"end","prompt":"Goodbye."}],
			"edges":[{"from":"grade","to":"thanks","when":{"type":"dtmf","digits":"1"}},{"from":"grade","to":"thanks","when":{"type":"dtmf","digits":"2"}},{"from":"grade","to":"thanks","when":{"type":"dtmf","digits":"3"}},{"from":"grade","to":"thanks","when":{"type":"dtmf","digits":"4"}},{"from":"grade","to":"thanks","when":{"type":"dtmf","digits":"5"}},{"from":"grade","to":"bye","when":{"type":"else"}}]}`},
		"reminder": {"Payment reminder", "Reminds of a payment and ends.", `{"start":"remind","variables":[{"name":"name"},{"name":"amount"},{"name":"due"}],"nodes":[
			{"id":"remind","type":"say","prompt":"Hello {{name}}. This is a reminder: {{amount}} is due on {{due}}."},{"id":"bye","type":"end","prompt":"If you have paid already, please ignore this call. Goodbye.","outcome":"completed"}],
			"edges":[{"from":"remind","to":"bye","when":{"type":"always"}}]}`},
		"blank": {"Blank", "Says one sentence and ends.", `{"start":"hello","variables":[],"nodes":[{"id":"hello","type":"end","prompt":"Hello. Goodbye."}],"edges":[]}`},
	}
}

// newPathwayPage shows the form for a new pathway.
func newPathwayPage(r *Request) (view, error) { return newPathwayForm(r, nil) }

func newPathwayForm(r *Request, p *problem) (view, error) {
	var choices []option
	for _, name := range []string{"confirmation", "survey", "reminder", "blank"} {
		t := pathwayTemplates()[name]
		choices = append(choices, option{name, t.Name + ": " + t.About})
	}
	chosen := r.Form.Get("template")
	if chosen == "" {
		chosen = "confirmation"
	}
	fields := []formField{
		{Name: "name", Kind: lineField, Label: "Name", Required: true, Values: r.Form["name"]},
		{Name: "template", Kind: choiceField, Label: "Start from", Required: true, Options: choices, Values: []string{chosen}},
	}
	var others []string
	if p != nil {
		b := formBuilder{problem: p, used: map[string]bool{}}
		fields[0].Error = b.errorAt("name", "Name")
		others = p.messagesWithout(b.used)
	}
	return view{name: "form", title: "New pathway", hasForm: true, formErrors: others, data: object{
		"fields": fields, "action": "/pathways", "button": "Create pathway", "back": "/pathways", "stale": false,
	}}, nil
}

// createPathway creates a pathway from a template and opens its editor.
func createPathway(r *Request) (view, error) {
	t, ok := pathwayTemplates()[r.Form.Get("template")]
	if !ok {
		t = pathwayTemplates()["blank"]
	}
	plan := object{}
	if err := json.Unmarshal([]byte(t.Plan), &plan); err != nil {
		return view{}, err
	}
	plan["name"] = strings.TrimSpace(r.Form.Get("name"))
	created, err := r.send(http.MethodPost, "/v1/pathways", plan)
	if err != nil {
		p, ok := err.(*problem) //nolint:errorlint // callAPI wraps no errors
		if !ok {
			return view{}, err
		}
		v, again := newPathwayForm(r, p)
		if again != nil {
			return view{}, again
		}
		return v, err
	}
	return view{to: "/pathways/" + text(created, "id") + "/edit"}, nil
}

// showPathwayConflict shows the submitted pathway next to the version that another user has saved meanwhile. If the
// user submits the form again, it overwrites the saved version.
func showPathwayConflict(r *Request, v view, mine object, conflict error) (view, error) {
	saved, err := r.get("/v1/pathways/" + r.ID)
	if err != nil {
		return v, err
	}
	data, _ := v.data.(object)
	data["saved"], data["theirs"], data["version"], data["differs"] = saved, editableJSON(saved), number(saved["version"]), differences(mine, saved)
	return v, conflict
}

// differences describes the variables, nodes and edges in which the submitted pathway differs from the saved one.
func differences(mine, saved object) []string {
	var all []string
	for _, name := range []string{"name", "start"} {
		if text(mine, name) != text(saved, name) {
			all = append(all, name)
		}
	}
	for _, kind := range []struct{ list, by, what string }{{"variables", "name", "variable "}, {"nodes", "id", "node "}, {"edges", "from", "edges of "}} {
		ownItems, savedItems := groupBy(mine[kind.list], kind.by), groupBy(saved[kind.list], kind.by)
		names := slices.Collect(maps.Keys(ownItems))
		for name := range savedItems {
			if _, both := ownItems[name]; !both {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			m, in := ownItems[name]
			t, too := savedItems[name]
			switch {
			case !too:
				all = append(all, kind.what+name+": only in your version")
			case !in:
				all = append(all, kind.what+name+": only in the saved version")
			case pretty(m) != pretty(t):
				all = append(all, kind.what+name)
			}
		}
	}
	return all
}

func listOf(v any) []any { l, _ := v.([]any); return l }

// groupBy groups the elements of a list by a field.
func groupBy(v any, by string) map[string][]object {
	groups := map[string][]object{}
	for _, one := range listOf(v) {
		if o, ok := one.(object); ok {
			groups[text(o, by)] = append(groups[text(o, by)], o)
		}
	}
	return groups
}

// chatLine is one line of a test conversation with a pathway.
type chatLine struct {
	Who  string `json:"who"`
	Text string `json:"text"`
}

// chatPage shows a test conversation with a pathway by text. The form holds the whole conversation, because the
// service stores none of it.
func chatPage(r *Request) (view, error) {
	p, err := r.get("/v1/pathways/" + r.ID)
	if err != nil {
		return view{}, err // the error page offers to send the form again
	}
	var talk []chatLine
	var inputs, replies []any
	var waits object
	for name, into := range map[string]any{"talk": &talk, "inputs": &inputs, "answers": &replies, "waits": &waits} {
		if t := r.Form.Get(name); t != "" && json.Unmarshal([]byte(t), into) != nil {
			return view{}, &problem{Status: http.StatusUnprocessableEntity, Param: name, Message: "The conversation is invalid. Start again."}
		}
	}
	data := object{"pathway": p, "talk": talk, "inputs": inputs, "answers": replies, "waits": waits, "form": r.Form, "answer": nil}
	v := view{name: "trypathway", title: "Try " + text(p, "name"), data: data}
	if r.Form.Has("text") || r.Form.Has("transfer") {
		input, spoken := object{}, r.Form.Get("text")
		switch transfer := r.Form.Get("transfer"); {
		case transfer != "":
			input["transfer"], spoken = transfer, "(the transfer: "+transfer+")"
		case spoken != "":
			input["text"] = spoken
		default:
			spoken = "(says nothing)"
		}
		inputs, talk = append(inputs, input), append(talk, chatLine{"caller", spoken})
	}
	body := object{}
	if len(inputs) > 0 {
		body["inputs"] = inputs
	}
	if len(replies) > 0 {
		body["model_answers"] = replies
	}
	answer, err := r.send(http.MethodPost, "/v1/pathways/"+r.ID+"/chat", body)
	if err != nil {
		return v, err // the page shows the conversation before the failed turn
	}
	data["talk"], data["inputs"], data["answers"], data["answer"] = append(talk, linesOf(answer)...), inputs, answer["model_answers"], answer
	data["waits"], data["form"] = answer["waits_for"], url.Values{}
	return v, nil
}

// linesOf returns lines of the conversation that describe what the agent says and does. answer is the response of the
// API to a test message.
func linesOf(answer object) []chatLine {
	var lines []chatLine
	if understood, ok := answer["understood"].(bool); ok && !understood {
		lines = append(lines, chatLine{"note", "The input matches no edge."})
	}
	each := func(field string, add func(object)) {
		of, _ := answer[field].([]any)
		for _, one := range of {
			if o, ok := one.(object); ok {
				add(o)
			}
		}
	}
	each("messages", func(o object) { lines = append(lines, chatLine{"agent", text(o, "text")}) })
	each("actions", func(o object) {
		parts := []string{text(o, "type"), text(o, "target"), text(o, "text")}
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		lines = append(lines, chatLine{"note", "A call would now run: " + strings.Join(parts, ", ")})
	})
	if ended, _ := answer["ended"].(bool); ended {
		lines = append(lines, chatLine{"note", strings.TrimSpace("The conversation has ended. " + strings.TrimSpace(text(answer, "outcome")+" "+text(answer, "reason")))})
	}
	return lines
}

package dashboard

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// resources returns the kinds of resources whose pages are made from their descriptions.
func resources() []*resource {
	return []*resource{
		agents(), doNotCallLists(), knowledgeBases(), tools(), providers(), phoneNumbers(), trunks(), phones(), smsGateways(), exports(), team(), oauthApps(),
	}
}

// Columns that several lists have.

func textColumn(head, member string) column {
	return column{Head: head, Cell: func(_ *Request, o object) cell { return cell{Text: text(o, member)} }}
}

func numberColumn(head, member string) column {
	return column{Head: head, Numeric: true, Cell: func(_ *Request, o object) cell { return cell{Text: number(o[member])} }}
}

func stateColumn(head, member string) column {
	return column{Head: head, Cell: func(_ *Request, o object) cell { return cell{State: text(o, member)} }}
}

func timeColumn(head, member string) column {
	return column{Head: head, Cell: func(_ *Request, o object) cell { return cell{Time: o[member]} }}
}

func tagsColumn(head, member string) column {
	return column{Head: head, Cell: func(_ *Request, o object) cell { return cell{Tags: textsOf(o, member)} }}
}

// nameColumn is a column with the name of the resource to which a member refers. api is the API's list of those resources
// and page the path of their pages.
func nameColumn(head, member, api, page string) column {
	return column{Head: head, Cell: func(r *Request, o object) cell { return r.nameCell(api, page, text(o, member)) }}
}

// textsOf returns a member that is a list of texts.
func textsOf(o object, member string) (all []string) {
	for _, v := range listOf(o[member]) {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// createForm and updateForm return the forms for the bodies of a resource's operations.
func createForm(api string, hidden ...string) *schemaForm {
	return &schemaForm{Method: http.MethodPost, Path: api, Hidden: hidden}
}

func updateForm(api string, hidden ...string) *schemaForm {
	return &schemaForm{Method: http.MethodPatch, Path: api + "/{id}", Hidden: hidden}
}

func doNotCallLists() *resource {
	const api = "/v1/dnc-lists"
	return &resource{
		One: "list", Many: "do-not-call lists", Path: "/do-not-call", API: api, Icon: "phone-off", Read: "calls:read", Write: "calls:write",
		Empty: "Numbers on a do-not-call list are not called. People who opt out are added to the default list.", Create: createForm(api), Update: updateForm(api),
		DeleteText: "The numbers on the list may then be called.",
		Columns: []column{textColumn("Name", "name"), numberColumn("Numbers", "entries"), {Head: "Default", Cell: func(_ *Request, o object) cell {
			if o["default"] == true {
				return cell{State: "default"}
			}
			return cell{}
		}}, timeColumn("Created", "created_at")},
		Details: func(r *Request, o object) ([]detail, error) {
			all := []detail{{"Numbers", cell{Text: number(o["entries"])}}}
			if phone := strings.TrimSpace(r.Query.Get("check")); phone != "" {
				found, err := r.get("/v1/dnc/check?phone=" + url.QueryEscape(phone))
				if err != nil {
					return nil, err
				}
				said := "is on no list of this workspace."
				if found["listed"] == true {
					said = "is on a do-not-call list."
				}
				all = append([]detail{{"Checked", cell{Text: phone + " " + said}}}, all...)
			}
			return all, nil
		},
		Actions: []resourceAction{
			{Verb: "add", When: func(object) bool { return false }, Run: func(r *Request, _ object) (notice, error) {
				entries := []any{}
				for line := range strings.Lines(r.Form.Get("numbers")) {
					if line = strings.TrimSpace(line); line != "" {
						entries = append(entries, line)
					}
				}
				_, err := r.send(http.MethodPost, api+"/"+r.ID+"/entries", object{"entries": entries})
				return notice{Done: "added"}, err
			}},
			{Verb: "remove", Label: "Remove", Danger: true, When: func(object) bool { return false }, Confirm: func(r *Request, o object) confirmation {
				return confirmation{Title: "Remove " + r.Form.Get("item") + " from the list?", Text: "The number may then be called, unless another list has it.", Button: "Remove number", Danger: true}
			}, Run: func(r *Request, _ object) (notice, error) {
				_, err := r.send(http.MethodDelete, api+"/"+r.ID+"/entries/"+url.PathEscape(r.Form.Get("item")), nil)
				return notice{Done: "removed"}, err
			}},
		},
		Sections: func(r *Request, o object) ([]section, error) {
			l, err := r.list(api+"/"+text(o, "id")+"/entries", "/do-not-call/"+text(o, "id"))
			if err != nil {
				return nil, err
			}
			s := section{Title: "Numbers", Heads: []column{{Head: "Number"}, {Head: "Source"}, {Head: "Added"}}, Empty: "No number is on this list."}
			for _, e := range l.Data {
				source := cell{Text: labelOf(text(e, "source"))}
				if call := text(e, "call_id"); call != "" {
					source.Link = "/calls/" + call
				}
				s.Rows = append(s.Rows, []cell{{Text: text(e, "phone")}, source, {Time: e["created_at"]}})
				s.IDs = append(s.IDs, text(e, "phone"))
			}
			if r.Visitor.May("calls:write") {
				s.Forms = []resourceAction{{Verb: "remove", Label: "Remove", Danger: true, Confirm: func(*Request, object) confirmation { return confirmation{} }}}
				s.Form = &sectionForm{Verb: "add", Button: "Add numbers", Fields: []formField{{Name: "numbers", Kind: textField, Label: "Numbers to add", Hint: "One a line, with the country code.", Required: true}}}
			}
			return []section{s}, nil
		},
	}
}

func knowledgeBases() *resource {
	const api = "/v1/knowledge-base"
	create := createForm(api)
	create.Texts, create.Open = []string{"sources.0.text", "sources.1.text"}, []string{"sources"}
	source := &schemaForm{Method: http.MethodPost, Path: api + "/{id}/sources", Hidden: []string{"content", "encoding", "content_type"}, Texts: []string{"text"}}
	return &resource{
		One: "knowledge base", Many: "knowledge", Path: "/knowledge", API: api, Icon: "book-open", Read: "agents:read", Write: "agents:write",
		Empty: "A knowledge base holds texts and web pages that agents search to answer questions.", Create: create, Update: updateForm(api), DeleteText: "Agents that use it answer without it.",
		Columns: []column{textColumn("Name", "name"), stateColumn("Status", "status"), numberColumn("Sources", "source_count"), numberColumn("Passages", "passage_count"), timeColumn("Changed", "updated_at")},
		Details: func(_ *Request, o object) ([]detail, error) {
			return []detail{{"Sources", cell{Text: number(o["source_count"])}}, {"Passages", cell{Text: number(o["passage_count"])}}, {"Embedding model", cell{Text: text(o, "embedding_model")}}}, nil
		},
		Actions: []resourceAction{
			{Verb: "add", When: func(object) bool { return false }, Run: func(r *Request, _ object) (notice, error) {
				body, err := source.body(r, nil)
				if err == nil {
					_, err = r.send(http.MethodPost, api+"/"+r.ID+"/sources", body)
				}
				return notice{Done: "added"}, err
			}},
			{Verb: "remove", When: func(object) bool { return false }, Confirm: func(*Request, object) confirmation {
				return confirmation{Title: "Delete this source?", Text: "Agents no longer find its text.", Button: "Delete source", Danger: true}
			}, Run: func(r *Request, _ object) (notice, error) {
				_, err := r.send(http.MethodDelete, api+"/"+r.ID+"/sources/"+url.PathEscape(r.Form.Get("item")), nil)
				return notice{Done: "removed"}, err
			}},
		},
		Sections: func(r *Request, o object) ([]section, error) {
			l, err := r.list(api+"/"+text(o, "id")+"/sources", "/knowledge/"+text(o, "id"))
			if err != nil {
				return nil, err
			}
			s := section{Title: "Sources", Heads: []column{{Head: "Name"}, {Head: "Type"}, {Head: "Status"}, {Head: "Passages", Numeric: true}, {Head: "Error"}}, Empty: "This knowledge base has no sources."}
			for _, e := range l.Data {
				s.Rows = append(s.Rows, []cell{{Text: text(e, "name"), Sub: text(e, "url")}, {Text: labelOf(text(e, "type"))}, {State: text(e, "status")}, {Text: number(e["passage_count"])}, {Text: text(e, "error")}})
				s.IDs = append(s.IDs, text(e, "id"))
			}
			if r.Visitor.May("agents:write") {
				fields, _, err := source.fields(r, r.Form, nil)
				if err != nil {
					return nil, err
				}
				s.Forms = []resourceAction{{Verb: "remove", Label: "Delete", Danger: true, Confirm: func(*Request, object) confirmation { return confirmation{} }}}
				s.Form = &sectionForm{Verb: "add", Button: "Add source", Fields: fields}
			}
			return []section{s}, nil
		},
	}
}

func tools() *resource {
	const api = "/v1/tools"
	texts := []string{"description"}
	create, update := createForm(api), updateForm(api)
	create.Texts, update.Texts = texts, texts
	create.Open, update.Open = []string{"http"}, []string{"http"}
	return &resource{
		One: "tool", Many: "tools", Path: "/tools", API: api, Icon: "wrench", Read: "agents:read", Write: "agents:write",
		Empty: "A tool is an HTTP request or an MCP server that agents and pathways can call during a conversation.", Create: create, Update: update,
		DeleteText: "Agents and pathways that use it can no longer call it.",
		Columns: []column{textColumn("Name", "name"), textColumn("Description", "description"), {Head: "Kind", Cell: func(_ *Request, o object) cell {
			if o["mcp"] != nil {
				return cell{Text: "MCP server"}
			}
			return cell{Text: "HTTP request"}
		}}, timeColumn("Changed", "updated_at")},
		Sections: func(_ *Request, o object) ([]section, error) {
			return []section{{Title: "Definition", Text: pretty(withoutMembers(o, "id", "object", "workspace_id", "created_at", "updated_at", "created_by", "environment"))}}, nil
		},
	}
}

func providers() *resource {
	const api = "/v1/providers"
	return &resource{
		One: "provider", Many: "providers", Path: "/providers", API: api, Icon: "stethoscope", Read: "agents:read", Write: "agents:write",
		Empty: "A provider is a person or a room that callers can book: with opening hours, a time zone and the length of an appointment.", Create: createForm(api), Update: updateForm(api),
		DeleteText: "It can no longer be booked. Booked appointments remain.",
		Columns:    []column{textColumn("Name", "name"), textColumn("Time zone", "timezone"), numberColumn("Minutes per appointment", "slot_minutes"), timeColumn("Changed", "updated_at")},
		Details: func(_ *Request, o object) ([]detail, error) {
			all := []detail{{"Time zone", cell{Text: text(o, "timezone")}}, {"Minutes per appointment", cell{Text: number(o["slot_minutes"])}}}
			hours, _ := o["hours"].(object)
			for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
				var spans []string
				for _, s := range listOf(hours[day]) {
					if span, ok := s.(object); ok {
						spans = append(spans, text(span, "start")+" to "+text(span, "end"))
					}
				}
				if len(spans) > 0 {
					all = append(all, detail{labelOf(day), cell{Text: strings.Join(spans, ", ")}})
				}
			}
			return append(all, detail{"Closed on", cell{Tags: textsOf(o, "excluded_dates")}}, detail{"Appointments", cell{Text: "Calendar", Link: "/appointments?provider=" + text(o, "id")}}), nil
		},
	}
}

func phoneNumbers() *resource {
	const api = "/v1/phone-numbers"
	return &resource{
		One: "phone number", Many: "phone numbers", Path: "/numbers", API: api, Icon: "hash", Read: "calls:read", Write: "calls:write",
		Empty: "A phone number leads inbound calls of a trunk to an agent.", Create: createForm(api), Update: updateForm(api), DeleteText: "Calls to it are refused.",
		NameOf: func(o object) string { return text(o, "number") }, CreateText: "Add number",
		Columns: []column{
			textColumn("Number", "number"), nameColumn("Answered by", "agent_id", "/v1/agents", "/agents"), nameColumn("Trunk", "trunk_id", "/v1/trunks", "/trunks"),
			{Head: "Text messages", Cell: func(_ *Request, o object) cell { return cell{Text: yesNo(o["sms_enabled"])} }},
			stateColumn("Status", "status"),
		},
		Details: func(r *Request, o object) ([]detail, error) {
			return []detail{
				{"Answered by", r.nameCell("/v1/agents", "/agents", text(o, "agent_id"))},
				{"Trunk", r.nameCell("/v1/trunks", "/trunks", text(o, "trunk_id"))},
				{"Text messages", cell{Text: yesNo(o["sms_enabled"])}},
				{"Calls", cell{Text: "Calls to this number", Link: "/calls?to=" + url.QueryEscape(text(o, "number"))}},
			}, nil
		},
	}
}

func trunks() *resource {
	const api = "/v1/trunks"
	create, update := createForm(api), updateForm(api)
	for _, f := range []*schemaForm{create, update} {
		f.Main = []string{"proxies", "auth", "register", "caller_ids", "max_channels", "options_ping"}
		f.Open, f.Labels = []string{"proxies", "auth"}, map[string]string{"auth": "Authentication", "inbound": "Inbound calls", "inbound.auth": "Authentication of inbound calls", "inbound.match": "Tell inbound calls apart"}
	}
	return &resource{
		One: "trunk", Many: "trunks", Path: "/trunks", API: api, Icon: "network", Read: "calls:read", Write: "calls:write",
		Empty: "A trunk connects this service to a carrier or a telephone system by SIP.", Create: create, Update: update, CreateText: "Add trunk",
		DeleteText: "Calls over it end, and its phone numbers can no longer be reached.",
		Columns: []column{
			textColumn("Name", "name"),
			{Head: "Health", Cell: trunkHealthCell},
			{Head: "Servers", Cell: func(_ *Request, o object) cell {
				var hosts []string
				for _, p := range listOf(o["proxies"]) {
					if p, ok := p.(object); ok {
						hosts = append(hosts, text(p, "host"))
					}
				}
				return cell{Text: strings.Join(hosts, ", ")}
			}},
			{Head: "Answered, last hour", Numeric: true, Cell: func(_ *Request, o object) cell {
				q, _ := o["quality"].(object)
				return cell{Text: number(q["answered"]) + " of " + number(q["attempts"])}
			}},
			tagsColumn("Caller IDs", "caller_ids"),
		},
		Details: func(r *Request, o object) ([]detail, error) {
			health, _ := o["health"].(object)
			all := []detail{{"Health", trunkHealthCell(r, o)}, {"Calls now", cell{Text: number(health["channels"]) + limitOf(o["max_channels"])}}}
			if registration, ok := health["registration"].(object); ok {
				all = append(all, detail{"Registration", cell{State: text(registration, "status"), Sub: text(registration, "error")}})
			}
			return append(all, detail{"Caller IDs", cell{Tags: textsOf(o, "caller_ids")}}, detail{"Codecs", cell{Tags: textsOf(o, "codecs")}}), nil
		},
		Actions: []resourceAction{{Verb: "test", Label: "Test now", Run: func(r *Request, _ object) (notice, error) {
			result, err := r.send(http.MethodPost, api+"/"+r.ID+"/test", nil)
			return trunkTestResult(result), err
		}}},
		Sections: func(_ *Request, o object) ([]section, error) {
			health, _ := o["health"].(object)
			s := section{Title: "Servers", Heads: []column{{Head: "Server"}, {Head: "Status"}, {Head: "Last error"}}, Empty: "No server was used yet."}
			for _, t := range listOf(health["targets"]) {
				if t, ok := t.(object); ok {
					s.Rows = append(s.Rows, []cell{{Text: text(t, "target")}, {State: text(t, "status")}, {Text: text(t, "last_error")}})
				}
			}
			return []section{s}, nil
		},
	}
}

// trunkHealthCell says whether a trunk works, and its last error.
func trunkHealthCell(_ *Request, o object) cell {
	health, _ := o["health"].(object)
	return cell{State: text(health, "status"), Sub: text(health, "last_error")}
}

// trunkTestResult says which servers of a trunk answered a test, and after how long.
func trunkTestResult(result object) notice {
	n := notice{Bad: result["ok"] != true}
	for _, t := range listOf(result["targets"]) {
		if t, ok := t.(object); ok {
			said := text(t, "target") + ": "
			if t["reachable"] == true {
				said += strings.TrimSpace(number(t["code"])+" "+text(t, "reason")) + " in " + number(t["response_time_ms"]) + " ms"
			} else {
				said += text(t, "error")
			}
			n.Lines = append(n.Lines, said)
		}
	}
	return n
}

func phones() *resource {
	const api = "/v1/phones"
	return &resource{
		One: "phone", Many: "phones", Path: "/phones", API: api, Icon: "tablet-smartphone", Read: "calls:read", Write: "calls:write",
		Empty: "A phone registers at this service by SIP. Agents transfer calls to it, and it can call agents by their extension.", Create: createForm(api), Update: updateForm(api), CreateText: "Add phone",
		DeleteText: "It can no longer register. Its calls go on.",
		Columns:    []column{textColumn("Name", "name"), textColumn("Extension", "extension"), textColumn("User name", "username"), stateColumn("Status", "status"), timeColumn("Created", "created_at")},
		Details: func(_ *Request, o object) ([]detail, error) {
			return []detail{{"Extension", cell{Text: text(o, "extension")}}, {"User name", cell{Code: text(o, "username")}}, {"Transport", cell{Text: text(o, "transport")}}}, nil
		},
		Created: func(_ *Request, created object) (view, error) {
			return secretView("Phone "+text(created, "name"), "/phones/"+text(created, "id"), fact{"User name", text(created, "username")}, fact{"Password", text(created, "password")}), nil
		},
		Sections: func(_ *Request, o object) ([]section, error) {
			s := section{Title: "Registrations", Heads: []column{{Head: "Address"}, {Head: "Software"}, {Head: "Expires"}}, Empty: "The phone is not registered."}
			for _, c := range listOf(o["contacts"]) {
				if c, ok := c.(object); ok {
					s.Rows = append(s.Rows, []cell{{Text: text(c, "address")}, {Text: text(c, "user_agent")}, {Time: c["expires_at"]}})
				}
			}
			return []section{s}, nil
		},
	}
}

func smsGateways() *resource {
	const api = "/v1/sms-gateways"
	return &resource{
		One: "SMS gateway", Many: "SMS gateways", Path: "/sms-gateways", API: api, Icon: "send", Read: "calls:read", Write: "calls:write",
		Empty: "An SMS gateway is an HTTP endpoint of a carrier that delivers text messages.", Create: createForm(api), Update: updateForm(api), CreateText: "Add SMS gateway",
		DeleteText: "Messages are no longer delivered by it.",
		Columns:    []column{textColumn("Name", "name"), textColumn("URL", "url"), tagsColumn("Prefixes", "prefixes"), numberColumn("Priority", "priority")},
		Details: func(_ *Request, o object) ([]detail, error) {
			return []detail{{"URL", cell{Code: text(o, "url")}}, {"Secret", cell{Text: "ends in " + text(o, "secret_hint")}}, {"Prefixes", cell{Tags: textsOf(o, "prefixes")}}}, nil
		},
		Created: func(_ *Request, created object) (view, error) {
			return secretView("SMS gateway "+text(created, "name"), "/sms-gateways/"+text(created, "id"), fact{"Secret", text(created, "secret")}), nil
		},
	}
}

func exports() *resource {
	const api = "/v1/exports"
	create := createForm(api)
	create.Open = []string{"filters"}
	return &resource{
		One: "export", Many: "exports", Path: "/exports", API: api, Icon: "download", Read: "analytics:read", Write: "analytics:read", NoDelete: true,
		Empty: "An export is a CSV or JSON file of calls, contacts, results or events. It is stored for seven days.", Create: create,
		NameOf: func(o object) string { return "Export of " + labelOf(text(o, "type")) },
		Columns: []column{
			{Head: "Content", Cell: func(_ *Request, o object) cell { return cell{Text: labelOf(text(o, "type"))} }},
			stateColumn("Status", "status"), numberColumn("Rows", "rows"),
			timeColumn("Created", "created_at"), timeColumn("Expires", "expires_at"),
		},
		Details: func(_ *Request, o object) ([]detail, error) {
			all := []detail{{"Rows", cell{Text: number(o["rows"])}}, {"Format", cell{Text: labelOf(text(o, "format"))}}}
			if text(o, "status") == "completed" {
				all = append(all, detail{"File", cell{Text: "Download", Link: "/exports/" + text(o, "id") + "/file"}})
			}
			return all, nil
		},
	}
}

func team() *resource {
	const api = "/v1/users"
	return &resource{
		One: "user", Many: "team", Path: "/team", API: api, Icon: "users", Read: "*:read", Write: "*:write", CreateText: "Invite someone",
		Empty: "Users sign in to this dashboard with a link.", Create: createForm(api, "operator"), Update: updateForm(api, "operator"), DeleteText: "Their sessions end at once.",
		Columns: []column{textColumn("Name", "name"), stateColumn("Role", "role"), {Head: "Operator", Cell: func(_ *Request, o object) cell {
			if o["operator"] == true {
				return cell{State: "operator"}
			}
			return cell{}
		}}, timeColumn("Created", "created_at")},
		Created: func(r *Request, created object) (view, error) { return r.signInLink(created) },
		Actions: []resourceAction{
			{Verb: "end-session", When: func(object) bool { return false }, Run: func(r *Request, _ object) (notice, error) {
				_, err := r.send(http.MethodDelete, api+"/"+r.ID+"/sessions/"+url.PathEscape(r.Form.Get("item")), nil)
				return notice{Done: "ended"}, err
			}},
		},
		Sections: func(r *Request, o object) ([]section, error) {
			l, err := r.first(api + "/" + text(o, "id") + "/sessions")
			if err != nil && !isNotVisible(err) {
				return nil, err
			}
			s := section{Title: "Sessions", Heads: []column{{Head: "Browser"}, {Head: "Address"}, {Head: "Last seen"}, {Head: "Expires"}}, Empty: "The user is not signed in."}
			for _, e := range l.Data {
				s.Rows = append(s.Rows, []cell{{Text: text(e, "user_agent")}, {Text: text(e, "ip")}, {Time: e["seen_at"]}, {Time: e["expires_at"]}})
				s.IDs = append(s.IDs, text(e, "id"))
			}
			if r.Visitor.May("*:write") {
				s.Forms = []resourceAction{{Verb: "end-session", Label: "Sign out", Danger: true}}
			}
			return []section{s}, nil
		},
	}
}

func oauthApps() *resource {
	const api = "/v1/oauth/clients"
	return &resource{
		One: "OAuth app", Many: "OAuth apps", Path: "/oauth-apps", API: api, Icon: "app-window", Read: "*:read", Write: "*:write", Recent: true,
		Empty: "An OAuth app acts for users who permit it, or for itself.", Create: createForm(api), DeleteText: "Its tokens and consents end at once.",
		Columns: []column{textColumn("Name", "name"), tagsColumn("Scopes", "scopes"), tagsColumn("Redirect URIs", "redirect_uris"), timeColumn("Created", "created_at")},
		Details: func(_ *Request, o object) ([]detail, error) {
			return []detail{{"Client ID", cell{Code: text(o, "client_id")}}, {"Scopes", cell{Tags: textsOf(o, "scopes")}}, {"Redirect URIs", cell{Tags: textsOf(o, "redirect_uris")}}, {"Public client", cell{Text: yesNo(o["public"])}}}, nil
		},
		Created: func(_ *Request, created object) (view, error) {
			return secretView("OAuth app "+text(created, "name"), "/oauth-apps", fact{"Client ID", text(created, "client_id")}, fact{"Client secret", text(created, "client_secret")}), nil
		},
	}
}

// signInLink shows a new sign-in link of a user.
func (r *Request) signInLink(user object) (view, error) {
	link, err := r.send(http.MethodPost, "/v1/users/"+text(user, "id")+"/sign-in-link", nil)
	if err != nil {
		return view{}, err
	}
	return secretView("Sign-in link of "+text(user, "name"), "/team/"+text(user, "id"), fact{"Link, valid once and for five minutes", text(link, "url")}), nil
}

// secretView shows values that are shown only once.
func secretView(title, back string, facts ...fact) view {
	return view{name: "newsecret", title: title, data: object{"facts": facts, "back": back}}
}

// withoutMembers returns a copy of an object without some members.
func withoutMembers(o object, names ...string) object {
	out := object{}
	maps.Copy(out, o)
	for _, name := range names {
		delete(out, name)
	}
	return out
}

func yesNo(v any) string {
	if v == true {
		return "Yes"
	}
	return "No"
}

func limitOf(v any) string {
	if n, _ := v.(float64); n > 0 {
		return " of " + number(v)
	}
	return ""
}

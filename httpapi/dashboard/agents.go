package dashboard

import (
	"net/http"
	"strings"
)

// agents describes the pages of agents: their settings are a draft until they are published.
func agents() *resource {
	const api = "/v1/agents"
	form := func(f *schemaForm) *schemaForm {
		f.Main = []string{"pathway_id", "system_prompt", "first_message", "language", "timezone", "voice", "knowledge_base_ids"}
		f.Texts = []string{"system_prompt", "first_message", "amd.message"}
		f.Hints = map[string]string{"pathway_id": "The plan of the conversation. Without one the agent speaks by its system prompt, with a language model."}
		f.Labels = map[string]string{"transfer": "Transfers", "inbound": "Inbound calls", "analysis": "Analysis of ended calls", "languages": "Further languages"}
		return f
	}
	return &resource{
		One: "agent", Many: "agents", Path: "/agents", API: api, Icon: "bot", Read: "agents:read", Write: "agents:write",
		Empty: "An agent speaks with callers: it has a voice, a language, and a pathway or a prompt.", Create: form(createForm(api)), Update: form(updateForm(api)),
		DeleteText: "Its phone numbers no longer answer. Campaigns that use it cannot start.",
		Columns: []column{
			textColumn("Name", "name"), textColumn("Language", "language"), nameColumn("Pathway", "pathway_id", "/v1/pathways", "/pathways"), numberColumn("Version", "version"),
			{Head: "Draft", Cell: func(_ *Request, o object) cell {
				if len(listOf(o["unpublished_changes"])) > 0 {
					return cell{State: "unpublished changes"}
				}
				return cell{}
			}},
			timeColumn("Changed", "updated_at"),
		},
		Details: func(r *Request, o object) ([]detail, error) {
			var changes []string
			for _, c := range textsOf(o, "unpublished_changes") {
				changes = append(changes, labelOf(c))
			}
			voice, _ := o["voice"].(object)
			return []detail{
				{"Pathway", r.nameCell("/v1/pathways", "/pathways", text(o, "pathway_id"))},
				{"Language", cell{Text: text(o, "language")}},
				{"Time zone", cell{Text: text(o, "timezone")}},
				{"Voice", cell{Text: strings.TrimSpace(text(voice, "engine") + " " + text(voice, "name"))}},
				{"Version", cell{Text: number(o["version"])}},
				{"Published", cell{Time: o["published_at"]}},
				{"Unpublished changes", cell{Tags: changes}},
				{"Calls", cell{Text: "Calls of this agent", Link: "/calls?agent_id=" + text(o, "id")}},
			}, nil
		},
		Actions: []resourceAction{{
			Verb: "publish", Label: "Publish", When: func(o object) bool { return len(listOf(o["unpublished_changes"])) > 0 },
			Confirm: func(_ *Request, o object) confirmation {
				return confirmation{Title: "Publish " + text(o, "name") + "?", Text: "New calls use the changed settings. Calls and campaigns in progress keep the version with which they started.", Button: "Publish"}
			},
			Run: func(r *Request, _ object) (notice, error) {
				_, err := r.send(http.MethodPost, api+"/"+r.ID+"/publish", nil)
				return notice{Done: "published"}, err
			},
		}},
		Sections: func(r *Request, o object) ([]section, error) {
			l, err := r.list(api+"/"+text(o, "id")+"/versions", "/agents/"+text(o, "id"))
			if err != nil && !isNotVisible(err) {
				return nil, err
			}
			versions := section{Title: "Versions", Heads: []column{{Head: "Version", Numeric: true}, {Head: "Published"}}, Empty: "The agent was not published yet."}
			for _, v := range l.Data {
				versions.Rows = append(versions.Rows, []cell{{Text: number(v["version"])}, {Time: v["published_at"]}})
			}
			settings := section{Title: "Settings as JSON", Text: pretty(withoutMembers(o, "workspace_id", "object"))}
			return []section{versions, settings}, nil
		},
	}
}

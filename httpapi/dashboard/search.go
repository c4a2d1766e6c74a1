package dashboard

import (
	"net/url"
	"strings"
)

// searchGroup holds the results of a search among one kind of resources.
type searchGroup struct {
	Name  string
	Found []cell
}

// searchPage shows the resources whose name or number contains the searched text, and the calls in which it was said.
func searchPage(r *Request) (view, error) {
	text := strings.TrimSpace(r.Query.Get("q"))
	v := view{name: "search", title: "Search", data: object{"query": text, "groups": []searchGroup(nil)}}
	if text == "" {
		return v, nil
	}
	if page := pageOfID(text); page != "" {
		return view{to: page}, nil
	}
	var groups []searchGroup
	for _, k := range []struct{ name, api, page, member string }{
		{"Campaigns", "/v1/campaigns", "/campaigns", "name"},
		{"Agents", "/v1/agents", "/agents", "name"},
		{"Pathways", "/v1/pathways", "/pathways", "name"},
		{"Phone numbers", "/v1/phone-numbers", "/numbers", "number"},
		{"Trunks", "/v1/trunks", "/trunks", "name"},
	} {
		all, _, err := r.newest(k.api, func(object) bool { return false })
		if isNotVisible(err) {
			continue
		}
		if err != nil {
			return view{}, err
		}
		g := searchGroup{Name: k.name}
		for _, o := range all {
			if name := textOf(o[k.member]); strings.Contains(strings.ToLower(name), strings.ToLower(text)) && len(g.Found) < 10 {
				g.Found = append(g.Found, cell{Text: name, Link: k.page + "/" + textOf(o["id"])})
			}
		}
		groups = append(groups, g)
	}
	calls, err := r.first("/v1/calls?transcript=" + url.QueryEscape(text))
	if err != nil && !isNotVisible(err) {
		return view{}, err
	}
	g := searchGroup{Name: "Calls in which it was said"}
	for _, c := range calls.Data[:min(len(calls.Data), 10)] {
		g.Found = append(g.Found, cell{Text: textOf(c["from"]) + " to " + textOf(c["to"]), Link: "/calls/" + textOf(c["id"])})
	}
	v.data = object{"query": text, "groups": append(groups, g)}
	return v, nil
}

// pageOfID returns the page of the resource with an ID, "" if the text is no ID of a resource with a page.
func pageOfID(id string) string {
	kind, rest, ok := strings.Cut(id, "_")
	if !ok || len(rest) != 26 {
		return ""
	}
	page := map[string]string{
		"call": "/calls", "campaign": "/campaigns", "camp": "/campaigns", "agent": "/agents", "pathway": "/pathways", "wh": "/webhooks", "trunk": "/trunks", "num": "/numbers", "appt": "/appointments",
		"kb": "/knowledge", "tool": "/tools", "dnc": "/do-not-call", "exp": "/exports", "user": "/team",
	}[kind]
	if page == "" || !isPathSegment(id) {
		return ""
	}
	return page + "/" + id
}

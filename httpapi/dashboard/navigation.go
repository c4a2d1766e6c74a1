package dashboard

import "strings"

// menuGroup is a titled group of links in the navigation.
type menuGroup struct {
	Name    string // "" for the first group
	Entries []menuEntry
}

// menuEntry is a link in the navigation.
type menuEntry struct {
	Name, Path, Icon string
	right            string // permission that the page needs
	Here             bool   // the current page belongs to this entry
}

// navigation returns the pages of the dashboard in the order of the navigation.
func navigation() []menuGroup {
	return []menuGroup{
		{"", []menuEntry{{Name: "Home", Path: "/", Icon: "house", right: "calls:read"}}},
		{"Monitor", []menuEntry{
			{Name: "Live calls", Path: "/live", Icon: "radio", right: "calls:read"},
			{Name: "Calls", Path: "/calls", Icon: "phone", right: "calls:read"},
			{Name: "Messages", Path: "/messages", Icon: "message-square", right: "calls:read"},
			{Name: "Appointments", Path: "/appointments", Icon: "calendar", right: "agents:read"},
		}},
		{"Engage", []menuEntry{
			{Name: "Campaigns", Path: "/campaigns", Icon: "megaphone", right: "calls:read"},
			{Name: "Do-not-call", Path: "/do-not-call", Icon: "phone-off", right: "calls:read"},
		}},
		{"Build", []menuEntry{
			{Name: "Agents", Path: "/agents", Icon: "bot", right: "agents:read"},
			{Name: "Pathways", Path: "/pathways", Icon: "workflow", right: "agents:read"},
			{Name: "Knowledge", Path: "/knowledge", Icon: "book-open", right: "agents:read"},
			{Name: "Tools", Path: "/tools", Icon: "wrench", right: "agents:read"},
			{Name: "Providers", Path: "/providers", Icon: "stethoscope", right: "agents:read"},
		}},
		{"Connect", []menuEntry{
			{Name: "Phone numbers", Path: "/numbers", Icon: "hash", right: "calls:read"},
			{Name: "Trunks", Path: "/trunks", Icon: "network", right: "calls:read"},
			{Name: "Phones", Path: "/phones", Icon: "tablet-smartphone", right: "calls:read"},
			{Name: "SMS gateways", Path: "/sms-gateways", Icon: "send", right: "calls:read"},
		}},
		{"Develop", []menuEntry{
			{Name: "API keys", Path: "/keys", Icon: "key-round", right: "*:read"},
			{Name: "Webhooks", Path: "/webhooks", Icon: "webhook", right: "*:read"},
			{Name: "Events", Path: "/events", Icon: "list", right: "analytics:read"},
			{Name: "Exports", Path: "/exports", Icon: "download", right: "analytics:read"},
			{Name: "API reference", Path: "/docs", Icon: "code", right: ""},
		}},
		{"Insight", []menuEntry{{Name: "Usage & billing", Path: "/usage", Icon: "receipt", right: "analytics:read"}}},
		{"Settings", []menuEntry{
			{Name: "General", Path: "/settings", Icon: "settings", right: "*:read"},
			{Name: "Team", Path: "/team", Icon: "users", right: "*:read"},
			{Name: "OAuth apps", Path: "/oauth-apps", Icon: "app-window", right: "*:read"},
			{Name: "Audit log", Path: "/audit", Icon: "scroll-text", right: "*:read"},
		}},
		{"Operator", []menuEntry{{Name: "Health", Path: operatorPath, Icon: "activity", right: "*:read"}}},
	}
}

// menu returns the entries of the navigation that the user may see. current is the path of the current page.
func menu(current string, visitor Visitor) []menuGroup {
	here := pageOfPath(current)
	var groups []menuGroup
	for _, g := range navigation() {
		if g.Name == "Operator" && !visitor.Operator {
			continue
		}
		shown := menuGroup{Name: g.Name}
		for _, e := range g.Entries {
			if e.right == "" || visitor.May(e.right) {
				e.Here = e.Path == here
				shown.Entries = append(shown.Entries, e)
			}
		}
		if len(shown.Entries) > 0 {
			groups = append(groups, shown)
		}
	}
	return groups
}

// pageOfPath returns the path of the navigation entry to which a path belongs: the longest one under which it is.
func pageOfPath(path string) string {
	best := ""
	for _, g := range navigation() {
		for _, e := range g.Entries {
			under := path == e.Path || strings.HasPrefix(path, e.Path+"/") && e.Path != "/"
			if under && len(e.Path) > len(best) {
				best = e.Path
			}
		}
	}
	return best
}

// crumb is a link above the title of a page to a page that contains it.
type crumb struct{ Name, Path string }

// crumbsOf returns the path to a page: the entry of the navigation, if the page is below it, and the parents that the
// page names.
func crumbsOf(path string, parents []crumb) []crumb {
	at := pageOfPath(path)
	if at == "" || at == path {
		return parents
	}
	for _, g := range navigation() {
		for _, e := range g.Entries {
			if e.Path == at {
				return append([]crumb{{e.Name, e.Path}}, parents...)
			}
		}
	}
	return parents
}

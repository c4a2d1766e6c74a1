package dashboard

// eventsPage shows the newest events of the workspace.
func eventsPage(r *Request) (view, error) {
	l, err := r.list("/v1/events", "/events", "type")
	return view{name: "events", title: "Events", data: object{"list": l, "query": r.Query}}, err
}

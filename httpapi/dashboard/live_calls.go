package dashboard

// liveCallsPage shows the calls in progress.
func liveCallsPage(r *Request) (view, error) {
	l, err := r.list("/v1/calls?status=active", "/live")
	if err != nil {
		return view{}, err
	}
	workspace, err := r.get("/v1/workspace")
	if err != nil && !isNotVisible(err) {
		return view{}, err
	}
	return view{name: "livecalls", title: "Live calls", data: object{"calls": r.callRows(l.Data), "list": l, "workspace": workspace}}, nil
}

// callRow is a call in a list, with the names of its agent and campaign.
type callRow struct {
	Call            object
	Agent, Campaign cell
}

// callRows returns the rows of a list of calls.
func (r *Request) callRows(calls []object) []callRow {
	rows := make([]callRow, len(calls))
	for i, c := range calls {
		rows[i] = callRow{c, r.nameCell("/v1/agents", "/agents", text(c, "agent_id")), r.nameCell("/v1/campaigns", "/campaigns", text(c, "campaign_id"))}
	}
	return rows
}

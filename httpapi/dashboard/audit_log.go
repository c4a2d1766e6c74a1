package dashboard

func auditPage(r *Request) (view, error) {
	l, err := r.list("/v1/audit-logs", "/audit", "type", "action", "actor")
	return view{name: "audit", title: "Audit log", data: object{"list": l, "query": r.Query}}, err
}

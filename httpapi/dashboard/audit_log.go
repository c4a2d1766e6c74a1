package dashboard

// auditRow is an entry of the audit log, with the names of who acted and on what.
type auditRow struct {
	Entry           object
	Actor, Resource cell
}

// auditPage shows the audit log.
func auditPage(r *Request) (view, error) {
	l, err := r.list("/v1/audit-logs", "/audit", "type", "action", "actor")
	if err != nil {
		return view{}, err
	}
	rows := make([]auditRow, len(l.Data))
	for i, e := range l.Data {
		actor, _ := e["actor"].(object)
		resource, _ := e["resource"].(object)
		rows[i] = auditRow{e, r.auditCell(actor), r.auditCell(resource)}
	}
	return view{name: "audit", title: "Audit log", data: object{"list": l, "rows": rows, "query": r.Query}}, nil
}

// auditCell returns a cell with the name of what an entry of the audit log names.
func (r *Request) auditCell(of object) cell {
	kind, id := text(of, "type"), text(of, "id")
	for name, where := range map[string][2]string{
		"user": {"/v1/users", "/team"}, "api_key": {"/v1/api-keys", ""}, "campaign": {"/v1/campaigns", "/campaigns"}, "agent": {"/v1/agents", "/agents"}, "pathway": {"/v1/pathways", "/pathways"},
		"trunk": {"/v1/trunks", "/trunks"}, "webhook": {"/v1/webhooks", "/webhooks"}, "tool": {"/v1/tools", "/tools"}, "phone": {"/v1/phones", "/phones"},
	} {
		if name == kind && id != "" {
			c := cell{Text: r.nameOf(where[0], id), Sub: labelOf(kind)}
			if where[1] != "" {
				c.Link = where[1] + "/" + id
			}
			return c
		}
	}
	if kind == "" {
		return cell{}
	}
	return cell{Text: labelOf(kind), Sub: short(id)}
}

package httpapi

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
)

func (s *Server) auditRoutes() {
	add(s.Router, operation{
		method: http.MethodGet, path: "/v1/audit-logs", id: "listAuditLogs", tag: "Audit logs", summary: "Read who did what",
		about: "Uses of one key from one address within a minute are one entry with a count.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		Paging
		Type   string `query:"type" enum:"auth,admin"`
		Action string `query:"action" maxLength:"64" example:"api_key.created"`
		Actor  string `query:"actor" maxLength:"64" doc:"The id of whoever did it."`
	},
	) (*answer[List[*domain.AuditEntry]], error) {
		l, err := s.ports.Audit.ListAudit(ctx, p, ask.AuditQuery{Page: in.page(), Type: in.Type, Action: in.Action, Actor: in.Actor})
		return page(l, err, same)
	})
}

package account

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/audit"
	"github.com/callboard/callboard/service/record"
)

// AuditLog reads the audit log.
type AuditLog interface {
	ListAudit(ctx context.Context, p domain.Principal, q audit.Query) (record.Page[*domain.AuditEntry], error)
}

// auditHandlers serves the operations that read the audit log.
type auditHandlers struct {
	*router.Router

	audit AuditLog
}

// registerAudit registers the routes that read the audit log.
func registerAudit(r *router.Router, reader AuditLog) {
	s := &auditHandlers{Router: r, audit: reader}
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/v1/audit-logs", ID: "listAuditLogs", Tag: "Audit logs", Summary: "List audit log entries",
		Description: "Uses of one API key from one address within a minute form one entry with a count.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.Paging
		Type   string `query:"type" enum:"auth,admin"`
		Action string `query:"action" maxLength:"64" example:"api_key.created"`
		Actor  string `query:"actor" maxLength:"64" doc:"Filters by the id of the actor: an API key, a user or an OAuth client."`
	},
	) (*router.Response[router.List[*domain.AuditEntry]], error) {
		l, err := s.audit.ListAudit(ctx, p, audit.Query{PageQuery: in.Query(), Type: in.Type, Action: in.Action, Actor: in.Actor})
		return router.Page(l, err, router.Identity)
	})
}

package middleware

import (
	"cmp"
	"context"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

// AuditLog writes audit entries for the use of routes.
type AuditLog struct {
	service Audit
}

// NoteFailure writes an audit entry about an invalid credential or a missing permission.
func (l *AuditLog) NoteFailure(ctx context.Context, v *router.Request, code domain.Code) {
	act := v.AuditAction("auth", "auth.failed")
	act.Failed, act.Reason = true, string(code)
	if v.Principal.KeyID != "" {
		act.Resource = domain.Resource{Type: "api_key", ID: v.Principal.KeyID}
	} else if v.Principal.ClientID != "" {
		act.Resource = domain.Resource{Type: "oauth_client", ID: v.Principal.ClientID}
	}
	l.service.RecordSoon(ctx, v.Principal, act)
}

// noteKeyUse writes an audit entry about the use of an API key.
func (l *AuditLog) noteKeyUse(ctx context.Context, v *router.Request) {
	l.service.RecordSoon(ctx, v.Principal, v.AuditAction("auth", "api_key.used"))
}

// RecordWithChange adds the audit entry of a request to its context. The change that the handler makes then commits
// the entry in the same transaction.
func (l *AuditLog) RecordWithChange(c *fiber.Ctx, r router.AccessRule) {
	if v, act, ok := auditAction(c, r); ok {
		c.SetUserContext(l.service.WithAuditEntry(c.UserContext(), v.Principal, act))
	}
}

// RecordResponse writes the audit entry of a successful request, unless the handler's change has committed it.
func (l *AuditLog) RecordResponse(c *fiber.Ctx, r router.AccessRule) {
	if v, act, ok := auditAction(c, r); ok && c.Response().StatusCode() < http.StatusBadRequest {
		l.service.Record(c.UserContext(), v.Principal, act)
	}
}

// auditAction returns the audit entry for a request of a route. It returns false if the route is not audited.
func auditAction(c *fiber.Ctx, r router.AccessRule) (*router.Request, record.AuditAction, bool) {
	if r.AuditType == "" || c.Method() == fiber.MethodHead {
		return nil, record.AuditAction{}, false
	}
	v := router.RequestOf(c.UserContext())
	act := v.AuditAction(r.AuditType, r.AuditAction)
	id := c.Params("id")
	switch r.ResourceType {
	case "contact":
		id = c.Params("contact_id")
	case "phone_number":
		id = cmp.Or(c.Params("number_id"), id)
	case "trunk":
		id = cmp.Or(c.Params("trunk_id"), id)
	}
	act.Resource = domain.Resource{Type: r.ResourceType, ID: domain.CanonicalID(cmp.Or(v.ResourceID, id))}
	return v, act, true
}

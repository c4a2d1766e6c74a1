package record

import (
	"context"
	"net/netip"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// AuditAction describes an action, or a refused request, for the audit log.
type AuditAction struct {
	Type      string // auth | admin
	Action    string // such as api_key.used, auth.failed, trunk.created
	IP        netip.Addr
	UserAgent string
	Resource  domain.Resource
	Failed    bool
	Reason    string // the error code if Failed is set
}

// NewAuditEntry returns the audit entry of an action of principal p. The caller must set its Count.
func NewAuditEntry(p domain.Principal, action AuditAction, at time.Time) *domain.AuditEntry {
	e := &domain.AuditEntry{
		Type: action.Type, Action: action.Action, UserAgent: action.UserAgent,
		Resource: action.Resource, Outcome: "success", Reason: action.Reason, Actor: ActorOf(p),
	}
	if action.Failed {
		e.Outcome = "failure"
	}
	if action.IP.IsValid() {
		e.IP = action.IP.String()
	}
	e.Init("audit_log", p, mailbox.NewID(domain.PrefixAudit), at.UTC().Truncate(time.Millisecond))
	return e
}

// ActorOf converts a principal to the actor that the audit log shows.
func ActorOf(p domain.Principal) domain.Actor {
	switch {
	case p.UserID != "":
		return domain.Actor{Type: "user", ID: p.UserID}
	case p.ClientID != "":
		return domain.Actor{Type: "oauth_client", ID: p.ClientID}
	case p.Operator:
		return domain.Actor{Type: "operator", ID: p.KeyID}
	case p.KeyID == "":
		return domain.Actor{Type: "unknown"}
	}
	return domain.Actor{Type: "api_key", ID: p.KeyID}
}

// Author is the principal of a change, together with the action for the audit log. The zero value stands for an operator
// who runs a command on the machine itself.
type Author struct {
	Principal domain.Principal
	Action    AuditAction
}

// AuditEntry returns the audit entry of a change for a workspace. If an operator made the change on the machine itself,
// the entry gets the environment env.
func (a Author) AuditEntry(workspace string, env domain.Environment, kind, action string, on domain.Resource) *domain.AuditEntry {
	p, what := a.Principal, a.Action
	system := p.WorkspaceID == ""
	p.WorkspaceID = workspace
	if system {
		p.Environment = env
	}
	what.Type, what.Action, what.Resource = kind, action, on
	e := NewAuditEntry(p, what, Now())
	e.Count = 1
	if system {
		e.Actor, e.IP = domain.Actor{Type: "system"}, ""
	}
	return e
}

// RequestAuditEntry returns an audit entry that is not merged with entries of equal actions. If the client repeats the
// request with the same Idempotency-Key, the entry has the same id, also after a restart of the process.
func RequestAuditEntry(ctx context.Context, p domain.Principal, action AuditAction) *domain.AuditEntry {
	e := NewAuditEntry(p, action, time.Now())
	e.ID, e.Count = RequestResourceID(ctx, domain.PrefixAudit), 1
	return e
}

// WithAuditEntry returns a context that carries the audit entry of an action. The commit that uses this context also
// stores the entry.
func WithAuditEntry(ctx context.Context, p domain.Principal, action AuditAction) context.Context {
	return commit.WithAudit(ctx, commit.NewPendingAudit(*RequestAuditEntry(ctx, p, action)))
}

// WithLocalAuditEntry returns a context that carries the audit entry of a change by an operator on the machine itself.
// The commit that uses this context also stores the entry. If on has no id, the entry names the created resource.
func WithLocalAuditEntry(ctx context.Context, workspace, kind, action string, on domain.Resource) context.Context {
	return commit.WithAudit(ctx, commit.NewPendingAudit(*Author{}.AuditEntry(workspace, domain.Live, kind, action, on)))
}

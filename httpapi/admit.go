package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/limit"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

// strikeRule bounds requests without a good credential, by address.
func strikeRule() limit.Rule { return limit.Rule{N: 30, Window: time.Minute} }

// Admit lets a request in or says why not: who asks, from where, how often,
// and whether they may. The visit knows the principal afterwards.
func (s *Server) Admit(c *fiber.Ctx, r router.Rule, route string) error {
	if len(r.Permissions) == 0 {
		return nil
	}
	if err := s.moves(c, route); err != nil {
		return err
	}
	if router.IsForwarded(c) {
		return s.otherNodes.acceptForwarded(c)
	}
	v := router.RequestOf(c.UserContext())
	if t := router.ExchangeOf(c.Context()); t.PageRequest != nil {
		if !s.countedAsPage(c) {
			if err := s.CountRequest(c, v.Principal); err != nil {
				return err
			}
		}
		return s.permit(c, v, r, route)
	}
	return s.let(c, v, r, route, s.identify(c, v))
}

// countedAsPage says whether a request of a dashboard page is counted with the
// page: what it reads, what it asks for again, and the operator's page.
func (s *Server) countedAsPage(c *fiber.Ctx) bool {
	t := router.ExchangeOf(c.Context())
	return t.PageRequest != nil && (c.Method() == http.MethodGet || t.Request.Principal.Operator || t.Repeated)
}

// let is the rest of admit, once it is known who asks.
func (s *Server) let(c *fiber.Ctx, v *router.Request, r router.Rule, route string, err error) error {
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	if err := s.CountRequest(c, v.Principal); err != nil {
		return err
	}
	if err := s.permit(c, v, r, route); err != nil {
		return err
	}
	s.services.Audit.Note(ctx, v.Principal, v.Act("auth", "api_key.used"))
	return nil
}

// permit says whether whoever asks may do what a route does, and whether
// anything may begin at all.
func (s *Server) permit(c *fiber.Ctx, v *router.Request, r router.Rule, route string) error {
	refused := func() {
		if router.ExchangeOf(c.Context()).PageRequest == nil || c.Method() != http.MethodGet { // pages show what is left
			s.denied(c.UserContext(), v, domain.CodeInsufficientPermissions)
		}
	}
	if err := s.Credentials[route].Refuse(v.Principal); err != nil {
		refused()
		return err
	}
	if !r.Allows(v.Principal.Permissions) {
		required := make([]string, len(r.Permissions))
		for i, p := range r.Permissions {
			required[i] = string(p)
		}
		refused()
		return domain.Errorf(domain.CodeInsufficientPermissions, "The key lacks the permission %s.", strings.Join(required, " or ")).
			With("required", required)
	}
	if _, only := s.needsOperator[route]; only {
		if err := router.RequireOperator(v.Principal); err != nil {
			return err
		}
	}
	if l, limited := s.limitedRoutes[route]; limited && !s.countedAsPage(c) {
		v.CountPathRequest = func() (refund func(), err error) { return s.countPathRequest(c, l) }
	}
	return s.stopping(c, route)
}

// identify finds out whose credential it is. A failure counts against the
// address that it came from.
func (s *Server) identify(c *fiber.Ctx, v *router.Request) error {
	ctx := c.UserContext()
	scheme, key, _ := strings.Cut(string(c.Request().Header.Peek(fiber.HeaderAuthorization)), " ")
	if key = strings.TrimSpace(key); !strings.EqualFold(scheme, "Bearer") || key == "" {
		if err := s.CountFailure(c, v); err != nil {
			return err
		}
		s.denied(ctx, v, domain.CodeAuthenticationRequired)
		return domain.Errorf(domain.CodeAuthenticationRequired, "Send an API key or a token: Authorization: Bearer svc_sk_…")
	}
	v.Credential = key
	return s.recognise(c, v, false)
}

// recognise finds out whose key the visit shows. Browsers must not show any,
// but may come by a ticket.
func (s *Server) recognise(c *fiber.Ctx, v *router.Request, ticketed bool) error {
	ctx := c.UserContext()
	p, err := s.whose(ctx, v)
	if err == nil && !ticketed {
		err = s.fromPage(c, p)
	}
	v.Principal = p
	if err == nil {
		router.ExchangeOf(c.Context()).Authenticated = true
		return nil
	}
	code := domain.CodeOf(err)
	if code == "" || code == domain.CodeUnavailable {
		return err
	}
	if code != router.CodeOriginNotAllowed {
		s.showPage(c, v)
	}
	if limited := s.CountFailure(c, v); limited != nil {
		return limited
	}
	s.denied(ctx, v, code)
	return err
}

// denied notes a refusal in the audit log.
func (s *Server) denied(ctx context.Context, v *router.Request, code domain.Code) {
	act := v.Act("auth", "auth.failed")
	act.Failed, act.Reason = true, string(code)
	if v.Principal.KeyID != "" {
		act.Resource = domain.Resource{Type: "api_key", ID: v.Principal.KeyID}
	} else if v.Principal.ClientID != "" {
		act.Resource = domain.Resource{Type: "oauth_client", ID: v.Principal.ClientID}
	}
	s.services.Audit.Note(ctx, v.Principal, act)
}

// CountFailure counts a request without a good credential.
func (s *Server) CountFailure(c *fiber.Ctx, v *router.Request) error {
	a := s.strikes.Take(neighbourhood(v.IP), strikeRule(), time.Now())
	return tell(c, a)
}

// neighbourhood is the name under which an address is counted: one customer
// has a whole /64 of IPv6.
func neighbourhood(a netip.Addr) string {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// CountRequest counts a request against the general limit of its workspace, and against
// the user's share of it. The headers show the tighter one, or the one that refuses.
func (s *Server) CountRequest(c *fiber.Ctx, p domain.Principal) error {
	w, err := s.Workspace(c.UserContext(), p)
	if err != nil {
		return err
	}
	if err = s.counts.restore(c.UserContext(), w); err != nil {
		return err
	}
	v, name := router.RequestOf(c.UserContext()), windowName(w.ID, p.Environment, "")
	if p.UserID != "" {
		if v.GeneralLimit, err = s.take(c, &s.users, "", name+" "+p.UserID, userRule(w)); err != nil {
			return err
		}
	}
	a, err := s.take(c, &s.limits, w.ID, name, requestRule(w))
	if v.GeneralLimit.Limit != 0 && v.GeneralLimit.Remaining < a.Remaining && err == nil {
		return tell(c, v.GeneralLimit)
	}
	v.GeneralLimit = a
	return err
}

// take counts a request under a name. keeps is the workspace whose counts are
// kept, "" for one that ends with the process.
func (s *Server) take(c *fiber.Ctx, l *limit.Limiter, keeps, name string, r limit.Rule) (limit.Answer, error) {
	a := l.Take(name, r, time.Now()) // a form is read before it is counted
	if keeps != "" {
		s.counts.note(c.UserContext(), keeps, a)
	}
	if err := tell(c, a); err != nil || a.Wait == 0 {
		return a, err
	}
	defer l.Waited(name)
	s.Log.DebugContext(c.UserContext(), "request slowed down", slog.Duration("wait", a.Wait))
	timer := time.NewTimer(a.Wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return a, nil
	case <-c.UserContext().Done():
		return a, c.UserContext().Err()
	}
}

// limitNames are those of limitHeaders as they stand on the wire.
var limitNames = [...][]byte{ //nolint:gochecknoglobals // a table
	[]byte("X-Ratelimit-Limit"), []byte("X-Ratelimit-Remaining"), []byte("X-Ratelimit-Reset"), []byte("X-Ratelimit-Window"),
}

// tell writes the headers of a limit, and the error where it is reached.
func tell(c *fiber.Ctx, a limit.Answer) error {
	reset := a.Reset.Unix()
	if a.Reset.Nanosecond() > 0 {
		reset++
	}
	var text [20]byte
	for i, n := range [...]int64{int64(a.Limit), int64(a.Remaining), reset, int64(a.Window / time.Second)} {
		c.Response().Header.SetCanonical(limitNames[i], strconv.AppendInt(text[:0], n, 10))
	}
	if a.OK {
		return nil
	}
	after := a.RetryAfter(time.Now())
	return domain.Errorf(domain.CodeRateLimit, "Too many requests: %d per %d seconds. Try again in %d seconds.", a.Limit, int(a.Window/time.Second), after).
		With("retry_after", after)
}

// audited is what the audit log calls the use of a route; false: nothing.
func audited(c *fiber.Ctx, r router.Rule) (*router.Request, record.AuditAction, bool) {
	if r.AuditType == "" || c.Method() == fiber.MethodHead {
		return nil, record.AuditAction{}, false
	}
	v := router.RequestOf(c.UserContext())
	act := v.Act(r.AuditType, r.AuditAction)
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

// RecordWithChange lets the act of a write ride in the commit that the write makes.
func (s *Server) RecordWithChange(c *fiber.Ctx, r router.Rule) {
	if v, act, ok := audited(c, r); ok {
		c.SetUserContext(s.services.Audit.Ride(c.UserContext(), v.Principal, act))
	}
}

// RecordResponse keeps the act of a write that succeeded, unless it rode.
func (s *Server) RecordResponse(c *fiber.Ctx, r router.Rule) {
	if v, act, ok := audited(c, r); ok && c.Response().StatusCode() < http.StatusBadRequest {
		s.services.Audit.Record(c.UserContext(), v.Principal, act)
	}
}

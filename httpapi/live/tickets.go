package live

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/router"
)

const (
	ticketParam    = "ticket" // name of the query parameter
	ticketLifetime = 60 * time.Second
	maxTickets     = 1000 // tickets of a workspace within ticketLifetime
)

// TicketRequest is the request body that creates a ticket.
type TicketRequest struct {
	Path string `json:"path" example:"/v1/calls/call_01J9Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0Q0/listen?mode=listen" doc:"The path to open, with its query."`
}

// Ticket is a URL that opens one path once. Browsers need it because they cannot set headers for a WebSocket or an
// EventSource.
type Ticket struct {
	domain.Provenance

	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// ticketPaths matches the paths that accept tickets.
var ticketPaths = regexp.MustCompile(`^/v1/(calls/[^/?#]+/listen|agents/[^/?#]+/talk|events/stream)(\?[^#]*)?$`)

// registerTickets registers the operation that creates tickets.
func (s *Server) registerTickets() {
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: "/v1/tickets", ID: "createTicket", Tag: "Tickets", Status: http.StatusCreated, Summary: "Create a ticket for a browser",
		Description: "The URL opens the path once within 60 seconds, with the permissions of the requesting credential, as long as that credential is valid.",
	}, s.createTicket)
}

func (s *Server) createTicket(ctx context.Context, p domain.Principal, in *struct{ Body TicketRequest }) (*router.Response[Ticket], error) {
	path := in.Body.Path
	if !ticketPaths.MatchString(path) || len(path) > 500 {
		var ps domain.Problems
		ps.Add("path", domain.CodeValidation, "does not accept tickets; /v1/calls/{id}/listen, /v1/agents/{id}/talk and /v1/events/stream do")
		return nil, ps.Err()
	}
	until := time.Now().Add(ticketLifetime).UTC()
	code, left := s.tickets.issue(p.WorkspaceID, ticket{path: path, credential: router.RequestOf(ctx).Credential, cookie: router.RequestOf(ctx).Cookie, until: until})
	if !left {
		return nil, domain.Errorf(domain.CodeUnavailable, "The workspace has too many unused tickets; try again.").With("retry_after", int(ticketLifetime/time.Second))
	}
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return router.Respond(Ticket{Provenance: domain.Provenance{CreatedBy: p.Creator()}, URL: s.PublicURL + path + separator + ticketParam + "=" + code, ExpiresAt: until}, nil)
}

// ticket is an unused ticket. It stores the credential of its creator instead of permissions, so it becomes invalid
// when the API key or the session ends.
type ticket struct {
	path       string
	credential string
	cookie     string // session cookie of a user, in place of the credential
	until      time.Time
}

// ticketStore holds the unused tickets. It limits their number per workspace, so that one workspace cannot use up the
// memory for the tickets of other workspaces. The zero value is ready to use.
type ticketStore struct {
	mu        sync.Mutex
	unused    map[string]ticket
	issued    map[string][]issuedTicket // by workspace, oldest first, until the ticket expires, whether used or not
	nextPurge time.Time                 // next purge of expired tickets of all workspaces
}

type issuedTicket struct {
	code  string
	until time.Time
}

// issue stores a ticket and returns its code. The code begins with the workspace id, which locates the node that
// stores the ticket. ok is false if the workspace has too many tickets.
func (t *ticketStore) issue(workspace string, tk ticket) (code string, ok bool) {
	var b [20]byte
	_, _ = rand.Read(b[:]) // Read of crypto/rand never fails
	code = access.JoinWorkspaceSecret(workspace, base32.HexEncoding.EncodeToString(b[:]))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unused == nil {
		t.unused, t.issued = make(map[string]ticket), make(map[string][]issuedTicket)
	}
	now := time.Now()
	if now.After(t.nextPurge) {
		t.nextPurge = now.Add(ticketLifetime)
		for each := range t.issued {
			t.purgeExpired(each, now)
		}
	}
	if t.purgeExpired(workspace, now); len(t.issued[workspace]) >= maxTickets {
		return "", false
	}
	t.unused[code] = tk
	t.issued[workspace] = append(t.issued[workspace], issuedTicket{code: code, until: tk.until})
	return code, true
}

// purgeExpired removes the expired tickets of a workspace.
func (t *ticketStore) purgeExpired(workspace string, now time.Time) {
	issued, expired := t.issued[workspace], 0
	for expired < len(issued) && now.After(issued[expired].until) {
		delete(t.unused, issued[expired].code)
		expired++
	}
	if expired == len(issued) {
		delete(t.issued, workspace)
	} else {
		t.issued[workspace] = issued[expired:]
	}
}

// redeem removes a ticket and returns it. It returns false if the ticket is unknown, expired or for another path.
func (t *ticketStore) redeem(code, path string) (ticket, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, ok := t.unused[code]
	delete(t.unused, code)
	return one, ok && !time.Now().After(one.until) && one.path == path
}

// admitWithTicket admits a request by the ticket in its URL, or by its credential if it has no ticket.
func (s *Server) admitWithTicket(c *fiber.Ctx, r router.AccessRule, route string) error {
	whole := c.OriginalURL()
	path, code, found := cutTicket(whole)
	if !found || c.Get(fiber.HeaderAuthorization) != "" {
		return s.access.Admit(c, r, route)
	}
	one, valid := s.tickets.redeem(code, path)
	if !valid {
		return s.access.RefuseCredential(c, domain.Errorf(domain.CodeInvalidTicket, "The ticket was used, has expired, or is for another path."))
	}
	return s.access.AdmitTicket(c, r, route, one.credential, one.cookie)
}

// cutTicket splits a URL into the path and the ticket at the end of its query.
func cutTicket(whole string) (path, code string, found bool) {
	for _, before := range []string{"?", "&"} {
		if path, code, found = strings.Cut(whole, before+ticketParam+"="); found {
			plain, err := url.QueryUnescape(code)
			return path, plain, err == nil
		}
	}
	return whole, "", false
}

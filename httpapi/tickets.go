package httpapi

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
	ticketParam = "ticket"
	ticketLife  = 60 * time.Second
	ticketsMost = 1000 // of one workspace, within ticketLife
)

// TicketRequest asks for a ticket.
type TicketRequest struct {
	Path string `json:"path" example:"/v1/calls/call_01J9Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0Q0/listen?mode=listen" doc:"The path to be opened, with its query."`
}

// Ticket opens one path, once: for browsers, which cannot set headers on a
// WebSocket or an EventSource.
type Ticket struct {
	domain.Provenance

	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// ticketed are the paths that take tickets.
var ticketed = regexp.MustCompile(`^/v1/(calls/[^/?#]+/listen|agents/[^/?#]+/talk|events/stream)(\?[^#]*)?$`)

func (s *Server) ticketRoutes() {
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: "/v1/tickets", ID: "createTicket", Tag: "Tickets", Status: http.StatusCreated, Summary: "Make a ticket for a browser",
		Description: "The URL opens the path once, within 60 seconds, with the rights of the key that asks, as long as that is good.",
	}, s.createTicket)
}

func (s *Server) createTicket(ctx context.Context, p domain.Principal, in *struct{ Body TicketRequest }) (*router.Response[Ticket], error) {
	path := in.Body.Path
	if !ticketed.MatchString(path) || len(path) > 500 {
		var ps domain.Problems
		ps.Add("path", domain.CodeValidation, "takes no ticket; /v1/calls/{id}/listen, /v1/agents/{id}/talk and /v1/events/stream do")
		return nil, ps.Err()
	}
	until := time.Now().Add(ticketLife).UTC()
	code, left := s.tickets.sell(p.WorkspaceID, ticket{path: path, credential: router.RequestOf(ctx).Credential, cookie: router.RequestOf(ctx).Cookie, until: until})
	if !left {
		return nil, domain.Errorf(domain.CodeUnavailable, "The workspace has too many tickets out; try again.").With("retry_after", int(ticketLife/time.Second))
	}
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return router.Respond(Ticket{Provenance: domain.Provenance{CreatedBy: p.Creator()}, URL: s.cfg.PublicURL + path + separator + ticketParam + "=" + code, ExpiresAt: until}, nil)
}

// ticket is one that was not used yet. It keeps the credential and not what
// that may do, so that a key that is revoked, or a session that is ended, takes
// its tickets along.
type ticket struct {
	path       string
	credential string
	cookie     string // in place of it, of who is signed in
	until      time.Time
}

// tickets are those that are out, a bounded number for each workspace, so that
// none leaves another without. The zero value is ready.
type tickets struct {
	mu   sync.Mutex
	out  map[string]ticket
	sold map[string][]sale // by workspace, the oldest first; used ones count until their time is over
	next time.Time         // when the late ones of all are looked for
}

type sale struct {
	code  string
	until time.Time
}

// sell makes a ticket, whose code begins with the workspace, so that it is known
// where it is kept; false: too many of the workspace are out.
func (t *tickets) sell(workspace string, one ticket) (code string, ok bool) {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	code = access.Placed(workspace, base32.HexEncoding.EncodeToString(b[:]))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out == nil {
		t.out, t.sold = make(map[string]ticket), make(map[string][]sale)
	}
	now := time.Now()
	if now.After(t.next) {
		t.next = now.Add(ticketLife)
		for each := range t.sold {
			t.clear(each, now)
		}
	}
	if t.clear(workspace, now); len(t.sold[workspace]) >= ticketsMost {
		return "", false
	}
	t.out[code] = one
	t.sold[workspace] = append(t.sold[workspace], sale{code: code, until: one.until})
	return code, true
}

// clear forgets the tickets of a workspace that are too old.
func (t *tickets) clear(workspace string, now time.Time) {
	sold, late := t.sold[workspace], 0
	for late < len(sold) && now.After(sold[late].until) {
		delete(t.out, sold[late].code)
		late++
	}
	if late == len(sold) {
		delete(t.sold, workspace)
	} else {
		t.sold[workspace] = sold[late:]
	}
}

// take uses a ticket up; false: it opens nothing.
func (t *tickets) take(code, path string) (ticket, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, ok := t.out[code]
	delete(t.out, code)
	return one, ok && !time.Now().After(one.until) && one.path == path
}

// admitTicketed lets in who has a ticket, and anybody else by a credential.
func (s *Server) admitTicketed(c *fiber.Ctx, r router.Rule, route string) error {
	whole := c.OriginalURL()
	path, code, found := cutTicket(whole)
	if !found || c.Get(fiber.HeaderAuthorization) != "" {
		return s.Admit(c, r, route)
	}
	v := router.RequestOf(c.UserContext())
	one, good := s.tickets.take(code, path)
	if !good {
		if err := s.CountFailure(c, v); err != nil {
			return err
		}
		s.denied(c.UserContext(), v, domain.CodeInvalidTicket)
		return domain.Errorf(domain.CodeInvalidTicket, "The ticket was used, is too old, or is for another path.")
	}
	if v.Credential, v.Cookie = one.credential, one.cookie; v.Cookie != "" {
		p, err := s.principalOf(c.UserContext(), v)
		if err != nil {
			return err
		}
		v.Principal = p
		router.ExchangeOf(c.Context()).Authenticated = true
		if err = s.CountRequest(c, v.Principal); err != nil {
			return err
		}
		return s.permit(c, v, r, route)
	}
	return s.let(c, v, r, route, s.recognise(c, v, true))
}

// cutTicket parts a path from the ticket at the end of its query.
func cutTicket(whole string) (path, code string, found bool) {
	for _, before := range []string{"?", "&"} {
		if path, code, found = strings.Cut(whole, before+ticketParam+"="); found {
			plain, err := url.QueryUnescape(code)
			return path, plain, err == nil
		}
	}
	return whole, "", false
}

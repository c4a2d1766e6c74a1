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
)

const (
	ticketParam = "ticket"
	ticketLife  = 60 * time.Second
	ticketsMost = 10_000
)

// TicketRequest asks for a ticket.
type TicketRequest struct {
	Path string `json:"path" example:"/v1/calls/call_01J9Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0Q0/listen?mode=listen" doc:"The path to be opened, with its query."`
}

// Ticket opens one path, once: for browsers, which cannot set headers on a
// WebSocket.
type Ticket struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// ticketed are the paths that take tickets.
var ticketed = regexp.MustCompile(`^/v1/calls/[^/?#]+/listen(\?[^#]*)?$`)

func (s *Server) ticketRoutes() {
	add(s, operation{
		method: http.MethodPost, path: "/v1/tickets", id: "createTicket", tag: "Tickets", status: http.StatusCreated, summary: "Make a ticket for a browser",
		about: "The URL opens the path once, within 60 seconds, with the rights of the key that asks, as long as that is good.",
	}, s.createTicket)
}

func (s *Server) createTicket(ctx context.Context, _ domain.Principal, in *struct{ Body TicketRequest }) (*answer[Ticket], error) {
	path := in.Body.Path
	if !ticketed.MatchString(path) || len(path) > 500 {
		var ps domain.Problems
		ps.Add("path", domain.CodeValidation, "takes no ticket; /v1/calls/{id}/listen does")
		return nil, ps.Err()
	}
	until := time.Now().Add(ticketLife).UTC()
	code, ok2 := s.tickets.sell(path, visitOf(ctx).credential, until)
	if !ok2 {
		return nil, domain.Errorf(domain.CodeUnavailable, "Too many tickets are out; try again.").With("retry_after", int(ticketLife/time.Second))
	}
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return ok(Ticket{URL: s.cfg.PublicURL + path + separator + ticketParam + "=" + code, ExpiresAt: until}, nil)
}

// ticket is one that was not used yet. It keeps the credential and not what
// that may do, so that a key that is revoked takes its tickets along.
type ticket struct {
	path       string
	credential string
	until      time.Time
}

// tickets are those that are out. The zero value is ready.
type tickets struct {
	mu   sync.Mutex
	out  map[string]ticket
	next time.Time // when the late ones are looked for
}

// sell makes a ticket; false: too many are out.
func (t *tickets) sell(path, credential string, until time.Time) (code string, ok bool) {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	code = base32.HexEncoding.EncodeToString(b[:])
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if now.After(t.next) || len(t.out) >= ticketsMost {
		t.next = now.Add(ticketLife)
		for old, one := range t.out {
			if now.After(one.until) {
				delete(t.out, old)
			}
		}
	}
	if len(t.out) >= ticketsMost {
		return "", false
	}
	if t.out == nil {
		t.out = make(map[string]ticket)
	}
	t.out[code] = ticket{path: path, credential: credential, until: until}
	return code, true
}

// take uses a ticket up and answers its credential; "": it opens nothing.
func (t *tickets) take(code, path string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, ok := t.out[code]
	delete(t.out, code)
	if !ok || time.Now().After(one.until) || one.path != path {
		return ""
	}
	return one.credential
}

// admitTicketed lets in who has a ticket, and anybody else by a credential.
func (s *Server) admitTicketed(c *fiber.Ctx, r rule, route string) error {
	whole := c.OriginalURL()
	path, code, found := cutTicket(whole)
	if !found || c.Get(fiber.HeaderAuthorization) != "" {
		return s.admit(c, r, route)
	}
	v := visitOf(c.UserContext())
	v.credential = s.tickets.take(code, path)
	if v.credential == "" {
		if err := s.strike(c, v); err != nil {
			return err
		}
		s.denied(c.UserContext(), v, domain.CodeInvalidTicket)
		return domain.Errorf(domain.CodeInvalidTicket, "The ticket was used, is too old, or is for another path.")
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

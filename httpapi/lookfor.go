package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
)

// looksRoute is where a part has another one look at its workspaces for the
// rules of an operator.
const looksRoute = "/node/looks"

// LookElsewhere has the other parts look at what rules are about; silent says
// whether a workspace is of one that did not answer. Without other parts nothing
// is found.
func (s *Server) LookElsewhere(ctx context.Context, rules []*domain.AlertRule) (found []map[string]alert.Look, silent func(workspaceID string) bool) {
	e := s.cfg.Elsewhere
	if e == nil {
		return nil, func(string) bool { return false }
	}
	asked := make([]*domain.AlertRule, len(rules))
	for i, r := range rules {
		asked[i] = alert.Asked(r)
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, e.Has
	}
	told := askParts(ctx, s, concerned(e, rules), func(ctx context.Context) (*http.Request, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://node"+looksRoute, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set(lentHeader, "node")
		r.Header.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return r, nil
	}, func(l *map[string]alert.Look) bool { return *l != nil })
	for _, one := range told {
		found = append(found, *one)
	}
	return found, func(id string) bool { return e.Has(id) && told[e.PartOf(id)] == nil }
}

// concerned are the other parts whose workspaces rules are about.
func concerned(e Elsewhere, rules []*domain.AlertRule) (parts []int) {
	of := make(map[int]bool)
	for _, r := range rules {
		if r.Watches == "" {
			return e.Others()
		}
		of[e.PartOf(r.Watches)] = true
	}
	for _, part := range e.Others() {
		if of[part] {
			parts = append(parts, part)
		}
	}
	return parts
}

// looksDoor looks at the workspaces of this part for another one. Nobody but
// nodes of the install gets an answer here.
func (s *Server) looksDoor() {
	s.app.Post(looksRoute, func(c *fiber.Ctx) error {
		if !isLent(c) {
			return c.Next()
		}
		b := bodyOf(c)
		b.limit = s.cfg.JSONLimit
		text, err := b.all(c.Request().Header.ContentLength())
		if err != nil {
			return s.refuse(c, err)
		}
		var rules []*domain.AlertRule
		if err = json.Unmarshal(text, &rules); err != nil {
			return s.refuse(c, domain.Errorf(domain.CodeInvalidRequest, "A request of another node cannot be read."))
		}
		looks, err := s.ports.Alerts.LookFor(c.UserContext(), rules)
		if err != nil {
			return s.refuse(c, err)
		}
		return c.JSON(looks)
	})
}

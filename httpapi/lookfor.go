package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/httpapi/router"
)

// looksRoute is where a part has another one look at its workspaces for the
// rules of an operator.
const looksRoute = "/node/looks"

// looksWithin is how long others may look.
const looksWithin = 20 * time.Second

// LookElsewhere has the other shards evaluate alert rules over their workspaces.
// Without other shards nothing is found.
func (s *Server) LookElsewhere(ctx context.Context, rules []*domain.AlertRule) alert.Answers {
	return s.otherNodes.searchAlerts(ctx, rules)
}

func (o *otherNodes) searchAlerts(ctx context.Context, rules []*domain.AlertRule) alert.Answers {
	e := o.shards
	if e == nil {
		return alert.Answers{Silent: func(string) bool { return false }, All: true}
	}
	asked := make([]*domain.AlertRule, len(rules))
	for i, r := range rules {
		asked[i] = alert.Asked(r)
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return alert.Answers{Silent: e.Has}
	}
	ctx, cancel := context.WithTimeout(ctx, looksWithin)
	defer cancel()
	parts := concerned(e, rules)
	told := askShards(ctx, o, o.owned(parts), func(ctx context.Context) (*http.Request, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://node"+looksRoute, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set(router.ForwardedHeader, "node")
		r.Header.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return r, nil
	}, func(l *map[string]alert.Look) bool { return *l != nil })
	out := alert.Answers{Silent: func(id string) bool { return e.Has(id) && told[e.PartOf(id)] == nil }, All: len(told) == len(parts)}
	for _, one := range told {
		out.Found = append(out.Found, *one)
	}
	return out
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

// registerAlertSearch evaluates alert rules over the workspaces of this shard, for other
// nodes only.
func (o *otherNodes) registerAlertSearch() {
	o.App.Post(looksRoute, func(c *fiber.Ctx) error {
		if !router.IsForwarded(c) {
			return c.Next()
		}
		b := router.BodyOf(c)
		b.Limit = o.JSONLimit
		text, err := b.ReadAll(c.Request().Header.ContentLength())
		if err != nil {
			return o.RespondError(c, err)
		}
		var rules []*domain.AlertRule
		if err = json.Unmarshal(text, &rules); err != nil {
			return o.RespondError(c, domain.Errorf(domain.CodeInvalidRequest, "A request of another node cannot be read."))
		}
		looks, err := o.alerts.LookFor(c.UserContext(), rules)
		if err != nil {
			return o.RespondError(c, err)
		}
		return c.JSON(looks)
	})
}

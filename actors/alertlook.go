package actors

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/alerts"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
)

// Bounds of a look at what alert rules are about: how long all of it may take,
// how long one workspace may take for one answer, how many are asked at a time.
const (
	glancesWithin = 30 * time.Second
	glanceWithin  = 2 * time.Second
	glancesAtOnce = 16
)

// glance is what a look reads of one workspace, once for all rules: what they
// want of it, and what it has answered.
type glance struct {
	tree    *tree
	minutes []int // windows of answer rates
	trunks  bool
	hooks   bool

	health    *trunk.HealthNow // nil: it did not answer
	lately    map[int]trunk.LatelyNow
	endpoints []alert.Reading
	listed    bool // endpoints were read
}

// want notes what a rule needs.
func (g *glance) want(r *domain.AlertRule) {
	switch {
	case r.Kind == domain.AlertEndpointDisabled:
		g.hooks = true
	case r.Kind != domain.AlertAnswerRate:
		g.trunks = true
	case !slices.Contains(g.minutes, r.Minutes):
		g.minutes = append(g.minutes, r.Minutes)
	}
}

// readAlerts looks at what rules are about. A workspace that does not answer
// leaves what was found of it as it is. While the service is being stopped
// nothing is found: what is missing may have ended already.
func (n *Node) readAlerts(ctx context.Context, rules []*domain.AlertRule) map[string]alerts.Found {
	all := n.workspaces()
	slices.Sort(all)
	seen := make(map[string]*glance)
	for _, r := range rules {
		for _, id := range watchedBy(r, all) {
			if seen[id] == nil {
				t := n.tree(id)
				if t == nil {
					continue // it is gone
				}
				seen[id] = &glance{tree: t, lately: make(map[int]trunk.LatelyNow)}
			}
			seen[id].want(r)
		}
	}
	n.readGlances(ctx, seen)
	if n.draining() {
		return nil
	}
	out := make(map[string]alerts.Found, len(rules))
	for _, r := range rules {
		out[r.ID] = foundBy(r, watchedBy(r, all), seen)
	}
	return out
}

func watchedBy(r *domain.AlertRule, all []string) []string {
	if r.Watches != "" {
		return []string{r.Watches}
	}
	return all
}

// readGlances asks all workspaces, some at a time.
func (n *Node) readGlances(ctx context.Context, seen map[string]*glance) {
	ctx, cancel := context.WithTimeout(ctx, glancesWithin)
	defer cancel()
	room := make(chan struct{}, glancesAtOnce)
	var wait sync.WaitGroup
	for id, g := range seen {
		room <- struct{}{}
		wait.Go(func() {
			defer func() { <-room }()
			if err := n.readGlance(ctx, id, g); err != nil {
				n.cfg.Log.Debug("a workspace could not be read for alerts; trying again", slog.String("workspace_id", id), slog.Any("error", err))
			}
		})
	}
	wait.Wait()
}

// readGlance asks one workspace for what is wanted of it.
func (n *Node) readGlance(ctx context.Context, id string, g *glance) error {
	if g.hooks {
		bound, cancel := context.WithTimeout(ctx, glanceWithin)
		err := every(bound, n.cfg.Store, "webhook", id, "env="+string(domain.Live), func(h *domain.Webhook) {
			g.endpoints = append(g.endpoints, alert.Reading{Of: id, Subject: h.ID, Name: hostOf(h.URL), Known: true, Bad: h.Status == domain.WebhookDisabled})
		})
		cancel()
		if err != nil {
			return err
		}
		g.listed = true
	}
	if g.trunks {
		now, err := askWithin[trunk.HealthNow](ctx, n, g.tree, trunk.Health{})
		if err != nil {
			return err
		}
		g.health = &now
	}
	for _, m := range g.minutes {
		now, err := askWithin[trunk.LatelyNow](ctx, n, g.tree, trunk.Lately{Window: time.Duration(m) * time.Minute})
		if err != nil {
			return err
		}
		g.lately[m] = now
	}
	return nil
}

func askWithin[T any](ctx context.Context, n *Node, t *tree, question any) (T, error) {
	bound, cancel := context.WithTimeout(ctx, glanceWithin)
	defer cancel()
	return mailbox.Ask[T](bound, n.sys, t.trunks, question)
}

// hostOf is what of a tenant's address others may read: paths and queries may
// hold secrets.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// parts are what workspaces add to a rule that takes them together.
type parts struct{ attempts, answered, spent, most int64 }

// foundBy is what a look has found of a rule.
func foundBy(r *domain.AlertRule, watched []string, seen map[string]*glance) alerts.Found {
	out := alerts.Found{Unread: make(map[string]bool)}
	var sum parts
	for _, id := range watched {
		g := seen[id]
		if g == nil {
			continue
		}
		readings, part, read := g.of(r)
		if !read {
			out.Unread[id] = true
		}
		out.Readings = append(out.Readings, readings...)
		sum.attempts, sum.answered = sum.attempts+part.attempts, sum.answered+part.answered
		sum.spent, sum.most = sum.spent+part.spent, sum.most+part.most
	}
	if !r.Together {
		return out
	}
	const name = "all workspaces together"
	in := alert.AnswerRate(r, "", alert.All, name, int(sum.attempts), int(sum.answered))
	if r.Kind == domain.AlertSpend {
		in = alert.Spend(r, "", alert.All, name, sum.spent, sum.most)
	}
	if len(out.Unread) > 0 && !in.Bad { // whoever did not answer may make it bad
		return alerts.Found{Unread: map[string]bool{in.Of: true}}
	}
	return alerts.Found{Readings: []alert.Reading{in}}
}

// of is what a workspace says to a rule; false: it did not answer.
func (g *glance) of(r *domain.AlertRule) (out []alert.Reading, part parts, read bool) {
	w := g.tree.record.Load()
	switch r.Kind {
	case domain.AlertEndpointDisabled:
		return g.endpoints, part, g.listed
	case domain.AlertAnswerRate:
		now, read := g.lately[r.Minutes]
		if !read {
			return nil, part, false
		}
		part.attempts, part.answered = int64(now.Attempts), int64(now.Answered)
		return []alert.Reading{alert.AnswerRate(r, w.ID, w.ID, w.Name, now.Attempts, now.Answered)}, part, true
	case domain.AlertSpend:
		limit := w.Calling.DailySpendCap
		if limit != nil {
			part.most, _ = domain.Micros(limit.Amount) // it was checked when it was set
		}
		if g.health == nil || !g.health.SpentKnown {
			return nil, part, false
		}
		if limit != nil {
			part.spent = g.health.Spent
		}
		return []alert.Reading{alert.Spend(r, w.ID, w.ID, w.Name, part.spent, part.most)}, part, true
	case domain.AlertTrunkDown:
	}
	if g.health == nil {
		return nil, part, false
	}
	for id, s := range g.health.Trunks {
		if s.Environment != domain.Live {
			continue // what is tried out
		}
		signed := s.Health.Registration
		out = append(out, alert.Reading{
			Of: w.ID, Subject: id, Name: s.Name, Known: true, Bad: s.Health.Status == "down" || signed != nil && signed.Status == "failed",
		})
	}
	return out, part, true
}

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
	"github.com/callboard/callboard/domain/commit"
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
	lately    map[int]trunk.RecentCalls
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

// readAlerts looks at what rules are about, on all nodes. A workspace that does
// not answer leaves what was found of it as it is. While the service is being
// stopped nothing is found: what is missing may have ended already.
func (n *Node) readAlerts(ctx context.Context, rules []*domain.AlertRule) map[string]alerts.Found {
	looks := n.lookFor(ctx, rules)
	n.lookElsewhere(ctx, rules, looks)
	if n.Draining() {
		return nil
	}
	out := make(map[string]alerts.Found, len(rules))
	for _, r := range rules {
		l, known := looks[r.ID]
		if !known { // all that was found stays as it is
			continue
		}
		found := alerts.Found{Unread: make(map[string]bool)}
		readings, unread := l.Whole(r)
		found.Readings = readings
		for _, id := range unread {
			found.Unread[id] = true
		}
		out[r.ID] = found
	}
	return out
}

// lookFor looks at the workspaces of this node, for each rule by its id.
func (n *Node) lookFor(ctx context.Context, rules []*domain.AlertRule) map[string]alert.Look {
	all := n.workspaceIDs()
	slices.Sort(all)
	seen := make(map[string]*glance)
	for _, r := range rules {
		for _, id := range watchedBy(r, all) {
			if seen[id] == nil {
				t := n.tree(id)
				if t == nil {
					continue // it is gone, or another node's
				}
				seen[id] = &glance{tree: t, lately: make(map[int]trunk.RecentCalls)}
			}
			seen[id].want(r)
		}
	}
	n.readGlances(ctx, seen)
	out := make(map[string]alert.Look, len(rules))
	for _, r := range rules {
		out[r.ID] = lookOf(r, watchedBy(r, all), seen)
	}
	return out
}

// lookElsewhere has the other nodes look at theirs, and adds what they find.
// What is of one that does not answer is unread.
func (n *Node) lookElsewhere(ctx context.Context, rules []*domain.AlertRule, looks map[string]alert.Look) {
	if n.alone() || n.cfg.Rest == nil {
		return
	}
	rules = alert.Needed(rules, func(id string) bool { return !n.OwnsWorkspace(id) })
	if len(rules) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, glancesWithin)
	defer cancel()
	said := n.cfg.Rest(ctx, rules)
	others, known := n.others()
	for _, r := range rules {
		if !said.All && !known { // whose workspaces are missing nobody can say
			delete(looks, r.ID)
			continue
		}
		l := looks[r.ID]
		for _, one := range said.Found {
			l.Add(one[r.ID])
		}
		for _, w := range others {
			if alert.Watched(r, w.ID) && said.Silent(w.ID) {
				l.Unread, l.Silent = append(l.Unread, w.ID), true
			}
		}
		looks[r.ID] = l
	}
}

// LookFor looks at the workspaces of this node for the rules of another one.
func (d *Desk) LookFor(ctx context.Context, rules []*domain.AlertRule) (map[string]alert.Look, error) {
	looks := d.node.lookFor(ctx, rules)
	if d.node.Draining() {
		return nil, domain.Errorf(domain.CodeUnavailable, "the service is being stopped")
	}
	for _, r := range rules {
		if l := looks[r.ID]; r.Together { // of which nobody asks
			l.Readings = nil
			looks[r.ID] = l
		}
	}
	return looks, nil
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
		err := commit.Each(bound, n.cfg.Store, "webhook", id, "env="+string(domain.Live), func(h *domain.Webhook) {
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
		now, err := askWithin[trunk.RecentCalls](ctx, n, g.tree, trunk.CountRecentCalls{Window: time.Duration(m) * time.Minute})
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

// lookOf is what a look has found of a rule.
func lookOf(r *domain.AlertRule, watched []string, seen map[string]*glance) (out alert.Look) {
	for _, id := range watched {
		g := seen[id]
		if g == nil {
			continue
		}
		one, read := g.of(r)
		if !read {
			out.Unread = append(out.Unread, id)
		}
		out.Add(one)
	}
	return out
}

// of is what a workspace says to a rule; false: it did not answer.
func (g *glance) of(r *domain.AlertRule) (out alert.Look, read bool) {
	w := g.tree.record.Load()
	switch r.Kind {
	case domain.AlertEndpointDisabled:
		return alert.Look{Readings: g.endpoints}, g.listed
	case domain.AlertAnswerRate:
		now, read := g.lately[r.Minutes]
		if !read {
			return out, false
		}
		out.Attempts, out.Answered = int64(now.Attempts), int64(now.Answered)
		out.Readings = []alert.Reading{alert.AnswerRate(r, w.ID, w.ID, w.Name, now.Attempts, now.Answered)}
		return out, true
	case domain.AlertSpend:
		limit := w.Calling.DailySpendCap
		if limit != nil {
			out.Most, _ = domain.Micros(limit.Amount) // it was checked when it was set
		}
		if g.health == nil || !g.health.SpentKnown {
			return out, false
		}
		if limit != nil {
			out.Spent = g.health.Spent
		}
		out.Readings = []alert.Reading{alert.Spend(r, w.ID, w.ID, w.Name, out.Spent, out.Most)}
		return out, true
	case domain.AlertTrunkDown:
	}
	if g.health == nil {
		return out, false
	}
	for id, s := range g.health.Trunks {
		if s.Environment != domain.Live {
			continue // what is tried out
		}
		signed := s.Health.Registration
		out.Readings = append(out.Readings, alert.Reading{
			Of: w.ID, Subject: id, Name: s.Name, Known: true, Bad: s.Health.Status == "down" || signed != nil && signed.Status == "failed",
		})
	}
	return out, true
}

package cluster

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

const (
	alertSearchRoute   = "/node/alert-search" // evaluates alert rules for other shards
	alertSearchTimeout = 20 * time.Second
)

// SearchAlerts requests from the other shards the results of alert rules for their workspaces. In an installation with
// one shard there are no results.
func (cl *Cluster) SearchAlerts(ctx context.Context, rules []*domain.AlertRule) alert.PeerFindings {
	e := cl.shards
	if e == nil {
		return alert.PeerFindings{Silent: func(string) bool { return false }, Complete: true}
	}
	wanted := make([]*domain.AlertRule, len(rules))
	for i, r := range rules {
		wanted[i] = alert.RuleForPeers(r)
	}
	body, err := json.Marshal(wanted)
	if err != nil {
		return alert.PeerFindings{Silent: e.IsElsewhere}
	}
	ctx, cancel := context.WithTimeout(ctx, alertSearchTimeout)
	defer cancel()
	shards := shardsOfRules(e, rules)
	responses := queryShards(ctx, cl, cl.ownedShards(shards), func(ctx context.Context) (*http.Request, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://node"+alertSearchRoute, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set(router.ForwardedHeader, "node")
		r.Header.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return r, nil
	}, func(l *map[string]alert.Findings) bool { return *l != nil })
	out := alert.PeerFindings{Silent: func(id string) bool { return e.IsElsewhere(id) && responses[e.ShardOf(id)] == nil }, Complete: len(responses) == len(shards)}
	for _, one := range responses {
		out.Found = append(out.Found, *one)
	}
	return out
}

// shardsOfRules returns the other shards that own a workspace which a rule watches. A rule without a workspace
// watches all shards.
func shardsOfRules(e Shards, rules []*domain.AlertRule) (shards []int) {
	watched := make(map[int]bool)
	for _, r := range rules {
		if r.WatchesWorkspaceID == "" {
			return e.Others()
		}
		watched[e.ShardOf(r.WatchesWorkspaceID)] = true
	}
	for _, shard := range e.Others() {
		if watched[shard] {
			shards = append(shards, shard)
		}
	}
	return shards
}

// registerAlertSearch registers the route that evaluates alert rules for the workspaces of this shard. The route
// accepts requests from nodes only.
func (cl *Cluster) registerAlertSearch() {
	cl.App.Post(alertSearchRoute, func(c *fiber.Ctx) error {
		if !router.IsForwarded(c) {
			return c.Next()
		}
		b := router.BodyOf(c)
		b.Limit = cl.JSONLimit
		text, err := b.ReadAll(c.Request().Header.ContentLength())
		if err != nil {
			return cl.RespondError(c, err)
		}
		var rules []*domain.AlertRule
		if err = json.Unmarshal(text, &rules); err != nil {
			return cl.RespondError(c, domain.Errorf(domain.CodeInvalidRequest, "The forwarded request cannot be read."))
		}
		findings, err := cl.alerts.EvaluateRules(c.UserContext(), rules)
		if err != nil {
			return cl.RespondError(c, err)
		}
		return c.JSON(findings)
	})
}

package alerts

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	alertactor "github.com/callboard/callboard/actors/alerts"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/domain/commit"
)

// Limits of reading the values that alert rules watch.
const (
	readTimeout    = 30 * time.Second // limit for all workspaces
	answerTimeout  = 2 * time.Second  // limit for one answer of one workspace
	maxReadsAtOnce = 16               // workspaces that are read at the same time
)

// workspaceReading holds the values of one workspace that alert rules watch. The service first collects the needs of
// all rules and then reads each value once.
type workspaceReading struct {
	workspace *domain.Workspace
	trunks    *actor.PID
	needs     struct {
		health, endpoints bool
		minutes           []int // lengths of the periods over which answer rates are computed
	}

	health        *trunk.Health             // nil: the trunks actor has not answered
	recentCalls   map[int]trunk.RecentCalls // by length of the period in minutes
	endpoints     []alert.Reading
	endpointsRead bool
}

// addNeeds adds the values that a rule watches to the values to be read.
func (w *workspaceReading) addNeeds(r *domain.AlertRule) {
	switch {
	case r.Kind == domain.AlertEndpointDisabled:
		w.needs.endpoints = true
	case r.Kind != domain.AlertAnswerRate:
		w.needs.health = true
	case !slices.Contains(w.needs.minutes, r.Minutes):
		w.needs.minutes = append(w.needs.minutes, r.Minutes)
	}
}

// Read reads the values that rules watch, on all shards. The result maps rule ids to readings, and lists workspaces
// that did not answer, whose alerts must stay unchanged. While the node is stopping, Read returns nil, because missing
// values could look like ended alerts.
func (s *Service) Read(ctx context.Context, rules []*domain.AlertRule) map[string]alertactor.RuleReadings {
	looks := s.readOwnShard(ctx, rules)
	s.addOtherShards(ctx, rules, looks)
	if s.node.IsStopping() {
		return nil
	}
	out := make(map[string]alertactor.RuleReadings, len(rules))
	for _, r := range rules {
		l, known := looks[r.ID]
		if !known { // the alerts of the rule stay unchanged
			continue
		}
		found := alertactor.RuleReadings{UnreadWorkspaces: make(map[string]bool)}
		readings, unread := l.Results(r)
		found.Readings = readings
		for _, id := range unread {
			found.UnreadWorkspaces[id] = true
		}
		out[r.ID] = found
	}
	return out
}

// readOwnShard reads the values of this shard's workspaces that rules watch. The result maps rule ids to these values.
func (s *Service) readOwnShard(ctx context.Context, rules []*domain.AlertRule) map[string]alert.Findings {
	all := s.workspaces.WorkspaceIDs()
	slices.Sort(all)
	read := make(map[string]*workspaceReading)
	for _, r := range rules {
		for _, id := range watchedBy(r, all) {
			if read[id] == nil {
				w := s.workspaces.Workspace(id)
				trunks, err := s.workspaces.TrunksPID(id)
				if w == nil || err != nil {
					continue // the workspace was deleted, or belongs to another shard
				}
				read[id] = &workspaceReading{workspace: w, trunks: trunks, recentCalls: make(map[int]trunk.RecentCalls)}
			}
			read[id].addNeeds(r)
		}
	}
	s.readWorkspaces(ctx, read)
	for id, reading := range read {
		if w := s.workspaces.Workspace(id); w != nil {
			reading.workspace = w // name and spend cap may have changed since
		}
	}
	out := make(map[string]alert.Findings, len(rules))
	for _, r := range rules {
		out[r.ID] = readingOf(r, watchedBy(r, all), read)
	}
	return out
}

// addOtherShards adds to looks the values that the other shards return. If a shard does not answer, its workspaces
// count as unread.
func (s *Service) addOtherShards(ctx context.Context, rules []*domain.AlertRule, looks map[string]alert.Findings) {
	if s.readOtherShards == nil {
		return
	}
	rules = alert.RulesForWorkspaces(rules, func(id string) bool { return !s.shards.OwnsWorkspace(id) })
	if len(rules) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	answers := s.readOtherShards(ctx, rules)
	others, known := s.shards.OtherWorkspaces()
	for _, r := range rules {
		if !answers.Complete && !known { // it is unknown which workspaces have no answer
			delete(looks, r.ID)
			continue
		}
		l := looks[r.ID]
		for _, one := range answers.Found {
			l.Add(one[r.ID])
		}
		for _, w := range others {
			if alert.WatchesWorkspace(r, w.ID) && answers.Silent(w.ID) {
				l.Unread, l.Silent = append(l.Unread, w.ID), true
			}
		}
		looks[r.ID] = l
	}
}

// EvaluateRules reads the values of this shard's workspaces that rules of another shard watch.
func (s *Service) EvaluateRules(ctx context.Context, rules []*domain.AlertRule) (map[string]alert.Findings, error) {
	looks := s.readOwnShard(ctx, rules)
	if s.node.IsStopping() {
		return nil, domain.Errorf(domain.CodeUnavailable, "the service is being stopped")
	}
	for _, r := range rules {
		if l := looks[r.ID]; r.Together { // the other shard needs only the sums
			l.Readings = nil
			looks[r.ID] = l
		}
	}
	return looks, nil
}

func watchedBy(r *domain.AlertRule, all []string) []string {
	if r.WatchesWorkspaceID != "" {
		return []string{r.WatchesWorkspaceID}
	}
	return all
}

// readWorkspaces reads the values of all workspaces in read, of up to maxReadsAtOnce workspaces at a time.
func (s *Service) readWorkspaces(ctx context.Context, read map[string]*workspaceReading) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	slots := make(chan struct{}, maxReadsAtOnce)
	var wait sync.WaitGroup
	for id, w := range read {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if err := s.readWorkspace(ctx, id, w); err != nil {
				s.log.Debug("reading a workspace for alert rules failed; trying again", slog.String("workspace_id", id), slog.Any("error", err))
			}
		})
	}
	wait.Wait()
}

// readWorkspace reads the values of one workspace that w.needs lists.
func (s *Service) readWorkspace(ctx context.Context, id string, w *workspaceReading) error {
	if w.needs.endpoints {
		bound, cancel := context.WithTimeout(ctx, answerTimeout)
		err := commit.ForEachRow(bound, s.store, "webhook", id, "env="+string(domain.Live), func(h *domain.Webhook) {
			w.endpoints = append(w.endpoints, alert.Reading{WorkspaceID: id, Subject: h.ID, Name: hostOf(h.URL), Known: true, Bad: h.Status == domain.WebhookDisabled})
		})
		cancel()
		if err != nil {
			return err
		}
		w.endpointsRead = true
	}
	if w.needs.health {
		now, err := requestFromTrunks[trunk.Health](ctx, s.system, w.trunks, trunk.GetHealth{})
		if err != nil {
			return err
		}
		w.health = &now
	}
	for _, m := range w.needs.minutes {
		now, err := requestFromTrunks[trunk.RecentCalls](ctx, s.system, w.trunks, trunk.CountRecentCalls{Window: time.Duration(m) * time.Minute})
		if err != nil {
			return err
		}
		w.recentCalls[m] = now
	}
	return nil
}

// requestFromTrunks sends a request to the trunks actor of a workspace.
func requestFromTrunks[T any](ctx context.Context, system *actor.ActorSystem, trunks *actor.PID, query any) (T, error) {
	bound, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return mailbox.Ask[T](bound, system, trunks, query)
}

// hostOf returns the host of a webhook URL. Operators may see only the host, because the path and the query of the URL
// may contain secrets.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// readingOf combines the values of all workspaces that a rule watches.
func readingOf(r *domain.AlertRule, watched []string, read map[string]*workspaceReading) (out alert.Findings) {
	for _, id := range watched {
		w := read[id]
		if w == nil {
			continue
		}
		one, complete := w.forRule(r)
		if !complete {
			out.Unread = append(out.Unread, id)
		}
		out.Add(one)
	}
	return out
}

// forRule returns the values of one workspace that a rule watches. read is false if an actor has not answered.
func (w *workspaceReading) forRule(r *domain.AlertRule) (out alert.Findings, read bool) {
	workspace := w.workspace
	switch r.Kind {
	case domain.AlertEndpointDisabled:
		return alert.Findings{Readings: w.endpoints}, w.endpointsRead
	case domain.AlertAnswerRate:
		now, read := w.recentCalls[r.Minutes]
		if !read {
			return out, false
		}
		out.Attempts, out.Answered = int64(now.Attempts), int64(now.Answered)
		out.Readings = []alert.Reading{alert.AnswerRateReading(r, workspace.ID, workspace.ID, workspace.Name, now.Attempts, now.Answered)}
		return out, true
	case domain.AlertSpend:
		limit := workspace.Calling.DailySpendCap
		if limit != nil {
			out.Most, _ = domain.ParseAmount(limit.Amount) // validated when it was set
		}
		if w.health == nil || !w.health.SpentKnown {
			return out, false
		}
		if limit != nil {
			out.Spent = w.health.Spent
		}
		out.Readings = []alert.Reading{alert.SpendReading(r, workspace.ID, workspace.ID, workspace.Name, out.Spent, out.Most)}
		return out, true
	case domain.AlertTrunkDown:
	}
	if w.health == nil {
		return out, false
	}
	for id, s := range w.health.Trunks {
		if s.Environment != domain.Live {
			continue // operators watch trunks of the live environment only
		}
		registration := s.Health.Registration
		out.Readings = append(out.Readings, alert.Reading{
			WorkspaceID: workspace.ID, Subject: id, Name: s.Name, Known: true, Bad: s.Health.Status == "down" || registration != nil && registration.Status == "failed",
		})
	}
	return out, true
}

// Package webhooks manages the webhook endpoints of workspaces.
package webhooks

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/service/record"
)

// Config holds what a Service needs. On an offline store only Store is set, and only
// DeleteWebhook may be called.
type Config struct {
	Store    commit.Store
	Settings settings
	Actors   endpointActors
	System   *actor.ActorSystem
	URLs     record.URLChecker
	Agents   agents
	Events   eventLog
	// Campaigns finds the campaigns that filters name.
	Campaigns campaigns
	// QuarantineError returns the error for deliveries while the node is in
	// quarantine; nil: it is not.
	QuarantineError func() error
}

// settings orders the changes of a workspace's settings.
type settings interface {
	// LockSettings waits until no other change of the workspace's settings is
	// being made. Errors: not_found, unavailable.
	LockSettings(workspaceID string) (unlock func(), err error)
}

// endpointActors are the actors that deliver to endpoints.
type endpointActors interface {
	// WebhookChanged notifies the actors of a new or changed endpoint.
	WebhookChanged(ctx context.Context, w *domain.Webhook)
	// WebhookDeleted stops the actor of a deleted endpoint.
	WebhookDeleted(w *domain.Webhook)
	// WebhookPID is the actor of an endpoint.
	WebhookPID(w *domain.Webhook) *actor.PID
}

// agents finds agents.
type agents interface {
	Agent(ctx context.Context, p domain.Principal, id string) (*domain.Agent, error)
}

// campaigns finds campaigns.
type campaigns interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
}

// eventLog finds places in the event log of a workspace.
type eventLog interface {
	// OffsetOf returns the offset of an event. Errors: domain.ErrNotFound.
	OffsetOf(ctx context.Context, workspaceID, eventID string) (uint64, error)
	// OffsetBefore returns an offset before which all events are older than at.
	OffsetBefore(ctx context.Context, workspaceID string, at time.Time) (uint64, error)
}

// Service manages webhook endpoints. It is safe for concurrent use.
type Service struct {
	store           commit.Store
	settings        settings
	actors          endpointActors
	system          *actor.ActorSystem
	urls            record.URLChecker
	agents          agents
	campaigns       campaigns
	events          eventLog
	quarantineError func() error
}

// New returns a service.
func New(c Config) *Service {
	return &Service{
		store: c.Store, settings: c.Settings, actors: c.Actors, system: c.System, urls: c.URLs, agents: c.Agents, campaigns: c.Campaigns,
		events: c.Events, quarantineError: c.QuarantineError,
	}
}

// CreateWebhook stores an endpoint. It receives every event committed after the
// return. The result shows the signing secret. Errors: validation, invalid_url.
func (s *Service) CreateWebhook(ctx context.Context, p domain.Principal, w *domain.Webhook) (*domain.Webhook, error) {
	if made, err := record.CreatedBySameRequest[domain.Webhook](ctx, s.store, p, domain.PrefixWebhook); made != nil || err != nil {
		if made != nil {
			s.actors.WebhookChanged(ctx, made) // the interrupted request may not have notified them
			shown := *made
			shown.FirstOffset = 0
			made = &shown
		}
		return made, err
	}
	if err := s.urls.CheckURL(ctx, "url", w.URL); err != nil {
		return nil, err
	}
	if err := s.checkFilters(ctx, p, nil, w.Filters); err != nil {
		return nil, err
	}
	if w.Secret == "" {
		w.Secret = record.NewSigningSecret()
	}
	first, err := record.NextOffset(ctx, s.store, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	w.SecretHint, w.Status, w.FirstOffset = webhook.SecretHint(w.Secret), domain.WebhookActive, first
	w.Init("webhook", p, record.RequestResourceID(ctx, domain.PrefixWebhook), record.Now())
	w.CreatedBy = p.Creator()
	if err := record.Create(ctx, s.store, w); err != nil {
		return nil, err
	}
	s.actors.WebhookChanged(ctx, w)
	shown := *w
	shown.FirstOffset = 0
	return &shown, nil
}

// checkFilters returns a validation error for filters that name an unknown agent
// or campaign: no event would pass them. What the filters before named is not
// checked again: it may have been deleted since.
func (s *Service) checkFilters(ctx context.Context, p domain.Principal, before, f *domain.EventFilters) error {
	if f == nil {
		return nil
	}
	if before == nil {
		before = &domain.EventFilters{}
	}
	var problems domain.Problems
	check := func(param, noun string, ids, known []string, get func(id string) error) error {
		for i, id := range ids {
			if slices.Contains(known, id) {
				continue
			}
			switch err := get(id); {
			case domain.CodeOf(err) == domain.CodeNotFound:
				problems.Add(param+"["+strconv.Itoa(i)+"]", domain.CodeValidation, "there is no such %s", noun)
			case err != nil:
				return err
			}
		}
		return nil
	}
	if err := check("filters.agent_ids", "agent", f.AgentIDs, before.AgentIDs, func(id string) error {
		_, err := s.agents.Agent(ctx, p, id)
		return err
	}); err != nil {
		return err
	}
	if err := check("filters.campaign_ids", "campaign", f.CampaignIDs, before.CampaignIDs, func(id string) error {
		_, err := s.campaigns.Campaign(ctx, p, id)
		return err
	}); err != nil {
		return err
	}
	return problems.Err()
}

// Webhook returns an endpoint. Errors: not_found.
func (s *Service) Webhook(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error) {
	w, _, err := record.Get[domain.Webhook](ctx, s.store, p, domain.PrefixWebhook, id)
	if err == nil {
		w.CompleteRotation(time.Now())
	}
	return w, err
}

// ListWebhooks returns a page of endpoints.
func (s *Service) ListWebhooks(ctx context.Context, p domain.Principal, q Query) (record.Page[*domain.Webhook], error) {
	index := record.EnvironmentIndex(p)
	if q.CampaignID != "" {
		index = "campaign=" + q.CampaignID
	}
	now := time.Now()
	return record.List(ctx, s.store, p.WorkspaceID, index, domain.PrefixWebhook, q.PageQuery, func(w *domain.Webhook) bool {
		w.CompleteRotation(now)
		_, subscribed := event.MatchSubscription(w.Events, q.Event)
		return w.Environment == p.Environment && (q.Status == "" || w.Status == q.Status) && (q.Event == "" || subscribed)
	})
}

// UpdateWebhook changes an endpoint. Errors: not_found, validation, invalid_url and
// those of change.
func (s *Service) UpdateWebhook(ctx context.Context, p domain.Principal, id string, change func(*domain.Webhook) error) (*domain.Webhook, error) {
	checked, err := s.checkNewURL(ctx, p, id, change) // may wait for a name server: before the lock
	if err != nil {
		return nil, err
	}
	unlock, err := s.settings.LockSettings(p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	w, err := record.Update(ctx, s.store, p, domain.PrefixWebhook, id, func(w *domain.Webhook) error {
		w.CompleteRotation(time.Now())
		url, filters := w.URL, w.Filters
		if failed := change(w); failed != nil {
			return failed
		}
		if failed := s.checkFilters(ctx, p, filters, w.Filters); failed != nil {
			return failed
		}
		if w.URL == url || w.URL == checked {
			return nil
		}
		return s.urls.CheckURL(ctx, "url", w.URL) // another change intervened
	})
	if err != nil {
		return nil, err
	}
	s.actors.WebhookChanged(ctx, w)
	return w, nil
}

// checkNewURL returns the URL that a change gives an endpoint, after CheckURL
// allowed it; "": the URL stays.
func (s *Service) checkNewURL(ctx context.Context, p domain.Principal, id string, change func(*domain.Webhook) error) (string, error) {
	w, err := s.Webhook(ctx, p, id)
	if err != nil {
		return "", err
	}
	url := w.URL
	if err = change(w); err != nil || w.URL == url {
		return "", err
	}
	return w.URL, s.urls.CheckURL(ctx, "url", w.URL)
}

// DeleteWebhook deletes an endpoint with its queued deliveries. Errors: not_found.
func (s *Service) DeleteWebhook(ctx context.Context, p domain.Principal, id string) error {
	w, err := s.Webhook(ctx, p, id)
	if err != nil {
		return err
	}
	if s.actors == nil { // no node runs on the store
		return record.Delete[domain.Webhook](ctx, s.store, p, domain.PrefixWebhook, id)
	}
	unlock, err := s.settings.LockSettings(p.WorkspaceID)
	if err != nil {
		return err
	}
	defer unlock()
	if err = record.Delete[domain.Webhook](ctx, s.store, p, domain.PrefixWebhook, id); err != nil {
		return err
	}
	s.actors.WebhookDeleted(w)
	return nil
}

// RotateWebhook replaces the signing secret of an endpoint. Default: a random
// secret. During overlap deliveries carry the signatures of both secrets. The
// result shows the new secret.
func (s *Service) RotateWebhook(
	ctx context.Context, p domain.Principal, id, secret string, overlap time.Duration, change func(*domain.Webhook) error,
) (*domain.Webhook, error) {
	if secret == "" {
		secret = record.NewSigningSecret()
	}
	var until time.Time
	if overlap > 0 {
		until = record.Now().Add(overlap)
	}
	w, err := s.UpdateWebhook(ctx, p, id, func(w *domain.Webhook) error {
		if err := change(w); err != nil {
			return err
		}
		w.RotateSecret(secret, webhook.SecretHint(secret), until)
		return nil
	})
	if err != nil {
		return nil, err
	}
	shown := *w.Public()
	shown.Secret = secret
	return &shown, nil
}

// PauseWebhook pauses an endpoint. Its events queue.
func (s *Service) PauseWebhook(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error) {
	return s.setStatus(ctx, p, id, domain.WebhookPaused)
}

// ResumeWebhook resumes an endpoint. Its queued events are sent in order.
func (s *Service) ResumeWebhook(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error) {
	return s.setStatus(ctx, p, id, domain.WebhookActive)
}

func (s *Service) setStatus(ctx context.Context, p domain.Principal, id string, to domain.WebhookStatus) (*domain.Webhook, error) {
	return s.UpdateWebhook(ctx, p, id, func(w *domain.Webhook) error {
		if to == domain.WebhookPaused {
			w.Pause(record.Now())
			return nil
		}
		w.Status = to
		w.ClearFailures()
		return nil
	})
}

// Package webhooks is the service for webhook endpoints: it creates, changes, tests and deletes them, lists their
// deliveries and replays events.
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

// Config holds the dependencies of a Service. For a store without a running node only Store is set, and only
// DeleteWebhook may be called.
type Config struct {
	Store    commit.Store
	Settings settings
	Actors   endpointActors
	System   *actor.ActorSystem
	URLs     record.URLChecker
	Agents   agents
	Events   eventLog
	// Campaigns reads the campaigns that event filters name.
	Campaigns campaigns
	// QuarantineError returns the error of deliveries while the store is in quarantine; otherwise nil.
	QuarantineError func() error
}

// settings serializes changes of a workspace's settings.
type settings interface {
	// LockSettings locks the settings of a workspace against other changes. Errors: not_found, unavailable.
	LockSettings(workspaceID string) (unlock func(), err error)
}

// endpointActors are the actors that deliver to endpoints.
type endpointActors interface {
	// WebhookChanged notifies the actors of a new or changed endpoint.
	WebhookChanged(ctx context.Context, w *domain.Webhook)
	// WebhookDeleted stops the actor of a deleted endpoint.
	WebhookDeleted(w *domain.Webhook)
	// WebhookPID returns the actor of an endpoint.
	WebhookPID(w *domain.Webhook) *actor.PID
}

// agents reads agents.
type agents interface {
	Agent(ctx context.Context, p domain.Principal, id string) (*domain.Agent, error)
}

// campaigns reads campaigns.
type campaigns interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
}

// eventLog searches the event log of a workspace.
type eventLog interface {
	// OffsetOf returns the offset of an event. Errors: domain.ErrNotFound.
	OffsetOf(ctx context.Context, workspaceID, eventID string) (uint64, error)
	// OffsetBefore returns an offset below those of all events that were created at the time at or later.
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

// New returns a Service.
func New(c Config) *Service {
	return &Service{
		store: c.Store, settings: c.Settings, actors: c.Actors, system: c.System, urls: c.URLs, agents: c.Agents, campaigns: c.Campaigns,
		events: c.Events, quarantineError: c.QuarantineError,
	}
}

// CreateWebhook stores an endpoint. The endpoint receives all events that are committed after CreateWebhook has
// returned. The result contains the signing secret. Errors: validation_failed, invalid_url.
func (s *Service) CreateWebhook(ctx context.Context, p domain.Principal, w *domain.Webhook) (*domain.Webhook, error) {
	if earlier, err := record.CreatedBySameRequest[domain.Webhook](ctx, s.store, p, domain.PrefixWebhook); earlier != nil || err != nil {
		if earlier != nil {
			s.actors.WebhookChanged(ctx, earlier) // the interrupted request may not have notified them
			shown := *earlier
			shown.FirstOffset = 0
			earlier = &shown
		}
		return earlier, err
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

// checkFilters returns a validation error if event filters name an unknown agent or campaign. Ids that the previous
// filters named are not checked, because they may have been deleted since.
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

// Webhook returns one endpoint. Errors: not_found.
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

// UpdateWebhook changes an endpoint. Errors: not_found, validation_failed, invalid_url, and the errors of change.
func (s *Service) UpdateWebhook(ctx context.Context, p domain.Principal, id string, change func(*domain.Webhook) error) (*domain.Webhook, error) {
	checkedURL, err := s.checkNewURL(ctx, p, id, change) // may wait for DNS, so it runs before the lock
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
		if w.URL == url || w.URL == checkedURL {
			return nil
		}
		return s.urls.CheckURL(ctx, "url", w.URL) // another change came between
	})
	if err != nil {
		return nil, err
	}
	s.actors.WebhookChanged(ctx, w)
	return w, nil
}

// checkNewURL returns the new URL of an endpoint after CheckURL has allowed it; "" if the change keeps the URL.
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
	if s.actors == nil { // no node runs on this store
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

// RotateWebhook replaces the signing secret of an endpoint. An empty secret selects a random secret. During overlap,
// deliveries are signed with both secrets. The result contains the new secret.
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

// PauseWebhook pauses deliveries to an endpoint. Its events are queued.
func (s *Service) PauseWebhook(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error) {
	return s.setStatus(ctx, p, id, domain.WebhookPaused)
}

// ResumeWebhook resumes deliveries to an endpoint. Its queued events are sent in order.
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

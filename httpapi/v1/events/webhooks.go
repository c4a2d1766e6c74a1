package events

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
	webhooksservice "github.com/callboard/callboard/service/webhooks"
)

// Webhooks manages webhook endpoints.
type Webhooks interface {
	// CreateWebhook stores an endpoint and returns it with its secret. It creates the secret if w has none. The API shows
	// the secret once. A URL at a forbidden address is a 422 invalid_url error.
	CreateWebhook(ctx context.Context, p domain.Principal, w *domain.Webhook) (*domain.Webhook, error)
	Webhook(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error)
	ListWebhooks(ctx context.Context, p domain.Principal, q webhooksservice.Query) (record.Page[*domain.Webhook], error)
	UpdateWebhook(ctx context.Context, p domain.Principal, id string, change func(*domain.Webhook) error) (*domain.Webhook, error)
	// RotateWebhook changes an endpoint like UpdateWebhook and also replaces its secret. An empty secret creates a random
	// one. The old secret stays valid for overlap. The returned endpoint has the new secret.
	RotateWebhook(ctx context.Context, p domain.Principal, id, secret string, overlap time.Duration, change func(*domain.Webhook) error) (*domain.Webhook, error)
	DeleteWebhook(ctx context.Context, p domain.Principal, id string) error
}

// Deliveries controls webhook endpoints and reads the log of their deliveries.
type Deliveries interface {
	PauseWebhook(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error)
	ResumeWebhook(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error)
	WebhookLog(ctx context.Context, p domain.Principal, id string, q record.PageQuery) (record.Page[*domain.Delivery], error)
	FailedDeliveries(ctx context.Context, p domain.Principal, id string, q record.PageQuery) (record.Page[*domain.Delivery], error)
	// ReplayWebhook delivers past events again. Each event keeps its id and gets the full number of attempts.
	ReplayWebhook(ctx context.Context, p domain.Principal, id string, o webhooksservice.ReplayOrder) (webhooksservice.Replay, error)
	// TestWebhook makes one delivery attempt and returns its result. It sends the event webhook.test, or a sample event
	// of type t if t is set.
	TestWebhook(ctx context.Context, p domain.Principal, id string, t event.Type) (webhooksservice.TestResult, error)
}

// webhookHandlers serves the operations of webhooks.
type webhookHandlers struct {
	*router.Router

	webhooks   Webhooks
	deliveries Deliveries
}

// NewWebhook is a webhook endpoint in a request body.
type NewWebhook struct {
	URL      string               `json:"url" doc:"https only." example:"https://example.com/hooks"`
	Events   []string             `json:"events" nullable:"false" doc:"Event types, categories such as call.*, or *."`
	Filters  *domain.EventFilters `json:"filters,omitempty" doc:"Filters for these events. An event passes if it matches one entry of each list."`
	Secret   string               `json:"secret,omitempty" doc:"Secret that signs deliveries. Default: Callboard creates one."`
	Metadata map[string]string    `json:"metadata,omitempty"`
	// RetryTimeFactor can be set only for endpoints of the test environment.
	RetryTimeFactor int `json:"retry_time_factor,omitempty" minimum:"1" maximum:"1440" doc:"With test keys only. Divides the delays before retries (30 seconds, 2 minutes, 10 minutes, 1 hour): 1440 makes all five attempts within 3 seconds. Default: 1."`
}

// WebhookUpdate holds the members that a PATCH of an endpoint can change.
type WebhookUpdate struct {
	URL      string               `json:"url" doc:"https only." example:"https://example.com/hooks"`
	Events   []string             `json:"events" nullable:"false" doc:"Event types, categories such as call.*, or *."`
	Filters  *domain.EventFilters `json:"filters,omitempty" doc:"Filters for these events. An event passes if it matches one entry of each list."`
	Metadata map[string]string    `json:"metadata,omitempty"`
	// RetryTimeFactor can be set only for endpoints of the test environment.
	RetryTimeFactor int `json:"retry_time_factor,omitempty" minimum:"1" maximum:"1440" doc:"With test keys only. Divides the delays before retries. null: the documented delays."`
	// Secret and SecretOverlapHours request the rotation of the signing secret.
	Secret             string `json:"secret,omitempty" doc:"New secret. null: Callboard creates one. Only this response contains the secret."`
	SecretOverlapHours *int   `json:"secret_overlap_hours,omitempty" minimum:"0" maximum:"168" doc:"With secret: how many hours the old secret still signs X-Svc-Signature, while the new one signs X-Svc-Signature-Next. 0: none. Default: 24."`
}

// PruneStored excludes the stored secret from the merge patch, because only a rotation changes the secret.
func (*WebhookUpdate) PruneStored(_ any, stored, _ map[string]any) { delete(stored, "secret") }

// LogEntry is a delivery in an endpoint's delivery log, as the API shows it.
type LogEntry struct {
	EventID        string               `json:"event_id"`
	EventType      string               `json:"event_type"`
	Status         domain.DeliveryState `json:"status"`
	DeliveredAt    *time.Time           `json:"delivered_at"`
	ResponseStatus int                  `json:"response_status"`
	ResponseTimeMs int64                `json:"response_time_ms"`
	Retries        int                  `json:"retries,omitempty"`
	LastRetryAt    *time.Time           `json:"last_retry_at,omitempty"`
	Error          string               `json:"error,omitempty"`
	NextAttemptAt  *time.Time           `json:"next_attempt_at,omitempty"`
	CreatedAt      time.Time            `json:"created_at"`
}

// Logs is a page of the delivery log.
type Logs struct {
	Logs       []LogEntry `json:"logs"`
	HasMore    bool       `json:"has_more"`
	NextCursor *string    `json:"next_cursor"`
}

// FailedEvent is an event whose delivery has failed after its last attempt.
type FailedEvent struct {
	EventID       string     `json:"event_id"`
	EventType     string     `json:"event_type"`
	Attempts      int        `json:"attempts"`
	LastError     string     `json:"last_error"`
	LastAttemptAt *time.Time `json:"last_attempt_at"`
	CreatedAt     time.Time  `json:"created_at"`
}

// TestRequest is the request body of a test delivery.
type TestRequest struct {
	EventType string `json:"event_type,omitempty" doc:"Event type of the sample to send. Default: webhook.test."`
}

// filtersOf returns a copy of the filters, which validation may change. It returns nil if f filters nothing.
func filtersOf(f *domain.EventFilters) *domain.EventFilters {
	if f.IsEmpty() {
		return nil
	}
	return &domain.EventFilters{
		AgentIDs: slices.Clone(f.AgentIDs), CampaignIDs: slices.Clone(f.CampaignIDs),
		Directions: slices.Clone(f.Directions), Numbers: slices.Clone(f.Numbers),
	}
}

func logEntry(d *domain.Delivery) LogEntry {
	e := LogEntry{
		EventID: d.EventID, EventType: d.EventType, Status: d.State, DeliveredAt: d.DeliveredAt, ResponseStatus: d.ResponseStatus,
		ResponseTimeMs: d.ResponseTimeMs, Error: d.Error, NextAttemptAt: d.DueAt, CreatedAt: d.CreatedAt,
	}
	if d.Attempts > 1 {
		e.Retries, e.LastRetryAt = d.Attempts-1, d.LastAttemptAt
	}
	return e
}

func failedEvent(d *domain.Delivery) FailedEvent {
	return FailedEvent{
		EventID: d.EventID, EventType: d.EventType, Attempts: d.Attempts, LastError: d.Error,
		LastAttemptAt: d.LastAttemptAt, CreatedAt: d.CreatedAt,
	}
}

// webhook builds the endpoint from the request body and validates it.
func (n *NewWebhook) webhook(p domain.Principal) (*domain.Webhook, error) {
	w := &domain.Webhook{
		URL: n.URL, Events: n.Events, Filters: filtersOf(n.Filters), Secret: n.Secret, Status: domain.WebhookActive,
		RetryTimeFactor: n.RetryTimeFactor,
	}
	w.Metadata, w.Environment = n.Metadata, p.Environment
	return w, validation.Webhook(w).Err()
}

// registerWebhooks registers the operations of webhooks.
func registerWebhooks(r *router.Router, webhooks Webhooks, deliveries Deliveries) {
	s := &webhookHandlers{Router: r, webhooks: webhooks, deliveries: deliveries}
	const tag, path = "Webhooks", "/v1/webhooks"
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path, ID: "createWebhook", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create a webhook endpoint", Description: "Only this response contains the secret."},
		func(ctx context.Context, p domain.Principal, in *struct{ Body NewWebhook }) (*router.Response[*domain.Webhook], error) {
			w, err := in.Body.webhook(p)
			if err != nil {
				return nil, err
			}
			created, err := s.webhooks.CreateWebhook(ctx, p, w)
			return router.RespondCreated(ctx, created, err)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listWebhooks", Tag: tag, Summary: "List endpoints"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.Paging
			CampaignID string               `query:"campaign_id" doc:"Filters by the campaign that owns the endpoint."`
			Status     domain.WebhookStatus `query:"status" enum:"active,paused,disabled" doc:"Filters by status."`
			Event      string               `query:"event" maxLength:"100" doc:"Filters by subscribed event type."`
		},
		) (*router.Response[router.List[*domain.Webhook]], error) {
			id, err := router.OptionalID("campaign_id", domain.PrefixCampaign, in.CampaignID)
			if err != nil {
				return nil, err
			}
			q := webhooksservice.Query{PageQuery: in.Query(), CampaignID: id, Status: in.Status}
			if in.Event != "" {
				var known bool
				if q.Event, known = event.ParseType(in.Event); !known {
					var problems domain.Problems
					problems.Add("event", domain.CodeValidation, "is not an event type")
					return nil, problems.Err()
				}
			}
			l, err := s.webhooks.ListWebhooks(ctx, p, q)
			return router.Page(l, err, (*domain.Webhook).Public)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getWebhook", Tag: tag, Summary: "Get an endpoint"},
		func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[*domain.Webhook], error) {
			return s.handleByID(ctx, p, in.ID, s.webhooks.Webhook)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updateWebhook", Credential: router.KeyOrSession, Tag: tag, Summary: "Change a webhook endpoint", Description: "Only the response to a change of the secret contains the secret."},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			Body router.Patch[WebhookUpdate]
		},
		) (*router.Response[*domain.Webhook], error) {
			if in.Body.Has("secret") {
				return s.rotateWebhook(ctx, p, in.ID, &in.Body)
			}
			return s.handleByID(ctx, p, in.ID, func(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error) {
				return s.webhooks.UpdateWebhook(ctx, p, id, router.PatchFunc(s.Registry, &in.Body, (*WebhookUpdate).apply))
			})
		})
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteWebhook", Credential: router.KeyOrSession, Tag: tag, Summary: "Remove an endpoint"},
		router.HandleDeleteByID(domain.PrefixWebhook, "webhook", s.webhooks, Webhooks.DeleteWebhook))
	s.registerDeliveries(tag, path)
}

const overlapHours = 24

func (s *webhookHandlers) rotateWebhook(ctx context.Context, p domain.Principal, id string, patch *router.Patch[WebhookUpdate]) (*router.Response[*domain.Webhook], error) {
	id, err := router.PathID(domain.PrefixWebhook, id)
	if err != nil {
		return nil, err
	}
	n, err := patch.Decode()
	if err != nil {
		return nil, err
	}
	hours := overlapHours
	router.SetIfSent(&hours, n.SecretOverlapHours)
	return router.Respond(s.webhooks.RotateWebhook(ctx, p, id, n.Secret, time.Duration(hours)*time.Hour, router.PatchFunc(s.Registry, patch, (*WebhookUpdate).applyRotated)))
}

// apply copies the patched settings to w and validates w. It is for patches without a new secret.
func (n *WebhookUpdate) apply(w *domain.Webhook) error {
	if n.SecretOverlapHours != nil {
		var problems domain.Problems
		problems.Add("secret_overlap_hours", domain.CodeValidation, "is allowed together with secret only")
		return problems.Err()
	}
	return n.applyRotated(w)
}

// applyRotated copies the patched settings to w and validates them together with the new secret. The caller stores the
// secret by a rotation.
func (n *WebhookUpdate) applyRotated(w *domain.Webhook) error {
	w.URL, w.Events, w.Filters, w.Metadata, w.RetryTimeFactor = n.URL, n.Events, filtersOf(n.Filters), n.Metadata, n.RetryTimeFactor
	checked := *w
	if n.Secret != "" {
		checked.Secret = n.Secret
	}
	return validation.Webhook(&checked).Err()
}

func (s *webhookHandlers) handleByID(ctx context.Context, p domain.Principal, id string, do func(context.Context, domain.Principal, string) (*domain.Webhook, error)) (*router.Response[*domain.Webhook], error) {
	id, err := router.PathID(domain.PrefixWebhook, id)
	if err != nil {
		return nil, err
	}
	return router.RespondPublic(do(ctx, p, id))
}

func (s *webhookHandlers) registerDeliveries(tag, path string) {
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path + "/{id}/pause", ID: "pauseWebhook", Tag: tag, Summary: "Pause deliveries", Description: "Events are queued for up to 72 hours."},
		func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[*domain.Webhook], error) {
			return s.handleByID(ctx, p, in.ID, s.deliveries.PauseWebhook)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path + "/{id}/resume", ID: "resumeWebhook", Tag: tag, Summary: "Resume deliveries", Description: "Queued events are delivered in order."},
		func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[*domain.Webhook], error) {
			return s.handleByID(ctx, p, in.ID, s.deliveries.ResumeWebhook)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path + "/{id}/test", ID: "testWebhook", Tag: tag, Summary: "Send a test event and wait for the response"}, s.testWebhook)
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/replay", ID: "replayEvents", Tag: tag, Status: http.StatusAccepted, Summary: "Deliver events again",
		Description: "Delivers the events in event_ids (at most 100), or the subscribed events between from and to, optionally of some types. One request delivers about 1000 events; more reports that others remain. " +
			"Events keep id and created_at, have the header X-Svc-Replay: true and get all five attempts again. Events with a pending delivery are not delivered twice.",
	}, s.replayWebhook)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}/logs", ID: "getWebhookLogs", Tag: tag, Summary: "List deliveries"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			router.Paging
		},
		) (*router.Response[Logs], error) {
			id, err := router.PathID(domain.PrefixWebhook, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.deliveries.WebhookLog(ctx, p, id, in.Query())
			rows, err := router.Page(l, err, logEntry)
			if err != nil {
				return nil, err
			}
			return router.Respond(Logs{Logs: rows.Body.Data, HasMore: rows.Body.HasMore, NextCursor: rows.Body.NextCursor}, nil)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}/failed", ID: "getFailedEvents", Tag: tag, Summary: "List events whose delivery failed finally"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			router.Paging
		},
		) (*router.Response[router.List[FailedEvent]], error) {
			id, err := router.PathID(domain.PrefixWebhook, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.deliveries.FailedDeliveries(ctx, p, id, in.Query())
			return router.Page(l, err, failedEvent)
		})
}

func (s *webhookHandlers) testWebhook(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body *TestRequest
},
) (*router.Response[webhooksservice.TestResult], error) {
	id, err := router.PathID(domain.PrefixWebhook, in.ID)
	if err != nil {
		return nil, err
	}
	kind := event.WebhookTest
	if in.Body != nil && in.Body.EventType != "" {
		kind = event.Type(in.Body.EventType)
		if _, known := event.ParseType(in.Body.EventType); !known {
			var problems domain.Problems
			problems.Add("event_type", domain.CodeValidation, "is not an event type")
			return nil, problems.Err()
		}
	}
	return router.Respond(s.deliveries.TestWebhook(ctx, p, id, kind))
}

// CheckRules returns the violations of rules that the JSON schema cannot express, such as the form of the URL.
func (n *NewWebhook) CheckRules(_ context.Context, _ router.Workspaces, p domain.Principal) error {
	_, err := n.webhook(p)
	return err
}

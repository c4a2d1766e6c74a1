package domain

import "time"

// WebhookStatus reports whether events are delivered to an endpoint.
type WebhookStatus string

// The states of a webhook endpoint.
const (
	WebhookActive   WebhookStatus = "active"
	WebhookPaused   WebhookStatus = "paused"
	WebhookDisabled WebhookStatus = "disabled"
)

// Values returns the states of a webhook.
func (WebhookStatus) Values() []string {
	return values(WebhookActive, WebhookPaused, WebhookDisabled)
}

// Webhook is an HTTPS endpoint that receives events.
type Webhook struct {
	Meta
	Provenance
	URL        string        `json:"url"`
	Events     []string      `json:"events"`
	Secret     string        `json:"secret,omitempty"`
	SecretHint string        `json:"secret_hint"`
	Filters    *EventFilters `json:"filters,omitempty" doc:"Only events that match every filter are sent."`
	Status     WebhookStatus `json:"status"`
	CampaignID string        `json:"campaign_id,omitempty"` // campaign that owns the endpoint
	// RetryTimeFactor is the divisor for the delays before retries in the test environment.
	RetryTimeFactor int        `json:"retry_time_factor,omitempty" doc:"Divides the delays before retries in the test environment. Default: 1."`
	LastDeliveryAt  *time.Time `json:"last_delivery_at"`
	FailureCount    int        `json:"failure_count"`
	// NextSecret is the second secret during a rotation. Deliveries then carry signatures with both secrets.
	NextSecret     string     `json:"next_secret,omitempty" hidden:"true"`
	NextSecretHint string     `json:"next_secret_hint,omitempty" doc:"The last characters of the next secret."`
	NextSecretAt   *time.Time `json:"next_secret_at,omitempty" doc:"When the next secret replaces the current secret. Until then X-Svc-Signature-Next has its signature."`
	// DisabledReason and DisabledAt are set if the service disabled the endpoint by itself.
	DisabledReason string     `json:"disabled_reason,omitempty" doc:"Why the endpoint was disabled. gone: it answered 410. failing: no delivery succeeded for three days."`
	DisabledAt     *time.Time `json:"disabled_at,omitempty"`
	PausedAt       *time.Time `json:"paused_at,omitempty" doc:"Start of the pause. Deliveries fail 72 hours after the start of the pause, or 72 hours after their event if that is later."`
	FailingSince   *time.Time `json:"failing_since,omitempty" doc:"Time of the first failed attempt after the last success."`
	// FirstOffset is the offset of the first event that may be delivered. If it is 0, only events since CreatedAt are
	// delivered.
	FirstOffset uint64 `json:"first_offset,omitempty" hidden:"true"`
}

// EventFilters restricts the events of an endpoint. An event has to match an entry of each list that is not empty. An
// event without the attribute of a list does not match the list.
type EventFilters struct {
	AgentIDs    []string    `json:"agent_ids,omitempty" nullable:"false" maxItems:"100" doc:"Agents of the event or of its call."`
	CampaignIDs []string    `json:"campaign_ids,omitempty" nullable:"false" maxItems:"100" doc:"Campaigns of the event or of its call."`
	Directions  []Direction `json:"directions,omitempty" nullable:"false" maxItems:"2" doc:"Directions of the call: inbound, outbound."`
	Numbers     []string    `json:"numbers,omitempty" nullable:"false" maxItems:"100" doc:"Phone numbers in E.164 that the call or message comes from or goes to."`
}

// TimeFactor returns the divisor for the delays before retries: 1 to MaxTimeFactor, and 1 in the live environment.
func (w *Webhook) TimeFactor() int {
	if w == nil || w.Environment != Test {
		return 1
	}
	return min(max(w.RetryTimeFactor, 1), MaxTimeFactor)
}

// IsEmpty reports whether the filters are empty, so that all events match.
func (f *EventFilters) IsEmpty() bool {
	return f == nil || len(f.AgentIDs)+len(f.CampaignIDs)+len(f.Directions)+len(f.Numbers) == 0
}

// Key returns the key of the webhook endpoint in the store.
func (w *Webhook) Key() Key { return Key{"webhook", w.WorkspaceID, w.ID} }

// Indexes returns the index by environment and, for an endpoint that a campaign owns, the index by campaign.
func (w *Webhook) Indexes() []string {
	ix := []string{envIndex(w.Environment)}
	if w.CampaignID != "" {
		ix = append(ix, "campaign="+w.CampaignID)
	}
	return ix
}

// Sort returns the ID, which sorts by creation time.
func (w *Webhook) Sort() string { return w.ID }

// Sealed returns a copy whose secrets are encrypted by f.
func (w *Webhook) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *w
	var err error
	if c.Secret, err = f("secret", w.Secret); err == nil && w.NextSecret != "" {
		c.NextSecret, err = f("next_secret", w.NextSecret)
	}
	return &c, err
}

// Unseal decrypts the secrets with f.
func (w *Webhook) Unseal(f func(field, text string) (string, error)) (err error) {
	if w.Secret, err = f("secret", w.Secret); err == nil && w.NextSecret != "" {
		w.NextSecret, err = f("next_secret", w.NextSecret)
	}
	return err
}

// Secrets returns the secret that signs deliveries at a time and, during a rotation, the next secret.
func (w *Webhook) Secrets(at time.Time) (now, next string) {
	switch {
	case w.NextSecret == "" || w.NextSecretAt == nil:
		return w.Secret, ""
	case at.Before(*w.NextSecretAt):
		return w.Secret, w.NextSecret
	}
	return w.NextSecret, ""
}

// CompleteRotation replaces the secret with the next secret once the rotation time is reached.
func (w *Webhook) CompleteRotation(now time.Time) {
	if w.NextSecret == "" || w.NextSecretAt == nil || now.Before(*w.NextSecretAt) {
		return
	}
	w.Secret, w.SecretHint = w.NextSecret, w.NextSecretHint
	w.NextSecret, w.NextSecretHint, w.NextSecretAt = "", "", nil
}

// RotateSecret sets the next secret, which replaces the current secret at the time at. If at is zero, it replaces the
// secret at once. During a rotation it replaces the next secret, and the current secret continues to sign.
func (w *Webhook) RotateSecret(secret, hint string, at time.Time) {
	if at.IsZero() {
		w.Secret, w.SecretHint = secret, hint
		w.NextSecret, w.NextSecretHint, w.NextSecretAt = "", "", nil
		return
	}
	w.NextSecret, w.NextSecretHint, w.NextSecretAt = secret, hint, &at
}

// ClearFailures resets the failure state after the endpoint was enabled again.
func (w *Webhook) ClearFailures() {
	w.FailureCount, w.FailingSince, w.DisabledReason, w.DisabledAt, w.PausedAt = 0, nil, "", nil, nil
}

// Pause pauses the endpoint on request of a client. A disabled endpoint becomes paused.
func (w *Webhook) Pause(now time.Time) {
	if w.Status == WebhookPaused {
		return
	}
	w.Status, w.PausedAt, w.DisabledReason, w.DisabledAt = WebhookPaused, &now, "", nil
}

// StoppedSince returns the time since which nothing is delivered to the endpoint. It returns zero for an active endpoint
// or if the time is unknown.
func (w *Webhook) StoppedSince() time.Time {
	switch {
	case w.Status == WebhookPaused && w.PausedAt != nil:
		return *w.PausedAt
	case w.Status == WebhookDisabled && w.DisabledAt != nil:
		return *w.DisabledAt
	}
	return time.Time{}
}

// Public returns a copy with the fields that the API shows, without the secrets.
func (w *Webhook) Public() *Webhook {
	c := *w
	c.Secret, c.NextSecret, c.FirstOffset = "", "", 0
	return &c
}

// DeliveryState is the state of the delivery of one event to one endpoint.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryQueued    DeliveryState = "queued"    // before the first attempt
	DeliveryRetrying  DeliveryState = "retrying"  // waits for DueAt
	DeliveryDelivered DeliveryState = "delivered" // answered with 2xx
	DeliveryFailed    DeliveryState = "failed"    // attempts exhausted, or answered with a final error
)

// Values returns the states of a delivery.
func (DeliveryState) Values() []string {
	return values(DeliveryQueued, DeliveryRetrying, DeliveryDelivered, DeliveryFailed)
}

// Delivery is the delivery of one event to one endpoint. It is an entry of the delivery queue until it is final, and
// then an entry of the delivery log.
type Delivery struct {
	ID             string        `json:"id"` // dlv_…: sorts in the order of the events
	WorkspaceID    string        `json:"workspace_id"`
	WebhookID      string        `json:"webhook_id"`
	EventID        string        `json:"event_id"`
	EventType      string        `json:"event_type"` // under the name that the endpoint subscribed to
	EventOffset    uint64        `json:"event_offset"`
	Subject        string        `json:"subject"`
	State          DeliveryState `json:"state"`
	Attempts       int           `json:"attempts"`
	FirstAttemptAt *time.Time    `json:"first_attempt_at,omitempty"`
	LastAttemptAt  *time.Time    `json:"last_attempt_at,omitempty"`
	DueAt          *time.Time    `json:"due_at,omitempty"`
	DeliveredAt    *time.Time    `json:"delivered_at,omitempty"`
	ResponseStatus int           `json:"response_status"`
	ResponseTimeMs int64         `json:"response_time_ms"`
	Error          string        `json:"error,omitempty"`
	CreatedAt      time.Time     `json:"created_at"`
	Replay         bool          `json:"replay,omitempty"` // the delivery was requested again
	TraceParent    string        `json:"-"`                // trace context of the event during an attempt
}

// IsFinal reports whether the service makes no further attempt by itself.
func (d *Delivery) IsFinal() bool {
	return d.State == DeliveryDelivered || d.State == DeliveryFailed
}

// Key returns the store key, which contains the IDs of endpoint and event. Therefore an event that is queued for an
// endpoint twice has one record.
func (d *Delivery) Key() Key { return Key{"delivery", d.WorkspaceID, d.WebhookID + "/" + d.EventID} }

// Indexes returns up to three indexes of the endpoint's deliveries: open (queued or retrying), log (attempted) and
// failed.
func (d *Delivery) Indexes() []string {
	var ix []string
	if d.State == DeliveryQueued || d.State == DeliveryRetrying {
		ix = append(ix, "open="+d.WebhookID)
	}
	if d.Attempts > 0 {
		ix = append(ix, "log="+d.WebhookID)
	}
	if d.State == DeliveryFailed {
		ix = append(ix, "failed="+d.WebhookID)
	}
	return ix
}

// Sort returns the delivery ID, which sorts in the order of the events.
func (d *Delivery) Sort() string { return d.ID }

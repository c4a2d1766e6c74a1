package domain

import "time"

// WebhookStatus is whether an endpoint is served.
type WebhookStatus string

// The states of an endpoint.
const (
	WebhookActive   WebhookStatus = "active"
	WebhookPaused   WebhookStatus = "paused"
	WebhookDisabled WebhookStatus = "disabled"
)

// Values are the states of a webhook.
func (WebhookStatus) Values() []string {
	return values(WebhookActive, WebhookPaused, WebhookDisabled)
}

// Webhook is an HTTPS endpoint that events go to.
type Webhook struct {
	Meta
	Provenance
	URL        string        `json:"url"`
	Events     []string      `json:"events"`
	Secret     string        `json:"secret,omitempty"`
	SecretHint string        `json:"secret_hint"`
	Filters    *EventFilters `json:"filters,omitempty" doc:"Of these events, only those that pass."`
	Status     WebhookStatus `json:"status"`
	CampaignID string        `json:"campaign_id,omitempty"` // owned by this campaign
	// RetryTimeFactor divides the delays before retries in the test environment.
	RetryTimeFactor int        `json:"retry_time_factor,omitempty" doc:"How much faster the retries follow each other, in the test environment. Default: 1."`
	LastDeliveryAt  *time.Time `json:"last_delivery_at"`
	FailureCount    int        `json:"failure_count"`
	// While another secret is taking over: deliveries carry signatures of both.
	NextSecret     string     `json:"next_secret,omitempty" hidden:"true"`
	NextSecretHint string     `json:"next_secret_hint,omitempty" doc:"Of the secret that takes over."`
	NextSecretAt   *time.Time `json:"next_secret_at,omitempty" doc:"When it does; until then X-Svc-Signature-Next carries its signature."`
	// What ended the deliveries without anybody's asking.
	DisabledReason string     `json:"disabled_reason,omitempty" doc:"Why it was disabled: gone (it answered 410), failing (no delivery succeeded for three days)."`
	DisabledAt     *time.Time `json:"disabled_at,omitempty"`
	PausedAt       *time.Time `json:"paused_at,omitempty" doc:"Since when it is paused. What was queued then is given up 72 hours later, what came since 72 hours after it came."`
	FailingSince   *time.Time `json:"failing_since,omitempty" doc:"The first of the failed attempts since which none succeeded."`
	// FirstOffset is that of the first event it may be sent; 0: told by CreatedAt.
	FirstOffset uint64 `json:"first_offset,omitempty" hidden:"true"`
}

// EventFilters narrow what an endpoint is sent: of each list that is not empty
// an event must name one entry. An event that says nothing of it does not pass.
type EventFilters struct {
	AgentIDs    []string    `json:"agent_ids,omitempty" nullable:"false" maxItems:"100" doc:"Agents that the event is about, or whose call it is about."`
	CampaignIDs []string    `json:"campaign_ids,omitempty" nullable:"false" maxItems:"100" doc:"Campaigns that the event is about, or whose call it is about."`
	Directions  []Direction `json:"directions,omitempty" nullable:"false" maxItems:"2" doc:"inbound, outbound: which way the call goes."`
	Numbers     []string    `json:"numbers,omitempty" nullable:"false" maxItems:"100" doc:"Telephone numbers, E.164, one of which the call or message comes from or goes to."`
}

// TimeFactor divides the delays before the retries: 1 to MaxTimeFactor, and 1
// for an endpoint of the live environment.
func (w *Webhook) TimeFactor() int {
	if w == nil || w.Environment != Test {
		return 1
	}
	return min(max(w.RetryTimeFactor, 1), MaxTimeFactor)
}

// IsEmpty says that every event passes.
func (f *EventFilters) IsEmpty() bool {
	return f == nil || len(f.AgentIDs)+len(f.CampaignIDs)+len(f.Directions)+len(f.Numbers) == 0
}

// Key names the row.
func (w *Webhook) Key() Key { return Key{"webhook", w.WorkspaceID, w.ID} }

// Indexes: by environment and owning campaign.
func (w *Webhook) Indexes() []string {
	ix := []string{envIndex(w.Environment)}
	if w.CampaignID != "" {
		ix = append(ix, "campaign="+w.CampaignID)
	}
	return ix
}

// Sort is by age.
func (w *Webhook) Sort() string { return w.ID }

// Sealed returns a copy whose secret went through f.
func (w *Webhook) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *w
	var err error
	if c.Secret, err = f("secret", w.Secret); err == nil && w.NextSecret != "" {
		c.NextSecret, err = f("next_secret", w.NextSecret)
	}
	return &c, err
}

// Unseal puts the secret through f.
func (w *Webhook) Unseal(f func(field, text string) (string, error)) (err error) {
	if w.Secret, err = f("secret", w.Secret); err == nil && w.NextSecret != "" {
		w.NextSecret, err = f("next_secret", w.NextSecret)
	}
	return err
}

// Secrets are the secret that signs at a moment and, while another one is
// taking over, that one.
func (w *Webhook) Secrets(at time.Time) (now, next string) {
	switch {
	case w.NextSecret == "" || w.NextSecretAt == nil:
		return w.Secret, ""
	case at.Before(*w.NextSecretAt):
		return w.Secret, w.NextSecret
	}
	return w.NextSecret, ""
}

// CompleteRotation ends a change of secrets whose time has come.
func (w *Webhook) CompleteRotation(now time.Time) {
	if w.NextSecret == "" || w.NextSecretAt == nil || now.Before(*w.NextSecretAt) {
		return
	}
	w.Secret, w.SecretHint = w.NextSecret, w.NextSecretHint
	w.NextSecret, w.NextSecretHint, w.NextSecretAt = "", "", nil
}

// RotateSecret lets another secret take over at a moment; zero: at once. A third one
// takes the place of the second; the first goes on signing.
func (w *Webhook) RotateSecret(secret, hint string, at time.Time) {
	if at.IsZero() {
		w.Secret, w.SecretHint = secret, hint
		w.NextSecret, w.NextSecretHint, w.NextSecretAt = "", "", nil
		return
	}
	w.NextSecret, w.NextSecretHint, w.NextSecretAt = secret, hint, &at
}

// ClearFailures forgets how the endpoint failed: somebody says that it is well.
func (w *Webhook) ClearFailures() {
	w.FailureCount, w.FailingSince, w.DisabledReason, w.DisabledAt, w.PausedAt = 0, nil, "", nil, nil
}

// Pause holds the endpoint back because somebody says so, also where it was
// disabled before.
func (w *Webhook) Pause(now time.Time) {
	if w.Status == WebhookPaused {
		return
	}
	w.Status, w.PausedAt, w.DisabledReason, w.DisabledAt = WebhookPaused, &now, "", nil
}

// StoppedSince is since when nothing is sent to it; zero: it is active, or nobody
// knows.
func (w *Webhook) StoppedSince() time.Time {
	switch {
	case w.Status == WebhookPaused && w.PausedAt != nil:
		return *w.PausedAt
	case w.Status == WebhookDisabled && w.DisabledAt != nil:
		return *w.DisabledAt
	}
	return time.Time{}
}

// Public is the endpoint as the API shows it: a hint for the secret.
func (w *Webhook) Public() *Webhook {
	c := *w
	c.Secret, c.NextSecret, c.FirstOffset = "", "", 0
	return &c
}

// DeliveryState is where the delivery of one event to one endpoint stands.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryQueued    DeliveryState = "queued"    // before its first attempt
	DeliveryRetrying  DeliveryState = "retrying"  // waits for DueAt
	DeliveryDelivered DeliveryState = "delivered" // a 2xx came
	DeliveryFailed    DeliveryState = "failed"    // exhausted, or a final answer
)

// Values are the states of a delivery.
func (DeliveryState) Values() []string {
	return values(DeliveryQueued, DeliveryRetrying, DeliveryDelivered, DeliveryFailed)
}

// Delivery is one event on its way to one endpoint, and afterwards the entry
// of its log.
type Delivery struct {
	ID             string        `json:"id"` // dlv_…: sorts in the order of fan-out
	WorkspaceID    string        `json:"workspace_id"`
	WebhookID      string        `json:"webhook_id"`
	EventID        string        `json:"event_id"`
	EventType      string        `json:"event_type"` // as this endpoint calls it
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
	Replay         bool          `json:"replay,omitempty"` // it was asked for again
	TraceParent    string        `json:"-"`                // of the event, during an attempt
}

// IsFinal says whether nothing more is sent by itself.
func (d *Delivery) IsFinal() bool {
	return d.State == DeliveryDelivered || d.State == DeliveryFailed
}

// Key names the row: one per endpoint and event, so that a fan-out done twice
// writes the same row.
func (d *Delivery) Key() Key { return Key{"delivery", d.WorkspaceID, d.WebhookID + "/" + d.EventID} }

// Indexes: by endpoint and state group: open (queued or retrying), log
// (attempted), failed.
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

// Sort is the order of fan-out.
func (d *Delivery) Sort() string { return d.ID }

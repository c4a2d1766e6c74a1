package domain

// Plan is the subscription plan of a workspace. It decides rate limits and concurrency.
type Plan string

// The subscription plans.
const (
	Starter      Plan = "starter"
	Professional Plan = "professional"
	Enterprise   Plan = "enterprise"
)

// Values returns the plans of a workspace.
func (Plan) Values() []string {
	return values(Starter, Professional, Enterprise)
}

// Limits holds the rate and concurrency limits of a workspace.
type Limits struct {
	RequestsPerMinute  int `json:"requests_per_minute"`
	ConcurrentInbound  int `json:"concurrent_inbound"`
	ConcurrentOutbound int `json:"concurrent_outbound"`
	CallsPerMinute     int `json:"calls_per_minute"`
}

// PlanLimits returns the limits of a plan. ok is false for enterprise, whose limits are set for each account.
func PlanLimits(p Plan) (Limits, bool) {
	switch p {
	case Starter:
		return Limits{RequestsPerMinute: 60, ConcurrentInbound: 5, ConcurrentOutbound: 5, CallsPerMinute: 10}, true
	case Professional:
		return Limits{RequestsPerMinute: 300, ConcurrentInbound: 25, ConcurrentOutbound: 25, CallsPerMinute: 60}, true
	case Enterprise:
		return Limits{}, false
	}
	return Limits{}, false
}

// DefaultEnterpriseLimits returns the initial limits of an enterprise workspace.
func DefaultEnterpriseLimits() Limits {
	return Limits{RequestsPerMinute: 6000, ConcurrentInbound: 200, ConcurrentOutbound: 200, CallsPerMinute: 1200}
}

// DestinationRules limits the destinations and the cost of outbound calls.
type DestinationRules struct {
	Countries       []string `json:"countries"` // ISO 3166 alpha-2; "*" is any country
	BlockedPrefixes []string `json:"blocked_prefixes"`
	DailySpendCap   *Money   `json:"daily_spend_cap"`  // cost of outbound calls and text messages per UTC day; nil: no cap
	MaxCallMinutes  int      `json:"max_call_minutes"` // of outbound and transferred calls; 0: no limit
}

// Workspace is a tenant: an account with its own agents, campaigns, calls and credentials.
type Workspace struct {
	Meta
	Name           string           `json:"name"`
	Plan           Plan             `json:"plan"`
	Pricing        *Pricing         `json:"pricing,omitempty"` // individual terms of the plan enterprise; nil: nothing is charged
	SegmentPrice   *Money           `json:"sms_price_per_segment,omitempty"`
	Tariff         int              `json:"tariff"` // number of the current tariff
	Limits         Limits           `json:"limits"`
	Calling        DestinationRules `json:"calling"`
	DefaultCountry string           `json:"default_country"`
	DefaultDNC     string           `json:"default_dnc_list_id"`
	FrequencyCaps  FrequencyCaps    `json:"frequency_caps"`
	Retention      Retention        `json:"retention"`
	AllowedOrigins []string         `json:"allowed_origins"`
	Redaction      Redaction        `json:"redaction"`
	Warnings       []Detail         `json:"warnings,omitempty"` // shown, never stored
}

// Key returns the key of the workspace in the store.
func (w *Workspace) Key() Key { return Key{"workspace", "", w.ID} }

// Indexes returns one index of all workspaces.
func (w *Workspace) Indexes() []string { return []string{"all"} }

// Sort returns the ID, which sorts by creation time.
func (w *Workspace) Sort() string { return w.ID }

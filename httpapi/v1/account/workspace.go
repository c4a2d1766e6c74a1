package account

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
)

// Workspaces reads and changes the workspace of the principal.
type Workspaces interface {
	// Workspace returns the workspace of the principal. It reads from memory only, because every request waits for it.
	Workspace(ctx context.Context, p domain.Principal) (*domain.Workspace, error)
	UpdateWorkspace(ctx context.Context, p domain.Principal, change func(*domain.Workspace) error) (*domain.Workspace, error)
}

// SpendWarnings finds the trunks for which the daily spend cap of a workspace has no effect.
type SpendWarnings interface {
	SpendWarnings(ctx context.Context, w *domain.Workspace) ([]domain.Detail, error)
}

// workspaceHandlers serves the operations on the workspace of the principal.
type workspaceHandlers struct {
	*router.Router

	workspaces Workspaces
	warnings   SpendWarnings
}

// NewLimits are the limits of a workspace in a request body.
type NewLimits struct {
	RequestsPerMinute  *int `json:"requests_per_minute,omitempty"`
	ConcurrentInbound  *int `json:"concurrent_inbound,omitempty"`
	ConcurrentOutbound *int `json:"concurrent_outbound,omitempty"`
	CallsPerMinute     *int `json:"calls_per_minute,omitempty"`
}

// NewDestinationRules are the rules in a request body that restrict the destinations and costs of a workspace's calls.
type NewDestinationRules struct {
	Countries       []string  `json:"countries,omitempty" nullable:"false" doc:"Countries that may be called, as ISO 3166 codes. *: every country. []: the current default_country; a later change of default_country does not change this list."`
	BlockedPrefixes []string  `json:"blocked_prefixes,omitempty" nullable:"false"`
	DailySpendCap   *NewMoney `json:"daily_spend_cap,omitempty" doc:"Maximum spend per UTC day for outbound calls and text messages. Calls count by the costs of the trunk, or by the plan's price of an attempt for a trunk without costs. Text messages count by sms_price_per_segment: a message sent over the API when it is queued, an agent's reply before it is sent. A call reserves its first minute when it is placed and each following minute in advance. A call that cannot reserve a minute ends with spend_cap_reached. Once the cap is reached, no call, transfer or text message goes out."`
	MaxCallMinutes  int       `json:"max_call_minutes,omitempty" doc:"Maximum duration of an outbound or transferred call. 0: no limit."`
}

// NewMoney is an amount of money in a request body.
type NewMoney struct {
	Amount   string `json:"amount" example:"25.00"`
	Currency string `json:"currency,omitempty" enum:"USD" default:"USD"`
}

// NewPricing is the price of call attempts of a workspace in a request body.
type NewPricing struct {
	IncludedAttempts int      `json:"included_attempts,omitempty" minimum:"0" maximum:"1000000000" doc:"Free attempts per month."`
	PricePerAttempt  NewMoney `json:"price_per_attempt" doc:"Price of each further attempt."`
}

// NewRetention are the retention periods of a workspace's data in a request body.
type NewRetention struct {
	CallDays       int `json:"calls_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after their end after which calls are deleted with recordings, transcripts and SIP messages; 0: they are kept."`
	RecordingDays  int `json:"recordings_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after which recordings are deleted; 0: they are kept."`
	TranscriptDays int `json:"transcripts_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after which transcripts are deleted; 0: they are kept."`
	TraceDays      int `json:"traces_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after which the SIP messages of calls are deleted; 0: they are kept."`

	MessageDays     int `json:"messages_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after which text messages are deleted; 0: they are kept."`
	AppointmentDays int `json:"appointments_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after their end after which appointments are deleted; 0: they are kept."`
	EventDays       int `json:"events_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after which events and the logs of their deliveries are deleted, at least 7; 0: they are kept."`

	DecisionDays int `json:"decisions_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after which decisions of campaigns are deleted; 0: they are kept."`
	AuditDays    int `json:"audit_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after which entries of the audit log are deleted, at least 30; 0: they are kept."`
	LedgerDays   int `json:"ledger_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after which the bills of attempts are deleted, at least 35; 0: they are kept. Counts per day and month stay."`
	UploadDays   int `json:"uploads_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after which reports of uploads of contacts are deleted; 0: they are kept."`
}

// NewFrequencyCaps are the limits in a request body on how often a number may be called.
type NewFrequencyCaps struct {
	PerNumberPerDay int `json:"per_number_per_day,omitempty" minimum:"0" maximum:"100" doc:"Maximum attempts to reach one number per calendar day in its time zone, over all campaigns and single calls. Attempts are counted from the moment a cap is set. 0: no cap."`
}

// NewRedaction are the rules in a request body by which text in transcripts is hidden.
type NewRedaction struct {
	Patterns []string `json:"patterns,omitempty" nullable:"false" maxItems:"20" doc:"Regular expressions (RE2) of at most 500 bytes each. Matches in utterances, in sequences of pressed keys and in received text messages are stored as [redacted]. []: no redaction. Applies to calls answered from now on."`
}

// NewWorkspace is a workspace in a request body.
type NewWorkspace struct {
	Name           string               `json:"name,omitempty" required:"true"`
	Plan           string               `json:"plan,omitempty" enum:"starter,professional,enterprise" doc:"Default: starter. Operators only."`
	Limits         *NewLimits           `json:"limits,omitempty" doc:"Enterprise plan only. Operators only."`
	Calling        *NewDestinationRules `json:"calling,omitempty" doc:"Operators only."`
	Pricing        *NewPricing          `json:"pricing,omitempty" doc:"Price of attempts on the enterprise plan. Operators only."`
	SegmentPrice   *NewMoney            `json:"sms_price_per_segment,omitempty" doc:"Price of each segment of a live text message that a carrier accepted, on any plan, at most 1000.00. Operators only."`
	DefaultCountry string               `json:"default_country,omitempty" minLength:"2" doc:"Country of numbers without a country code, as an ISO 3166 code. Default: US."`
	Retention      *NewRetention        `json:"retention,omitempty"`
	AllowedOrigins []string             `json:"allowed_origins,omitempty" nullable:"false" doc:"Origins of web pages that may use the API with user tokens, e.g. https://app.example.com. []: none."`
	FrequencyCaps  *NewFrequencyCaps    `json:"frequency_caps,omitempty"`
	Redaction      *NewRedaction        `json:"redaction,omitempty"`
	Metadata       map[string]string    `json:"metadata,omitempty"`
}

// registerWorkspace registers the routes for the workspace of the principal.
func registerWorkspace(r *router.Router, workspaces Workspaces, warnings SpendWarnings) {
	s := &workspaceHandlers{Router: r, workspaces: workspaces, warnings: warnings}
	const tag, path = "Workspace", "/v1/workspace"
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "getWorkspace", Tag: tag, Summary: "Get the workspace"},
		func(ctx context.Context, p domain.Principal, _ *struct{}) (*router.Response[*domain.Workspace], error) {
			w, err := s.Workspace(ctx, p)
			return RespondWorkspace(ctx, s.Router, s.warnings, ShowWorkspace(p, w), err)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path, ID: "updateWorkspace", Credential: router.KeyOrSession, Tag: tag, Summary: "Change the workspace", Description: "Plan, price, limits and destination rules need an operator key, otherwise 403 operator_required. warnings lists trunks without costs, for which daily_spend_cap has no effect."},
		func(ctx context.Context, p domain.Principal, in *struct{ Body router.Patch[NewWorkspace] }) (*router.Response[*domain.Workspace], error) {
			b := &in.Body
			if !p.Operator && slices.ContainsFunc(operatorSettings(), func(name string) bool { return b.Has(name) }) {
				return nil, domain.Errorf(domain.CodeOperatorRequired, "Plan, price, limits and destination rules need an operator key.")
			}
			w, err := s.workspaces.UpdateWorkspace(ctx, p, router.PatchFunc(s.Registry, b, (*NewWorkspace).Apply))
			if err != nil {
				return nil, err
			}
			router.SetResourceID(ctx, w.ID)
			return RespondWorkspace(ctx, s.Router, s.warnings, ShowWorkspace(p, w), nil)
		})
}

// RespondWorkspace answers with a workspace and with the warnings about its spend cap.
func RespondWorkspace(ctx context.Context, r *router.Router, w SpendWarnings, shown *domain.Workspace, err error) (*router.Response[*domain.Workspace], error) {
	if err != nil {
		return nil, err
	}
	if shown.Warnings, err = w.SpendWarnings(ctx, shown); err != nil { // the change is already stored
		r.Log.WarnContext(ctx, "warnings of a workspace not available", slog.String("workspace_id", shown.ID), slog.Any("error", err))
	}
	return router.Respond(shown, nil)
}

// ShowWorkspace returns a workspace as the API shows it to a principal, with the default do-not-call list of the
// principal's environment.
func ShowWorkspace(p domain.Principal, w *domain.Workspace) *domain.Workspace {
	if w == nil {
		return nil
	}
	shown := *w
	shown.Environment, shown.DefaultDNC = p.Environment, domain.DefaultDNCID(w.ID, p.Environment)
	if shown.Redaction.Patterns == nil { // a version of Callboard without redaction has stored the workspace
		shown.Redaction.Patterns = []string{}
	}
	return &shown
}

// operatorSettings returns the names of the body members that only operators may change.
func operatorSettings() []string {
	return []string{"plan", "limits", "calling", "pricing", "sms_price_per_segment"}
}

// PruneStored removes the stored limits and prices if the plan changes, so that those of the new plan apply. If no
// countries are stored, it sets the default country as the only one.
func (*NewWorkspace) PruneStored(_ any, stored, patch map[string]any) {
	next := router.MergePatch(map[string]any{"plan": stored["plan"]}, map[string]any{"plan": patch["plan"]})
	if plan, _ := next.(map[string]any); router.HasMember(patch, "plan") && plan["plan"] != stored["plan"] || stored["plan"] != string(domain.Enterprise) {
		delete(stored, "limits")
		delete(stored, "pricing")
	}
	calling, _ := stored["calling"].(map[string]any)
	if countries, _ := calling["countries"].([]any); len(countries) == 0 && stored["default_country"] != "" { // stored by a version without countries
		stored["calling"] = router.MergePatch(calling, map[string]any{"countries": []any{stored["default_country"]}})
	}
}

// Apply copies the settings in the request body to a workspace and validates the workspace.
func (n *NewWorkspace) Apply(w *domain.Workspace) error {
	w.Name, w.Metadata, w.AllowedOrigins = n.Name, n.Metadata, n.AllowedOrigins
	w.DefaultCountry = cmp.Or(n.DefaultCountry, "US")
	w.Retention, w.FrequencyCaps = domain.Retention(router.ValueOrZero(n.Retention)), domain.FrequencyCaps(router.ValueOrZero(n.FrequencyCaps))
	w.Redaction = domain.Redaction(router.ValueOrZero(n.Redaction))
	calling := router.ValueOrZero(n.Calling)
	w.Calling = domain.DestinationRules{
		Countries: calling.Countries, BlockedPrefixes: calling.BlockedPrefixes,
		DailySpendCap: money(calling.DailySpendCap), MaxCallMinutes: calling.MaxCallMinutes,
	}
	w.SegmentPrice = money(n.SegmentPrice)
	if err := n.applyPlan(w); err != nil {
		return err
	}
	return validation.Workspace(w).Err()
}

// applyPlan sets the plan, limits and pricing of a workspace. Only a workspace with the enterprise plan can have other
// limits and prices than those of its plan.
func (n *NewWorkspace) applyPlan(w *domain.Workspace) error {
	before := w.Plan
	w.Plan = cmp.Or(domain.Plan(n.Plan), domain.Starter)
	if w.Plan != domain.Enterprise {
		if fixed, known := domain.PlanLimits(w.Plan); known && w.Plan != before {
			w.Limits, w.Pricing = fixed, nil
		}
		var p domain.Problems
		if n.Limits != nil {
			p.Add("limits", domain.CodeValidation, "are fixed on the %s plan; only the enterprise plan allows other limits", w.Plan)
		}
		if n.Pricing != nil {
			p.Add("pricing", domain.CodeValidation, "is fixed on the %s plan; only the enterprise plan allows another price", w.Plan)
		}
		return p.Err()
	}
	w.Limits, w.Pricing = domain.DefaultEnterpriseLimits(), nil
	if l := n.Limits; l != nil {
		router.SetIfSent(&w.Limits.RequestsPerMinute, l.RequestsPerMinute)
		router.SetIfSent(&w.Limits.ConcurrentInbound, l.ConcurrentInbound)
		router.SetIfSent(&w.Limits.ConcurrentOutbound, l.ConcurrentOutbound)
		router.SetIfSent(&w.Limits.CallsPerMinute, l.CallsPerMinute)
	}
	if x := n.Pricing; x != nil {
		w.Pricing = &domain.Pricing{IncludedAttempts: x.IncludedAttempts, PricePerAttempt: *money(&x.PricePerAttempt)}
	}
	return nil
}

// money converts an amount in a request body to the stored form. It returns nil for nil.
func money(n *NewMoney) *domain.Money {
	if n == nil {
		return nil
	}
	return &domain.Money{Amount: n.Amount, Currency: "USD"}
}

// CheckRules returns the violations of the rules for a workspace that the JSON schema cannot express.
func (n *NewWorkspace) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.Apply(&domain.Workspace{})
}

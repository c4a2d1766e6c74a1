package httpapi

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/rules"
)

// LimitsChange are the limits of a workspace as they are sent.
type LimitsChange struct {
	RequestsPerMinute  *int `json:"requests_per_minute,omitempty"`
	ConcurrentInbound  *int `json:"concurrent_inbound,omitempty"`
	ConcurrentOutbound *int `json:"concurrent_outbound,omitempty"`
	CallsPerMinute     *int `json:"calls_per_minute,omitempty"`
}

// CallingChange are the destination rules of a workspace as they are sent.
type CallingChange struct {
	Countries       []string  `json:"countries,omitempty" nullable:"false" doc:"ISO 3166 codes; * is every country. []: default_country as it is now; another default_country later allows no others."`
	BlockedPrefixes []string  `json:"blocked_prefixes,omitempty" nullable:"false"`
	DailySpendCap   *NewMoney `json:"daily_spend_cap,omitempty" doc:"Of outbound calls and text messages per day in UTC, by the costs of the trunks, or by the plan's price of an attempt where a trunk names none. A text message counts by sms_price_per_segment: one sent over the API from when it is queued, an agent's reply from when it is about to be handed to a carrier. Once it is reached, no call, transfer or text message goes out. An empty amount takes it away."`
	MaxCallMinutes  *int      `json:"max_call_minutes,omitempty" doc:"Of an outbound or transferred call. 0: none of its own."`
}

// NewMoney is an amount as it is sent.
type NewMoney struct {
	Amount   string `json:"amount" example:"25.00"`
	Currency string `json:"currency,omitempty" enum:"USD" default:"USD"`
}

// NewPricing is a price as it is sent.
type NewPricing struct {
	IncludedAttempts int      `json:"included_attempts,omitempty" minimum:"0" maximum:"1000000000" doc:"Per month."`
	PricePerAttempt  NewMoney `json:"price_per_attempt" doc:"Of each further one. An empty amount takes the price away."`
}

// RetentionChange is how long data are kept, as it is sent.
type RetentionChange struct {
	RecordingDays  *int `json:"recording_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after which recordings are deleted; 0: they are kept."`
	TranscriptDays *int `json:"transcript_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after which transcripts are deleted; 0: they are kept."`
	TraceDays      *int `json:"trace_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after which the SIP messages of calls are deleted; 0: they are kept."`

	MessageDays     *int `json:"message_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after which text messages are deleted; 0: they are kept."`
	AppointmentDays *int `json:"appointment_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after their end after which appointments are deleted; 0: they are kept."`
	EventDays       *int `json:"event_days,omitempty" minimum:"0" maximum:"3650" doc:"Days after which events and the logs of their deliveries are deleted, 7 at least; 0: they are kept."`
}

// CapsChange bounds how often somebody is rung, as it is sent.
type CapsChange struct {
	PerNumberPerDay *int `json:"per_number_per_day,omitempty" minimum:"0" maximum:"100" doc:"Attempts to reach one number on one calendar day where it is: of all campaigns and single calls together. They are counted from the moment a cap is set. 0: no cap."`
}

// RedactionChange is what must not be kept of what is said, as it is sent.
type RedactionChange struct {
	Patterns []string `json:"patterns,omitempty" nullable:"false" maxItems:"20" doc:"Regular expressions (RE2), 500 bytes each at most. What one finds in an utterance, in keys pressed in a row or in a text message received is [redacted] before it is stored. [] is none. They hold for calls answered from now on."`
}

// WorkspaceChange is what can be changed of a workspace.
type WorkspaceChange struct {
	Name           *string           `json:"name,omitempty"`
	Plan           *string           `json:"plan,omitempty" doc:"starter, professional or enterprise. Operators only."`
	Limits         *LimitsChange     `json:"limits,omitempty" doc:"On enterprise only. Operators only."`
	Calling        *CallingChange    `json:"calling,omitempty" doc:"Operators only."`
	Pricing        *NewPricing       `json:"pricing,omitempty" doc:"What an account on enterprise has agreed to pay. Operators only."`
	SegmentPrice   *NewMoney         `json:"sms_price_per_segment,omitempty" doc:"Of each segment of a live text message that a carrier took, on any plan, at most 1000.00. An empty amount takes it away. Operators only."`
	DefaultCountry *string           `json:"default_country,omitempty"`
	Retention      *RetentionChange  `json:"retention,omitempty"`
	AllowedOrigins []string          `json:"allowed_origins,omitempty" nullable:"false" doc:"Origins whose pages may come with the tokens of users, e.g. https://app.example.com; [] is none."`
	FrequencyCaps  *CapsChange       `json:"frequency_caps,omitempty"`
	Redaction      *RedactionChange  `json:"redaction,omitempty"`
	Metadata       map[string]string `json:"metadata,omitempty"`
}

func (s *Server) workspaceRoutes() {
	const tag, path = "Workspace", "/v1/workspace"
	add(s, operation{method: http.MethodGet, path: path, id: "getWorkspace", tag: tag, summary: "Get the workspace"},
		func(ctx context.Context, p domain.Principal, _ *struct{}) (*answer[*domain.Workspace], error) {
			w, err := s.ports.Workspaces.Workspace(ctx, p)
			return ok(shownWorkspace(p, w), err)
		})
	add(s, operation{method: http.MethodPatch, path: path, id: "updateWorkspace", credential: keyOrSession, tag: tag, summary: "Change the workspace", about: "Plan, price, limits and destination rules take an operator key: 403 operator_required."},
		func(ctx context.Context, p domain.Principal, in *struct{ Body WorkspaceChange }) (*answer[*domain.Workspace], error) {
			b := &in.Body
			if !p.Operator && (b.Plan != nil || b.Limits != nil || b.Calling != nil || b.Pricing != nil || b.SegmentPrice != nil) {
				return nil, domain.Errorf(domain.CodeOperatorRequired, "Plan, price, limits and destination rules take an operator key.")
			}
			w, err := s.ports.Workspaces.UpdateWorkspace(ctx, p, b.apply)
			return touched(ctx, shownWorkspace(p, w), err)
		})
}

// shownWorkspace is a workspace as the environment that asks sees it: with that
// environment's default list.
func shownWorkspace(p domain.Principal, w *domain.Workspace) *domain.Workspace {
	if w == nil {
		return nil
	}
	shown := *w
	shown.Environment, shown.DefaultDNC = p.Environment, domain.DefaultDNCID(w.ID, p.Environment)
	if shown.Redaction.Patterns == nil { // of a version that knew none
		shown.Redaction.Patterns = []string{}
	}
	return &shown
}

func (n *WorkspaceChange) apply(w *domain.Workspace) error {
	set(&w.Name, n.Name)
	if len(w.Calling.Countries) == 0 && w.DefaultCountry != "" { // of a version that kept none
		w.Calling.Countries = []string{w.DefaultCountry}
	}
	set(&w.DefaultCountry, n.DefaultCountry)
	if n.Metadata != nil {
		w.Metadata = n.Metadata
	}
	if n.Calling != nil {
		n.Calling.apply(&w.Calling)
	}
	if n.AllowedOrigins != nil {
		w.AllowedOrigins = n.AllowedOrigins
	}
	if n.Retention != nil {
		set(&w.Retention.RecordingDays, n.Retention.RecordingDays)
		set(&w.Retention.TranscriptDays, n.Retention.TranscriptDays)
		set(&w.Retention.TraceDays, n.Retention.TraceDays)
		set(&w.Retention.MessageDays, n.Retention.MessageDays)
		set(&w.Retention.AppointmentDays, n.Retention.AppointmentDays)
		set(&w.Retention.EventDays, n.Retention.EventDays)
	}
	if n.Redaction != nil && n.Redaction.Patterns != nil {
		w.Redaction.Patterns = n.Redaction.Patterns
	}
	if n.FrequencyCaps != nil {
		set(&w.FrequencyCaps.PerNumberPerDay, n.FrequencyCaps.PerNumberPerDay)
	}
	if n.Plan != nil {
		w.Plan = domain.Plan(*n.Plan)
		if fixed, ok := domain.PlanLimits(w.Plan); ok {
			w.Limits, w.Pricing = fixed, nil
		}
	}
	if err := n.Pricing.apply(w); err != nil {
		return err
	}
	if m := n.SegmentPrice; m != nil {
		if w.SegmentPrice = (&domain.Money{Amount: m.Amount, Currency: "USD"}); m.Amount == "" {
			w.SegmentPrice = nil
		}
	}
	if l := n.Limits; l != nil {
		if w.Plan != domain.Enterprise {
			var p domain.Problems
			p.Add("limits", domain.CodeValidation, "are the plan's own on %s; only enterprise sets them", w.Plan)
			return p.Err()
		}
		set(&w.Limits.RequestsPerMinute, l.RequestsPerMinute)
		set(&w.Limits.ConcurrentInbound, l.ConcurrentInbound)
		set(&w.Limits.ConcurrentOutbound, l.ConcurrentOutbound)
		set(&w.Limits.CallsPerMinute, l.CallsPerMinute)
	}
	return rules.Workspace(w).Err()
}

func (n *NewPricing) apply(w *domain.Workspace) error {
	if n == nil {
		return nil
	}
	if w.Plan != domain.Enterprise {
		var p domain.Problems
		p.Add("pricing", domain.CodeValidation, "is the plan's own on %s; only enterprise has another", w.Plan)
		return p.Err()
	}
	w.Pricing = &domain.Pricing{IncludedAttempts: n.IncludedAttempts, PricePerAttempt: domain.Money{Amount: n.PricePerAttempt.Amount, Currency: "USD"}}
	if n.PricePerAttempt.Amount == "" {
		w.Pricing = nil
	}
	return nil
}

func (n *CallingChange) apply(c *domain.Calling) {
	if n.Countries != nil {
		c.Countries = n.Countries
	}
	if n.BlockedPrefixes != nil {
		c.BlockedPrefixes = n.BlockedPrefixes
	}
	if m := n.DailySpendCap; m != nil {
		if c.DailySpendCap = (&domain.Money{Amount: m.Amount, Currency: "USD"}); m.Amount == "" {
			c.DailySpendCap = nil
		}
	}
	set(&c.MaxCallMinutes, n.MaxCallMinutes)
}

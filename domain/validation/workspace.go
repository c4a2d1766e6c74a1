package validation

import (
	"regexp"

	"github.com/callboard/callboard/domain"
)

// Limits of the fields of workspaces.
const (
	MaxCountries    = 260
	MaxLimit        = 10_000_000
	maxDays         = 3650
	minEventDays    = 7  // longer than an endpoint may be paused
	minAuditDays    = 30 // an intruder cannot remove recent entries
	minLedgerDays   = 35 // at least the month that is being billed
	maxPerDay       = 100
	MaxPrefixLength = 15
	// maxAttemptsIncluded limits the number of call attempts that the price of a month includes.
	maxAttemptsIncluded = 1_000_000_000
)

// Limits of the allowed origins of browser requests.
const (
	MaxOrigins      = 100
	MaxOriginLength = 200
)

var origin = regexp.MustCompile(`^https?://[a-z0-9.\[\]:-]+$`)

// checkRedaction validates the redaction patterns and the time that they need.
func checkRedaction(p *domain.Problems, r *domain.Redaction) {
	r.Patterns = orEmpty(r.Patterns)
	steps := 0
	for i, x := range atMost(p, "redaction.patterns", r.Patterns, domain.MaxRedactionPatterns) {
		takes, err := domain.CheckRedactionPattern(x)
		if err != nil {
			p.Add(indexedParam("redaction.patterns", i), domain.CodeValidation, "%s", err.Error())
		}
		steps += takes
	}
	if steps > domain.MaxRedactionSteps {
		p.Add("redaction.patterns", domain.CodeValidation, "take %d steps for a letter; %d at most (a count like {100} is as many)", steps, domain.MaxRedactionSteps)
	}
}

// checkMoney validates the prices and the spend cap of a workspace.
func checkMoney(p *domain.Problems, w *domain.Workspace) {
	if c := w.Calling.DailySpendCap; c != nil {
		if _, err := domain.ParseAmount(c.Amount); err != nil {
			p.Add("calling.daily_spend_cap", domain.CodeValidation, "%q is not an amount of money (e.g. 25.00)", shorten(c.Amount))
		}
	}
	if m := w.SegmentPrice; m != nil {
		if micros, err := domain.ParseAmount(m.Amount); err != nil {
			p.Add("sms_price_per_segment", domain.CodeValidation, "%q is not an amount of money (e.g. 0.0079)", shorten(m.Amount))
		} else if micros > domain.MaxPrice {
			p.Add("sms_price_per_segment", domain.CodeValidation, "is %s dollars; a segment costs at most %s", shorten(m.Amount), domain.Dollars(domain.MaxPrice).Amount)
		}
	}
	if x := w.Pricing; x != nil {
		checkBetween(p, "pricing.included_attempts", x.IncludedAttempts, 0, maxAttemptsIncluded)
		if micros, err := domain.ParseAmount(x.PricePerAttempt.Amount); err != nil {
			p.Add("pricing.price_per_attempt", domain.CodeValidation, "%q is not an amount of money (e.g. 0.05)", shorten(x.PricePerAttempt.Amount))
		} else if micros > domain.MaxPrice {
			p.Add("pricing.price_per_attempt", domain.CodeValidation, "is %s dollars; an attempt costs at most %s", shorten(x.PricePerAttempt.Amount), domain.Dollars(domain.MaxPrice).Amount)
		}
	}
}

// checkRetention validates the retention periods. Events have a minimum, because their deliveries may still be pending.
// The audit log has a minimum, so that an intruder cannot delete it at once. The billing ledger has a minimum for the
// current bill.
func checkRetention(p *domain.Problems, r *domain.Retention) {
	for _, one := range []struct {
		name       string
		days, from int
	}{
		{"calls_days", r.CallDays, 0},
		{"recordings_days", r.RecordingDays, 0},
		{"transcripts_days", r.TranscriptDays, 0},
		{"traces_days", r.TraceDays, 0},
		{"messages_days", r.MessageDays, 0},
		{"appointments_days", r.AppointmentDays, 0},
		{"events_days", r.EventDays, minEventDays},
		{"decisions_days", r.DecisionDays, 0},
		{"audit_days", r.AuditDays, minAuditDays},
		{"ledger_days", r.LedgerDays, minLedgerDays},
		{"uploads_days", r.UploadDays, 0},
	} {
		if one.days != 0 {
			checkBetween(p, "retention."+one.name, one.days, one.from, maxDays)
		}
	}
}

// Workspace returns all problems with a workspace.
func Workspace(w *domain.Workspace) domain.Problems {
	var p domain.Problems
	Text(&p, "name", w.Name, true, MaxName)
	Metadata(&p, w.Metadata)
	Country(&p, "default_country", w.DefaultCountry)
	checkOneOf(&p, "plan", string(w.Plan), string(domain.Starter), string(domain.Professional), string(domain.Enterprise))
	checkBetween(&p, "limits.requests_per_minute", w.Limits.RequestsPerMinute, 1, MaxLimit)
	checkBetween(&p, "limits.concurrent_inbound", w.Limits.ConcurrentInbound, 0, MaxLimit)
	checkBetween(&p, "limits.concurrent_outbound", w.Limits.ConcurrentOutbound, 0, MaxLimit)
	checkBetween(&p, "limits.calls_per_minute", w.Limits.CallsPerMinute, 1, MaxLimit) // 0 would mean no limit
	checkRetention(&p, &w.Retention)
	checkBetween(&p, "frequency_caps.per_number_per_day", w.FrequencyCaps.PerNumberPerDay, 0, maxPerDay)
	if len(w.Calling.Countries) == 0 && w.DefaultCountry != "" { // explicit, so that a later default country allows no further calls
		w.Calling.Countries = []string{w.DefaultCountry}
	}
	w.Calling.Countries = orEmpty(w.Calling.Countries)
	w.Calling.BlockedPrefixes = orEmpty(w.Calling.BlockedPrefixes)
	for i, c := range atMost(&p, "calling.countries", w.Calling.Countries, MaxCountries) {
		if c != "*" {
			Country(&p, indexedParam("calling.countries", i), c)
		}
	}
	checkMoney(&p, w)
	w.AllowedOrigins = orEmpty(w.AllowedOrigins)
	for i, o := range atMost(&p, "allowed_origins", w.AllowedOrigins, MaxOrigins) {
		if !origin.MatchString(o) || len(o) > MaxOriginLength {
			p.Add(indexedParam("allowed_origins", i), domain.CodeValidation, "%q is no origin (e.g. https://app.example.com, without a path)", shorten(o))
		}
	}
	checkRedaction(&p, &w.Redaction)
	checkBetween(&p, "calling.max_call_minutes", w.Calling.MaxCallMinutes, 0, MaxCallMinutes)
	for i, x := range atMost(&p, "calling.blocked_prefixes", w.Calling.BlockedPrefixes, MaxPrefixes) {
		if !prefix.MatchString(x) || len(x) > MaxPrefixLength {
			p.Add(indexedParam("calling.blocked_prefixes", i), domain.CodeValidation, "%q is not the beginning of a number (e.g. +1900)", shorten(x))
		}
	}
	return p
}

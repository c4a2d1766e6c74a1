package validation

import (
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// Limits of the fields of a campaign.
const (
	MaxInlineContacts = 10_000
	MaxAttempts       = 20
	MaxIntervalHours  = 24 * 30
	MaxExcludedDates  = 1000
	MaxKeywords       = 50
)

// Defaults of the retry rules if a campaign only enables retries.
const (
	defaultAttempts      = 3
	defaultIntervalHours = 4
)

// RetryOutcomes returns the allowed values of retry_on: the call outcomes that can be retried.
func RetryOutcomes() []string {
	return []string{"no_answer", "busy", "voicemail", "failed", "rejected", "interrupted"}
}

// Weekdays returns the allowed values of a schedule's days.
func Weekdays() []string {
	return []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
}

// Limits holds the workspace's limits and settings by which a campaign or call is validated.
type Limits struct {
	Limits         domain.Limits
	DefaultCountry string
	DefaultDNC     string
	CallerIDs      []string // numbers of the workspace, then caller IDs of its trunks
	Test           bool     // test environment: calling hours only if set, and any caller ID
	Now            time.Time
}

// CallingHours returns the default calling hours of live calls: 08:00 to 21:00 in the time zone of the called number.
func CallingHours() *domain.CallingHours {
	return &domain.CallingHours{Start: "08:00", End: "21:00", Timezone: "local"}
}

// TestHours returns the default calling hours of the test environment: the whole day.
func TestHours() domain.CallingHours {
	return domain.CallingHours{Start: "00:00", End: "24:00", Timezone: "UTC"}
}

// CampaignDefaults sets the omitted fields of a campaign to their defaults.
func CampaignDefaults(c *domain.Campaign, h Limits) {
	s := &c.Schedule
	if s.Timezone == "" {
		s.Timezone = "UTC"
	}
	if len(s.Days) == 0 {
		s.Days = Weekdays()
	}
	s.ExcludedDates = orEmpty(s.ExcludedDates)
	if c.Pacing.CallsPerMinute == 0 {
		c.Pacing.CallsPerMinute = h.Limits.CallsPerMinute
	}
	if c.Pacing.Mode == "" {
		c.Pacing.Mode = domain.PacingFixed
	}
	if c.Pacing.MaxConcurrent == 0 {
		c.Pacing.MaxConcurrent = h.Limits.ConcurrentOutbound
	}
	r := &c.Retry
	switch {
	case !r.Enabled && r.MaxAttempts == 0:
		r.MaxAttempts = 1
	case r.MaxAttempts == 0:
		r.MaxAttempts = defaultAttempts
	}
	if r.Enabled && r.RetryOn == nil {
		r.RetryOn = []string{"no_answer", "busy"}
	}
	r.RetryOn = orEmpty(r.RetryOn)
	if c.DefaultCountry == "" {
		c.DefaultCountry = h.DefaultCountry
	}
	hours := &c.Compliance.CallingHours
	switch {
	case *hours != domain.CallingHours{}:
	case h.Test:
		*hours = TestHours()
	default:
		*hours = *CallingHours()
	}
	if hours.Timezone == "" {
		hours.Timezone = "local"
	}
	if o := c.Compliance.OptOut; o != nil && o.Action == "" {
		o.Action = "add_to_dnc"
	}
}

// DefaultInterval returns the default retry interval in hours.
func DefaultInterval() float64 { return defaultIntervalHours }

// Campaign returns all problems with a campaign whose defaults are set. It converts numbers and IDs to canonical
// form.
func Campaign(c *domain.Campaign, h Limits) domain.Problems {
	var p domain.Problems
	Text(&p, "name", c.Name, true, MaxName)
	Metadata(&p, c.Metadata)
	if c.AgentID == "" && c.PathwayID == "" {
		p.Add("agent_id", domain.CodeValidation, "agent_id or pathway_id is required")
	}
	c.AgentID = ID(&p, "agent_id", domain.PrefixAgent, c.AgentID)
	c.PathwayID = ID(&p, "pathway_id", domain.PrefixPathway, c.PathwayID)
	checkSchedule(&p, &c.Schedule, h.Now)
	checkPacing(&p, c.Pacing, h.Limits)
	checkRetry(&p, c.Retry)
	Country(&p, "default_country", c.DefaultCountry)
	Text(&p, "caller_id.name", c.CallerID.Name, false, MaxCallerName)
	c.CallerID.Number = CallerID(&p, "caller_id.number", c.CallerID.Number, h)
	checkCompliance(&p, &c.Compliance)
	if t := c.Test; t != nil {
		checkBetween(&p, "test.time_factor", t.TimeFactor, 1, domain.MaxTimeFactor)
		if !h.Test {
			p.Add("test", domain.CodeValidation, "is for the test environment: use a test key")
		}
	}
	for _, name := range sortedKeys(c.Webhooks) {
		t, known := event.ParseType(name)
		if !known || !strings.HasPrefix(string(t), "campaign.") {
			p.Add("webhooks", domain.CodeValidation, "%q is not a campaign event", shorten(name))
			continue
		}
		HTTPS(&p, "webhooks."+name, c.Webhooks[name])
	}
	return p
}

// CallerID adds a problem if the caller ID may not be shown, and returns the number in E.164. An empty number is allowed
// if the workspace has any number: each call then shows a number of its trunk. The test environment allows any number.
func CallerID(p *domain.Problems, param, number string, h Limits) string {
	if number == "" {
		if !h.Test && len(h.CallerIDs) == 0 {
			p.Add(param, domain.CodeCallerIDRequired, "is required: the workspace has no caller ID; set caller_ids of a trunk or register a number with POST /v1/phone-numbers")
		}
		return ""
	}
	e164 := Phone(p, param, number, h.DefaultCountry)
	if e164 != "" && !h.Test && !slices.Contains(h.CallerIDs, e164) {
		p.Add(param, domain.CodeCallerIDNotAllowed, "%s is neither a number of the workspace nor in caller_ids of a trunk: add it there, or register it with POST /v1/phone-numbers", e164)
	}
	return e164
}

func checkSchedule(p *domain.Problems, s *domain.Schedule, now time.Time) {
	Zone(p, "schedule.timezone", s.Timezone)
	if s.Start != nil && s.End != nil && !s.End.After(*s.Start) {
		p.Add("schedule.end", domain.CodeValidation, "must be after schedule.start")
	} else if s.End != nil && !s.End.After(now) {
		p.Add("schedule.end", domain.CodeValidation, "is in the past")
	}
	week := Weekdays()
	for i, d := range atMost(p, "schedule.days", s.Days, len(week)) {
		if !slices.Contains(week, d) {
			checkOneOf(p, indexedParam("schedule.days", i), d, week...)
		}
		if slices.Contains(s.Days[:i], d) {
			p.Add(indexedParam("schedule.days", i), domain.CodeValidation, "%q is listed twice", shorten(d))
		}
	}
	for i, d := range atMost(p, "schedule.excluded_dates", s.ExcludedDates, MaxExcludedDates) {
		if _, err := time.Parse(time.DateOnly, d); err != nil {
			p.Add(indexedParam("schedule.excluded_dates", i), domain.CodeValidation, "%q is not a date (YYYY-MM-DD)", shorten(d))
		}
	}
}

func checkPacing(p *domain.Problems, c domain.Pacing, most domain.Limits) {
	if c.Mode != "" {
		checkOneOf(p, "pacing.mode", string(c.Mode), string(domain.PacingFixed), string(domain.PacingAdaptive))
	}
	for _, v := range []struct {
		param    string
		n, limit int
	}{
		{"pacing.calls_per_minute", c.CallsPerMinute, most.CallsPerMinute},
		{"pacing.max_concurrent", c.MaxConcurrent, most.ConcurrentOutbound},
	} {
		switch {
		case v.n < 1:
			p.Add(v.param, domain.CodeValidation, "must be at least 1")
		case v.n > v.limit:
			p.Add(v.param, domain.CodeExceedsPlan, "%d is above the plan's limit of %d", v.n, v.limit)
		}
	}
}

func checkRetry(p *domain.Problems, r domain.Retry) {
	checkBetween(p, "retry.max_attempts", r.MaxAttempts, 1, MaxAttempts)
	if !(r.IntervalHours >= 0 && r.IntervalHours <= MaxIntervalHours) {
		p.Add("retry.interval_hours", domain.CodeValidation, "must be between 0 and %d", MaxIntervalHours)
	}
	for i, w := range atMost(p, "retry.retry_on", r.RetryOn, len(RetryOutcomes())) {
		checkOneOf(p, indexedParam("retry.retry_on", i), w, RetryOutcomes()...)
	}
}

func checkCompliance(p *domain.Problems, c *domain.Compliance) {
	Hours(p, "compliance.calling_hours", c.CallingHours)
	if c.DNCListID != "" {
		if _, err := domain.ParseID(domain.PrefixDNC, c.DNCListID); err != nil {
			p.Add("compliance.dnc_list_id", domain.CodeValidation, "there is no list %q", shorten(c.DNCListID))
		}
	}
	if o := c.OptOut; o != nil {
		checkOneOf(p, "compliance.opt_out_handling.action", o.Action, "add_to_dnc")
		o.Keywords = orEmpty(o.Keywords)
		for i, k := range atMost(p, "compliance.opt_out_handling.keywords", o.Keywords, MaxKeywords) {
			Text(p, indexedParam("compliance.opt_out_handling.keywords", i), k, true, MaxMetadataKey)
		}
	}
}

// isClock reports whether a text is a time of day from 00:00 to 23:59.
func isClock(text string) bool {
	if len(text) != len("HH:MM") || text[2] != ':' {
		return false
	}
	for _, i := range [...]int{0, 1, 3, 4} {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text[:2] < "24" && text[3] < '6'
}

// Hours adds the problems with a daily window of calling hours. The end may be 24:00. An end before the start means
// that the window spans midnight.
func Hours(p *domain.Problems, param string, h domain.CallingHours) {
	if !isClock(h.Start) {
		p.Add(param+".start", domain.CodeValidation, "%q is not a time of day (HH:MM)", shorten(h.Start))
	}
	if !isClock(h.End) && h.End != "24:00" {
		p.Add(param+".end", domain.CodeValidation, "%q is not a time of day (HH:MM, up to 24:00)", shorten(h.End))
	}
	if h.Start == h.End {
		p.Add(param+".end", domain.CodeValidation, "must differ from start")
	}
	if h.Timezone != "local" {
		Zone(p, param+".timezone", h.Timezone)
	}
}

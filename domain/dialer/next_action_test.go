package dialer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/dialer"
)

var epoch = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func runningView() dialer.CampaignView {
	return dialer.CampaignView{
		Status: domain.CampaignRunning, Pacing: domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 5}, AutoComplete: true,
		Remaining: 100, ReadyContacts: 50, Lookahead: 5 * time.Millisecond,
	}
}

func TestDecisionNamesReasonForWaiting(t *testing.T) {
	t.Parallel()
	hours, err := calendar.New(domain.Schedule{Days: []string{"monday"}},
		domain.CallingHours{Start: "14:00", End: "15:00", Timezone: "UTC"}, calendar.NewZones())
	require.NoError(t, err)
	soon, later := epoch.Add(time.Minute), epoch.Add(time.Hour)
	type seen struct {
		do     dialer.Action
		reason string
		until  time.Time
		look   time.Time
	}
	cases := map[string]struct {
		change func(v *dialer.CampaignView)
		want   seen
	}{
		"it rings":           {func(*dialer.CampaignView) {}, seen{do: dialer.Dial}},
		"not started":        {func(v *dialer.CampaignView) { v.Status = domain.CampaignDraft }, seen{}},
		"paused":             {func(v *dialer.CampaignView) { v.Status = domain.CampaignPaused }, seen{}},
		"paused, ends later": {func(v *dialer.CampaignView) { v.Status, v.ScheduleEnd = domain.CampaignPaused, later }, seen{look: later}},
		"paused at its end":  {func(v *dialer.CampaignView) { v.Status, v.ScheduleEnd = domain.CampaignPaused, epoch }, seen{do: dialer.CompleteExpired}},
		"paused, the end, live": {func(v *dialer.CampaignView) {
			v.Status, v.ScheduleEnd, v.OpenAttempts = domain.CampaignPaused, epoch, 1
		}, seen{}},
		"paused, all done": {func(v *dialer.CampaignView) { v.Status, v.Remaining, v.HasRun = domain.CampaignPaused, 0, true }, seen{do: dialer.CompleteExhausted}},
		"paused, kept open": {func(v *dialer.CampaignView) {
			v.Status, v.Remaining, v.HasRun, v.AutoComplete = domain.CampaignPaused, 0, true, false
		}, seen{}},
		"paused, last calls": {func(v *dialer.CampaignView) {
			v.Status, v.Remaining, v.HasRun, v.OpenAttempts = domain.CampaignPaused, 0, true, 1
		}, seen{}},
		"paused, not begun":     {func(v *dialer.CampaignView) { v.Status, v.Remaining = domain.CampaignPaused, 0 }, seen{}},
		"the store":             {func(v *dialer.CampaignView) { v.StoreDown = true }, seen{reason: "store"}},
		"dialling stopped":      {func(v *dialer.CampaignView) { v.DialStop, v.ScheduleEnd = dialer.ReasonDialStop, later }, seen{reason: "dialling_stopped", look: later}},
		"stopped, all done":     {func(v *dialer.CampaignView) { v.DialStop, v.Remaining = dialer.ReasonDialStop, 0 }, seen{do: dialer.CompleteExhausted}},
		"stopped at its end":    {func(v *dialer.CampaignView) { v.DialStop, v.ScheduleEnd = dialer.ReasonDialStop, epoch }, seen{do: dialer.CompleteExpired}},
		"drained":               {func(v *dialer.CampaignView) { v.DialStop = dialer.ReasonDraining }, seen{reason: "draining"}},
		"all lines":             {func(v *dialer.CampaignView) { v.OpenAttempts = 5 }, seen{reason: "line"}},
		"no permit yet":         {func(v *dialer.CampaignView) { v.ReadyContacts, v.PermitRequests, v.PendingAttempts = 2, 2, 2 }, seen{reason: "line"}},
		"the pace":              {func(v *dialer.CampaignView) { v.LastSent = epoch }, seen{reason: "pacing", until: epoch.Add(dialer.Interval(pacing60())), look: epoch.Add(dialer.Interval(pacing60()) - 5*time.Millisecond)}},
		"the trunk":             {func(v *dialer.CampaignView) { v.TrunkUntil = soon }, seen{reason: "trunk", until: soon, look: soon}},
		"the spend cap":         {func(v *dialer.CampaignView) { v.TrunkUntil, v.SpendCap = soon, true }, seen{reason: "spend_cap", until: soon, look: soon}},
		"the number's next day": {func(v *dialer.CampaignView) { v.ReadyContacts, v.NextDay, v.NextRetry = 0, soon, later }, seen{reason: "frequency_cap", until: soon, look: soon}},
		"no engine":             {func(v *dialer.CampaignView) { v.EngineUntil, v.EngineFailed = soon, true }, seen{reason: "engine", until: soon, look: soon}},
		"an engine is tried":    {func(v *dialer.CampaignView) { v.EngineUntil, v.EngineFailed = epoch, true }, seen{do: dialer.Dial}},
		"by one call alone":     {func(v *dialer.CampaignView) { v.EngineUntil, v.EngineFailed, v.OpenAttempts = epoch, true, 1 }, seen{reason: "engine"}},
		"the cap is over":       {func(v *dialer.CampaignView) { v.TrunkUntil, v.SpendCap = epoch, true }, seen{do: dialer.Dial}},
		"reading":               {func(v *dialer.CampaignView) { v.ReadyContacts, v.HasUnread = 0, true }, seen{}},
		"a retry is due":        {func(v *dialer.CampaignView) { v.ReadyContacts, v.NextRetry = 0, soon }, seen{reason: "retry", until: soon, look: soon}},
		"a zone opens":          {func(v *dialer.CampaignView) { v.ReadyContacts, v.NextRetry, v.NextOpening = 0, later, soon }, seen{reason: "calling_hours", until: soon, look: soon}},
		"the last calls":        {func(v *dialer.CampaignView) { v.ReadyContacts, v.Remaining, v.OpenAttempts = 0, 0, 2 }, seen{reason: "no_contacts"}},
		"kept open":             {func(v *dialer.CampaignView) { v.ReadyContacts, v.Remaining, v.AutoComplete = 0, 0, false }, seen{reason: "no_contacts"}},
		"hours":                 {func(v *dialer.CampaignView) { v.OpenHours, v.Schedule = hours.GlobalWindow(), hours.ScheduleWindow() }, seen{reason: "calling_hours", until: epoch.Add(2 * time.Hour), look: epoch.Add(2 * time.Hour)}},
		"ends before that": {func(v *dialer.CampaignView) {
			v.OpenHours, v.Schedule, v.ScheduleEnd = hours.GlobalWindow(), hours.ScheduleWindow(), later
		}, seen{reason: "calling_hours", until: epoch.Add(2 * time.Hour), look: later}},
		"all contacts done": {func(v *dialer.CampaignView) { v.ReadyContacts, v.Remaining = 0, 0 }, seen{do: dialer.CompleteExhausted}},
		"the end":           {func(v *dialer.CampaignView) { v.ScheduleEnd = epoch }, seen{do: dialer.CompleteExpired}},
		"the end, live":     {func(v *dialer.CampaignView) { v.ScheduleEnd, v.OpenAttempts = epoch, 1 }, seen{reason: "schedule"}},
		"draining":          {func(v *dialer.CampaignView) { v.Draining = true }, seen{}},
		"armed":             {func(v *dialer.CampaignView) { v.Status, v.ScheduleStart = domain.CampaignScheduled, soon }, seen{reason: "schedule", until: soon, look: soon}},
		"start":             {func(v *dialer.CampaignView) { v.Status, v.ScheduleStart = domain.CampaignScheduled, epoch }, seen{do: dialer.StartRunning}},
		"armed too late":    {func(v *dialer.CampaignView) { v.Status, v.ScheduleEnd = domain.CampaignScheduled, epoch }, seen{do: dialer.CompleteExpired}},
	}
	for name, c := range cases {
		v := runningView()
		c.change(&v)
		d := dialer.Next(v, epoch)
		got := seen{do: d.Action, look: d.NextCheck}
		if d.Waiting != nil {
			got.reason = d.Waiting.Reason
			if d.Waiting.Until != nil {
				got.until = *d.Waiting.Until
			}
		}
		assert.Equal(t, c.want, got, name)
	}
}

func pacing60() domain.Pacing { return domain.Pacing{CallsPerMinute: 60} }

func TestIntervalKeepsPaceWithinAnyMinute(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 7, 59, 60, 600, 18000, 100000} {
		all := dialer.Interval(domain.Pacing{CallsPerMinute: n}) * time.Duration(n)
		assert.Greater(t, all, time.Minute+200*time.Millisecond)
		assert.Less(t, all, time.Minute+time.Second)
	}
	assert.Zero(t, dialer.Interval(domain.Pacing{}))
}

// The test decides again only at NextCheck and after changes. It expects that the campaign keeps its pace and its
// concurrency limit, and completes.
func TestFollowingDecisionsKeepsPaceAndCompletes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := runningView()
		v.Pacing.CallsPerMinute = rapid.IntRange(1, 60000).Draw(t, "pace")
		v.Pacing.MaxConcurrent = rapid.IntRange(1, 40).Draw(t, "width")
		v.Lookahead = time.Duration(rapid.IntRange(0, 200).Draw(t, "ahead")) * time.Millisecond
		v.Remaining = rapid.IntRange(1, 60).Draw(t, "contacts")
		v.ReadyContacts = v.Remaining
		lasts := time.Duration(rapid.IntRange(1, 90_000).Draw(t, "lasts")) * time.Millisecond
		commit := time.Duration(rapid.IntRange(0, 300).Draw(t, "commit")) * time.Millisecond
		interval := dialer.Interval(v.Pacing)
		now := epoch
		var opened, ends, sent []time.Time // when commits become durable; when calls end
		for range 100_000 {
			for len(opened) > 0 && !opened[0].After(now) {
				opened = opened[1:]
				v.PendingAttempts--
				v.OpenAttempts++
				v.UnsentAttempts++
			}
			for v.UnsentAttempts > 0 && !v.LastSent.Add(interval).After(now) {
				v.UnsentAttempts--
				v.LastSent = now
				sent = append(sent, now)
				ends = append(ends, now.Add(lasts))
			}
			for len(ends) > 0 && !ends[0].After(now) {
				ends = ends[1:]
				v.OpenAttempts--
			}
			d := dialer.Next(v, now)
			look := d.NextCheck
			switch d.Action {
			case dialer.CompleteExhausted:
				if v.Remaining != 0 {
					t.Fatal("not everybody was rung")
				}
				return
			case dialer.Dial:
				if v.OpenAttempts+v.PendingAttempts+d.Count > v.Pacing.MaxConcurrent || d.Count > v.ReadyContacts {
					t.Fatalf("%d more beside %d and %d of %d", d.Count, v.OpenAttempts, v.PendingAttempts, v.Pacing.MaxConcurrent)
				}
				v.PendingAttempts += d.Count
				v.ReadyContacts -= d.Count
				v.Remaining -= d.Count
				for range d.Count {
					opened = append(opened, now.Add(commit))
				}
				continue
			case dialer.Wait:
			case dialer.StartRunning, dialer.CompleteExpired:
				t.Fatal("out of place")
			}
			if n := len(sent); n > 1 && sent[n-1].Sub(sent[n-2]) < interval {
				t.Fatal("too fast")
			}
			next := look
			for _, e := range [][]time.Time{opened, ends} {
				if len(e) > 0 && (next.IsZero() || e[0].Before(next)) {
					next = e[0]
				}
			}
			if v.UnsentAttempts > 0 {
				if at := v.LastSent.Add(interval); next.IsZero() || at.Before(next) {
					next = at
				}
			}
			if next.IsZero() || next.Before(now) {
				t.Fatalf("nothing will ever happen: %+v", d)
			}
			if next.Equal(now) {
				next = now.Add(time.Nanosecond)
			}
			now = next
		}
		t.Fatal("it does not end")
	})
}

func TestLateAttemptCausesNoBusyLoop(t *testing.T) {
	t.Parallel()
	v := runningView()
	v.Pacing.CallsPerMinute, v.Lookahead, v.Remaining, v.ReadyContacts, v.PendingAttempts = 60_000, time.Millisecond, 5, 5, 1
	v.LastSent = epoch.Add(-time.Minute)
	d := dialer.Next(v, epoch)
	assert.Equal(t, dialer.Wait, d.Action)
	assert.Zero(t, d.NextCheck, "only the one under way can change anything")
}

func TestContactTransitionAfterAttempt(t *testing.T) {
	t.Parallel()
	retry := domain.Retry{Enabled: true, MaxAttempts: 3, IntervalHours: 0.5, RetryOn: []string{"busy", "interrupted"}}
	busy := domain.Verdict{Outcome: domain.OutcomeBusy, Reason: domain.ReasonBusy, RetryOn: "busy"}
	type ask struct {
		outcome   domain.Outcome
		reason    domain.Reason
		retryOn   string
		throttled bool
		spent     int
	}
	again := dialer.ContactTransition{State: domain.ContactRetryWait, RetryAt: epoch.Add(30 * time.Minute)}
	want := map[ask]dialer.ContactTransition{
		{"busy", "busy", "busy", false, 1}:                 again,
		{"busy", "busy", "busy", false, 2}:                 again,
		{"busy", "busy", "busy", false, 3}:                 {State: domain.ContactBusy},
		{"failed", "interrupted", "interrupted", false, 1}: again,
		{"no_answer", "no_answer", "no_answer", false, 1}:  {State: domain.ContactNoAnswer},
		{"failed", "invalid_number", "", false, 1}:         {State: domain.ContactFailed},
		{"confirmed", "completed", "", false, 1}:           {State: domain.ContactConfirmed},
		{"cancelled", "cancelled", "", false, 1}:           {State: domain.ContactCancelled},
		{"failed", "throttled", "", true, 0}:               {State: domain.ContactPending},
		{"failed", "throttled", "", true, 2}:               {State: domain.ContactRetryWait, RetryAt: epoch},
		{"failed", "not_sent", "", false, 0}:               {State: domain.ContactPending},
		{"failed", "trunk_error", "failed", false, 1}:      {State: domain.ContactFailed},
		{"voicemail", "completed", "voicemail", false, 1}:  {State: domain.ContactVoicemail},
		{"declined", "completed", "", false, 1}:            {State: domain.ContactDeclined},
		{"completed", "remote_hangup", "", false, 1}:       {State: domain.ContactCompleted},
	}
	got := make(map[ask]dialer.ContactTransition, len(want))
	for a := range want {
		got[a] = dialer.TransitionAfter(domain.Verdict{Outcome: a.outcome, Reason: a.reason, RetryOn: a.retryOn, Throttled: a.throttled}, a.spent, retry, epoch)
	}
	assert.Equal(t, want, got)
	assert.Equal(t, domain.ContactBusy, dialer.TransitionAfter(busy, 1, domain.Retry{MaxAttempts: 3, RetryOn: []string{"busy"}}, epoch).State, "not enabled")
}

func TestCircuitBreakerTripsAtHalfFailedCalls(t *testing.T) {
	t.Parallel()
	bad := domain.Verdict{Reason: domain.ReasonTrunkError}
	good := domain.Verdict{Reason: domain.ReasonCompleted}
	silent := []domain.Verdict{
		{Reason: domain.ReasonBusy},
		{Reason: domain.ReasonNoAnswer},
		{Reason: domain.ReasonInvalidNumber},
		{Reason: domain.ReasonThrottled, Throttled: true},
		{Reason: domain.ReasonInterrupted},
	}
	tripped := func(every time.Duration, all ...domain.Verdict) bool {
		var trip dialer.CircuitBreaker
		now := epoch
		for _, v := range all {
			now = now.Add(every)
			trip.AddCall(v, now)
		}
		return trip.IsTripped(now)
	}
	assert.True(t, tripped(time.Second, bad, bad, bad, bad, bad))
	assert.True(t, tripped(time.Second, good, bad, good, bad, good, bad))
	assert.False(t, tripped(time.Second, good, bad, good, bad, good))
	assert.False(t, tripped(time.Second, bad, bad, bad, bad))
	assert.False(t, tripped(time.Second, append(silent, bad, bad, bad, bad)...))
	assert.True(t, tripped(30*time.Second, bad, bad, bad, bad, bad))
	assert.False(t, tripped(31*time.Second, bad, bad, bad, bad, bad))
	assert.False(t, tripped(time.Second, good, good, domain.Verdict{Reason: "sip_481"}, bad, bad))
}

func TestProgressReportIsDueAtFivePercentAndEachMinute(t *testing.T) {
	t.Parallel()
	p := &domain.Progress{Total: 100, Outcomes: map[domain.Outcome]int{domain.OutcomeBusy: 9}, ReportedPercent: 5, ReportedAt: epoch}
	due, look := dialer.CheckProgressReport(p, true, epoch.Add(59*time.Second))
	assert.False(t, due)
	assert.Equal(t, epoch.Add(time.Minute), look)
	due, _ = dialer.CheckProgressReport(p, true, epoch.Add(time.Minute))
	assert.True(t, due)
	due, look = dialer.CheckProgressReport(p, false, epoch.Add(time.Hour))
	assert.False(t, due, "nothing has changed")
	assert.Zero(t, look)
	p.Outcomes[domain.OutcomeBusy] = 10
	due, _ = dialer.CheckProgressReport(p, true, epoch.Add(time.Second))
	assert.True(t, due)
}

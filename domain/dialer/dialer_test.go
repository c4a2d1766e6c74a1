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

func running() dialer.View {
	return dialer.View{
		Status: domain.CampaignRunning, Pacing: domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 5}, AutoComplete: true,
		Idle: 100, Ready: 50, Ahead: 5 * time.Millisecond,
	}
}

func TestWhyNothingRingsIsAlwaysVisible(t *testing.T) {
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
		change func(v *dialer.View)
		want   seen
	}{
		"it rings":              {func(*dialer.View) {}, seen{do: dialer.Dial}},
		"not started":           {func(v *dialer.View) { v.Status = domain.CampaignDraft }, seen{}},
		"paused":                {func(v *dialer.View) { v.Status = domain.CampaignPaused }, seen{}},
		"paused, ends later":    {func(v *dialer.View) { v.Status, v.Ends = domain.CampaignPaused, later }, seen{look: later}},
		"paused at its end":     {func(v *dialer.View) { v.Status, v.Ends = domain.CampaignPaused, epoch }, seen{do: dialer.Expire}},
		"paused, the end, live": {func(v *dialer.View) { v.Status, v.Ends, v.Live = domain.CampaignPaused, epoch, 1 }, seen{}},
		"paused, all done":      {func(v *dialer.View) { v.Status, v.Idle, v.Begun = domain.CampaignPaused, 0, true }, seen{do: dialer.Exhaust}},
		"paused, kept open": {func(v *dialer.View) {
			v.Status, v.Idle, v.Begun, v.AutoComplete = domain.CampaignPaused, 0, true, false
		}, seen{}},
		"paused, last calls":    {func(v *dialer.View) { v.Status, v.Idle, v.Begun, v.Live = domain.CampaignPaused, 0, true, 1 }, seen{}},
		"paused, not begun":     {func(v *dialer.View) { v.Status, v.Idle = domain.CampaignPaused, 0 }, seen{}},
		"the store":             {func(v *dialer.View) { v.StoreDown = true }, seen{reason: "store"}},
		"dialling stopped":      {func(v *dialer.View) { v.Stopped, v.Ends = dialer.ForDialling, later }, seen{reason: "dialling_stopped", look: later}},
		"stopped, all done":     {func(v *dialer.View) { v.Stopped, v.Idle = dialer.ForDialling, 0 }, seen{do: dialer.Exhaust}},
		"stopped at its end":    {func(v *dialer.View) { v.Stopped, v.Ends = dialer.ForDialling, epoch }, seen{do: dialer.Expire}},
		"drained":               {func(v *dialer.View) { v.Stopped = dialer.ForDrain }, seen{reason: "draining"}},
		"all lines":             {func(v *dialer.View) { v.Live = 5 }, seen{reason: "line"}},
		"no permit yet":         {func(v *dialer.View) { v.Ready, v.Asked, v.Making = 2, 2, 2 }, seen{reason: "line"}},
		"the pace":              {func(v *dialer.View) { v.LastSent = epoch }, seen{reason: "pacing", until: epoch.Add(dialer.Interval(v60())), look: epoch.Add(dialer.Interval(v60()) - 5*time.Millisecond)}},
		"the trunk":             {func(v *dialer.View) { v.TrunkUntil = soon }, seen{reason: "trunk", until: soon, look: soon}},
		"the spend cap":         {func(v *dialer.View) { v.TrunkUntil, v.SpendCap = soon, true }, seen{reason: "spend_cap", until: soon, look: soon}},
		"the number's next day": {func(v *dialer.View) { v.Ready, v.NextDay, v.NextRetry = 0, soon, later }, seen{reason: "frequency_cap", until: soon, look: soon}},
		"no engine":             {func(v *dialer.View) { v.EngineUntil, v.EngineOut = soon, true }, seen{reason: "engine", until: soon, look: soon}},
		"an engine is tried":    {func(v *dialer.View) { v.EngineUntil, v.EngineOut = epoch, true }, seen{do: dialer.Dial}},
		"by one call alone":     {func(v *dialer.View) { v.EngineUntil, v.EngineOut, v.Live = epoch, true, 1 }, seen{reason: "engine"}},
		"the cap is over":       {func(v *dialer.View) { v.TrunkUntil, v.SpendCap = epoch, true }, seen{do: dialer.Dial}},
		"reading":               {func(v *dialer.View) { v.Ready, v.Unread = 0, true }, seen{}},
		"a retry is due":        {func(v *dialer.View) { v.Ready, v.NextRetry = 0, soon }, seen{reason: "retry", until: soon, look: soon}},
		"a zone opens":          {func(v *dialer.View) { v.Ready, v.NextRetry, v.NextOpening = 0, later, soon }, seen{reason: "calling_hours", until: soon, look: soon}},
		"the last calls":        {func(v *dialer.View) { v.Ready, v.Idle, v.Live = 0, 0, 2 }, seen{reason: "no_contacts"}},
		"kept open":             {func(v *dialer.View) { v.Ready, v.Idle, v.AutoComplete = 0, 0, false }, seen{reason: "no_contacts"}},
		"hours":                 {func(v *dialer.View) { v.Open, v.Schedule = hours.Global(), hours.Schedule() }, seen{reason: "calling_hours", until: epoch.Add(2 * time.Hour), look: epoch.Add(2 * time.Hour)}},
		"ends before that":      {func(v *dialer.View) { v.Open, v.Schedule, v.Ends = hours.Global(), hours.Schedule(), later }, seen{reason: "calling_hours", until: epoch.Add(2 * time.Hour), look: later}},
		"everybody done":        {func(v *dialer.View) { v.Ready, v.Idle = 0, 0 }, seen{do: dialer.Exhaust}},
		"the end":               {func(v *dialer.View) { v.Ends = epoch }, seen{do: dialer.Expire}},
		"the end, live":         {func(v *dialer.View) { v.Ends, v.Live = epoch, 1 }, seen{reason: "schedule"}},
		"draining":              {func(v *dialer.View) { v.Draining = true }, seen{}},
		"armed":                 {func(v *dialer.View) { v.Status, v.Begins = domain.CampaignScheduled, soon }, seen{reason: "schedule", until: soon, look: soon}},
		"start":                 {func(v *dialer.View) { v.Status, v.Begins = domain.CampaignScheduled, epoch }, seen{do: dialer.Begin}},
		"armed too late":        {func(v *dialer.View) { v.Status, v.Ends = domain.CampaignScheduled, epoch }, seen{do: dialer.Expire}},
	}
	for name, c := range cases {
		v := running()
		c.change(&v)
		d := dialer.Next(v, epoch)
		got := seen{do: d.Do, look: d.LookAt}
		if d.Waiting != nil {
			got.reason = d.Waiting.Reason
			if d.Waiting.Until != nil {
				got.until = *d.Waiting.Until
			}
		}
		assert.Equal(t, c.want, got, name)
	}
}

func v60() domain.Pacing { return domain.Pacing{CallsPerMinute: 60} }

func TestAPaceIsNeverExceededWithinAnyMinute(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 7, 59, 60, 600, 18000, 100000} {
		all := dialer.Interval(domain.Pacing{CallsPerMinute: n}) * time.Duration(n)
		assert.Greater(t, all, time.Minute+200*time.Millisecond)
		assert.Less(t, all, time.Minute+time.Second)
	}
	assert.Zero(t, dialer.Interval(domain.Pacing{}))
}

// A carrier of whatever the plan decides keeps pace and width, and gets to the
// end: it asks again at LookAt and at nothing else.
func TestWhoeverFollowsThePlanKeepsItsPace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := running()
		v.Pacing.CallsPerMinute = rapid.IntRange(1, 60000).Draw(t, "pace")
		v.Pacing.MaxConcurrent = rapid.IntRange(1, 40).Draw(t, "width")
		v.Ahead = time.Duration(rapid.IntRange(0, 200).Draw(t, "ahead")) * time.Millisecond
		v.Idle = rapid.IntRange(1, 60).Draw(t, "contacts")
		v.Ready = v.Idle
		lasts := time.Duration(rapid.IntRange(1, 90_000).Draw(t, "lasts")) * time.Millisecond
		commit := time.Duration(rapid.IntRange(0, 300).Draw(t, "commit")) * time.Millisecond
		interval := dialer.Interval(v.Pacing)
		now := epoch
		var opened, ends, sent []time.Time // when an opening will be durable; when calls end
		for range 100_000 {
			for len(opened) > 0 && !opened[0].After(now) {
				opened = opened[1:]
				v.Making--
				v.Live++
				v.Queued++
			}
			for v.Queued > 0 && !v.LastSent.Add(interval).After(now) {
				v.Queued--
				v.LastSent = now
				sent = append(sent, now)
				ends = append(ends, now.Add(lasts))
			}
			for len(ends) > 0 && !ends[0].After(now) {
				ends = ends[1:]
				v.Live--
			}
			d := dialer.Next(v, now)
			look := d.LookAt
			switch d.Do {
			case dialer.Exhaust:
				if v.Idle != 0 {
					t.Fatal("not everybody was rung")
				}
				return
			case dialer.Dial:
				if v.Live+v.Making+d.Count > v.Pacing.MaxConcurrent || d.Count > v.Ready {
					t.Fatalf("%d more beside %d and %d of %d", d.Count, v.Live, v.Making, v.Pacing.MaxConcurrent)
				}
				v.Making += d.Count
				v.Ready -= d.Count
				v.Idle -= d.Count
				for range d.Count {
					opened = append(opened, now.Add(commit))
				}
				continue
			case dialer.Wait:
			case dialer.Begin, dialer.Expire:
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
			if v.Queued > 0 {
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

func TestBehindALateOneThePlanDoesNotSpin(t *testing.T) {
	t.Parallel()
	v := running()
	v.Pacing.CallsPerMinute, v.Ahead, v.Idle, v.Ready, v.Making = 60_000, time.Millisecond, 5, 5, 1
	v.LastSent = epoch.Add(-time.Minute)
	d := dialer.Next(v, epoch)
	assert.Equal(t, dialer.Wait, d.Do)
	assert.Zero(t, d.LookAt, "only the one under way can change anything")
}

func TestWhatBecomesOfAContact(t *testing.T) {
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
	again := dialer.Fate{State: domain.ContactRetryWait, RetryAt: epoch.Add(30 * time.Minute)}
	want := map[ask]dialer.Fate{
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
	got := make(map[ask]dialer.Fate, len(want))
	for a := range want {
		got[a] = dialer.After(domain.Verdict{Outcome: a.outcome, Reason: a.reason, RetryOn: a.retryOn, Throttled: a.throttled}, a.spent, retry, epoch)
	}
	assert.Equal(t, want, got)
	assert.Equal(t, domain.ContactBusy, dialer.After(busy, 1, domain.Retry{MaxAttempts: 3, RetryOn: []string{"busy"}}, epoch).State, "not enabled")
}

func TestFiveCallsOfWhichHalfFailInTheTrunkPause(t *testing.T) {
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
		var trip dialer.Trip
		now := epoch
		for _, v := range all {
			now = now.Add(every)
			trip.Add(v, now)
		}
		return trip.Tripped(now)
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

func TestProgressIsToldAtEachFivePercentAndEachMinute(t *testing.T) {
	t.Parallel()
	p := &domain.Progress{Total: 100, Outcomes: map[domain.Outcome]int{domain.OutcomeBusy: 9}, ToldPercent: 5, ToldAt: epoch}
	due, look := dialer.Tell(p, true, epoch.Add(59*time.Second))
	assert.False(t, due)
	assert.Equal(t, epoch.Add(time.Minute), look)
	due, _ = dialer.Tell(p, true, epoch.Add(time.Minute))
	assert.True(t, due)
	due, look = dialer.Tell(p, false, epoch.Add(time.Hour))
	assert.False(t, due, "nothing has changed")
	assert.Zero(t, look)
	p.Outcomes[domain.OutcomeBusy] = 10
	due, _ = dialer.Tell(p, true, epoch.Add(time.Second))
	assert.True(t, due)
}

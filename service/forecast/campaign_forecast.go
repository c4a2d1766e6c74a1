// Package forecast estimates the course and the cost of a campaign. It simulates the campaign on a virtual clock
// without placing calls.
package forecast

import (
	"context"
	"iter"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/simulation"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store     commit.Store
	Campaigns campaigns
	Contacts  contactImports
	DNC       scrubbers
	// Counters returns the daily usage of a workspace from one day to another, both included.
	Counters func(ctx context.Context, workspaceID string, from, to time.Time) ([]*domain.Usage, error)
	// Workspace returns the workspace of the principal.
	Workspace func(ctx context.Context, p domain.Principal) (*domain.Workspace, error)
}

type campaigns interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
	CheckReferences(ctx context.Context, p domain.Principal, c *domain.Campaign) error
}

type contactImports interface {
	NewImport(ctx context.Context, p domain.Principal, c *domain.Campaign, before *domain.Progress, at time.Time) (*contactlist.Import, error)
}

type scrubbers interface {
	Scrubber(c *domain.Campaign) func(ctx context.Context, e164 string) (listed bool, err error)
}

// Service forecasts campaigns by simulation on a virtual clock.
type Service struct {
	store     commit.Store
	list      contactlist.Reader
	campaigns campaigns
	contacts  contactImports
	dnc       scrubbers
	workspace func(ctx context.Context, p domain.Principal) (*domain.Workspace, error)
	counters  func(ctx context.Context, workspaceID string, from, to time.Time) ([]*domain.Usage, error)
	running   runningForecasts
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{store: c.Store, list: contactlist.New(c.Store), campaigns: c.Campaigns, contacts: c.Contacts, dnc: c.DNC, workspace: c.Workspace, counters: c.Counters}
}

const (
	maxHistoryCalls = 500 // number of recent calls from which assumptions are computed
	minHistoryCalls = 50  // with fewer campaign calls the default assumptions apply
)

// runningForecasts limits concurrent forecasts, so that live calls get enough CPU time. A workspace can run only one
// forecast at a time. All forecasts together use at most half of the CPUs.
type runningForecasts struct {
	mu         sync.Mutex
	workspaces map[string]bool
}

func (r *runningForecasts) acquire(workspaceID string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.workspaces[workspaceID] || len(r.workspaces) >= max(1, runtime.GOMAXPROCS(0)/2) {
		return domain.Errorf(domain.CodeUnavailable, "another forecast is running; try again when it has ended").With("retry_after", 2)
	}
	if r.workspaces == nil {
		r.workspaces = make(map[string]bool)
	}
	r.workspaces[workspaceID] = true
	return nil
}

func (r *runningForecasts) release(workspaceID string) {
	r.mu.Lock()
	delete(r.workspaces, workspaceID)
	r.mu.Unlock()
}

// ForecastCampaign simulates the pending contacts and retries of a campaign. Errors: not_found, invalid_state,
// unavailable while another forecast runs.
func (svc *Service) ForecastCampaign(ctx context.Context, p domain.Principal, id string, o Request) (*Simulation, error) {
	c, err := svc.campaigns.Campaign(ctx, p, id)
	if err != nil {
		return nil, err
	}
	if c.Status.Final() {
		return nil, domain.Errorf(domain.CodeInvalidState, "the campaign has ended; a forecast needs a campaign that has not ended").With("current_status", c.Status)
	}
	wanted := make(contactlist.StateSet, domain.ContactCancelled+1)
	wanted[domain.ContactPending], wanted[domain.ContactRetryWait] = true, true
	return svc.simulate(ctx, p, c, svc.list.All(ctx, c, wanted), o)
}

// ForecastDraft simulates a campaign that is not stored and whose contacts are in rows. Errors: validation_failed,
// unavailable while another forecast runs.
func (svc *Service) ForecastDraft(
	ctx context.Context, p domain.Principal, c *domain.Campaign, rows iter.Seq2[domain.RawContact, error], o Request,
) (*Simulation, error) {
	if err := svc.campaigns.CheckReferences(ctx, p, c); err != nil {
		return nil, err
	}
	c.Init("campaign", p, "", record.Now())
	in, err := svc.contacts.NewImport(ctx, p, c, &domain.Progress{}, c.CreatedAt)
	if err != nil {
		return nil, err
	}
	var chunks []domain.Record
	in.Store = func(records []domain.Record) error { chunks = append(chunks, records...); return nil }
	in.Allowed = nil // the forecast itself counts contacts that may not be called
	if err = in.Read(rows); err != nil {
		return nil, err
	}
	return svc.simulate(ctx, p, c, func(yield func(contactlist.Entry, error) bool) {
		for _, r := range chunks {
			chunk, ok := r.(*domain.ContactChunk)
			if !ok {
				continue
			}
			for i, contact := range chunk.Contacts {
				if !yield(contactlist.Entry{Ordinal: chunk.Index*domain.ChunkSize + i, Contact: contact}, nil) {
					return
				}
			}
		}
	}, o)
}

// simulate runs the simulation of a campaign and returns the forecast. The campaign's contacts are those that may still
// be called.
func (svc *Service) simulate(
	ctx context.Context, p domain.Principal, c *domain.Campaign, contacts iter.Seq2[contactlist.Entry, error], o Request,
) (*Simulation, error) {
	if err := svc.running.acquire(p.WorkspaceID); err != nil {
		return nil, err
	}
	defer svc.running.release(p.WorkspaceID)
	w, err := svc.workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	c.Pacing.CallsPerMinute = min(c.Pacing.CallsPerMinute, w.Limits.CallsPerMinute)
	c.Pacing.MaxConcurrent = min(c.Pacing.MaxConcurrent, w.Limits.ConcurrentOutbound)
	s := &Simulation{CampaignID: c.ID, Pacing: c.Pacing}
	known, from, err := svc.estimateAssumptions(ctx, p)
	if err != nil {
		return nil, err
	}
	s.Assumptions, s.AssumedFrom = o.Assume(known), from
	plan := simulation.Plan{
		Campaign: c, From: o.StartAt, Seed: o.Seed, Assumptions: simulationAssumptions(s.Assumptions),
		ShouldStop: func() bool { runtime.Gosched(); return ctx.Err() != nil },
	}
	if plan.From.IsZero() {
		plan.From = record.Now()
	}
	plan.DailyCap = w.FrequencyCaps.PerNumberPerDay
	if err = svc.addContacts(ctx, c, w.Calling, contacts, &plan, s); err != nil {
		return nil, err
	}
	report := simulation.Run(plan)
	if err = ctx.Err(); err != nil {
		return nil, err
	}
	setResults(s, report)
	if c.Environment == domain.Test { // calls in the test environment are not billed
		report.Months = nil
	}
	s.Cost, err = svc.estimateCost(ctx, w, report.Months)
	return s, err
}

// addContacts adds the contacts to the plan of the simulation. It skips and counts contacts whose number is invalid or
// on a do-not-call list.
func (svc *Service) addContacts(
	ctx context.Context, c *domain.Campaign, calling domain.DestinationRules, contacts iter.Seq2[contactlist.Entry, error], plan *simulation.Plan, s *Simulation,
) error {
	rules, err := calendar.New(c.Schedule, c.Compliance.CallingHours, calendar.NewZones())
	if err != nil {
		return err
	}
	plan.Rules = rules
	checker := campaign.NewEligibilityChecker(c, rules, calling)
	listed := svc.dnc.Scrubber(c)
	crowds := make(map[string]int32)
	caps := frequencyCaps{store: svc.store, campaign: c, plan: plan, zones: calendar.NewZones(), days: make(map[string]int32)}
	var batch []contactlist.Entry
	flush := func() error {
		batchContacts := make([]domain.Contact, len(batch))
		for i, entry := range batch {
			batchContacts[i] = entry.Contact
		}
		a := checker.Check(batchContacts)
		for i, entry := range batch {
			if a.Invalid[i] {
				s.Skipped.Invalid++
				continue
			}
			switch isListed, err := listed(ctx, entry.Contact.Phone); {
			case err != nil:
				return err
			case isListed:
				s.Skipped.DNC++
				continue
			}
			zone := a.Zones[i]
			at, ok := crowds[zone]
			if !ok {
				at = int32(len(plan.Groups)) //nolint:gosec // a few hundred
				crowds[zone] = at
				plan.Groups = append(plan.Groups, simulation.ContactGroup{Window: a.Windows[zone], Unknown: rules.HasLocalHours() && zone == ""})
			}
			person := contactPerson(entry, at, plan.From)
			if err := caps.addCallHistory(ctx, entry.Contact.Phone, &person); err != nil {
				return err
			}
			plan.Contacts = append(plan.Contacts, person)
		}
		batch = batch[:0]
		return nil
	}
	for entry, err := range contacts {
		if err != nil {
			return err
		}
		s.Contacts++
		if batch = append(batch, entry); len(batch) < domain.ChunkSize {
			continue
		}
		if err = flush(); err != nil {
			return err
		}
	}
	return flush()
}

// contactPerson returns the simulated contact for a contact of the campaign, with its earlier attempts and its next
// retry. crowd is the index of its contact group in the plan.
func contactPerson(entry contactlist.Entry, crowd int32, from time.Time) simulation.Contact {
	p := simulation.Contact{Group: crowd}
	if entry.State != domain.ContactRetryWait {
		return p
	}
	p.Spent, p.Due = 1, from
	if r := entry.Result; r != nil {
		p.Spent = uint8(min(max(1, r.Attempts), 255))
		if r.RetryAt != nil {
			p.Due = *r.RetryAt
		}
	}
	return p
}

// setResults copies the results of a simulation into the forecast.
func setResults(s *Simulation, r simulation.Report) {
	s.StartsAt, s.CompletionReason = r.Begins.UTC(), r.Reason
	if !r.First.IsZero() {
		s.StartsAt = r.First.UTC()
	}
	if r.Finished {
		at := r.Ends.UTC()
		s.CompletesAt = &at
	}
	s.Attempts, s.Expired, s.PeakConcurrent, s.TalkMinutes = r.Attempts, r.Expired, r.Peak, r.Talk.Minutes()
	s.Skipped.Hours = r.SkippedHours
	s.Outcomes = make(map[domain.Outcome]int)
	for _, word := range domain.StatusOutcomes() {
		s.Outcomes[word] = r.Outcomes[word]
	}
	s.CallsPerHour = make([]SimulatedHour, len(r.Hours))
	for i, h := range r.Hours {
		s.CallsPerHour[i] = SimulatedHour{Hour: h.Hour, Calls: h.Calls}
	}
}

// estimateCost returns the cost of the simulated call attempts, which months counts by month (YYYY-MM). It adds them to
// the attempts that are already billed in a month, because those may use up the plan's included attempts.
func (svc *Service) estimateCost(ctx context.Context, w *domain.Workspace, months map[string]int) (SimulatedCost, error) {
	cost := SimulatedCost{Months: []SimulatedMonth{}}
	tariff, total := billing.CurrentTariff(w), domain.Amount(0)
	for _, month := range slices.Sorted(maps.Keys(months)) {
		before, err := svc.countBilledAttempts(ctx, w.ID, month)
		if err != nil {
			return cost, err
		}
		var meter billing.Meter
		meter.Price(tariff, before)
		charge := meter.Price(tariff, months[month])
		m := SimulatedMonth{
			Month: month, Attempts: months[month], Included: charge.Included, Overage: charge.Overage, Amount: domain.Dollars(charge.Micros),
		}
		cost.Attempts, cost.Included, cost.Overage = cost.Attempts+m.Attempts, cost.Included+m.Included, cost.Overage+m.Overage
		total = total.Plus(charge.Micros)
		cost.Months = append(cost.Months, m)
	}
	cost.Amount = domain.Dollars(total)
	return cost, nil
}

// countBilledAttempts returns how many attempts of a month (YYYY-MM) have been billed.
func (svc *Service) countBilledAttempts(ctx context.Context, workspaceID, month string) (n int, err error) {
	from, err := time.Parse("2006-01", month)
	if err != nil {
		return 0, err
	}
	rows, err := svc.counters(ctx, workspaceID, from, from.AddDate(0, 1, -1))
	for _, u := range rows {
		n += u.Attempts()
	}
	return n, commit.StoreError(err)
}

// estimateAssumptions computes assumptions from the recent campaign calls of the workspace. If there are fewer than
// minHistoryCalls, it returns the defaults.
func (svc *Service) estimateAssumptions(ctx context.Context, p domain.Principal) (Assumptions, AssumedFrom, error) {
	var statistics callStatistics
	q := commit.Query{Kind: "call", Workspace: p.WorkspaceID, Index: record.EnvironmentIndex(p), Limit: maxHistoryCalls}
	_, err := svc.store.List(ctx, q, func() domain.Record { return &domain.Call{} }, func(r domain.Record) error {
		if c, ok := r.(*domain.Call); ok {
			statistics.add(c)
		}
		return nil
	})
	defaults := defaultAssumptions()
	if err != nil || statistics.calls < minHistoryCalls {
		return defaults, AssumedDefaults, commit.StoreError(err)
	}
	return statistics.toAssumptions(defaults), AssumedHistory, nil
}

// callStatistics counts the outcomes and sums up the durations of finished campaign calls.
type callStatistics struct {
	calls, answered, machines, busy, failed, noAnswer int
	ring, talk, message, noAnswerRing                 time.Duration
}

// add adds a finished outbound campaign call to the statistics. It ignores other calls.
func (s *callStatistics) add(c *domain.Call) {
	if c.Direction != domain.Outbound || c.CampaignID == "" || !c.Final() || c.StartedAt == nil || c.EndedAt == nil {
		return
	}
	switch domain.Outcome(c.Disposition) {
	case domain.OutcomeCompleted, domain.OutcomeConfirmed, domain.OutcomeDeclined:
		s.answered++
		s.talk += time.Duration(c.DurationSeconds) * time.Second
	case domain.OutcomeVoicemail:
		s.machines++
		s.message += time.Duration(c.DurationSeconds) * time.Second
	case domain.OutcomeBusy:
		s.busy++
	case domain.OutcomeNoAnswer:
		s.noAnswer++
		s.noAnswerRing += c.EndedAt.Sub(*c.StartedAt)
	case domain.OutcomeFailed:
		s.failed++
	case domain.OutcomeCancelled:
		return
	default:
		return
	}
	s.calls++
	if c.AnsweredAt != nil {
		s.ring += c.AnsweredAt.Sub(*c.StartedAt)
	}
}

// toAssumptions returns the assumptions a, with each value replaced for which the statistics have data.
func (s *callStatistics) toAssumptions(a Assumptions) Assumptions {
	all := float64(s.calls)
	a.AnswerRate, a.VoicemailRate, a.BusyRate, a.FailedRate = float64(s.answered)/all, float64(s.machines)/all, float64(s.busy)/all, float64(s.failed)/all
	a.NoAnswerRate = float64(s.noAnswer) / all
	average := func(sum time.Duration, n int, fallback float64) float64 {
		if n == 0 {
			return fallback
		}
		return sum.Seconds() / float64(n)
	}
	a.RingSeconds = average(s.ring, s.answered+s.machines, a.RingSeconds)
	a.TalkSeconds = average(s.talk, s.answered, a.TalkSeconds)
	a.VoicemailSeconds = average(s.message, s.machines, a.VoicemailSeconds)
	a.NoAnswerSeconds = average(s.noAnswerRing, s.noAnswer, a.NoAnswerSeconds)
	return a
}

// defaultAssumptions returns the assumptions for workspaces with too few calls.
func defaultAssumptions() Assumptions {
	u := simulation.DefaultAssumptions()
	return Assumptions{
		AnswerRate: u.Answer, VoicemailRate: u.Voicemail, BusyRate: u.Busy, FailedRate: u.Failed,
		NoAnswerRate: 1 - u.Answer - u.Voicemail - u.Busy - u.Failed,
		RingSeconds:  u.Ring.Seconds(), NoAnswerSeconds: u.Unheard.Seconds(), TalkSeconds: u.Talk.Seconds(), VoicemailSeconds: u.Message.Seconds(),
	}
}

// simulationAssumptions converts assumptions of the API to those of the simulation.
func simulationAssumptions(a Assumptions) simulation.Assumptions {
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	return simulation.Assumptions{
		Answer: a.AnswerRate, Voicemail: a.VoicemailRate, Busy: a.BusyRate, Failed: a.FailedRate,
		Ring: seconds(a.RingSeconds), Unheard: seconds(a.NoAnswerSeconds), Talk: seconds(a.TalkSeconds), Message: seconds(a.VoicemailSeconds),
	}
}

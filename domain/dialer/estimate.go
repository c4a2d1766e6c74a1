package dialer

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// ContactGroup describes the contacts of a campaign that have the same calling hours.
type ContactGroup struct {
	Window       calendar.Window
	NeverCalled  int           // contacts never called that are known to belong to the group
	Size         int           // all contacts known to belong to the group
	Retries      []RetryCohort // contacts that wait for a retry, in order of time
	OpenAttempts []int         // open attempts by attempt number
}

// EstimateInput is the campaign state from which Estimate computes the time of completion.
type EstimateInput struct {
	Status                     domain.CampaignStatus
	ScheduleStart, ScheduleEnd time.Time // zero: no limit
	NotBefore                  time.Time // no call starts before this time
	Pacing                     domain.Pacing
	Retry                      domain.Retry
	Groups                     []ContactGroup  // must contain at least one group
	Pending                    int             // contacts never called
	Retries                    []RetryCohort   // contacts of unknown group that wait for a retry, in order of time
	OpenAttempts               []int           // open attempts of unknown group, by attempt number
	RetryRates                 RetryStatistics // how often a retry follows an attempt
	AttemptDuration            time.Duration   // average time that an attempt occupies a permit
	Rate                       float64         // measured attempts per second; 0: unknown
}

// Limits of the simulation. The length of a time step is chosen so that a campaign takes about targetSteps steps.
const (
	targetSteps = 400
	maxSteps    = 40_000
	maxGroups   = 16
	doneBelow   = math.Ln2 // expected attempts below which the campaign counts as finished: none is then more likely than one
)

// Estimate returns the median time at which all contacts have been called. It returns nil if the campaign is not
// running or scheduled, or if the time cannot be estimated. It simulates fractions of contacts through calling hours,
// pace and retries, at the observed pace and retry rates.
func Estimate(o EstimateInput, now time.Time) *time.Time {
	from := now
	switch o.Status {
	case domain.CampaignRunning:
	case domain.CampaignScheduled:
		if o.ScheduleStart.After(from) {
			from = o.ScheduleStart
		}
	case domain.CampaignDraft, domain.CampaignPaused, domain.CampaignCompleted, domain.CampaignCancelled:
		return nil
	}
	if o.NotBefore.After(from) {
		from = o.NotBefore
	}
	f := newSimulation(o, from)
	at, ok := f.run()
	switch {
	case !ok && o.ScheduleEnd.IsZero():
		return nil
	case !ok || !o.ScheduleEnd.IsZero() && at.After(o.ScheduleEnd):
		at = o.ScheduleEnd
	}
	return &at
}

// simulation is the state of an estimate, with fractional numbers of contacts.
type simulation struct {
	input          EstimateInput
	now            time.Time
	lastCall       time.Time // time of the last simulated call
	rate           float64   // attempts per second
	stepSeconds    float64   // length of a step in seconds
	retryRates     [maxAttempts + 1]float64
	groups         []groupState
	futureRetries  []simulatedRetry // retries that follow from simulated attempts, in order of time
	knownRetries   []knownCohort    // retries known at the start
	pendingRetries float64          // attempts in futureRetries and knownRetries
	retryDelay     time.Duration
}

// groupState is the simulated state of a ContactGroup.
type groupState struct {
	window      calendar.Window
	calledShare float64 // share of this group in the contacts called so far
	size        float64 // number of all contacts
	uncalled    float64
	due         [maxAttempts + 1]float64
	dueTotal    float64 // sum of due
}

// knownCohort is a cohort of waiting contacts and the index of their group. The index -1 means that the group is
// unknown and the contacts are distributed over all groups.
type knownCohort struct {
	RetryCohort
	group int
}

type simulatedRetry struct {
	at       time.Time
	group    int
	attempts int
	amount   float64
}

func newSimulation(o EstimateInput, from time.Time) *simulation {
	f := &simulation{input: o, now: from, lastCall: from}
	if o.Retry.Enabled {
		f.retryRates = o.RetryRates.rates(o.Retry.MaxAttempts)
	}
	f.retryDelay = o.AttemptDuration + time.Duration(o.Retry.IntervalHours*float64(time.Hour))
	f.rate = attemptRate(o)
	f.input.Groups = mergeGroups(o.Groups)
	f.addGroups(f.input.Groups)
	work := 0.0 // expected number of further attempts
	to := f.expectedAttempts()
	for i := range f.groups {
		work += f.groups[i].uncalled * to[0]
	}
	f.addCohorts(o.Retries, -1)
	f.addOpenAttempts(o.OpenAttempts, -1)
	for i, c := range f.input.Groups {
		f.addCohorts(c.Retries, i)
		f.addOpenAttempts(c.OpenAttempts, i)
	}
	byTime := func(a, b knownCohort) int { return a.At.Compare(b.At) }
	slices.SortStableFunc(f.knownRetries, byTime)
	for _, c := range f.knownRetries {
		work += float64(c.Count) * to[min(max(0, c.Attempts), maxAttempts)]
		f.pendingRetries += float64(c.Count)
	}
	f.stepSeconds = max(1, work/f.rate/targetSteps)
	return f
}

func (f *simulation) addCohorts(cohorts []RetryCohort, group int) {
	for _, c := range cohorts {
		f.knownRetries = append(f.knownRetries, knownCohort{c, group})
	}
}

// addOpenAttempts adds the retries that are expected to follow the open attempts. live counts the open attempts by
// attempt number. For group -1 they are distributed over all groups.
func (f *simulation) addOpenAttempts(live []int, group int) {
	at := f.now.Add(f.retryDelay)
	for number, n := range live {
		number = min(max(1, number), maxAttempts)
		if group >= 0 {
			f.addRetry(at, group, number, float64(n))
			continue
		}
		for i := range f.groups {
			f.addRetry(at, i, number, float64(n)*f.groups[i].calledShare)
		}
	}
}

// attemptRate returns the attempts per second of the campaign: the measured rate if it differs clearly from the rate
// that the pacing limits allow, and otherwise the latter.
func attemptRate(o EstimateInput) float64 {
	most := 1000.0
	if i := Interval(o.Pacing); i > 0 {
		most = 1 / i.Seconds()
	}
	byLines := most
	if o.Pacing.MaxConcurrent > 0 && o.AttemptDuration > 0 {
		byLines = min(most, float64(o.Pacing.MaxConcurrent)/o.AttemptDuration.Seconds())
	}
	if o.Rate > 0 && math.Abs(o.Rate-byLines) > rateTolerance*byLines {
		return min(most, o.Rate) // the campaign is limited by something other than the pacing
	}
	return byLines
}

// rateTolerance is the relative difference up to which a measured rate is taken as the rate of the pacing limits. The
// estimate then uses the limits, because the average duration is known more precisely than the measured rate.
const rateTolerance = 0.15

// mergeGroups merges the smallest groups into the largest until at most maxGroups are left.
func mergeGroups(groups []ContactGroup) []ContactGroup {
	if len(groups) <= maxGroups {
		return groups
	}
	out := append([]ContactGroup(nil), groups...)
	for len(out) > maxGroups {
		least, most := 0, 0
		for i, c := range out {
			if c.NeverCalled+c.Size < out[least].NeverCalled+out[least].Size {
				least = i
			}
			if c.NeverCalled+c.Size > out[most].NeverCalled+out[most].Size {
				most = i
			}
		}
		if least == most {
			least = (most + 1) % len(out)
		}
		out[most].NeverCalled += out[least].NeverCalled
		out[most].Size += out[least].Size
		out[most].Retries = slices.Concat(out[most].Retries, out[least].Retries)
		out[most].OpenAttempts = addCounts(out[most].OpenAttempts, out[least].OpenAttempts)
		out[least] = out[len(out)-1]
		out = out[:len(out)-1]
	}
	return out
}

func addCounts(a, b []int) []int {
	sum := make([]int, max(len(a), len(b)))
	copy(sum, a)
	for i, n := range b {
		sum[i] += n
	}
	return sum
}

func (f *simulation) addGroups(groups []ContactGroup) {
	var weight, waiting, rung float64
	for _, c := range groups {
		weight += float64(c.Size)
		waiting += float64(c.NeverCalled)
		rung += float64(max(0, c.Size-c.NeverCalled))
	}
	rest := max(0, float64(f.input.Pending)-waiting)
	for _, c := range groups {
		p := groupState{window: c.Window}
		p.calledShare = ratio(float64(c.Size), weight, 1/float64(len(groups)))
		p.uncalled = float64(c.NeverCalled) + p.calledShare*rest
		p.size = max(float64(c.Size)+p.calledShare*rest, p.uncalled)
		p.calledShare = ratio(float64(max(0, c.Size-c.NeverCalled)), rung, p.calledShare)
		f.groups = append(f.groups, p)
	}
}

// ratio returns part/whole, or otherwise if whole is 0.
func ratio(part, whole, otherwise float64) float64 {
	if whole <= 0 {
		return otherwise
	}
	return part / whole
}

// expectedAttempts returns the expected number of further attempts of a contact, including the next attempt. The
// array index is the number of attempts made so far.
func (f *simulation) expectedAttempts() (n [maxAttempts + 1]float64) {
	for spent := maxAttempts - 1; spent >= 0; spent-- {
		n[spent] = 1 + f.retryRates[spent+1]*n[spent+1]
	}
	return n
}

func (f *simulation) addRetry(at time.Time, i, number int, amount float64) {
	if amount *= f.retryRates[number]; amount > 0 {
		f.futureRetries = append(f.futureRetries, simulatedRetry{at: at, group: i, attempts: number, amount: amount})
		f.pendingRetries += amount
	}
}

func (f *simulation) run() (time.Time, bool) {
	for range maxSteps {
		f.takeDueRetries()
		left := 0.0
		for i := range f.groups {
			left += f.groups[i].uncalled + f.groups[i].dueTotal
		}
		if left+f.pendingRetries < doneBelow {
			return f.lastCall.Add(f.input.AttemptDuration), true
		}
		if f.step() {
			continue
		}
		next, ok := f.nextTime()
		if !ok {
			return time.Time{}, false
		}
		if f.now = next; !f.input.ScheduleEnd.IsZero() && !next.Before(f.input.ScheduleEnd) {
			return f.input.ScheduleEnd, true
		}
	}
	return f.now, true
}

// takeDueRetries adds the retries that are due within half a time step to the due attempts of their groups.
func (f *simulation) takeDueRetries() {
	by := f.now.Add(time.Duration(f.stepSeconds / 2 * float64(time.Second)))
	for len(f.knownRetries) > 0 && !f.knownRetries[0].At.After(by) {
		c := f.knownRetries[0]
		f.knownRetries = f.knownRetries[1:]
		for i := range f.groups {
			switch p := &f.groups[i]; c.group {
			case -1:
				p.addDue(c.Attempts, float64(c.Count)*p.calledShare)
			case i:
				p.addDue(c.Attempts, float64(c.Count))
			}
		}
		f.pendingRetries -= float64(c.Count)
	}
	for len(f.futureRetries) > 0 && !f.futureRetries[0].at.After(by) {
		d := f.futureRetries[0]
		f.futureRetries = f.futureRetries[1:]
		f.groups[d.group].addDue(d.attempts, d.amount)
		f.pendingRetries -= d.amount
	}
}

func (p *groupState) addDue(number int, amount float64) {
	p.due[min(max(0, number), maxAttempts)] += amount
	p.dueTotal += amount
}

// step simulates the calls of one time step, due retries first. It returns false if no contact may be called now.
func (f *simulation) step() bool {
	due, fresh := 0.0, 0.0
	var open [maxGroups]bool
	for i := range f.groups {
		p := &f.groups[i]
		if p.uncalled+p.dueTotal > 0 && p.window.Allows(f.now) {
			open[i] = true
			due += p.dueTotal
			fresh += p.uncalled
		}
	}
	if due+fresh <= 0 {
		return false
	}
	room := f.rate * f.stepSeconds
	ofDue := 0.0
	if due > 0 {
		ofDue = min(1, room/due)
	}
	ofFresh := min(fresh, max(0, room-due))
	served := due*ofDue + ofFresh
	ends := f.now.Add(time.Duration(served / f.rate * float64(time.Second)))
	down := 0.0
	if ofFresh < fresh {
		down = f.remainingShare(&open, ofFresh)
	}
	for i := range f.groups {
		if open[i] {
			f.callGroup(i, ofDue, down, ends.Add(f.retryDelay))
		}
	}
	f.lastCall, f.now = ends, ends.Add(time.Nanosecond)
	return true
}

// remainingShare returns the share of an open group's contacts that stays uncalled after room first attempts. The
// groups with the largest uncalled share are called first, until all open groups have the same share.
func (f *simulation) remainingShare(open *[maxGroups]bool, room float64) float64 {
	var at [maxGroups]int
	openGroups := at[:0]
	for i := range f.groups {
		if open[i] && f.groups[i].uncalled > 0 {
			openGroups = append(openGroups, i)
		}
	}
	left := func(i int) float64 { return f.groups[i].uncalled / f.groups[i].size }
	slices.SortFunc(openGroups, func(a, b int) int { return cmp.Compare(left(b), left(a)) })
	fresh, size := 0.0, 0.0
	for n, i := range openGroups {
		fresh += f.groups[i].uncalled
		size += f.groups[i].size
		next := 0.0
		if n+1 < len(openGroups) {
			next = left(openGroups[n+1])
		}
		if share := (fresh - room) / size; share >= next {
			return share
		}
	}
	return 0
}

// callGroup simulates the calls of group i: the share ofDue of its due retries, and first attempts until the share
// down of its contacts is uncalled. Retries of these calls follow at again.
func (f *simulation) callGroup(i int, ofDue, down float64, again time.Time) {
	p := &f.groups[i]
	sum := 0.0
	for n := range p.due {
		if amount := p.due[n] * ofDue; amount > 0 {
			p.due[n] -= amount
			if n < maxAttempts {
				f.addRetry(again, i, n+1, amount)
			}
		}
		sum += p.due[n]
	}
	p.dueTotal = sum
	amount := max(0, p.uncalled-down*p.size)
	p.uncalled -= amount
	f.addRetry(again, i, 1, amount)
}

// nextTime returns the next time at which a contact may be called, or false if there is none.
func (f *simulation) nextTime() (time.Time, bool) {
	var first time.Time
	earlier := func(t time.Time) {
		if first.IsZero() || t.Before(first) {
			first = t
		}
	}
	if len(f.knownRetries) > 0 {
		earlier(f.knownRetries[0].At)
	}
	if len(f.futureRetries) > 0 {
		earlier(f.futureRetries[0].at)
	}
	for i := range f.groups {
		if p := &f.groups[i]; p.uncalled+p.dueTotal > 0 {
			if opens, ok := p.window.NextOpen(f.now); ok {
				earlier(opens)
			}
		}
	}
	if !first.IsZero() && !first.After(f.now) {
		first = f.now.Add(time.Second)
	}
	return first, !first.IsZero()
}

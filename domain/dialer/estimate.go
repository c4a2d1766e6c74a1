package dialer

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// ContactGroup are contacts with the same calling hours.
type ContactGroup struct {
	Window       calendar.Window
	NeverCalled  int           // contacts never called that are known to belong to the group
	Size         int           // all contacts known to belong to the group
	Retries      []RetryCohort // contacts that wait for a retry, in order of time
	OpenAttempts []int         // open attempts by attempt number
}

// EstimateInput is the input of Estimate.
type EstimateInput struct {
	Status                     domain.CampaignStatus
	ScheduleStart, ScheduleEnd time.Time // zero: unlimited
	NotBefore                  time.Time // no call before
	Pacing                     domain.Pacing
	Retry                      domain.Retry
	Groups                     []ContactGroup  // at least one
	Pending                    int             // contacts never called
	Retries                    []RetryCohort   // contacts of unknown group that wait for a retry, in order of time
	OpenAttempts               []int           // open attempts of unknown group, by attempt number
	RetryRates                 RetryStatistics // how often a retry follows an attempt
	AttemptDuration            time.Duration   // average time that an attempt occupies a permit
	Rate                       float64         // measured attempts per second; 0: unknown
}

// The simulation advances in steps. A whole campaign takes some hundreds of them.
const (
	strides     = 400
	mostStrides = 40_000
	mostCrowds  = 16
	half        = math.Ln2 // expected attempts below which the campaign counts as finished: none is then more likely than one
)

// Estimate returns the median time at which all contacts have been called; nil: the campaign is not running, or the
// time cannot be estimated. It simulates fractions of contacts through calling hours, pace and retries, at the
// observed pace and retry rates.
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
	f := pour(o, from)
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
type flow struct {
	o      EstimateInput
	now    time.Time
	last   time.Time // time of the last simulated call
	rate   float64   // attempts per second
	stride float64   // length of a step in seconds
	shares [mostAttempts + 1]float64
	pools  []pool
	ahead  []drop  // retries that follow from simulated attempts, in order of time
	known  []wave  // retries known at the start
	coming float64 // attempts in futureRetries and knownRetries
	again  time.Duration
}

// groupState is the simulated state of a ContactGroup.
type pool struct {
	window calendar.Window
	rung   float64 // share of this group in the contacts called so far
	size   float64 // all contacts
	fresh  float64
	due    [mostAttempts + 1]float64
	sum    float64 // total of due
}

// knownCohort is a cohort and the index of its group; -1: distributed over all groups.
type wave struct {
	RetryCohort
	pool int
}

type drop struct {
	at     time.Time
	pool   int
	number int
	amount float64
}

func pour(o EstimateInput, from time.Time) *flow {
	f := &flow{o: o, now: from, last: from}
	if o.Retry.Enabled {
		f.shares = o.RetryRates.shares(o.Retry.MaxAttempts)
	}
	f.again = o.AttemptDuration + time.Duration(o.Retry.IntervalHours*float64(time.Hour))
	f.rate = rate(o)
	f.o.Groups = merge(o.Groups)
	f.fill(f.o.Groups)
	work := 0.0 // attempts to come
	to := f.toCome()
	for i := range f.pools {
		work += f.pools[i].fresh * to[0]
	}
	f.know(o.Retries, -1)
	f.spill(o.OpenAttempts, -1)
	for i, c := range f.o.Groups {
		f.know(c.Retries, i)
		f.spill(c.OpenAttempts, i)
	}
	byTime := func(a, b wave) int { return a.At.Compare(b.At) }
	slices.SortStableFunc(f.known, byTime)
	for _, c := range f.known {
		work += float64(c.Count) * to[min(max(0, c.Number), mostAttempts)]
		f.coming += float64(c.Count)
	}
	f.stride = max(1, work/f.rate/strides)
	return f
}

func (f *flow) know(waits []RetryCohort, pool int) {
	for _, c := range waits {
		f.known = append(f.known, wave{c, pool})
	}
}

// addOpenAttempts adds the expected retries of the attempts that are open.
func (f *flow) spill(live []int, pool int) {
	at := f.now.Add(f.again)
	for number, n := range live {
		number = min(max(1, number), mostAttempts)
		if pool >= 0 {
			f.follow(at, pool, number, float64(n))
			continue
		}
		for i := range f.pools {
			f.follow(at, i, number, float64(n)*f.pools[i].rung)
		}
	}
}

// attemptRate returns attempts per second: the measured rate, or else what the pacing allows.
func rate(o EstimateInput) float64 {
	most := 1000.0
	if i := Interval(o.Pacing); i > 0 {
		most = 1 / i.Seconds()
	}
	byLines := most
	if o.Pacing.MaxConcurrent > 0 && o.AttemptDuration > 0 {
		byLines = min(most, float64(o.Pacing.MaxConcurrent)/o.AttemptDuration.Seconds())
	}
	if o.Rate > 0 && math.Abs(o.Rate-byLines) > near*byLines {
		return min(most, o.Rate) // something else limits the campaign
	}
	return byLines
}

// rateTolerance is the relative difference up to which a measured rate counts as that of the pacing. The pacing is
// then used, because durations are known better than the rate.
const near = 0.15

// mergeGroups merges the smallest groups into the largest until at most maxGroups are left.
func merge(crowds []ContactGroup) []ContactGroup {
	if len(crowds) <= mostCrowds {
		return crowds
	}
	out := append([]ContactGroup(nil), crowds...)
	for len(out) > mostCrowds {
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
		out[most].OpenAttempts = add(out[most].OpenAttempts, out[least].OpenAttempts)
		out[least] = out[len(out)-1]
		out = out[:len(out)-1]
	}
	return out
}

func add(a, b []int) []int {
	sum := make([]int, max(len(a), len(b)))
	copy(sum, a)
	for i, n := range b {
		sum[i] += n
	}
	return sum
}

func (f *flow) fill(crowds []ContactGroup) {
	var weight, waiting, rung float64
	for _, c := range crowds {
		weight += float64(c.Size)
		waiting += float64(c.NeverCalled)
		rung += float64(max(0, c.Size-c.NeverCalled))
	}
	rest := max(0, float64(f.o.Pending)-waiting)
	for _, c := range crowds {
		p := pool{window: c.Window}
		p.rung = share(float64(c.Size), weight, 1/float64(len(crowds)))
		p.fresh = float64(c.NeverCalled) + p.rung*rest
		p.size = max(float64(c.Size)+p.rung*rest, p.fresh)
		p.rung = share(float64(max(0, c.Size-c.NeverCalled)), rung, p.rung)
		f.pools = append(f.pools, p)
	}
}

// ratio returns part/whole; otherwise if whole is 0.
func share(part, whole, otherwise float64) float64 {
	if whole <= 0 {
		return otherwise
	}
	return part / whole
}

// expectedAttempts returns, by the attempts made so far, how many more a contact is expected to need, including the
// next one.
func (f *flow) toCome() (n [mostAttempts + 1]float64) {
	for spent := mostAttempts - 1; spent >= 0; spent-- {
		n[spent] = 1 + f.shares[spent+1]*n[spent+1]
	}
	return n
}

func (f *flow) follow(at time.Time, i, number int, amount float64) {
	if amount *= f.shares[number]; amount > 0 {
		f.ahead = append(f.ahead, drop{at: at, pool: i, number: number, amount: amount})
		f.coming += amount
	}
}

func (f *flow) run() (time.Time, bool) {
	for range mostStrides {
		f.arrive()
		left := 0.0
		for i := range f.pools {
			left += f.pools[i].fresh + f.pools[i].sum
		}
		if left+f.coming < half {
			return f.last.Add(f.o.AttemptDuration), true
		}
		if f.step() {
			continue
		}
		next, ok := f.next()
		if !ok {
			return time.Time{}, false
		}
		if f.now = next; !f.o.ScheduleEnd.IsZero() && !next.Before(f.o.ScheduleEnd) {
			return f.o.ScheduleEnd, true
		}
	}
	return f.now, true
}

// takeDueRetries moves retries that are due within half a step to their groups.
func (f *flow) arrive() {
	by := f.now.Add(time.Duration(f.stride / 2 * float64(time.Second)))
	for len(f.known) > 0 && !f.known[0].At.After(by) {
		c := f.known[0]
		f.known = f.known[1:]
		for i := range f.pools {
			switch p := &f.pools[i]; c.pool {
			case -1:
				p.take(c.Number, float64(c.Count)*p.rung)
			case i:
				p.take(c.Number, float64(c.Count))
			}
		}
		f.coming -= float64(c.Count)
	}
	for len(f.ahead) > 0 && !f.ahead[0].at.After(by) {
		d := f.ahead[0]
		f.ahead = f.ahead[1:]
		f.pools[d.pool].take(d.number, d.amount)
		f.coming -= d.amount
	}
}

func (p *pool) take(number int, amount float64) {
	p.due[min(max(0, number), mostAttempts)] += amount
	p.sum += amount
}

// step simulates the calls of one step, due retries first. It returns false if no contact may be called now.
func (f *flow) step() bool {
	due, fresh := 0.0, 0.0
	var open [mostCrowds]bool
	for i := range f.pools {
		p := &f.pools[i]
		if p.fresh+p.sum > 0 && p.window.Allows(f.now) {
			open[i] = true
			due += p.sum
			fresh += p.fresh
		}
	}
	if due+fresh <= 0 {
		return false
	}
	room := f.rate * f.stride
	ofDue := 0.0
	if due > 0 {
		ofDue = min(1, room/due)
	}
	ofFresh := min(fresh, max(0, room-due))
	served := due*ofDue + ofFresh
	ends := f.now.Add(time.Duration(served / f.rate * float64(time.Second)))
	down := 0.0
	if ofFresh < fresh {
		down = f.down(&open, ofFresh)
	}
	for i := range f.pools {
		if open[i] {
			f.serve(i, ofDue, down, ends.Add(f.again))
		}
	}
	f.last, f.now = ends, ends.Add(time.Nanosecond)
	return true
}

// remainingShare returns the share of each open group's contacts that stays uncalled after room first attempts.
// Groups that waited longest for their calling hours come first, in the order of the contact list.
func (f *flow) down(open *[mostCrowds]bool, room float64) float64 {
	var at [mostCrowds]int
	pools := at[:0]
	for i := range f.pools {
		if open[i] && f.pools[i].fresh > 0 {
			pools = append(pools, i)
		}
	}
	left := func(i int) float64 { return f.pools[i].fresh / f.pools[i].size }
	slices.SortFunc(pools, func(a, b int) int { return cmp.Compare(left(b), left(a)) })
	fresh, size := 0.0, 0.0
	for n, i := range pools {
		fresh += f.pools[i].fresh
		size += f.pools[i].size
		next := 0.0
		if n+1 < len(pools) {
			next = left(pools[n+1])
		}
		if share := (fresh - room) / size; share >= next {
			return share
		}
	}
	return 0
}

// callGroup simulates the calls of one group: a share of its due retries, and first attempts down to the share that
// remains.
func (f *flow) serve(i int, ofDue, down float64, again time.Time) {
	p := &f.pools[i]
	sum := 0.0
	for n := range p.due {
		if amount := p.due[n] * ofDue; amount > 0 {
			p.due[n] -= amount
			if n < mostAttempts {
				f.follow(again, i, n+1, amount)
			}
		}
		sum += p.due[n]
	}
	p.sum = sum
	amount := max(0, p.fresh-down*p.size)
	p.fresh -= amount
	f.follow(again, i, 1, amount)
}

// nextTime returns when a contact may be called again.
func (f *flow) next() (time.Time, bool) {
	var first time.Time
	earlier := func(t time.Time) {
		if first.IsZero() || t.Before(first) {
			first = t
		}
	}
	if len(f.known) > 0 {
		earlier(f.known[0].At)
	}
	if len(f.ahead) > 0 {
		earlier(f.ahead[0].at)
	}
	for i := range f.pools {
		if p := &f.pools[i]; p.fresh+p.sum > 0 {
			if opens, ok := p.window.Next(f.now); ok {
				earlier(opens)
			}
		}
	}
	if !first.IsZero() && !first.After(f.now) {
		first = f.now.Add(time.Second)
	}
	return first, !first.IsZero()
}

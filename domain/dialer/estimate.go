package dialer

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// Crowd are contacts who may be rung at the same hours.
type Crowd struct {
	Window  calendar.Window
	Waiting int      // who were never rung and are known to belong to it
	Weight  int      // all who are known to belong to it
	Waits   []Cohort // its contacts who wait for a retry, in order of time
	Live    []int    // its open attempts by their number
}

// Outlook is what an estimate is made of.
type Outlook struct {
	Status       domain.CampaignStatus
	Begins, Ends time.Time // of the schedule; zero: open
	From         time.Time // nothing rings before
	Pacing       domain.Pacing
	Retry        domain.Retry
	Crowds       []Crowd       // at least one
	Pending      int           // contacts who were never rung
	Waits        []Cohort      // contacts who wait for a retry and of whom no crowd is known, in order of time
	Live         []int         // open attempts by their number, of whom no crowd is known
	Yields       Yields        // how often a retry followed
	Hold         time.Duration // how long an attempt takes a line, on average
	Rate         float64       // attempts per second as measured; 0: unknown
}

// The estimate works in strides: the whole takes some hundreds of them.
const (
	strides     = 400
	mostStrides = 40_000
	mostCrowds  = 16
	half        = math.Ln2 // of an expected attempt: more likely none than any
)

// Estimate is when a campaign will have rung everybody, half of the chances
// before and half after: nil while it does not run, or where nobody can tell.
// It lets the crowd flow through the hours, the pace and the retries as a
// liquid, at the pace and with the retries seen so far.
func Estimate(o Outlook, now time.Time) *time.Time {
	from := now
	switch o.Status {
	case domain.CampaignRunning:
	case domain.CampaignScheduled:
		if o.Begins.After(from) {
			from = o.Begins
		}
	case domain.CampaignDraft, domain.CampaignPaused, domain.CampaignCompleted, domain.CampaignCancelled:
		return nil
	}
	if o.From.After(from) {
		from = o.From
	}
	f := pour(o, from)
	at, ok := f.run()
	switch {
	case !ok && o.Ends.IsZero():
		return nil
	case !ok || !o.Ends.IsZero() && at.After(o.Ends):
		at = o.Ends
	}
	return &at
}

// flow is a campaign as a liquid.
type flow struct {
	o      Outlook
	now    time.Time
	last   time.Time // somebody was rung
	rate   float64   // per second
	stride float64   // seconds
	shares [mostAttempts + 1]float64
	pools  []pool
	ahead  []drop // retries to come that will follow from this flow, in order of time
	known  []wave
	coming float64 // in ahead and known
	again  time.Duration
}

// pool is a crowd.
type pool struct {
	window calendar.Window
	rung   float64 // its share of those who were rung
	size   float64 // all of its contacts
	fresh  float64
	due    [mostAttempts + 1]float64
	sum    float64 // of due
}

// wave is a cohort and the pool it belongs to, -1 for all.
type wave struct {
	Cohort
	pool int
}

type drop struct {
	at     time.Time
	pool   int
	number int
	amount float64
}

func pour(o Outlook, from time.Time) *flow {
	f := &flow{o: o, now: from, last: from}
	if o.Retry.Enabled {
		f.shares = o.Yields.shares(o.Retry.MaxAttempts)
	}
	f.again = o.Hold + time.Duration(o.Retry.IntervalHours*float64(time.Hour))
	f.rate = rate(o)
	f.o.Crowds = merge(o.Crowds)
	f.fill(f.o.Crowds)
	work := 0.0 // attempts to come
	to := f.toCome()
	for i := range f.pools {
		work += f.pools[i].fresh * to[0]
	}
	f.know(o.Waits, -1)
	f.spill(o.Live, -1)
	for i, c := range f.o.Crowds {
		f.know(c.Waits, i)
		f.spill(c.Live, i)
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

func (f *flow) know(waits []Cohort, pool int) {
	for _, c := range waits {
		f.known = append(f.known, wave{c, pool})
	}
}

// spill lets those retries come that follow the attempts that are open.
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

// rate is how fast it gets on: as measured, or else as the pace and the lines
// allow.
func rate(o Outlook) float64 {
	most := 1000.0
	if i := Interval(o.Pacing); i > 0 {
		most = 1 / i.Seconds()
	}
	byLines := most
	if o.Pacing.MaxConcurrent > 0 && o.Hold > 0 {
		byLines = min(most, float64(o.Pacing.MaxConcurrent)/o.Hold.Seconds())
	}
	if o.Rate > 0 && math.Abs(o.Rate-byLines) > near*byLines {
		return min(most, o.Rate) // something else holds it back
	}
	return byLines
}

// near is how close to what its own limits allow a campaign must come to be
// held back by nothing else: lengths of calls are known better than its speed.
const near = 0.15

// merge pours the smallest crowds into the largest where there are many.
func merge(crowds []Crowd) []Crowd {
	if len(crowds) <= mostCrowds {
		return crowds
	}
	out := append([]Crowd(nil), crowds...)
	for len(out) > mostCrowds {
		least, most := 0, 0
		for i, c := range out {
			if c.Waiting+c.Weight < out[least].Waiting+out[least].Weight {
				least = i
			}
			if c.Waiting+c.Weight > out[most].Waiting+out[most].Weight {
				most = i
			}
		}
		if least == most {
			least = (most + 1) % len(out)
		}
		out[most].Waiting += out[least].Waiting
		out[most].Weight += out[least].Weight
		out[most].Waits = slices.Concat(out[most].Waits, out[least].Waits)
		out[most].Live = add(out[most].Live, out[least].Live)
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

func (f *flow) fill(crowds []Crowd) {
	var weight, waiting, rung float64
	for _, c := range crowds {
		weight += float64(c.Weight)
		waiting += float64(c.Waiting)
		rung += float64(max(0, c.Weight-c.Waiting))
	}
	rest := max(0, float64(f.o.Pending)-waiting)
	for _, c := range crowds {
		p := pool{window: c.Window}
		p.rung = share(float64(c.Weight), weight, 1/float64(len(crowds)))
		p.fresh = float64(c.Waiting) + p.rung*rest
		p.size = max(float64(c.Weight)+p.rung*rest, p.fresh)
		p.rung = share(float64(max(0, c.Weight-c.Waiting)), rung, p.rung)
		f.pools = append(f.pools, p)
	}
}

// share is a part of a whole, where there is one.
func share(part, whole, otherwise float64) float64 {
	if whole <= 0 {
		return otherwise
	}
	return part / whole
}

// toCome is how many attempts are to be expected of a contact who has spent so
// many, the next one included.
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
			return f.last.Add(f.o.Hold), true
		}
		if f.step() {
			continue
		}
		next, ok := f.next()
		if !ok {
			return time.Time{}, false
		}
		if f.now = next; !f.o.Ends.IsZero() && !next.Before(f.o.Ends) {
			return f.o.Ends, true
		}
	}
	return f.now, true
}

// arrive takes in the retries that are due, or nearly.
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

// step rings as many as a stride has room for, due retries first; false where
// nobody can be rung now.
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

// down is the share of each open pool that is left when so many were rung who
// never were before: in the order of the list, so that those come first who had
// to wait for their hours while others were rung.
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

// serve rings a share of those of a pool who are due, and of the others down to
// a share that is left.
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

// next is when somebody can be rung again.
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

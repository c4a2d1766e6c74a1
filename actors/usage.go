package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"

	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// rowsOfLedger is how many rows are read at once.
const rowsOfLedger = 1000

// tariff is the number of the tariff that a workspace opens attempts under.
func (n *Node) tariff(workspaceID string) int {
	if w := n.Workspace(workspaceID); w != nil {
		return w.Tariff
	}
	return 0
}

// retariff begins a new tariff in the commit that changes the price. The one
// before is written with it the first time, because nothing else knows it.
func retariff(c *commit.Change, before, w *domain.Workspace) {
	was, is := billing.TariffOf(before), billing.TariffOf(w)
	if was.Plan == is.Plan && was.Included == is.Included && was.Micros == is.Micros && was.Segment == is.Segment {
		return
	}
	w.Tariff++
	is.Number, is.From = w.Tariff, w.UpdatedAt
	c.Puts = append(c.Puts, &is)
	if before.Tariff == 0 {
		was.From = before.CreatedAt
		c.Puts = append(c.Puts, &was)
	}
}

// tariffs are all that a workspace ever had, by number.
func tariffs(ctx context.Context, store commit.Store, w *domain.Workspace) (map[int]domain.Tariff, error) {
	out := map[int]domain.Tariff{w.Tariff: billing.TariffOf(w)}
	prefix := domain.Key{Kind: "tariff", Workspace: w.ID}
	for after, n := "", rowsOfLedger; n == rowsOfLedger; {
		n = 0
		err := store.Under(ctx, prefix, after, rowsOfLedger, func() domain.Record { return &domain.Tariff{} }, func(r domain.Record) error {
			n++
			if t, ok := r.(*domain.Tariff); ok {
				out[t.Number], after = *t, t.Key().ID
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// counters are the rows of the days from one to another, in order.
func counters(ctx context.Context, store commit.Store, workspaceID string, from, to time.Time) ([]*domain.Usage, error) {
	var out []*domain.Usage
	prefix, last := domain.Key{Kind: "usage", Workspace: workspaceID}, domain.Day(to)
	after := domain.Day(from.AddDate(0, 0, -1)) + "~" // behind the day before
	for n, more := rowsOfLedger, true; n == rowsOfLedger && more; {
		n = 0
		err := store.Under(ctx, prefix, after, rowsOfLedger, func() domain.Record { return &domain.Usage{} }, func(r domain.Record) error {
			n++
			u, ok := r.(*domain.Usage)
			if !ok || u.Day > last {
				more = false
				return nil
			}
			after = u.Key().ID
			if more {
				out = append(out, u)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// priced is a row of counters with what its attempts cost.
type priced struct {
	*domain.Usage
	before int // attempts of the month before it
	charge billing.Charge
	texts  domain.Amount // what its text messages cost
}

// price meters the counters of whole months, in order.
func price(rows []*domain.Usage, of map[int]domain.Tariff) []priced {
	out := make([]priced, 0, len(rows))
	var meter billing.Meter
	used, month := 0, ""
	for _, u := range rows {
		if m := u.Day[:7]; m != month {
			meter, used, month = billing.Meter{}, 0, m
		}
		t := of[u.Tariff]
		out = append(out, priced{u, used, meter.Use(t, u.Attempts()), t.Segment.Times(u.Segments())})
		used += u.Attempts()
	}
	return out
}

func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// priced are the counters from the first of the month of from on: what a day
// costs depends on the days of its month before it.
func (d *Desk) priced(ctx context.Context, w *domain.Workspace, q billing.UsageQuery) ([]priced, map[int]domain.Tariff, error) {
	of, err := tariffs(ctx, d.store, w)
	if err != nil {
		return nil, nil, record.StoreError(err)
	}
	rows, err := counters(ctx, d.store, w.ID, monthOf(q.From), q.To)
	return price(rows, of), of, record.StoreError(err)
}

// Usage is what was used on some days. Nothing is billed in the test
// environment, and nothing of it is counted.
func (d *Desk) Usage(ctx context.Context, p domain.Principal, q billing.UsageQuery) (billing.Usage, error) {
	out := billing.Usage{
		Object: "usage", Environment: p.Environment, From: domain.Day(q.From), To: domain.Day(q.To),
		Months: []billing.UsedIn{}, Days: []billing.UsedOn{},
	}
	w, err := d.Workspace(ctx, p)
	if err != nil {
		return out, err
	}
	out.Plan = w.Plan
	var total sum
	var months, days []*sum
	if p.Environment == domain.Live {
		rows, _, err := d.priced(ctx, w, q)
		if err != nil {
			return out, err
		}
		for _, r := range rows {
			if r.Day < out.From {
				continue
			}
			total.add(r)
			months = addTo(months, r.Day[:7], r)
			days = addTo(days, r.Day, r)
		}
	}
	for _, s := range months {
		out.Months = append(out.Months, billing.UsedIn{Month: s.name, Used: s.used()})
	}
	for _, s := range days {
		out.Days = append(out.Days, billing.UsedOn{Day: s.name, Used: s.used()})
	}
	out.Total = total.used()
	return out, nil
}

// sum adds up priced rows.
type sum struct {
	name   string
	counts domain.Usage
	charge billing.Charge
	texts  domain.Amount
}

func (s *sum) add(r priced) {
	s.counts.Add(r.Usage)
	s.charge.Add(r.charge)
	s.texts = s.texts.Plus(r.texts)
}

func addTo(sums []*sum, name string, r priced) []*sum {
	if len(sums) == 0 || sums[len(sums)-1].name != name {
		sums = append(sums, &sum{name: name})
	}
	sums[len(sums)-1].add(r)
	return sums
}

func (s *sum) used() billing.Used {
	u := &s.counts
	return billing.Used{
		Attempts: u.Attempts(), Included: s.charge.Included, Overage: s.charge.Overage, Amount: domain.Dollars(s.charge.Micros),
		Minutes:         math.Round(float64(u.OutboundSeconds()+u.InboundSeconds())*100/60) / 100,
		OutboundSeconds: u.OutboundSeconds(), InboundCalls: u.InboundCalls(), InboundSeconds: u.InboundSeconds(), SMS: u.SMS(),
		Segments: u.Segments(), SMSAmount: domain.Dollars(s.texts), TotalAmount: domain.Dollars(s.charge.Micros.Plus(s.texts)),
	}
}

// ledger walks the rows that were opened from one day to another, in order.
func ledger(ctx context.Context, store commit.Store, workspaceID string, from, to time.Time) iter.Seq2[*domain.LedgerRow, error] {
	return func(yield func(*domain.LedgerRow, error) bool) {
		end := to.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
		for month := monthOf(from); month.Before(end); month = month.AddDate(0, 1, 0) {
			q := commit.Query{
				Kind: "ledger", Workspace: workspaceID, Index: "month=" + month.Format("2006-01"), Oldest: true, Limit: rowsOfLedger,
				From: from.UTC().Format("20060102"), To: end.Format("20060102"),
			}
			for more := true; more; more = q.Cursor != "" {
				batch := make([]*domain.LedgerRow, 0, rowsOfLedger)
				var err error
				q.Cursor, err = store.List(ctx, q, func() domain.Record { return &domain.LedgerRow{} }, func(r domain.Record) error {
					if l, ok := r.(*domain.LedgerRow); ok {
						batch = append(batch, l)
					}
					return nil
				})
				if err != nil {
					yield(nil, record.StoreError(err))
					return
				}
				for _, l := range batch {
					if !yield(l, nil) {
						return
					}
				}
			}
		}
	}
}

// Ledger walks the rows of some days with their prices. Their sum is what
// Usage says: each has its place in the quota by the counters of its day.
func (d *Desk) Ledger(ctx context.Context, p domain.Principal, q billing.UsageQuery) (iter.Seq2[billing.LedgerLine, error], error) {
	w, err := d.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	if p.Environment != domain.Live {
		return func(func(billing.LedgerLine, error) bool) {}, nil
	}
	rows, of, err := d.priced(ctx, w, q)
	if err != nil {
		return nil, err
	}
	place := make(map[string]int, len(rows))
	for _, r := range rows {
		place[r.Key().ID] = r.before
	}
	return func(yield func(billing.LedgerLine, error) bool) {
		for l, err := range ledger(ctx, d.store, w.ID, q.From, q.To) {
			if err != nil {
				yield(billing.LedgerLine{}, err)
				return
			}
			t := of[l.Tariff]
			line := billing.LedgerLine{LedgerRow: *l, Plan: t.Plan, Included: true, Amount: domain.Dollars(0)}
			if l.Direction != domain.Inbound {
				day := l.Usage().Key().ID
				if line.Included = place[day] < t.Included; !line.Included {
					line.Amount = domain.Dollars(t.Micros)
				}
				place[day]++
			}
			if !yield(line, nil) {
				return
			}
		}
	}, nil
}

// Recount compares what was counted with the ledger, and corrects it where it
// is told to. Days on which something is counted meanwhile are looked at again.
func Recount(ctx context.Context, store commit.Store, workspaceID string, q billing.UsageQuery, repair bool) (billing.Recount, error) {
	out := billing.Recount{WorkspaceID: workspaceID, From: domain.Day(q.From), To: domain.Day(q.To), Wrong: []billing.Miscount{}}
	for range record.MaxTries {
		out.Rows, out.Days, out.Wrong = 0, 0, []billing.Miscount{}
		wrong, err := recount(ctx, store, workspaceID, q, &out)
		if err != nil || len(wrong) == 0 {
			return out, err
		}
		if !repair {
			same, errRead := unmoved(ctx, store, wrong)
			if errRead != nil || same {
				return out, record.StoreError(errRead)
			}
			continue
		}
		change := commit.Change{Workspace: workspaceID}
		for _, m := range wrong {
			change.Guards = append(change.Guards, commit.Guard{Key: m.diff.Key(), Version: m.version})
			change.Adds = append(change.Adds, m.diff)
		}
		_, err = store.Apply(ctx, change)
		if out.Repaired = err == nil; !errors.Is(err, domain.ErrConflict) {
			return out, record.StoreError(err)
		}
	}
	return out, domain.Errorf(domain.CodeUnavailable, "calls keep ending meanwhile; try again, or leave today out").With("retry_after", 1)
}

// miscount is what has to be added to a row to make it right.
type miscount struct {
	diff    *domain.Usage
	version uint64
}

// unmoved says whether nothing was counted since on the days that are wrong.
func unmoved(ctx context.Context, store commit.Store, wrong []miscount) (bool, error) {
	for _, m := range wrong {
		now := *m.diff
		version, err := store.Get(ctx, &now)
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return false, err
		}
		if version != m.version {
			return false, nil
		}
	}
	return true, nil
}

func recount(ctx context.Context, store commit.Store, workspaceID string, q billing.UsageQuery, out *billing.Recount) ([]miscount, error) {
	counted, err := counters(ctx, store, workspaceID, q.From, q.To)
	if err != nil {
		return nil, record.StoreError(err)
	}
	have := make(map[string]*domain.Usage, len(counted))
	versions := make(map[string]uint64, len(counted))
	for _, u := range counted { // the version first: what is counted from here on raises it
		if versions[u.Key().ID], err = store.Get(ctx, u); err != nil {
			return nil, record.StoreError(err)
		}
		have[u.Key().ID] = u
	}
	want := make(map[string]*domain.Usage)
	for l, err := range ledger(ctx, store, workspaceID, q.From, q.To) {
		if err != nil {
			return nil, err
		}
		out.Rows++
		u := l.Usage()
		if sum := want[u.Key().ID]; sum != nil {
			sum.Count(l)
			continue
		}
		want[u.Key().ID] = u
	}
	for id, u := range have {
		if want[id] == nil {
			want[id] = &domain.Usage{WorkspaceID: u.WorkspaceID, Day: u.Day, Tariff: u.Tariff}
		}
	}
	out.Days = len(want)
	var wrong []miscount
	for id, w := range want {
		is := have[id]
		if is == nil {
			is = &domain.Usage{WorkspaceID: w.WorkspaceID, Day: w.Day, Tariff: w.Tariff}
		}
		diff := w.Less(is)
		if diff == nil {
			continue
		}
		wrong = append(wrong, miscount{diff, versions[id]})
		out.Wrong = append(out.Wrong, billing.Miscount{Day: w.Day, Tariff: w.Tariff, Counted: is.InLedger(), Ledger: w.InLedger()})
	}
	slices.SortFunc(out.Wrong, func(a, b billing.Miscount) int {
		return cmp.Compare(fmt.Sprint(a.Day, a.Tariff), fmt.Sprint(b.Day, b.Tariff))
	})
	return wrong, nil
}

// Package usage is the service for the usage of a workspace: it reports usage and ledger lines with their prices,
// and checks the counters against the ledger.
package usage

import (
	"context"
	"iter"

	"github.com/callboard/callboard/actors/ledger"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/commit"
)

// workspaces returns the workspace of a principal.
type workspaces interface {
	Workspace(ctx context.Context, p domain.Principal) (*domain.Workspace, error)
}

// Service reads usage counters and ledger rows. They exist only in the live environment, because calls and messages
// in the test environment are free.
type Service struct {
	store      commit.Store
	workspaces workspaces
}

// New returns a Service.
func New(store commit.Store, workspaces workspaces) *Service {
	return &Service{store: store, workspaces: workspaces}
}

// pricedUsage returns the counters with their prices from the first day of q.From's month to q.To. It also returns all
// tariffs of the workspace by tariff number.
func (s *Service) pricedUsage(ctx context.Context, w *domain.Workspace, q billing.UsageQuery) ([]billing.PricedUsage, map[int]domain.Tariff, error) {
	tariffs, err := ledger.Tariffs(ctx, s.store, w)
	if err != nil {
		return nil, nil, commit.StoreError(err)
	}
	rows, err := ledger.Counters(ctx, s.store, w.ID, ledger.FirstOfMonth(q.From), q.To)
	return billing.PriceUsage(rows, tariffs), tariffs, commit.StoreError(err)
}

// Usage returns the usage of a range of days: in total, by month and by day.
func (s *Service) Usage(ctx context.Context, p domain.Principal, q billing.UsageQuery) (billing.Usage, error) {
	out := billing.Usage{Object: "usage", Environment: p.Environment, From: domain.Day(q.From), To: domain.Day(q.To)}
	out.Summarize(nil)
	w, err := s.workspaces.Workspace(ctx, p)
	if err != nil {
		return out, err
	}
	out.Plan = w.Plan
	if p.Environment == domain.Live {
		rows, _, err := s.pricedUsage(ctx, w, q)
		if err != nil {
			return out, err
		}
		out.Summarize(rows)
	}
	return out, nil
}

// Ledger returns the priced ledger lines of a range of days in the order in which they were opened. Their sum equals
// that of Usage. The usage counters decide which lines are within the included quota of the month.
func (s *Service) Ledger(ctx context.Context, p domain.Principal, q billing.UsageQuery) (iter.Seq2[billing.LedgerLine, error], error) {
	w, err := s.workspaces.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	if p.Environment != domain.Live {
		return func(func(billing.LedgerLine, error) bool) {}, nil
	}
	rows, tariffs, err := s.pricedUsage(ctx, w, q)
	if err != nil {
		return nil, err
	}
	before := make(map[string]int, len(rows)) // attempts of the month before each line, by counter row
	for _, r := range rows {
		before[r.Key().ID] = r.AttemptsBefore
	}
	return func(yield func(billing.LedgerLine, error) bool) {
		for l, err := range ledger.Rows(ctx, s.store, w.ID, q.From, q.To) {
			if err != nil {
				yield(billing.LedgerLine{}, commit.StoreError(err))
				return
			}
			t := tariffs[l.Tariff]
			line := billing.LedgerLine{LedgerRow: *l, Plan: t.Plan, Included: true, Amount: domain.Dollars(0)}
			if l.Direction != domain.Inbound {
				day := l.Usage().Key().ID
				if line.Included = before[day] < t.Included; !line.Included {
					line.Amount = domain.Dollars(t.Micros)
				}
				before[day]++
			}
			if !yield(line, nil) {
				return
			}
		}
	}, nil
}

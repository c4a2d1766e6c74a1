// Package usage reports the usage of a workspace with its price.
package usage

import (
	"context"
	"iter"

	"github.com/callboard/callboard/actors/ledger"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/commit"
)

// workspaces finds the workspace of a principal.
type workspaces interface {
	Workspace(ctx context.Context, p domain.Principal) (*domain.Workspace, error)
}

// Service reads usage counters and ledger rows. Only the live environment has them:
// calls and SMS messages of the test environment are free.
type Service struct {
	store      commit.Store
	workspaces workspaces
}

// New returns the service of usage.
func New(store commit.Store, workspaces workspaces) *Service {
	return &Service{store: store, workspaces: workspaces}
}

// priced returns the counters from the first day of the month of q.From to q.To with
// their prices, and all tariffs by number.
func (s *Service) priced(ctx context.Context, w *domain.Workspace, q billing.UsageQuery) ([]billing.PricedUsage, map[int]domain.Tariff, error) {
	tariffs, err := ledger.Tariffs(ctx, s.store, w)
	if err != nil {
		return nil, nil, commit.StoreError(err)
	}
	rows, err := ledger.Counters(ctx, s.store, w.ID, ledger.FirstOfMonth(q.From), q.To)
	return billing.PriceUsage(rows, tariffs), tariffs, commit.StoreError(err)
}

// Usage returns the usage of a range of days: the total, each month, each day.
func (s *Service) Usage(ctx context.Context, p domain.Principal, q billing.UsageQuery) (billing.Usage, error) {
	out := billing.Usage{Object: "usage", Environment: p.Environment, From: domain.Day(q.From), To: domain.Day(q.To)}
	out.Summarize(nil)
	w, err := s.workspaces.Workspace(ctx, p)
	if err != nil {
		return out, err
	}
	out.Plan = w.Plan
	if p.Environment == domain.Live {
		rows, _, err := s.priced(ctx, w, q)
		if err != nil {
			return out, err
		}
		out.Summarize(rows)
	}
	return out, nil
}

// Ledger returns the ledger rows of a range of days with their prices, in the order
// of opening. Their sum is that of Usage: the counters of its day place each row in
// the quota.
func (s *Service) Ledger(ctx context.Context, p domain.Principal, q billing.UsageQuery) (iter.Seq2[billing.LedgerLine, error], error) {
	w, err := s.workspaces.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	if p.Environment != domain.Live {
		return func(func(billing.LedgerLine, error) bool) {}, nil
	}
	rows, tariffs, err := s.priced(ctx, w, q)
	if err != nil {
		return nil, err
	}
	before := make(map[string]int, len(rows)) // attempts of the month, by counter row
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

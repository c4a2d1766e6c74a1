package httpapi_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/audit"
	"github.com/callboard/callboard/service/events"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/record"
)

func (f *fakeServices) CreateKey(ctx context.Context, p domain.Principal, by record.AuditAction, k *domain.APIKey) (*domain.APIKey, string, error) {
	k.KeyPrefix, k.Last4, k.Hash = "svc_sk_live_", "wxyz", "secret-hash"
	k = f.apiKeys.add(k)
	f.noteKey(ctx, p, by, "api_key.created", k.ID)
	return k, "svc_sk_live_secret", nil
}

// noteKey writes the audit entry of a change to an API key. The real key service commits the entry with the change.
func (f *fakeServices) noteKey(ctx context.Context, p domain.Principal, by record.AuditAction, action, id string) {
	by.Action, by.Resource = action, domain.Resource{Type: "api_key", ID: id}
	f.RecordSoon(ctx, p, by)
}

func (f *fakeServices) APIKey(_ context.Context, _ domain.Principal, id string) (*domain.APIKey, error) {
	return f.apiKeys.get(id)
}

func (f *fakeServices) ListKeys(_ context.Context, _ domain.Principal, q keys.Query) (record.Page[*domain.APIKey], error) {
	return f.apiKeys.list(q.PageQuery), nil
}

func (f *fakeServices) UpdateKey(_ context.Context, _ domain.Principal, id string, change func(*domain.APIKey) error) (*domain.APIKey, error) {
	return updateRecord(&f.apiKeys, id, change)
}

func (f *fakeServices) RevokeKey(ctx context.Context, p domain.Principal, by record.AuditAction, id string, _ keys.RevokeRequest) (keys.RevokeResult, error) {
	f.noteKey(ctx, p, by, "api_key.revoked", id)
	return keys.RevokeResult{Remaining: []domain.ResourceRef{}, Ended: []domain.ResourceRef{}}, f.apiKeys.remove(id)
}

func (f *fakeServices) SigningKey(_ context.Context, kid string) (*domain.SigningKey, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range f.signers {
		if k.ID == kid {
			return k, nil
		}
	}
	return nil, nil //nolint:nilnil // unknown key
}

func (f *fakeServices) EnsureSigningKeys(_ context.Context, fresh func() (string, string, error)) (domain.SigningKeySet, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.signers) == 0 {
		k := &domain.SigningKey{Meta: domain.Meta{ID: "jwk_" + ulidOf(1)}}
		var err error
		if k.Public, k.Private, err = fresh(); err != nil {
			return domain.SigningKeySet{}, err
		}
		f.signers = append(f.signers, k)
	}
	return domain.SigningKeySet{Verifying: f.signers, Active: f.signers[len(f.signers)-1]}, nil
}

func (f *fakeServices) CheckKeyIsValid(_ context.Context, _, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.revokedKeys[id] {
		return domain.Errorf(domain.CodeExpiredToken, "The key behind it was revoked.")
	}
	return nil
}

func (f *fakeServices) OriginAllowed(origin string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.workspace.AllowedOrigins, origin)
}

func (f *fakeServices) RecordSoon(_ context.Context, p domain.Principal, a record.AuditAction) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.receivedStrings = append(f.receivedStrings, a.UserAgent)
	f.auditEntries = append(f.auditEntries, fmt.Sprintf("%s %s %s %s %v %s", a.Type, a.Action, p.KeyID, a.Resource.ID, a.Failed, a.Reason))
}

func (f *fakeServices) WithAuditEntry(ctx context.Context, _ domain.Principal, _ record.AuditAction) context.Context {
	return ctx
}

func (f *fakeServices) Record(ctx context.Context, p domain.Principal, a record.AuditAction) {
	f.RecordSoon(ctx, p, a)
}

func (f *fakeServices) takeAuditEntries() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	acts := f.auditEntries
	f.auditEntries = nil
	return acts
}

func (f *fakeServices) ListAudit(context.Context, domain.Principal, audit.Query) (record.Page[*domain.AuditEntry], error) {
	return record.Page[*domain.AuditEntry]{Data: []*domain.AuditEntry{{Meta: fakeMeta("audit"), Type: "auth", Action: "api_key.used", Count: 3, Outcome: "success"}}}, nil
}

func (f *fakeServices) Workspace(context.Context, domain.Principal) (*domain.Workspace, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.workspace, nil
}

func (f *fakeServices) SpendWarnings(_ context.Context, w *domain.Workspace) ([]domain.Detail, error) {
	if w.Calling.DailySpendCap == nil {
		return nil, nil
	}
	return []domain.Detail{{Code: domain.WarningSpendCap, Param: "calling.daily_spend_cap", Message: "The cap does not hold."}}, nil
}

func (f *fakeServices) UpdateWorkspace(_ context.Context, _ domain.Principal, change func(*domain.Workspace) error) (*domain.Workspace, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := *f.workspace
	if err := change(&w); err != nil {
		return nil, err
	}
	f.workspace = &w
	return &w, nil
}

func (f *fakeServices) ListEvents(_ context.Context, _ domain.Principal, q events.Query) (record.Page[event.Event], error) {
	f.eventTypes = q.Types
	if q.After == "evt_"+ulidOf(9) {
		return record.Page[event.Event]{}, domain.Errorf(domain.CodeCursorExpired, "The event is no longer kept.")
	}
	e := oneEvent(1)
	return record.Page[event.Event]{Data: []event.Event{e}, Next: e.ID}, nil
}

func (f *fakeServices) Ready(context.Context) error { return f.ready }

func (f *fakeServices) RefusesWrites() bool { return f.draining.Load() }

func (f *fakeServices) Reserve(ctx context.Context, _ domain.Principal, k record.IdempotencyKey, _ string) (context.Context, *record.StoredReply, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keysInUse--; f.running[k] || f.keysInUse >= 0 {
		return ctx, nil, domain.Errorf(domain.CodeIdempotencyConflict, "A request with this key is still running.")
	}
	if r := f.replies[k]; r != nil {
		return ctx, r, nil
	}
	f.running[k] = true
	return ctx, nil, nil
}

func (f *fakeServices) StoreReply(_ context.Context, _ domain.Principal, k record.IdempotencyKey, r record.StoredReply) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, k)
	f.replies[k] = &r
	return nil
}

func (f *fakeServices) Release(_ context.Context, _ domain.Principal, k record.IdempotencyKey, unknown bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.releases = append(f.releases, unknown)
	delete(f.running, k)
	return nil
}

func (f *fakeServices) Usage(_ context.Context, p domain.Principal, q billing.UsageQuery) (billing.Usage, error) {
	used := billing.UsageTotals{Attempts: 3, Included: 2, Overage: 1, Amount: domain.Dollars(100_000), Minutes: 1.5, OutboundSeconds: 90}
	return billing.Usage{
		Object: "usage", Environment: p.Environment, From: domain.Day(q.From), To: domain.Day(q.To), Plan: domain.Starter, Total: used,
		Months: []billing.MonthUsage{{Month: domain.Day(q.To)[:7], UsageTotals: used}}, Days: []billing.DayUsage{{Day: domain.Day(q.To), UsageTotals: used}},
	}, nil
}

func (f *fakeServices) Ledger(context.Context, domain.Principal, billing.UsageQuery) (iter.Seq2[billing.LedgerLine, error], error) {
	at := time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC)
	return func(yield func(billing.LedgerLine, error) bool) {
		row := domain.LedgerRow{AttemptID: "a/1", CallID: "call_1", CampaignID: "campaign_1", OpenedAt: at, ClosedAt: at.Add(time.Second), Seconds: 1}
		if yield(billing.LedgerLine{LedgerRow: row, Plan: domain.Starter, Included: true, Amount: domain.Dollars(0)}, nil) {
			row.AttemptID, row.CampaignID = "call_2", ""
			yield(billing.LedgerLine{LedgerRow: row, Plan: domain.Starter, Amount: domain.Dollars(100_000)}, f.campaignErr)
		}
	}, nil
}

func (f *fakeServices) EncodeRequest(context.Context) string { return "turn" }

func (f *fakeServices) DecodeRequest(ctx context.Context, _ string) (context.Context, error) {
	return ctx, nil
}

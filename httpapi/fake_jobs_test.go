package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/restorequarantine"
)

// fakeJobs holds the bulk jobs, exports, data requests and workspaces of fakeServices.
type fakeJobs struct {
	bulks          fakeRecords[*domain.Bulk]
	files          fakeRecords[*domain.Export]
	data           fakeRecords[*domain.DataRequest]
	tenants        fakeRecords[*domain.Workspace]
	orders         []bulk.NewJob
	workspaceCount int
}

func (d *fakeJobs) initRecords() {
	d.bulks.kind, d.files.kind, d.data.kind, d.tenants.kind = domain.PrefixBulk, domain.PrefixExport, domain.PrefixDataRequest, domain.PrefixWorkspace
}

func (f *fakeServices) StartBulk(_ context.Context, _ domain.Principal, o bulk.NewJob) (*domain.Bulk, error) {
	f.mu.Lock()
	f.fakeJobs.orders = append(f.fakeJobs.orders, o)
	f.mu.Unlock()
	b := &domain.Bulk{Type: o.Type, Status: domain.BulkQueued, TargetID: o.Target, Total: len(o.Items), KeyID: "key_x", Operator: true, Next: 1}
	for _, item := range o.Items {
		if item.Error != nil {
			b.Rejected++
			b.AddError(*item.Error)
		}
	}
	b.Accepted = b.Total - b.Rejected
	b.Pending = b.Accepted
	return f.bulks.add(b), nil
}

func (f *fakeServices) Bulk(_ context.Context, _ domain.Principal, id string) (*domain.Bulk, error) {
	return f.bulks.get(id)
}

func (f *fakeServices) ListBulks(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.Bulk], error) {
	return f.bulks.list(q), nil
}

func (f *fakeServices) BulkItems(_ context.Context, _ domain.Principal, id string, _ bulk.ItemQuery) (record.Page[*domain.BulkItem], error) {
	b, err := f.bulks.get(id)
	if err != nil {
		return record.Page[*domain.BulkItem]{}, err
	}
	return record.Page[*domain.BulkItem]{Data: []*domain.BulkItem{{BulkID: b.ID, Status: domain.ItemDone, ResultID: "call_" + ulidOf(1)}}}, nil
}

func (f *fakeServices) CancelBulk(_ context.Context, _ domain.Principal, id string) (*domain.Bulk, error) {
	return updateRecord(&f.bulks, id, func(b *domain.Bulk) error { b.Status = domain.BulkCancelled; return nil })
}

// resetLimits gives the workspace of the tests a new id, so that following requests start with unused rate limits.
func (f *fakeServices) resetLimits() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.workspaceCount++
	w := *f.workspace
	w.ID = fmt.Sprintf("ws_%d", f.workspaceCount)
	f.workspace = &w
}

// hasSmallLimit reports whether the rate limit of a path is so low that tests would exceed it.
func hasSmallLimit(path string) bool {
	return strings.Contains(path, "/v1/bulk") || strings.Contains(path, "/v1/exports")
}

// addJob adds a resource of a kind, the name of its collection in API paths, and returns its id.
func (d *testServer) addJob(kind string) string {
	if kind == "bulk" {
		return d.bulks.add(&domain.Bulk{Type: domain.BulkCalls, Status: domain.BulkRunning}).ID
	}
	if kind == "sms-conversations" {
		return d.addConversation()
	}
	if kind == "events" {
		return "evt_" + ulidOf(1)
	}
	if kind == "workspaces" {
		return d.tenants.add(&domain.Workspace{Name: "w", Plan: domain.Enterprise, Limits: domain.DefaultEnterpriseLimits(), DefaultCountry: "US"}).ID
	}
	if kind == "data-requests" {
		return d.data.add(&domain.DataRequest{Type: domain.DataExport, Phone: "+12025550123", Status: domain.DataCompleted, Counts: map[string]int{"calls": 1}}).ID
	}
	if kind == "exports" {
		return d.files.add(&domain.Export{Type: domain.ExportCalls, Format: "csv", Status: domain.ExportCompleted}).ID
	}
	return ""
}

func (f *fakeServices) CreateDataRequest(_ context.Context, _ domain.Principal, kind domain.DataRequestType, phone string) (*domain.DataRequest, error) {
	return f.data.add(&domain.DataRequest{Type: kind, Phone: phone, Status: domain.DataQueued, PhoneHash: "0f1e2d3c4b5a69788796a5b4c3d2e1f0"}), nil
}

func (f *fakeServices) DataRequest(_ context.Context, _ domain.Principal, id string) (*domain.DataRequest, error) {
	return f.data.get(id)
}

func (f *fakeServices) ListDataRequests(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.DataRequest], error) {
	return f.data.list(q), nil
}

func (f *fakeServices) DataRequestFile(_ context.Context, _ domain.Principal, id string) (record.Download, error) {
	r, err := f.data.get(id)
	if err != nil {
		return record.Download{}, err
	}
	if r.Status != domain.DataCompleted {
		return record.Download{}, domain.Errorf(domain.CodeProcessing, "Still to come.")
	}
	const text = "PK"
	return record.Download{Size: int64(len(text)), Created: r.CreatedAt, Body: readSeekNopCloser{strings.NewReader(text)}}, nil
}

func (f *fakeServices) CreateExport(_ context.Context, _ domain.Principal, e *domain.Export) (*domain.Export, error) {
	e.Status = domain.ExportQueued
	return f.files.add(e), nil
}

func (f *fakeServices) Export(_ context.Context, _ domain.Principal, id string) (*domain.Export, error) {
	return f.files.get(id)
}

func (f *fakeServices) ListExports(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.Export], error) {
	return f.files.list(q), nil
}

func (f *fakeServices) ExportFile(_ context.Context, _ domain.Principal, id string) (record.Download, error) {
	e, err := f.files.get(id)
	if err != nil {
		return record.Download{}, err
	}
	if e.Status == domain.ExportQueued {
		return record.Download{}, domain.Errorf(domain.CodeProcessing, "Still to come.")
	}
	text := "id\r\ncall_1\r\n"
	return record.Download{Size: int64(len(text)), Created: e.CreatedAt, Body: readSeekNopCloser{strings.NewReader(text)}}, nil
}

type readSeekNopCloser struct{ io.ReadSeeker }

func (readSeekNopCloser) Close() error { return nil }

func (f *fakeServices) CreateWorkspace(_ context.Context, w *domain.Workspace) (*domain.Workspace, *domain.APIKey, string, error) {
	w = f.tenants.add(w)
	w.WorkspaceID = w.ID
	return w, &domain.APIKey{Meta: domain.Meta{ID: "key_" + ulidOf(1)}}, "svc_sk_live_first", nil
}

func (f *fakeServices) AnyWorkspace(_ context.Context, id string) (*domain.Workspace, error) {
	return f.tenants.get(id)
}

func (f *fakeServices) ListWorkspaces(_ context.Context, q record.PageQuery) (record.Page[*domain.Workspace], error) {
	return f.tenants.list(q), nil
}

func (f *fakeServices) ListNumbersByStatus(_ context.Context, _ string, _ domain.NumberStatus, q record.PageQuery) (record.Page[*domain.PhoneNumber], error) {
	return f.numbers.list(q), nil
}

func (f *fakeServices) ApproveNumber(_ context.Context, _, id string) (*domain.PhoneNumber, error) {
	return updateRecord(&f.numbers, id, func(n *domain.PhoneNumber) error { n.Status = domain.NumberLive; return nil })
}

func (f *fakeServices) DeleteWorkspace(_ context.Context, _ domain.Principal, id string) error {
	return f.tenants.remove(id)
}

func (f *fakeServices) LocalReport(_ context.Context, requests func(*domain.Workspace) int) (*load.Report, error) {
	return &load.Report{
		Node: &load.NodeLoad{Object: "node_load", AsOf: f.workspace.CreatedAt, Ready: true},
		Workspaces: []*load.WorkspaceLoad{{
			Object: "workspace_load", ID: f.workspace.ID, Name: f.workspace.Name, Plan: f.workspace.Plan, SpentToday: domain.Dollars(0), SpentKnown: true, LiveCalls: 2,
			LastMinute: load.Activity{Requests: max(1, requests(f.workspace))},
			Troubles:   []load.UnhealthyTrunk{{ID: "trunk_" + ulidOf(1), Name: "carrier", Environment: domain.Live, Status: "down"}},
		}},
	}, nil
}

func (f *fakeServices) StopDialling(_ context.Context, p domain.Principal, reason string) (load.DiallingNow, error) {
	f.recordArgument("stop " + reason + " by " + p.UserID)
	return load.DiallingNow{Stopped: true, Reason: reason, Since: &f.workspace.CreatedAt, By: &domain.Actor{Type: "operator", ID: "key_operator"}}, nil
}

func (f *fakeServices) ResumeDialling(_ context.Context, p domain.Principal) (load.DiallingNow, error) {
	f.recordArgument("resume by " + p.UserID)
	return load.DiallingNow{}, nil
}

func (f *fakeServices) DrainNode(_ context.Context, p domain.Principal) (load.DrainNow, error) {
	f.recordArgument("drain by " + p.UserID)
	return load.DrainNow{On: true, Since: &f.workspace.CreatedAt, By: &domain.Actor{Type: "operator", ID: "key_operator"}}, nil
}

func (f *fakeServices) Quarantined() bool { return f.restored }

func (f *fakeServices) Quarantine(context.Context, domain.Principal) (*restorequarantine.Quarantine, error) {
	q := &restorequarantine.Quarantine{Object: "quarantine", Active: f.restored, Actions: []domain.UncertainAction{}}
	if f.restored {
		at := f.workspace.CreatedAt
		q.BackupAt, q.RestoredAt = &at, &at
		q.Actions = append(q.Actions, domain.UncertainAction{Kind: domain.UncertainCall, WorkspaceID: f.workspace.ID, Environment: domain.Live, ID: "call_" + ulidOf(1), To: "+12025550123", At: at})
		q.Counts.Calls = 1
	}
	return q, nil
}

func (f *fakeServices) EndQuarantine(ctx context.Context, p domain.Principal) (*restorequarantine.Quarantine, error) {
	q, err := f.Quarantine(ctx, p)
	f.restored, q.Active = false, false
	return q, err
}

func (f *fakeServices) UndrainNode(_ context.Context, p domain.Principal) (load.DrainNow, error) {
	f.recordArgument("undrain by " + p.UserID)
	return load.DrainNow{}, nil
}

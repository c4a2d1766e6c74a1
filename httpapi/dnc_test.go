package httpapi_test

import (
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/service/decisions"
	"github.com/callboard/callboard/service/dnc"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/decisionlist"
)

func (f *fakeServices) CreateDNCList(_ context.Context, _ domain.Principal, l *domain.DNCList) (*domain.DNCList, error) {
	return f.dncLists.add(l), nil
}

func (f *fakeServices) DNCList(_ context.Context, _ domain.Principal, id string) (*domain.DNCList, error) {
	return f.dncLists.get(id)
}

func (f *fakeServices) ListDNCLists(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.DNCList], error) {
	return f.dncLists.list(q), nil
}

func (f *fakeServices) UpdateDNCList(_ context.Context, _ domain.Principal, id string, change func(*domain.DNCList) error) (*domain.DNCList, error) {
	return updateRecord(&f.dncLists, id, change)
}

func (f *fakeServices) DeleteDNCList(_ context.Context, _ domain.Principal, id string) error {
	return f.dncLists.remove(id)
}

func (f *fakeServices) ImportDNC(_ context.Context, _ domain.Principal, id string, rows iter.Seq2[domain.RawNumber, error]) (dnc.DNCImport, error) {
	if _, err := f.dncLists.get(id); err != nil {
		return dnc.DNCImport{}, err
	}
	summary := dnc.DNCImport{ListID: id, Errors: []domain.ContactError{}}
	for row, err := range rows {
		if err != nil {
			return summary, err
		}
		summary.Received++
		if row.Problem != "" {
			summary.Invalid++
			summary.Errors = append(summary.Errors, domain.ContactError{Line: row.Line, Code: "invalid_row", Message: row.Problem})
			continue
		}
		summary.Added++
		f.dncNumbers = append(f.dncNumbers, row.Phone)
	}
	return summary, nil
}

func (f *fakeServices) ListDNCEntries(_ context.Context, _ domain.Principal, id string, _ record.PageQuery) (record.Page[domain.DNCEntry], error) {
	if _, err := f.dncLists.get(id); err != nil {
		return record.Page[domain.DNCEntry]{}, err
	}
	return record.Page[domain.DNCEntry]{Data: []domain.DNCEntry{{Phone: "+12025550123", Source: domain.DNCOptOut, CallID: "call_1"}}, Next: "7-12025550123"}, nil
}

func (f *fakeServices) DeleteDNCEntry(_ context.Context, _ domain.Principal, id, phone string) (string, error) {
	if _, err := f.dncLists.get(id); err != nil {
		return "", err
	}
	if strings.TrimPrefix(phone, "+") != "12025550123" {
		return "", domain.Errorf(domain.CodeNotFound, "It is not on the list.")
	}
	return "+12025550123", nil
}

func (f *fakeServices) CheckDNC(_ context.Context, _ domain.Principal, phone string) (dnc.DNCCheck, error) {
	return dnc.DNCCheck{Phone: phone, Listed: true, Lists: []dnc.DNCFound{{ListID: "dnc_" + ulidOf(1), Name: "Ours", Default: true, DNCEntry: domain.DNCEntry{Phone: phone, Source: domain.DNCImport}}}}, nil
}

func TestDNCListLifecycle(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	fakeList := d.create("/v1/dnc-lists", m{"name": "Registry"})
	d.must(422, "POST", "/v1/dnc-lists", "operator", `{"name":""}`)
	d.must(200, "GET", "/v1/dnc-lists", "operator", nil)
	d.must(200, "GET", "/v1/dnc-lists/"+fakeList, "operator", nil)
	d.must(404, "GET", "/v1/dnc-lists/dnc_01J0000000000000000000000Z", "operator", nil)
	d.must(200, "PATCH", "/v1/dnc-lists/"+fakeList, "operator", `{"name":"National"}`)
	list := d.must(200, "GET", "/v1/dnc-lists/"+fakeList+"/entries?limit=1", "operator", nil)
	assert.Contains(t, string(list.Body), `"next_cursor":"7-12025550123"`)
	d.must(200, "DELETE", "/v1/dnc-lists/"+fakeList+"/entries/%2B12025550123", "operator", nil)
	d.must(200, "DELETE", "/v1/dnc-lists/"+fakeList+"/entries/12025550123", "operator", nil)
	d.must(404, "DELETE", "/v1/dnc-lists/"+fakeList+"/entries/12025550124", "operator", nil)
	found := d.must(200, "GET", "/v1/dnc/check?phone=%2B12025550123", "operator", nil)
	assert.Contains(t, string(found.Body), `"listed":true`)
	d.must(422, "GET", "/v1/dnc/check", "operator", nil)
	d.must(200, "DELETE", "/v1/dnc-lists/"+fakeList, "operator", nil)
}

func TestDNCNumbersAreImportedInEveryFormat(t *testing.T) {
	for name, c := range map[string]struct {
		kind, body string
		added      []string
		invalid    int
	}{
		"JSON texts":   {"application/json", `{"entries":["+12025550123","+12025550124"]}`, []string{"+12025550123", "+12025550124"}, 0},
		"JSON objects": {"application/json", `{"entries":[{"phone":"+12025550123"},{"name":"x"},7]}`, []string{"+12025550123"}, 2},
		"CSV":          {"text/csv", "\ufeffname;phone\nAda;+12025550123\n", []string{"+12025550123"}, 0},
		"lines":        {"text/plain", "+12025550123\n\n(202) 555-0124\r\n" + strings.Repeat("9", 100) + "\n", []string{"+12025550123", "(202) 555-0124"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := startServer(t, httpapi.Config{})
			fakeList := d.create("/v1/dnc-lists", m{"name": "Registry"})
			r := d.must(200, "POST", "/v1/dnc-lists/"+fakeList+"/entries", "operator", c.body, "Content-Type", c.kind)
			var sum dnc.DNCImport
			require.NoError(t, json.Unmarshal(r.Body, &sum))
			assert.Equal(t, c.added, d.dncNumbers)
			assert.Equal(t, c.invalid, sum.Invalid, "%s", r.Body)
			require.Equal(t, len(c.added), sum.Added)
		})
	}
}

func TestInvalidDNCImportIsRefused(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	fakeList := d.create("/v1/dnc-lists", m{"name": "Registry"})
	path := "/v1/dnc-lists/" + fakeList + "/entries"
	d.must(422, "POST", path, "operator", `{}`)
	d.must(422, "POST", path, "operator", `{"entries":"+12025550123"}`)
	d.must(400, "POST", path, "operator", `{"entries":[`)
	d.must(415, "POST", path, "operator", "x", "Content-Type", "image/png")
}

func (f *fakeServices) ListDecisions(_ context.Context, _ domain.Principal, id, phone string, q record.PageQuery) (record.Page[decisionlist.Decision], error) {
	if _, err := f.campaigns.get(id); err != nil {
		return record.Page[decisionlist.Decision]{}, err
	}
	return record.Page[decisionlist.Decision]{Data: []decisionlist.Decision{sampleDecision(phone)}, Next: "1-" + strconv.Itoa(q.Limit)}, nil
}

func sampleDecision(phone string) decisionlist.Decision {
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	return decisionlist.Decision{
		Row: 1, At: at, Phone: phone, Decision: "dial", Attempt: 1,
		Rules: []domain.Ruling{{Rule: "dnc", Passed: true, Lists: []string{"dnc_1", "dnc_2"}}, {Rule: "line", Held: 3, First: &at, Last: &at}},
	}
}

func (f *fakeServices) Decisions(_ context.Context, _ domain.Principal, id string) (iter.Seq2[decisionlist.Decision, error], error) {
	_, err := f.campaigns.get(id)
	return func(yield func(decisionlist.Decision, error) bool) { yield(sampleDecision("+12025550123"), nil) }, err
}

func (f *fakeServices) VerifyDecisions(_ context.Context, _ domain.Principal, id string) (decisions.DecisionsVerified, error) {
	_, err := f.campaigns.get(id)
	row := 7
	return decisions.DecisionsVerified{CampaignID: id, Rows: 6, BrokenRow: &row, Reason: "row 7 was changed"}, err
}

func TestDecisionsAreListedAndDownloaded(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/campaigns/" + d.create("/v1/campaigns", m{"name": "c", "agent_id": "agent_" + ulidOf(1)}) + "/decisions"
	r := d.must(200, "GET", path+"?phone=%2B12025550123&limit=1", "operator", nil)
	assert.Contains(t, string(r.Body), `"phone":"+12025550123"`)
	assert.Contains(t, string(r.Body), `"next_cursor":"1-1"`)
	assert.Contains(t, string(d.must(200, "GET", path+"/verify", "operator", nil).Body), `"broken_row":7`)
	lines := strings.Split(strings.TrimSpace(string(d.must(200, "GET", path+".csv", "operator", nil).Body)), "\r\n")
	require.Len(t, lines, 3, "one row per rule")
	assert.Equal(t, "1,2026-03-02T12:00:00.000Z,+12025550123,,dial,1,,dnc,true,,,,dnc_1 dnc_2,,0,0,0,,,,0", lines[1])
	var one decisionlist.Decision
	require.NoError(t, json.Unmarshal(d.must(200, "GET", path+".jsonl", "operator", nil).Body, &one))
	assert.Equal(t, sampleDecision("+12025550123"), one)
}

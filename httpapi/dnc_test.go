package httpapi_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/httpapi"
)

func (f *fake) CreateDNCList(_ context.Context, _ domain.Principal, l *domain.DNCList) (*domain.DNCList, error) {
	return f.dncLists.add(l), nil
}

func (f *fake) DNCList(_ context.Context, _ domain.Principal, id string) (*domain.DNCList, error) {
	return f.dncLists.get(id)
}

func (f *fake) ListDNCLists(_ context.Context, _ domain.Principal, q ask.Page) (ask.List[*domain.DNCList], error) {
	return f.dncLists.list(q), nil
}

func (f *fake) UpdateDNCList(_ context.Context, _ domain.Principal, id string, change func(*domain.DNCList) error) (*domain.DNCList, error) {
	return alter(&f.dncLists, id, change)
}

func (f *fake) DeleteDNCList(_ context.Context, _ domain.Principal, id string) error {
	return f.dncLists.drop(id)
}

func (f *fake) ImportDNC(_ context.Context, _ domain.Principal, id string, rows iter.Seq2[ask.RawNumber, error]) (ask.DNCImport, error) {
	if _, err := f.dncLists.get(id); err != nil {
		return ask.DNCImport{}, err
	}
	sum := ask.DNCImport{ListID: id, Errors: []ask.ContactError{}}
	for row, err := range rows {
		if err != nil {
			return sum, err
		}
		sum.Received++
		if row.Problem != "" {
			sum.Invalid++
			sum.Errors = append(sum.Errors, ask.ContactError{Line: row.Line, Code: "invalid_row", Message: row.Problem})
			continue
		}
		sum.Added++
		f.dncNumbers = append(f.dncNumbers, row.Phone)
	}
	return sum, nil
}

func (f *fake) ListDNCEntries(_ context.Context, _ domain.Principal, id string, _ ask.Page) (ask.List[domain.DNCEntry], error) {
	if _, err := f.dncLists.get(id); err != nil {
		return ask.List[domain.DNCEntry]{}, err
	}
	return ask.List[domain.DNCEntry]{Data: []domain.DNCEntry{{Phone: "+12025550123", Source: domain.DNCOptOut, CallID: "call_1"}}, Next: "7-12025550123"}, nil
}

func (f *fake) DeleteDNCEntry(_ context.Context, _ domain.Principal, id, phone string) (string, error) {
	if _, err := f.dncLists.get(id); err != nil {
		return "", err
	}
	if strings.TrimPrefix(phone, "+") != "12025550123" {
		return "", domain.Errorf(domain.CodeNotFound, "It is not on the list.")
	}
	return "+12025550123", nil
}

func (f *fake) CheckDNC(_ context.Context, _ domain.Principal, phone string) (ask.DNCCheck, error) {
	return ask.DNCCheck{Phone: phone, Listed: true, Lists: []ask.DNCFound{{ListID: "dnc_" + ulidOf(1), Name: "Ours", Default: true}}}, nil
}

func TestADoNotCallListIsKeptThroughTheDoor(t *testing.T) {
	d := open(t, httpapi.Config{})
	fakeList := d.make("/v1/dnc-lists", m{"name": "Registry"})
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

func TestNumbersAreImportedInEveryForm(t *testing.T) {
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
			d := open(t, httpapi.Config{})
			fakeList := d.make("/v1/dnc-lists", m{"name": "Registry"})
			r := d.must(200, "POST", "/v1/dnc-lists/"+fakeList+"/entries", "operator", c.body, "Content-Type", c.kind)
			var sum ask.DNCImport
			require.NoError(t, json.Unmarshal(r.Body, &sum))
			assert.Equal(t, c.added, d.fake.dncNumbers)
			assert.Equal(t, c.invalid, sum.Invalid, "%s", r.Body)
			require.Equal(t, len(c.added), sum.Added)
		})
	}
}

func TestWhatIsNoImportOfNumbersIsRefused(t *testing.T) {
	d := open(t, httpapi.Config{})
	fakeList := d.make("/v1/dnc-lists", m{"name": "Registry"})
	path := "/v1/dnc-lists/" + fakeList + "/entries"
	d.must(422, "POST", path, "operator", `{}`)
	d.must(422, "POST", path, "operator", `{"entries":"+12025550123"}`)
	d.must(400, "POST", path, "operator", `{"entries":[`)
	d.must(415, "POST", path, "operator", "x", "Content-Type", "image/png")
}

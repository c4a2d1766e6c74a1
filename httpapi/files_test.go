package httpapi_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/service/record/contactlist"
)

func (d *testServer) createCampaign() string {
	return d.create("/v1/campaigns", m{"name": "c", "agent_id": "agent_" + ulidOf(1)})
}

func (d *testServer) setProcessing(id string, now bool) {
	_, err := updateRecord(&d.calls, id, func(c *domain.Call) error {
		c.Processing, c.RecordingAvailable, c.TranscriptAvailable = now, !now, !now
		return nil
	})
	require.NoError(d.t, err)
}

func TestContactsUploadInEveryFormat(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/campaigns/" + d.createCampaign() + "/contacts"
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	require.NoError(t, w.WriteField("note", "not the file"))
	file, err := w.CreateFormFile("file", "list.csv")
	require.NoError(t, err)
	_, err = io.WriteString(file, "phone;name\r\n+12025550123;\"Ada; Lady\"\r\n;nobody\r\n")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	const ada = `{"phone":"+12025550123","context":{"name":"Ada; Lady"}}`
	for kind, body := range map[string]string{
		"application/json":                `{"contacts":[` + ada + `,{"context":{}}]}`,
		"application/json; charset=x":     `[` + ada + `,{"phone":7}]`,
		"application/x-ndjson":            ada + "\n\n{\n",
		"text/csv; charset=utf-8":         "\xef\xbb\xbfPhone,name\n+12025550123,\"Ada; Lady\"\n+1,2,3\n",
		w.FormDataContentType():           form.String(),
		"text/csv;header=present;x=\"y\"": "name\tPHONE\nAda; Lady\t+12025550123\n\xff\t1\n",
	} {
		d.contacts = nil
		r := d.must(200, "POST", path, "operator", body, "Content-Type", kind).json(t)
		assert.Equal(t, m{"received": 2.0, "accepted": 1.0, "duplicates": 0.0, "invalid": 1.0, "dnc": 0.0, "destination_not_allowed": 0.0, "missing_variables": 0.0}, r["contacts_summary"], kind)
		assert.Len(t, r["contact_errors"], 1, kind)
		require.Len(t, d.contacts, 2, kind)
		assert.Equal(t, []any{"+12025550123", domain.Context{"name": "Ada; Lady"}}, []any{d.contacts[0].Phone, d.contacts[0].Context}, kind)
	}
	r := d.must(200, "POST", path, "operator", "PHONE;First name;Shoe size\n+12025550123;Ada;nine\n", "Content-Type", "text/csv").json(t)
	assert.Equal(t, []any{m{"PHONE": "phone", "First name": "first_name"}, []any{"Shoe size"}, []any{}}, []any{r["columns"], r["unmapped"], r["missing"]})
	r = d.must(200, "POST", path, "operator", `[`+ada+`]`).json(t)
	assert.Equal(t, []any{m{}, []any{}, []any{}}, []any{r["columns"], r["unmapped"], r["missing"]}, "JSON has no columns")
	d.contacts = nil
	d.must(200, "POST", path, "operator", "phone,name\n+12025550123,M\xfcller\n", "Content-Type", "text/csv; charset=ISO-8859-1")
	assert.Equal(t, domain.Context{"name": "Müller"}, d.contacts[0].Context)
	for kind, c := range map[string]struct {
		body   string
		status int
	}{
		"text/csv;charset=x-none":        {"phone\n1\n", 415},
		"text/csv":                       {"name\nAda\n", 422},
		"text/csv; a=b":                  {"", 422},
		"application/json":               {"{", 400},
		"application/json; a=b":          {`{"contacts":"x"}`, 422},
		"application/json; c=d":          {`{}`, 422},
		"text/html":                      {"<p>", 415},
		"multipart/form-data":            {"x", 400},
		"multipart/form-data;boundary=b": {"--b\r\nnothing", 400},
	} {
		d.must(c.status, "POST", path, "operator", c.body, "Content-Type", kind)
	}
	small := startServer(t, httpapi.Config{UploadLimit: 100_000, JSONLimit: 1000})
	path = "/v1/campaigns/" + small.createCampaign() + "/contacts"
	small.must(413, "POST", path, "operator", "phone\n"+strings.Repeat("+12025550123\n", 10_000), "Content-Type", "text/csv")
	small.must(413, "POST", path, "operator", `[`+strings.Repeat(ada+",", 3000)+ada+`]`)
	small.must(200, "POST", path, "operator", `[`+strings.Repeat(ada+",", 30)+ada+`]`)
}

// rowsOf returns a stream of n CSV rows with a header row.
func rowsOf(n int) io.Reader {
	r, w := io.Pipe()
	go func() {
		var b bytes.Buffer
		b.WriteString("phone,name,city\n")
		for i := range n {
			fmt.Fprintf(&b, "+1%d,Name %d,City %d\n", 2012000000+i*7, i, i%997)
			if b.Len() > 32<<10 {
				if _, err := w.Write(b.Bytes()); err != nil {
					return
				}
				b.Reset()
			}
		}
		_, _ = w.Write(b.Bytes())
		_ = w.Close()
	}()
	return r
}

func heapBytes() uint64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

func TestLargeContactUploadUsesBoundedMemory(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/campaigns/" + d.createCampaign() + "/contacts"
	const rows = 200_000
	before, peak, seen := heapBytes(), uint64(0), 0
	d.onRow = func(domain.RawContact) {
		if seen++; seen%50_000 == 0 {
			peak = max(peak, heapBytes())
		}
	}
	r := d.must(200, "POST", path, "operator", rowsOf(rows), "Content-Type", "text/csv").json(t)
	assert.InDelta(t, rows, r["contacts_summary"].(m)["accepted"], 0)
	assert.Less(t, peak, before+16<<20, "a buffered upload would need more than 40 MB")
}

func TestCampaignResultsAreStreamedAndFormulasEscaped(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.createCampaign()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	d.results = func(yield func(contactlist.ResultRow, error) bool) {
		yield(contactlist.ResultRow{
			Phone: "+12025550123", Name: `=HYPERLINK("http://x","y")`, Outcome: "confirmed", Duration: 12, Confirmed: true,
			Notes: "line one\nline, \"two\"", CompletedAt: &at, Reason: domain.ReasonCompleted,
		}, nil)
		yield(contactlist.ResultRow{Phone: "+12025550124", Name: " +1", Outcome: "pending", Notes: "-1"}, nil)
	}
	r := d.must(200, "GET", "/v1/campaigns/"+id+"/results", "analytics:read", nil)
	assert.Equal(t, "phone,name,outcome,duration,confirmed,notes,completed_at,reason\r\n"+
		"+12025550123,\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\",confirmed,12,true,\"line one\r\nline, \"\"two\"\"\",2026-03-01T11:00:00.000Z,completed\r\n"+
		"+12025550124,' +1,pending,0,false,'-1,,\r\n", string(r.Body))
	assert.Equal(t, "text/csv; charset=utf-8; header=present", r.Header.Get("Content-Type"))

	d.results = func(yield func(contactlist.ResultRow, error) bool) {
		for i := range 200_000 {
			if !yield(contactlist.ResultRow{Phone: fmt.Sprintf("+1%d", 2012000000+i), Name: "Name", Outcome: "completed"}, nil) {
				return
			}
		}
	}
	all, err := csv.NewReader(bytes.NewReader(d.must(200, "GET", "/v1/campaigns/"+id+"/results", "operator", nil).Body)).ReadAll()
	require.NoError(t, err)
	assert.Len(t, all, 200_001)
}

func TestAbortedResultsStreamClosesConnection(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.createCampaign()
	for name, last := range map[string]func(){"error": func() {}, "panic": func() { panic("lost") }} {
		d.results = func(yield func(contactlist.ResultRow, error) bool) {
			for range 1000 {
				yield(contactlist.ResultRow{Phone: "+12025550123", Name: strings.Repeat("x", 100)}, nil)
			}
			last()
			yield(contactlist.ResultRow{}, errors.New("the store went away"))
		}
		req := d.request("/v1/campaigns/" + id + "/results")
		res, err := d.client.Do(req)
		if err == nil {
			_, err = io.ReadAll(res.Body)
			_ = res.Body.Close()
		}
		require.Error(t, err, name)
	}
	d.must(200, "GET", "/healthz", "", nil)
}

func TestRecordingSupportsRange(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: "https://calls.example.com/"})
	id := d.create("/v1/calls/outbound", m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)})
	path := "/v1/calls/" + id + "/recording"
	d.setProcessing(id, true)
	still := d.must(202, "GET", path, "operator", nil)
	assert.Equal(t, m{"call_id": id, "status": "processing"}, still.json(t))
	words := d.must(202, "GET", "/v1/calls/"+id+"/transcript", "operator", nil)
	assert.Equal(t, m{"call_id": id, "status": "processing", "language": "", "segments": []any{}, "text": ""}, words.json(t))
	assert.Equal(t, []string{"2", "2"}, []string{still.Header.Get("Retry-After"), words.Header.Get("Retry-After")})
	d.setProcessing(id, false)
	call := d.must(200, "GET", "/v1/calls/"+id, "operator", nil).json(t)
	assert.Equal(t, []any{"https://calls.example.com/v1/calls/" + id + "/recording", "https://calls.example.com/v1/calls/" + id + "/transcript"},
		[]any{call["recording_url"], call["transcript_url"]})

	d.wav = []byte("0123456789")
	got, want := map[string]string{}, map[string]string{
		"":                            "200  0123456789",
		"bytes=0-3":                   "206 bytes 0-3/10 0123",
		"bytes=4-":                    "206 bytes 4-9/10 456789",
		"bytes=-2":                    "206 bytes 8-9/10 89",
		"bytes=-99":                   "206 bytes 0-9/10 0123456789",
		"bytes=8-99":                  "206 bytes 8-9/10 89",
		"bytes=10-":                   "416 bytes */10 ",
		"bytes=-0":                    "416 bytes */10 ",
		"bytes=3-2":                   "200  0123456789",
		"bytes=0-1,3-4":               "200  0123456789",
		"items=0-1":                   "200  0123456789",
		"bytes=a-b":                   "200  0123456789",
		"bytes=99999999999999999999-": "416 bytes */10 ",
	}
	for header := range want {
		r := d.do("GET", path, "operator", nil, "Range", header)
		body := string(r.Body)
		if r.Status == 416 {
			assert.Equal(t, "range_not_satisfiable", r.failure(t)["code"])
			body = ""
		}
		got[header] = fmt.Sprint(r.Status, " ", r.Header.Get("Content-Range"), " ", body)
	}
	assert.Equal(t, want, got)
}

func TestListsArePagedNewestFirst(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	var made []string
	for range 5 {
		made = append(made, d.create("/v1/agents", m{"name": "a", "first_message": "Hello."}))
	}
	var pages [][]string
	cursor := ""
	for {
		l := d.must(200, "GET", "/v1/agents?limit=2&cursor="+cursor, "operator", nil).json(t)
		var ids []string
		for _, row := range l["data"].([]any) {
			ids = append(ids, row.(m)["id"].(string))
		}
		pages = append(pages, ids)
		assert.Equal(t, l["next_cursor"] != nil, l["has_more"])
		if l["next_cursor"] == nil {
			break
		}
		cursor = l["next_cursor"].(string)
	}
	assert.Equal(t, [][]string{{made[4], made[3]}, {made[2], made[1]}, {made[0]}}, pages)
}

func TestContactExportHasCurrentState(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.createCampaign()
	path := "/v1/campaigns/" + id + "/contacts"
	r := d.must(200, "GET", path+".csv", "operator", nil)
	assert.Equal(t, "text/csv; charset=utf-8; header=present", r.Header.Get("Content-Type"))
	assert.Equal(t, `attachment; filename="`+id+`-contacts.csv"`, r.Header.Get("Content-Disposition"))
	const head = "phone,timezone,country,status,outcome,reason,attempts,last_call_id,next_attempt_at,completed_at,contact_id,n,name\r\n"
	assert.Equal(t, head+"+12025550123,,,busy,,,2,,,2026-03-01T09:00:00.000Z,contact_"+ulidOf(1)+",7,'=Ada\r\n", string(r.Body))
	assert.Equal(t, head, string(d.must(200, "GET", path+".csv?status=pending", "operator", nil).Body))
	lines := d.must(200, "GET", path+".jsonl?status=busy", "operator", nil)
	assert.Equal(t, "application/x-ndjson", lines.Header.Get("Content-Type"))
	one := lines.json(t)
	assert.Equal(t, []any{"+12025550123", "busy", m{"name": "=Ada", "n": 7.0}}, []any{one["phone"], one["status"], one["context"]})
	assert.Equal(t, "validation_error", d.must(422, "GET", path+".csv?status=asleep", "operator", nil).failure(t)["code"])
	d.campaignErr = errors.New("the disk is gone")
	res, err := d.client.Do(d.request(path + ".csv"))
	if err == nil {
		_, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	require.Error(t, err, "a truncated file fails on reading")
}

func TestSingleContactAndUploadRoutes(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/campaigns/" + d.createCampaign()
	contact := path + "/contacts/contact_" + ulidOf(1)
	assert.Equal(t, "+12025550123", d.must(200, "GET", contact, "operator", nil).json(t)["phone"])
	r := d.must(200, "PATCH", contact, "operator", m{"phone": "+12025550199", "context": m{"n": nil, "name": m{"first": "Ada", "last": nil}}}).json(t)
	assert.Equal(t, []any{"+12025550199", m{"name": m{"first": "Ada"}}}, []any{r["phone"], r["context"]})
	d.must(422, "PATCH", contact, "operator", m{"fone": "1"})
	assert.Equal(t, m{"id": "contact_" + ulidOf(1), "object": "contact", "deleted": true}, d.must(200, "DELETE", contact, "operator", nil).json(t))
	for _, other := range []string{"contact_" + ulidOf(2), "call_" + ulidOf(1), "x"} {
		d.must(404, "GET", path+"/contacts/"+other, "operator", nil)
		d.must(404, "DELETE", path+"/contacts/"+other, "operator", nil)
		d.must(404, "GET", path+"/uploads/"+other, "operator", nil)
	}
	up := d.must(200, "GET", path+"/uploads/upload_"+ulidOf(1), "operator", nil).json(t)
	assert.Equal(t, "receiving", up["status"])
	assert.InDelta(t, 5, up["contacts_summary"].(m)["accepted"], 0)
	assert.Len(t, d.must(200, "GET", path+"/uploads", "operator", nil).json(t)["data"], 1)
}

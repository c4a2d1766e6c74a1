package httpapi_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
)

// Ways in which a client can send a body, complete or incomplete, before it closes its sending side.
const (
	lengthHalf     = "half of Content-Length"
	chunksHalf     = "whole chunks of half, no last chunk"
	chunksNoLast   = "the whole body in chunks, no last chunk"
	chunksNoEnd    = "the whole body in chunks, half of the last chunk"
	lengthWhole    = "Content-Length met"
	chunksWhole    = "the last chunk is there"
	chunksTrailers = "trailers behind the last chunk"
)

// sendFramed sends a POST with one of these framings of the body, closes the sending side and returns the response.
func (d *testServer) sendFramed(path, kind, body, framing, once string) reply {
	d.t.Helper()
	half := body[:len(body)/2]
	chunk := func(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }
	framed := map[string]string{
		lengthHalf:     fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), half),
		lengthWhole:    fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body),
		chunksHalf:     "Transfer-Encoding: chunked\r\n\r\n" + chunk(half),
		chunksNoLast:   "Transfer-Encoding: chunked\r\n\r\n" + chunk(body),
		chunksNoEnd:    "Transfer-Encoding: chunked\r\n\r\n" + chunk(body) + "0\r\n",
		chunksWhole:    "Transfer-Encoding: chunked\r\n\r\n" + chunk(half) + chunk(body[len(half):]) + "0\r\n\r\n",
		chunksTrailers: "Transfer-Encoding: chunked\r\n\r\n" + chunk(body) + "0\r\nX-Sum: 1\r\n\r\n",
	}[framing]
	conn := d.dial()
	_, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer operator\r\nContent-Type: %s\r\nIdempotency-Key: %s\r\n%s", path, kind, once, framed)
	require.NoError(d.t, err)
	tcp, ok := conn.(*net.TCPConn)
	require.True(d.t, ok)
	require.NoError(d.t, tcp.CloseWrite())
	return d.readReply(bufio.NewReader(conn))
}

// An incomplete body of any media type gets 400, and its idempotency key can be used again. A complete body is accepted
// in every framing.
func TestIncompleteBodyIs400AndFreesItsIdempotencyKey(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	contacts := "/v1/campaigns/" + d.createCampaign() + "/contacts"
	list := "/v1/dnc-lists/" + d.create("/v1/dnc-lists", m{"name": "l"}) + "/entries"
	rows := strings.Repeat("+12025550123\n", 3000)
	form := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\nphone\n" + rows + "\r\n--b--\r\n" + strings.Repeat("epilogue ", 2000)
	for name, c := range map[string]struct{ path, kind, body string }{
		"contacts in CSV":        {contacts, "text/csv", "phone\n" + rows},
		"contacts in JSON lines": {contacts, "application/x-ndjson", strings.Repeat(`{"phone":"+12025550123"}`+"\n", 2000)},
		"contacts in JSON":       {contacts, "application/json", `[{"phone":"+12025550123"}` + strings.Repeat(`,{"phone":"+12025550123"}`, 1000) + `]`},
		"contacts in a form":     {contacts, "multipart/form-data; boundary=b", form},
		"numbers in CSV":         {list, "text/csv", "phone\n" + rows},
		"numbers, one per line":  {list, "text/plain", rows},
		"numbers in JSON":        {list, "application/json", `{"entries":["+12025550123"` + strings.Repeat(`,"+12025550123"`, 1000) + `]}`},
		"small body":             {"/v1/campaigns", "application/json", `{"name":"c","agent_id":"agent_` + ulidOf(1) + `"}`},
		"body larger than 8 kB":  {"/v1/campaigns", "application/json", `{"name":"c","agent_id":"agent_` + ulidOf(1) + `"}` + strings.Repeat(" ", 20_000)},
	} {
		for framing, whole := range map[string]string{lengthHalf: lengthWhole, chunksHalf: chunksWhole, chunksNoLast: chunksTrailers, chunksNoEnd: lengthWhole} {
			key := strings.ReplaceAll(name+framing, " ", "-")
			r := d.sendFramed(c.path, c.kind, c.body, framing, key)
			assert.Equal(t, 400, r.Status, "%s, %s: %s", name, framing, r.Body)
			assert.Equal(t, "invalid_request", r.failure(t)["code"], "%s, %s", name, framing)
			r = d.sendFramed(c.path, c.kind, c.body, whole, key)
			assert.Less(t, r.Status, 300, "%s, %s after %s: %s", name, whole, framing, r.Body)
		}
	}
}

func TestSecondFileOfAFormIsRefused(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/campaigns/" + d.createCampaign() + "/contacts"
	file := func(name string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"a.csv\"\r\n\r\nphone\n+12025550123\n\r\n"
	}
	field := func(name string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\nx\r\n"
	}
	for name, c := range map[string]struct {
		body  string
		param string // "": the form is accepted
	}{
		"one file":                        {file("file"), ""},
		"two files with the same name":    {file("file") + file("file"), "file"},
		"two files with different names":  {file("file") + file("file2"), "file"},
		"array of files":                  {file("files[]") + file("files[]"), "file"},
		"unknown field after the file":    {file("file") + field("note"), ""},
		"column name after the file":      {file("file") + field("phone_column"), "phone_column"},
		"second file without a file name": {file("file") + field("contacts"), "file"},
	} {
		r := d.do("POST", path, "operator", c.body+"--b--\r\n", "Content-Type", "multipart/form-data; boundary=b")
		if c.param == "" {
			assert.Equal(t, 200, r.Status, "%s: %s", name, r.Body)
			continue
		}
		require.Equal(t, 422, r.Status, "%s: %s", name, r.Body)
		assert.Equal(t, c.param, r.failure(t)["param"], name)
	}
}

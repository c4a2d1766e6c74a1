package main_test

import (
	endian "encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/redis/redistest"
)

func TestContactUploadIsAtomicOnPebble(t *testing.T) {
	t.Parallel()
	checkAtomicUpload(t, newService(t))
}

func TestContactUploadIsAtomicOnRedis(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Start(t)
	checkAtomicUpload(t, newService(t, "CALLBOARD_REDIS_URL="+url))
}

// listData returns the data array of a list response.
func (s *service) listData(path string) []any {
	s.t.Helper()
	return s.api("GET", path, nil)["data"].([]any)
}

// checkAtomicUpload kills the service during an upload of contacts. It then uses every operation on contacts.
func checkAtomicUpload(t *testing.T, s *service) {
	t.Helper()
	s.createTrunk("", 9)
	id := s.api("POST", "/v1/campaigns", object{"name": "c", "agent_id": s.createGreetingAgent(), "caller_id": object{"number": "+12025550100"}})["id"].(string)
	path := "/v1/campaigns/" + id
	r, w := io.Pipe()
	upload := make(chan error, 1)
	go func() {
		_, _, _, err := s.sendRequest("POST", path+"/contacts", r, "Content-Type", "text/csv")
		upload <- err
	}()
	_, err := io.WriteString(w, "phone,name\n")
	require.NoError(t, err)
	for i := range 12_000 {
		_, err := fmt.Fprintf(w, "+1202%07d,Name %d\n", 2000000+i, i)
		require.NoError(t, err)
	}
	s.await("the upload's progress", 60*time.Second, func() bool {
		up := s.listData(path + "/uploads")
		return len(up) == 1 && up[0].(object)["contacts_summary"].(object)["accepted"].(float64) > 9000
	})
	s.kill9()
	_ = w.CloseWithError(io.ErrClosedPipe)
	require.Error(t, <-upload)
	s.start()
	up := s.listData(path + "/uploads")
	require.Len(t, up, 1)
	assert.Equal(t, []any{"failed", "interrupted"}, []any{up[0].(object)["status"], up[0].(object)["reason"]})
	assert.Empty(t, s.listData(path+"/contacts"))

	text := "\ufeffname;phone;city;\r\nZoë;+12025550102;London;\r\nBob;+12025550101;;\r\nBob again;(202) 555-0101;;\r\nEve;1,20256E+10;;\r\n;;;\r\n"
	var body []byte
	for _, u := range utf16.Encode([]rune(text)) {
		body = endian.LittleEndian.AppendUint16(body, u)
	}
	code, answer, _ := s.tryRequest("POST", path+"/contacts", body, "Content-Type", "text/csv")
	require.Equal(t, http.StatusOK, code, string(answer))
	assert.Contains(t, string(answer), `"contacts_summary":{"received":4,"accepted":2,"duplicates":1,"invalid":1,"dnc":0,"destination_not_allowed":0,"missing_variables":0}`)
	contacts := s.listData(path + "/contacts?status=pending")
	require.Len(t, contacts, 2)
	zoe, bob := contacts[0].(object)["id"].(string), contacts[1].(object)["id"].(string)
	changed := s.api("PATCH", path+"/contacts/"+zoe, object{"context": object{"city": "Leeds"}})
	assert.Equal(t, object{"name": "Zoë", "city": "Leeds"}, changed["context"])
	assert.Equal(t, true, s.api("DELETE", path+"/contacts/"+bob, nil)["deleted"])
	code, answer, _ = s.tryRequest("DELETE", path+"/contacts/"+bob, nil)
	assert.Equal(t, http.StatusConflict, code, string(answer))
	s.kill9()
	s.start()
	assert.Len(t, s.listData(path+"/contacts?status=cancelled"), 1)
	_, answer, _ = s.tryRequest("GET", path+"/contacts.csv?status=pending", nil)
	rows, err := csv.NewReader(strings.NewReader(string(answer))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 2)
	assert.Equal(t, []string{"+12025550102", "Leeds", "Zoë"}, append(rows[1][:1:1], rows[1][len(rows[1])-2:]...))
}

package httpapi_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/service/calls"
)

func TestLiveCallActionsAreValidated(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.pathWithResource("POST /v1/calls/{id}/hangup")
	id = strings.TrimSuffix(id, "/hangup")
	for name, c := range map[string]struct {
		verb string
		body m
		want []string // parameters that the error names
	}{
		"no target":                    {"transfer", m{}, []string{"to"}},
		"two targets":                  {"transfer", m{"to": "+12025550123", "phone": "201"}, []string{"to"}},
		"unknown mode":                 {"transfer", m{"to": "+12025550123", "mode": "sideways"}, []string{"mode"}},
		"summary in blind mode":        {"transfer", m{"to": "+12025550123", "mode": "blind", "summary": "x"}, []string{"summary"}},
		"attended transfer to a phone": {"transfer", m{"phone": "201", "mode": "attended"}, []string{"mode"}},
		"line break in the number":     {"transfer", m{"to": "+1\r\nRoute: x"}, []string{"to"}},
		"no text":                      {"say", m{"text": "  "}, []string{"text"}},
		"text too long":                {"say", m{"text": strings.Repeat("a", 1001)}, []string{"text"}},
		"no digits":                    {"dtmf", m{"digits": ""}, []string{"digits"}},
		"invalid digit":                {"dtmf", m{"digits": "12x"}, []string{"digits"}},
	} {
		r := d.must(422, "POST", id+"/"+c.verb, "operator", c.body)
		text := string(r.Body)
		for _, param := range c.want {
			assert.Contains(t, text, `"param":"`, name)
			assert.Contains(t, text, param, name)
		}
	}
	assert.Empty(t, d.transfers)
	assert.Empty(t, d.spoken)
	d.must(200, "POST", id+"/transfer", "operator", m{"destination": "desk", "mode": "attended", "summary": "Ada calls."})
	assert.Equal(t, []calls.Transfer{{Destination: "desk", Mode: domain.TransferAttended, Summary: "Ada calls."}}, d.transfers)
	d.must(200, "POST", id+"/say", "operator", m{"text": " One moment. "})
	d.must(200, "POST", id+"/dtmf", "operator", m{"digits": "1aw,#"})
	assert.Equal(t, []string{"One moment.", "1Aw,#"}, d.spoken)
}

func TestCallSIPMessagesAsJSONLadderAndPcap(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := d.pathWithResource("GET /v1/calls/{id}/sip")
	r := d.must(200, "GET", path, "operator", nil)
	first, _ := r.json(t)["messages"].([]any)[0].(m)
	assert.Equal(t, "INVITE sip:+12025550123@192.0.2.1 SIP/2.0", first["start_line"])
	assert.Equal(t, "sent", first["direction"])
	assert.True(t, strings.HasSuffix(first["message"].(string), "\ufffd"), "a cut character is replaced, so that the response is valid JSON")
	r = d.must(200, "GET", path+"?format=ladder", "operator", nil)
	assert.Contains(t, string(r.Body), "INVITE")
	assert.True(t, strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain"))
	r = d.must(200, "GET", path+"?format=pcap", "operator", nil)
	assert.Equal(t, uint32(0xa1b2c3d4), binary.LittleEndian.Uint32(r.Body))
	assert.Contains(t, r.Header.Get("Content-Disposition"), ".pcap")
	d.must(422, "GET", path+"?format=xml", "operator", nil)
}

func TestCallEventsArePaged(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := d.pathWithResource("GET /v1/calls/{id}/events")
	page := d.must(200, "GET", path+"?limit=1", "operator", nil).json(t)
	assert.Equal(t, true, page["has_more"])
	assert.Equal(t, "evt_"+ulidOf(1), page["next_cursor"])
	d.must(422, "GET", path+"?limit=0", "operator", nil)
}

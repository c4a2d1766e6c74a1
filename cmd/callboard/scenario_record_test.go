package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/polltest"
)

// mustPost is api for rows that run side by side: a failure ends the row only.
func (s *scenarioService) mustPost(t *testing.T, path string, body object) object {
	t.Helper()
	status, text, _, err := s.request("POST", path, body)
	require.NoError(t, err)
	require.Less(t, status, 300, "%s: %s", path, text)
	var out object
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

// sentINVITE is the moment at which SIPp has got the INVITE, and has not answered it yet.
const sentINVITE = "INVITE sent"

// callAPI uses the API on a call once it has the status that the row names.
func (s *scenarioService) callAPI(t *testing.T, r *scenarioRow, p *scenarioPeer, id string) {
	t.Helper()
	polltest.Until(t, time.Minute, "the status "+r.at, func() bool {
		if r.at == sentINVITE {
			text, _ := os.ReadFile(filepath.Join(p.dir, "messages"))
			return strings.Contains(string(text), "INVITE sip:")
		}
		code, text, _, err := s.request("GET", "/v1/calls/"+id, nil)
		var c recordedCall
		return err == nil && code == http.StatusOK && json.Unmarshal(text, &c) == nil && c.Status == r.at
	})
	s.mustPost(t, "/v1/calls/"+id+"/"+r.action, r.body)
}

// recordedCall is what the rows read of a call's record.
type recordedCall struct {
	ID          string
	From, To    string
	Status      string
	EndedReason string     `json:"ended_reason"`
	EndedBy     string     `json:"ended_by"`
	EndedAt     *time.Time `json:"ended_at"`
	Legs        []struct{ Code int }
}

// findInboundCall finds the record of the call that SIPp placed to a number.
func (s *scenarioService) findInboundCall(t *testing.T, r *scenarioRow, number string) (id string) {
	t.Helper()
	path := "/v1/calls?direction=inbound&limit=100&agent_id=" + s.agents[r.agentName()]
	polltest.Until(t, time.Minute, "the record of the call", func() bool {
		status, text, _, err := s.request("GET", path, nil)
		var page struct{ Data []recordedCall }
		if err != nil || status != http.StatusOK || json.Unmarshal(text, &page) != nil {
			return false
		}
		for _, c := range page.Data {
			if c.To == number {
				id = c.ID
			}
		}
		return id != ""
	})
	return id
}

// compareRecord waits for the end of a call and compares its record with the row.
func (s *scenarioService) compareRecord(t *testing.T, r *scenarioRow, id string) {
	t.Helper()
	var c recordedCall
	polltest.Until(t, time.Minute, "the end of the call", func() bool {
		status, text, _, err := s.request("GET", "/v1/calls/"+id, nil)
		c = recordedCall{}
		return err == nil && status == http.StatusOK && json.Unmarshal(text, &c) == nil && c.EndedAt != nil
	})
	if r.want == "*" { // either side may have been first
		return
	}
	assert.Equal(t, r.want, fmt.Sprintf("%s %s %s", c.Status, c.EndedReason, c.EndedBy))
	if r.from != "" {
		assert.Equal(t, r.from, c.From)
	}
	if r.code != 0 && assert.NotEmpty(t, c.Legs) {
		assert.Equal(t, r.code, c.Legs[len(c.Legs)-1].Code)
	}
}

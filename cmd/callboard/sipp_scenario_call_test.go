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

// mustPost sends a POST request that must succeed. Unlike api, it fails the subtest t and not the whole test.
func (s *scenarioService) mustPost(t *testing.T, path string, body object) object {
	t.Helper()
	status, text, _, err := s.sendRequest("POST", path, body)
	require.NoError(t, err)
	require.Less(t, status, 300, "%s: %s", path, text)
	var out object
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

// sentINVITE is a value of whenStatus: the action runs when SIPp has received the INVITE and has not yet answered.
const sentINVITE = "INVITE sent"

// runAction waits until the call has the status whenStatus of the test case. It then sends the API request of the test
// case, such as a hangup.
func (s *scenarioService) runAction(t *testing.T, r *scenarioCase, p *scenarioPeer, id string) {
	t.Helper()
	polltest.Until(t, time.Minute, "the status "+r.whenStatus, func() bool {
		if r.whenStatus == sentINVITE {
			text, _ := os.ReadFile(filepath.Join(p.dir, "messages"))
			return strings.Contains(string(text), "INVITE sip:")
		}
		code, text, _, err := s.sendRequest("GET", "/v1/calls/"+id, nil)
		var c callResource
		return err == nil && code == http.StatusOK && json.Unmarshal(text, &c) == nil && c.Status == r.whenStatus
	})
	s.mustPost(t, "/v1/calls/"+id+"/"+r.action, r.body)
}

// callResource holds the fields of a call in the API that the test cases check.
type callResource struct {
	ID          string
	From, To    string
	Status      string
	EndedReason string     `json:"ended_reason"`
	EndedBy     string     `json:"ended_by"`
	EndedAt     *time.Time `json:"ended_at"`
	Legs        []struct{ Code int }
}

// findInboundCall waits until the API lists the call that SIPp has placed to a number, and returns its id.
func (s *scenarioService) findInboundCall(t *testing.T, r *scenarioCase, number string) (id string) {
	t.Helper()
	path := "/v1/calls?direction=inbound&limit=100&agent_id=" + s.agents[r.agentName()]
	polltest.Until(t, time.Minute, "the record of the call", func() bool {
		status, text, _, err := s.sendRequest("GET", path, nil)
		var page struct{ Data []callResource }
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

// assertCall waits for the end of a call and compares its outcome, caller and SIP status with the test case.
func (s *scenarioService) assertCall(t *testing.T, r *scenarioCase, id string) {
	t.Helper()
	var c callResource
	polltest.Until(t, time.Minute, "the end of the call", func() bool {
		status, text, _, err := s.sendRequest("GET", "/v1/calls/"+id, nil)
		c = callResource{}
		return err == nil && status == http.StatusOK && json.Unmarshal(text, &c) == nil && c.EndedAt != nil
	})
	if r.wantOutcome == "*" { // either side may have hung up first
		return
	}
	assert.Equal(t, r.wantOutcome, fmt.Sprintf("%s %s %s", c.Status, c.EndedReason, c.EndedBy))
	if r.from != "" {
		assert.Equal(t, r.from, c.From)
	}
	if r.code != 0 && assert.NotEmpty(t, c.Legs) {
		assert.Equal(t, r.code, c.Legs[len(c.Legs)-1].Code)
	}
}

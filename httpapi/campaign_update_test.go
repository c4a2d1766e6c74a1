package httpapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
)

func (d *testServer) setCampaignStatus(id string, s domain.CampaignStatus) {
	d.t.Helper()
	now := time.Now()
	_, err := updateRecord(&d.campaigns, id, func(c *domain.Campaign) error { c.Status, c.StartedAt = s, &now; return nil })
	require.NoError(d.t, err)
}

func TestRunningCampaignAllowsOnlySomeChanges(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	always := map[string]m{
		"pacing.calls_per_minute": {"pacing": m{"calls_per_minute": 7}}, "schedule.end": {"schedule": m{"end": "2090-01-01T00:00:00+01:00"}},
		"retry.enabled":               {"retry": m{"enabled": true, "max_attempts": 4, "interval_hours": 0.5, "retry_on": []string{"busy"}}},
		"metadata":                    {"metadata": m{"a": "b"}},
		"compliance.dnc_scrub":        {"compliance": m{"dnc_scrub": false}},
		"compliance.calling_hours":    {"compliance": m{"calling_hours": m{"start": "10:00", "end": "11:00", "timezone": "UTC"}}},
		"schedule.end and pacing too": {"schedule": m{"end": nil}, "pacing": m{"max_concurrent": 2}},
	}
	drafts := map[string]m{
		"name": {"name": "other"}, "agent_id": {"agent_id": "agent_" + ulidOf(9)}, "pathway_id": {"pathway_id": "pathway_" + ulidOf(9)},
		"schedule.start": {"schedule": m{"start": "2089-01-01T00:00:00Z", "end": "2090-01-01T00:00:00Z"}}, "schedule.days": {"schedule": m{"days": []string{"monday"}}},
		"schedule.timezone": {"schedule": m{"timezone": "Europe/Berlin"}}, "schedule.excluded_dates": {"schedule": m{"excluded_dates": []string{"2089-01-01"}}},
		"caller_id": {"caller_id": m{"number": "+12025550100"}}, "webhooks": {"webhooks": m{"campaign.started": "https://example.com/x"}},
		"default_country": {"default_country": "DE"}, "auto_complete": {"auto_complete": false}, "follow_latest": {"follow_latest": true},
	}
	for _, s := range []domain.CampaignStatus{
		domain.CampaignDraft, domain.CampaignScheduled, domain.CampaignRunning, domain.CampaignPaused, domain.CampaignCompleted, domain.CampaignCancelled,
	} {
		path := func() string {
			id := d.createCampaign()
			d.setCampaignStatus(id, s)
			return "/v1/campaigns/" + id
		}
		for name, body := range always {
			if s.Final() {
				f := d.must(409, "PATCH", path(), "operator", body).failure(t)
				assert.Equal(t, []any{"invalid_state", string(s)}, []any{f["code"], f["current_status"]}, name)
				continue
			}
			d.must(200, "PATCH", path(), "operator", body)
		}
		for param, body := range drafts {
			if s == domain.CampaignDraft {
				d.must(200, "PATCH", path(), "operator", body)
				continue
			}
			f := d.must(409, "PATCH", path(), "operator", body).failure(t)
			assert.Equal(t, "invalid_state", f["code"])
			if !s.Final() {
				assert.Equal(t, []any{param, []any{"draft"}}, []any{f["param"], f["allowed_from"]}, "field %s of a campaign with status %s", param, s)
			}
		}
	}
}

func TestCampaignPatchIsValidatedAndKeepsMissingMembers(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.create("/v1/campaigns", m{
		"name": "c", "agent_id": "agent_" + ulidOf(1), "retry": m{"enabled": true, "max_attempts": 5, "interval_hours": 2},
		"pacing": m{"calls_per_minute": 9, "max_concurrent": 3}, "schedule": m{"end": "2090-01-01T00:00:00Z", "timezone": "Europe/Berlin"},
	})
	path := "/v1/campaigns/" + id
	c := d.must(200, "PATCH", path, "operator", m{"pacing": m{"max_concurrent": 4}, "retry": m{"max_attempts": 2}}).json(t)
	assert.Equal(t, m{"calls_per_minute": 9.0, "max_concurrent": 4.0, "mode": "fixed"}, c["pacing"])
	assert.Equal(t, m{"enabled": true, "max_attempts": 2.0, "interval_hours": 2.0, "retry_on": []any{"no_answer", "busy"}}, c["retry"])
	list := "dnc_" + ulidOf(7)
	c = d.must(200, "PATCH", path, "operator", m{"compliance": m{"dnc_list_id": list}}).json(t)
	assert.Equal(t, list, c["compliance"].(m)["dnc_list_id"])
	c = d.must(200, "PATCH", path, "operator", m{"compliance": m{"dnc_scrub": true}}).json(t)
	assert.Equal(t, list, c["compliance"].(m)["dnc_list_id"], "an omitted field keeps its value")
	c = d.must(200, "PATCH", path, "operator", m{"compliance": m{"dnc_list_id": ""}}).json(t)
	assert.NotContains(t, c["compliance"], "dnc_list_id")
	c = d.must(200, "PATCH", path, "operator", m{"pacing": m{"mode": "adaptive"}}).json(t)
	assert.Equal(t, m{"calls_per_minute": 9.0, "max_concurrent": 4.0, "mode": "adaptive"}, c["pacing"])
	for param, body := range map[string]m{
		"pacing.calls_per_minute": {"pacing": m{"calls_per_minute": 0}}, "pacing.max_concurrent": {"pacing": m{"max_concurrent": 1 << 30}}, "pacing.mode": {"pacing": m{"mode": "brisk"}},
		"schedule.end": {"schedule": m{"end": "2020-01-01T00:00:00Z"}}, "retry.max_attempts": {"retry": m{"max_attempts": 99}},
		"compliance.calling_hours.end": {"compliance": m{"calling_hours": m{"start": "10:00", "end": "25:00"}}}, "schedule.start": {"schedule": m{"start": "soon"}},
		"webhooks.campaign.started": {"webhooks": m{"campaign.started": "http://example.com"}}, "test": {"test": m{"time_factor": 60}},
	} {
		f := d.must(422, "PATCH", path, "operator", body).failure(t)
		assert.Equal(t, param, f["param"], "%v", body)
	}
	assert.Equal(t, c["pacing"], d.must(200, "GET", path, "operator", nil).json(t)["pacing"], "a refused update changes nothing")

	_, err := updateRecord(&d.campaigns, id, func(c *domain.Campaign) error {
		past := time.Now().Add(-time.Hour)
		c.Status, c.Schedule.End, c.CallerID.Number = domain.CampaignPaused, &past, "+12025550177"
		return nil
	})
	require.NoError(t, err)
	d.must(200, "PATCH", path, "all", m{"pacing": m{"max_concurrent": 5}})
}

func TestCampaignCopyHasSelectedContacts(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	id := d.createCampaign()
	c := d.must(201, "POST", "/v1/campaigns/"+id+"/duplicate", "operator", nil).json(t)
	assert.Equal(t, []any{"c", "draft"}, []any{c["name"], c["status"]})
	assert.NotEqual(t, id, c["id"])
	assert.Contains(t, d.copiedStates, "pending")
	assert.Contains(t, d.copiedStates, "completed")
	c = d.must(201, "POST", "/v1/campaigns/"+id+"/duplicate", "operator", m{"name": "again", "contacts": false}).json(t)
	assert.Equal(t, "again", c["name"])
	assert.Empty(t, d.copiedStates)
	path := "/v1/campaigns/" + id + "/redial"
	assert.Equal(t, "invalid_state", d.must(409, "POST", path, "operator", m{"outcomes": []string{"busy"}}).failure(t)["code"])
	d.setCampaignStatus(id, domain.CampaignRunning)
	d.must(201, "POST", path, "operator", m{"outcomes": []string{"busy", "no_answer"}})
	assert.Equal(t, []string{"busy", "no_answer"}, d.copiedStates)
	d.must(422, "POST", path, "operator", m{"outcomes": []string{"pending"}})
	d.must(422, "POST", path, "operator", m{"outcomes": []string{}})
	d.must(422, "POST", path, "operator", m{})
}

func TestCampaignWebhookSecretCanBeSet(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	body := m{"name": "c", "agent_id": "agent_" + ulidOf(1), "webhooks": m{"campaign.call_completed": "https://example.com/x"}, "webhook_secret": "my own secret"}
	assert.Equal(t, "my own secret", d.must(201, "POST", "/v1/campaigns", "operator", body).json(t)["webhook_secret"])
	body["webhook_secret"] = "short"
	d.must(422, "POST", "/v1/campaigns", "operator", body)
}

package httpapi_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/httpapi"
)

func TestACampaignsAnswersWriteThemselvesWithAllTheirFieldsAndNoNullForLists(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	full := domain.Campaign{
		Meta: domain.Meta{ID: "campaign_1", Object: "campaign", CreatedAt: at, Metadata: map[string]string{"a": "<b>"}},
		Name: "full", Schedule: domain.Schedule{Start: &at, End: &at, Days: []string{"monday", "friday"}, ExcludedDates: []string{"2026-01-01"}},
		Retry: domain.Retry{IntervalHours: 1.5, RetryOn: []string{"busy"}}, Webhooks: map[string]string{"campaign.started": "https://example.com"},
		Compliance:   domain.Compliance{OptOut: &domain.OptOut{Keywords: []string{"stop"}, Action: "add_to_dnc"}},
		FollowLatest: true, Test: &domain.TestMode{TimeFactor: 60, Since: &at}, PauseReason: "store", StartedAt: &at, EndedAt: &at,
	}
	none := domain.Campaign{
		Schedule: domain.Schedule{Days: []string{}, ExcludedDates: []string{}}, Retry: domain.Retry{RetryOn: []string{}},
		Compliance: domain.Compliance{OptOut: &domain.OptOut{Keywords: []string{}}},
	}
	wrong := []ask.ContactError{{Line: 3, Phone: "+1", Code: "invalid_phone", Message: "is short"}}
	for name, v := range map[string]struct {
		told interface {
			AppendAnswer(b []byte) ([]byte, error)
		}
		want any
	}{
		"a campaign":         {&full, &full},
		"made":               {&httpapi.CampaignMade{Campaign: full, UploadID: "upload_1", ContactsSummary: ask.ContactsSummary{Received: 1, DNC: 1}, ContactErrors: wrong, WebhookSecret: "s"}, nil},
		"made of nothing":    {&httpapi.CampaignMade{Campaign: domain.Campaign{Compliance: domain.Compliance{OptOut: &domain.OptOut{}}}}, &httpapi.CampaignMade{Campaign: none, ContactErrors: []ask.ContactError{}}},
		"changed":            {&httpapi.CampaignChanged{Campaign: full, WebhookSecret: "s"}, nil},
		"changed to nothing": {&httpapi.CampaignChanged{Campaign: domain.Campaign{Compliance: domain.Compliance{OptOut: &domain.OptOut{}}}}, &httpapi.CampaignChanged{Campaign: none}},
	} {
		if v.want == nil {
			v.want = v.told
		}
		want, err := json.Marshal(v.want)
		require.NoError(t, err, name)
		got, err := v.told.AppendAnswer(nil)
		require.NoError(t, err, name)
		assert.Equal(t, string(want), string(got), name)
	}
}

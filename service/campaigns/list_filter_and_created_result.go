package campaigns

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// Query filters campaigns.
type Query struct {
	record.PageQuery
	Status domain.CampaignStatus // "": any
}

// CreatedCampaign is a new campaign with the summary of its inline contacts. WebhookSecret is the secret of the
// webhook endpoints that were created from its webhooks map. It is "" if there are none.
type CreatedCampaign struct {
	Campaign      *domain.Campaign
	Upload        contactlist.UploadSummary
	WebhookSecret string
}

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

// Created is a new campaign, what became of its inline contacts, and
// the secret of the endpoints made from its webhooks map ("" without one).
type Created struct {
	Campaign      *domain.Campaign
	Upload        contactlist.UploadSummary
	WebhookSecret string
}

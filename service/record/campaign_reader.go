package record

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// CampaignReader reads campaigns for services that implement requests about a campaign.
type CampaignReader struct{ store commit.Store }

// NewCampaignReader returns a CampaignReader of store.
func NewCampaignReader(store commit.Store) CampaignReader { return CampaignReader{store} }

// Campaign returns a campaign of the principal's workspace and environment. Errors: not_found.
func (r CampaignReader) Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error) {
	c, _, err := Get[domain.Campaign](ctx, r.store, p, domain.PrefixCampaign, id)
	return c, err
}

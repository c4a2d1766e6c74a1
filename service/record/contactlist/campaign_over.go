package contactlist

import "github.com/callboard/callboard/domain"

// CampaignOver is the error of an upload to a campaign that is over.
func CampaignOver(c *domain.Campaign) error {
	return domain.Errorf(domain.CodeInvalidState, "contacts cannot be added to a campaign that is over").With("current_status", c.Status)
}

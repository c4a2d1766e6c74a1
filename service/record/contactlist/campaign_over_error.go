package contactlist

import "github.com/callboard/callboard/domain"

// CampaignOverError returns the error of an upload to a campaign that has ended.
func CampaignOverError(c *domain.Campaign) error {
	return domain.Errorf(domain.CodeInvalidState, "contacts cannot be added to a campaign that is over").With("current_status", c.Status)
}

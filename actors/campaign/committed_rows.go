package campaign

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
)

// storedRows are the campaign record and its counters as last committed. The next commit uses their versions as guards
// against concurrent changes.
type storedRows struct {
	campaign        domain.Campaign
	campaignVersion uint64 // 0: the campaign was not read yet
	progress        domain.Progress
	progressVersion uint64
}

// scrub returns the rules that say which do-not-call lists apply to the contacts.
func (r *storedRows) scrub() dnc.ScrubRules { return dnc.CampaignScrub(&r.campaign) }

// optOutKeywords returns the keywords, spoken or keyed, by which a callee refuses further calls.
func (r *storedRows) optOutKeywords() []string {
	if o := r.campaign.Compliance.OptOut; o != nil {
		return o.Keywords
	}
	return nil
}

// isRunning reports whether the campaign is running.
func (r *storedRows) isRunning() bool { return r.campaign.Status == domain.CampaignRunning }

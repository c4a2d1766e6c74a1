package dnc

import "github.com/callboard/callboard/domain"

// ScrubRules says which lists hold for a call.
type ScrubRules struct {
	Default string // the workspace's own list
	List    string // another one beside it; "": none
	// OptOutsOnly: of the workspace's own list only opt-outs count, and no
	// other list does: the campaign does not scrub.
	OptOutsOnly bool
}

// CampaignScrub is what holds for a campaign.
func CampaignScrub(c *domain.Campaign) ScrubRules {
	s := ScrubRules{Default: domain.DefaultDNCID(c.WorkspaceID, c.Environment), OptOutsOnly: !c.Compliance.DNCScrub}
	if c.Compliance.DNCScrub && c.Compliance.DNCListID != s.Default {
		s.List = c.Compliance.DNCListID
	}
	return s
}

// DefaultScrub is what holds for whatever no campaign places.
func DefaultScrub(workspaceID string, env domain.Environment) ScrubRules {
	return ScrubRules{Default: domain.DefaultDNCID(workspaceID, env)}
}

// Lists are the lists to look into.
func (s ScrubRules) Lists() []string {
	if s.List == "" {
		return []string{s.Default}
	}
	return []string{s.Default, s.List}
}

// Applies reports whether an entry holds.
func (s ScrubRules) Applies(o Origin) bool { return !s.OptOutsOnly || o.Source == domain.DNCOptOut }

package dnc

import "github.com/callboard/callboard/domain"

// ScrubRules defines which do-not-call lists apply to a call.
type ScrubRules struct {
	Default string // ID of the default list of the workspace
	List    string // ID of an additional list; empty: none
	// OptOutsOnly is true for a campaign without DNC scrubbing. Only the opt-outs on the default list then apply.
	OptOutsOnly bool
}

// CampaignScrub returns the rules for the calls of a campaign.
func CampaignScrub(c *domain.Campaign) ScrubRules {
	s := ScrubRules{Default: domain.DefaultDNCID(c.WorkspaceID, c.Environment), OptOutsOnly: !c.Compliance.DNCScrub}
	if c.Compliance.DNCScrub && c.Compliance.DNCListID != s.Default {
		s.List = c.Compliance.DNCListID
	}
	return s
}

// DefaultScrub returns the rules for calls and messages outside campaigns.
func DefaultScrub(workspaceID string, env domain.Environment) ScrubRules {
	return ScrubRules{Default: domain.DefaultDNCID(workspaceID, env)}
}

// Lists returns the IDs of the do-not-call lists to check.
func (s ScrubRules) Lists() []string {
	if s.List == "" {
		return []string{s.Default}
	}
	return []string{s.Default, s.List}
}

// Applies reports whether a do-not-call entry with this origin forbids the call.
func (s ScrubRules) Applies(o Origin) bool { return !s.OptOutsOnly || o.Source == domain.DNCOptOut }

package dnc

import "github.com/callboard/callboard/domain"

// Scrub says which lists hold for a call.
type Scrub struct {
	Default string // the workspace's own list
	List    string // another one beside it; "": none
	// OptOutsOnly: of the workspace's own list only opt-outs count, and no
	// other list does: the campaign does not scrub.
	OptOutsOnly bool
}

// ScrubOf is what holds for a campaign.
func ScrubOf(c *domain.Campaign) Scrub {
	s := Scrub{Default: domain.DefaultDNCID(c.WorkspaceID, c.Environment), OptOutsOnly: !c.Compliance.DNCScrub}
	if c.Compliance.DNCScrub && c.Compliance.DNCListID != s.Default {
		s.List = c.Compliance.DNCListID
	}
	return s
}

// ScrubAll is what holds for whatever no campaign places.
func ScrubAll(workspaceID string, env domain.Environment) Scrub {
	return Scrub{Default: domain.DefaultDNCID(workspaceID, env)}
}

// Lists are the lists to look into.
func (s Scrub) Lists() []string {
	if s.List == "" {
		return []string{s.Default}
	}
	return []string{s.Default, s.List}
}

// Counts says whether an entry holds.
func (s Scrub) Counts(o Origin) bool { return !s.OptOutsOnly || o.Source == domain.DNCOptOut }

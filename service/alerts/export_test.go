package alerts

import (
	alertactor "github.com/callboard/callboard/actors/alerts"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
)

// FoundBy returns the values that a rule reads if the trunks actors give these answers. A nil answer means that the
// actor did not answer.
func FoundBy(r *domain.AlertRule, answers map[*domain.Workspace]*trunk.Health) alertactor.RuleReadings {
	read := make(map[string]*workspaceReading)
	var all []string
	for w, health := range answers {
		read[w.ID], all = &workspaceReading{workspace: w, health: health}, append(all, w.ID)
	}
	l := readingOf(r, watchedBy(r, all), read)
	readings, unread := l.Results(r)
	out := alertactor.RuleReadings{Readings: readings, UnreadWorkspaces: make(map[string]bool)}
	for _, id := range unread {
		out.UnreadWorkspaces[id] = true
	}
	return out
}

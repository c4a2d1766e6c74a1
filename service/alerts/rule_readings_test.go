package alerts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	alertactor "github.com/callboard/callboard/actors/alerts"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/alerts"
)

func TestAlertReadingsMarkWorkspaceWithoutAnswer(t *testing.T) {
	t.Parallel()
	a, b := &domain.Workspace{Meta: domain.Meta{ID: "ws_a"}}, &domain.Workspace{Meta: domain.Meta{ID: "ws_b"}}
	for _, w := range []*domain.Workspace{a, b} {
		w.Calling.DailySpendCap = &domain.Money{Amount: "1.00", Currency: "USD"}
	}
	spend := &domain.AlertRule{Kind: domain.AlertSpend, Share: 0.5}
	all := &domain.AlertRule{Kind: domain.AlertSpend, Share: 0.5, Together: true}
	answers := map[*domain.Workspace]*trunk.Health{a: {Spent: 600_000, SpentKnown: true}, b: {Spent: 0}}
	found := alerts.FoundBy(spend, answers)
	assert.Equal(t, map[string]bool{"ws_b": true}, found.UnreadWorkspaces, "the spending of ws_b is unknown")
	if assert.Len(t, found.Readings, 1) {
		assert.Equal(t, "ws_a", found.Readings[0].WorkspaceID)
	}
	assert.Equal(t, alertactor.RuleReadings{UnreadWorkspaces: map[string]bool{"": true}}, alerts.FoundBy(all, answers), "the sum is unknown while ws_b is unread")
	answers[a].Spent = 1_200_000
	found = alerts.FoundBy(all, answers)
	assert.Empty(t, found.UnreadWorkspaces)
	assert.True(t, found.Readings[0].Bad, "ws_a alone exceeds the threshold")
	down := domain.TrunkHealth{Status: "down"}
	answers[a].Trunks = map[string]trunk.State{"trunk_1": {Environment: domain.Live, Health: down}, "trunk_2": {Environment: domain.Test, Health: down}}
	answers[b] = nil
	found = alerts.FoundBy(&domain.AlertRule{Kind: domain.AlertTrunkDown}, answers)
	assert.Equal(t, map[string]bool{"ws_b": true}, found.UnreadWorkspaces)
	if assert.Len(t, found.Readings, 1, "trunks of the test environment are not watched") {
		assert.Equal(t, "trunk_1", found.Readings[0].Subject)
	}
}

package alert_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
)

func TestFindingsOfAllPartsAreMerged(t *testing.T) {
	t.Parallel()
	each := &domain.AlertRule{Meta: domain.Meta{ID: "rule_1", WorkspaceID: "ws_1"}, Name: "secret", Emails: []string{"ops@example.com"}, Kind: domain.AlertSpend, Share: 0.5}
	var l alert.Findings
	l.Add(alert.Findings{Readings: []alert.Reading{{WorkspaceID: "ws_a"}}, Spent: 300_000, Most: 1_000_000})
	l.Add(alert.Findings{Readings: []alert.Reading{{WorkspaceID: "ws_b"}}, Unread: []string{"ws_c"}, Spent: 500_000, Most: 500_000})
	readings, unread := l.Results(each)
	assert.Equal(t, []any{[]alert.Reading{{WorkspaceID: "ws_a"}, {WorkspaceID: "ws_b"}}, []string{"ws_c"}}, []any{readings, unread})
	all := *each
	all.Together = true
	readings, unread = l.Results(&all)
	assert.True(t, readings[0].Bad, "too much without the third part")
	assert.Empty(t, unread)
	l.Add(alert.Findings{Unread: []string{"ws_d"}, Silent: true})
	readings, unread = l.Results(&all)
	assert.Equal(t, []any{0, []string{""}}, []any{len(readings), unread}, "a part that says nothing may have a cap that makes it little")
	l.Silent = false
	all.Share = 0.9
	readings, unread = l.Results(&all)
	assert.Equal(t, []any{0, []string{""}}, []any{len(readings), unread}, "the third may make it bad")

	asked := alert.RuleForPeers(&all)
	assert.Equal(t, &domain.AlertRule{Meta: domain.Meta{ID: "rule_1"}, Kind: domain.AlertSpend, Together: true, Share: 0.9}, asked, "alerts of other rules are kept")
	one := &domain.AlertRule{WatchesWorkspaceID: "ws_a"}
	assert.True(t, alert.WatchesWorkspace(one, "ws_a"))
	assert.False(t, alert.WatchesWorkspace(one, "ws_b"))
	assert.True(t, alert.WatchesWorkspace(each, "ws_b"))
	assert.Equal(t, []*domain.AlertRule{each}, alert.RulesForWorkspaces([]*domain.AlertRule{one, each}, func(id string) bool { return id != "ws_a" }))
}

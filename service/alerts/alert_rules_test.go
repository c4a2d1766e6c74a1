package alerts_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	alertactor "github.com/callboard/callboard/actors/alerts"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/alerts"
)

// node is a fake of all dependencies of the service. Workspace ws_1 belongs to this shard, and ws_2 to another shard.
type node struct {
	mu        sync.Mutex
	changed   []string // workspaces whose rules were changed
	committed int
	draining  bool
	refused   string // address to which mails fail
	mails     int
	answers   alert.PeerFindings
}

func (*node) WorkspaceIDs() []string               { return []string{"ws_1"} }
func (*node) OwnsWorkspace(id string) bool         { return id == "ws_1" }
func (n *node) IsStopping() bool                   { return n.draining }
func (*node) Quarantined() bool                    { return false }
func (n *node) Committed(string)                   { n.committed++ }
func (*node) TrunksPID(string) (*actor.PID, error) { return actor.NewPID("nonhost", "trunks"), nil }

func (*node) Workspace(id string) *domain.Workspace {
	if id != "ws_1" {
		return nil
	}
	return &domain.Workspace{Meta: domain.Meta{ID: id}}
}

func (*node) OtherWorkspaces() ([]*domain.Workspace, bool) {
	return []*domain.Workspace{{Meta: domain.Meta{ID: "ws_2"}}}, true
}

func (*node) WorkspaceExists(_ context.Context, id string) bool { return id == "ws_1" || id == "ws_2" }

func (n *node) Send(_ context.Context, l alertactor.Email) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mails++
	if l.To[0] == n.refused {
		return errors.New("550 no such user")
	}
	return nil
}

func open(t *testing.T, mail bool) (*alerts.Service, *node, commit.Store) {
	t.Helper()
	store, n, system := pebbletest.Open(t), &node{}, mailbox.NewSystem(slog.New(slog.DiscardHandler))
	t.Cleanup(system.Shutdown)
	c := alerts.Config{
		Store: store, Workspaces: n, Shards: n, Outbox: n, System: system, Node: n, Log: slog.New(slog.DiscardHandler),
		ReadOtherShards: func(context.Context, []*domain.AlertRule) alert.PeerFindings { return n.answers },
		RulesChanged:    func(id string) { n.changed = append(n.changed, id) },
	}
	if mail {
		c.Mail = n
	}
	return alerts.New(c), n, store
}

var operator = domain.Principal{WorkspaceID: "ws_1", Environment: domain.Live, Operator: true} //nolint:gochecknoglobals // a constant

func TestAlertRuleRequiresKnownWorkspaceAndMailServer(t *testing.T) {
	t.Parallel()
	s, n, _ := open(t, false)
	ctx := t.Context()
	for param, r := range map[string]*domain.AlertRule{
		"watches_workspace_id": {Name: "r", Kind: domain.AlertTrunkDown, WatchesWorkspaceID: "ws_3"},
		"emails":               {Name: "r", Kind: domain.AlertTrunkDown, Emails: []string{"ops@example.com"}},
	} {
		_, err := s.CreateAlertRule(ctx, operator, r)
		refused, is := errors.AsType[*domain.Error](err)
		require.True(t, is, param)
		assert.Equal(t, param, refused.Param)
	}
	assert.Empty(t, n.changed)
	r, err := s.CreateAlertRule(ctx, operator, &domain.AlertRule{Name: "r", Kind: domain.AlertTrunkDown, WatchesWorkspaceID: "ws_2"})
	require.NoError(t, err)
	_, err = s.UpdateAlertRule(ctx, operator, r.ID, func(r *domain.AlertRule) error { r.Paused = true; return nil })
	require.NoError(t, err)
	require.NoError(t, s.DeleteAlertRule(ctx, operator, r.ID))
	assert.Equal(t, []string{"ws_1", "ws_1", "ws_1"}, n.changed)
}

func TestAlertRuleTestReportsResultOfEachMail(t *testing.T) {
	t.Parallel()
	s, n, _ := open(t, true)
	n.refused = "no@example.com"
	r, err := s.CreateAlertRule(t.Context(), operator, &domain.AlertRule{Name: "r", Kind: domain.AlertTrunkDown, Emails: []string{"ops@example.com", "no@example.com"}})
	require.NoError(t, err)
	result, err := s.TestAlertRule(t.Context(), operator, r.ID)
	require.NoError(t, err)
	assert.Equal(t, []alerts.AlertMailTest{{To: "ops@example.com", Sent: true}, {To: "no@example.com", Error: "550 no such user"}}, result.Mails)
	assert.Equal(t, []int{2, 1}, []int{n.mails, n.committed})
}

func TestAlertReadingsOfAllShardsAreCombined(t *testing.T) {
	t.Parallel()
	s, n, store := open(t, false)
	at := time.Now().UTC()
	w := &domain.Webhook{
		Meta: domain.Meta{ID: "wh_1", WorkspaceID: "ws_1", Environment: domain.Live, CreatedAt: at}, URL: "https://example.com/?token=secret",
		Status: domain.WebhookDisabled,
	}
	_, err := store.Apply(t.Context(), commit.Change{Workspace: "ws_1", Puts: []domain.Record{w}})
	require.NoError(t, err)
	rule := &domain.AlertRule{Meta: domain.Meta{ID: "alertrule_1"}, Kind: domain.AlertEndpointDisabled}
	other := alert.Reading{WorkspaceID: "ws_2", Subject: "wh_2", Name: "example.org", Known: true}
	n.answers = alert.PeerFindings{Complete: true, Silent: func(string) bool { return false }, Found: []map[string]alert.Findings{{rule.ID: {Readings: []alert.Reading{other}}}}}
	found := s.Read(t.Context(), []*domain.AlertRule{rule})[rule.ID]
	own := alert.Reading{WorkspaceID: "ws_1", Subject: "wh_1", Name: "example.com", Known: true, Bad: true}
	assert.Equal(t, alertactor.RuleReadings{Readings: []alert.Reading{own, other}, UnreadWorkspaces: map[string]bool{}}, found, "readings contain only the host of a URL")

	looks, err := s.EvaluateRules(t.Context(), []*domain.AlertRule{rule})
	require.NoError(t, err)
	assert.Equal(t, []alert.Reading{own}, looks[rule.ID].Readings, "LookFor reads this shard only")
	n.draining = true
	assert.Nil(t, s.Read(t.Context(), []*domain.AlertRule{rule}))
	_, err = s.EvaluateRules(t.Context(), []*domain.AlertRule{rule})
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
}

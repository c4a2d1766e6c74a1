package agents_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/agents"
	"github.com/callboard/callboard/service/record"
)

// node is a fake that counts notifications of published versions and of commits, and allows all URLs.
type node struct{ published, committed int }

func (n *node) NotifyPublished(context.Context, domain.Principal) error { n.published++; return nil }
func (n *node) Committed(string)                                        { n.committed++ }
func (*node) CheckURL(context.Context, string, string) error            { return nil }

func TestAgentDraftTakesEffectWhenPublished(t *testing.T) {
	t.Parallel()
	store, n := pebbletest.Open(t), &node{}
	s := agents.New(agents.Config{Store: store, References: record.NewReferences(store), Campaigns: n, Outbox: n, URLs: n})
	ctx, p := t.Context(), domain.Principal{WorkspaceID: "ws_1", Environment: domain.Live}
	a, err := s.CreateAgent(ctx, p, &domain.Agent{Name: "a", FirstMessage: "Hello.", Extension: "100"})
	require.NoError(t, err)
	a, err = s.UpdateAgent(ctx, p, a.ID, func(a *domain.Agent) error { a.FirstMessage = "Good day."; return nil })
	require.NoError(t, err)
	assert.Equal(t, []string{"first_message"}, a.Unpublished)
	v, err := s.PublishedVersion(ctx, a)
	require.NoError(t, err)
	assert.Equal(t, "Hello.", v.FirstMessage)

	v, err = s.PublishAgent(ctx, p, a.ID)
	require.NoError(t, err)
	assert.Equal(t, 2, v.Version)
	assert.Equal(t, "Good day.", v.FirstMessage)
	assert.Equal(t, 1, n.published)
	assert.Positive(t, n.committed)
	versions, err := s.ListAgentVersions(ctx, p, a.ID, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	assert.Len(t, versions.Data, 2)

	_, err = s.CreateAgent(ctx, p, &domain.Agent{Name: "b", FirstMessage: "Hello.", Extension: "100"})
	assert.Equal(t, domain.CodeAlreadyExists, domain.CodeOf(err), "another agent has the extension")
	require.NoError(t, s.DeleteAgent(ctx, p, a.ID))
	_, err = s.CreateAgent(ctx, p, &domain.Agent{Name: "b", FirstMessage: "Hello.", Extension: "100"})
	assert.NoError(t, err)
}

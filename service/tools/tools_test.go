package tools_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/tools"
)

// urls is a fake URL checker that refuses one URL.
type urls struct{ refused string }

func (u urls) CheckURL(_ context.Context, param, url string) error {
	if url == u.refused {
		return domain.FieldError(param, domain.CodeInvalidURL, "refused")
	}
	return nil
}

func TestToolRequiresUniqueNameAndAllowedURL(t *testing.T) {
	t.Parallel()
	store := pebbletest.Open(t)
	ctx, p := t.Context(), domain.Principal{WorkspaceID: "ws_1", Environment: domain.Live}
	s := tools.New(store, record.NewReferences(store), urls{refused: "https://inside.example"})
	create := func(name, url string) (*domain.Tool, error) {
		return s.CreateTool(ctx, p, &domain.Tool{Name: name, HTTP: &domain.ToolHTTP{Method: "POST", URL: url, Headers: map[string]string{"Authorization": "Bearer 0123456789abcdef"}}})
	}
	one, err := create("one", "https://a.example")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"Authorization": "…cdef"}, one.HTTP.HeaderHints)
	_, err = create("one", "https://a.example")
	assert.Equal(t, domain.CodeAlreadyExists, domain.CodeOf(err))
	_, err = create("two", "https://inside.example")
	require.Error(t, err)

	agent := &domain.Agent{Tools: []string{one.ID}}
	agent.Init("agent", p, record.RequestResourceID(ctx, domain.PrefixAgent), record.Now())
	agent.References = agent.ReferencedIDs()
	_, err = store.Apply(ctx, commit.Change{Workspace: p.WorkspaceID, Puts: []domain.Record{agent}})
	require.NoError(t, err)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(s.DeleteTool(ctx, p, one.ID)), "an agent uses the tool")
}

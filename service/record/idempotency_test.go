package record_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
)

var onceKey = record.IdempotencyKey{Method: "POST", Path: "/v1/tools", Key: "k"}

func TestRequestWithAKeyRunsOnce(t *testing.T) {
	t.Parallel()
	store, p := pebbletest.OpenStore(t), recordtest.Live(recordtest.Workspace)
	once := record.NewIdempotency(store)
	ctx, reply, err := once.Reserve(t.Context(), p, onceKey, "digest")
	require.NoError(t, err)
	assert.Nil(t, reply)
	assert.False(t, record.IdempotentRequestOf(ctx).Repeated)
	_, _, err = once.Reserve(t.Context(), p, onceKey, "digest")
	assert.Equal(t, domain.CodeIdempotencyConflict, domain.CodeOf(err), "it is running")
	other := recordtest.Live(recordtest.OtherWorkspace)
	other.KeyID = "key_2"
	_, _, err = once.Reserve(t.Context(), other, onceKey, "digest")
	require.NoError(t, err, "the same text of another credential")

	require.NoError(t, once.Keep(ctx, p, onceKey, record.StoredReply{Digest: "digest", Sealed: []byte("reply")}))
	for _, process := range []*record.Idempotency{once, record.NewIdempotency(store)} {
		_, reply, err = process.Reserve(t.Context(), p, onceKey, "digest")
		require.NoError(t, err)
		require.NotNil(t, reply)
		assert.Equal(t, "reply", string(reply.Sealed))
	}
	require.NoError(t, once.SweepReplies(t.Context(), p.WorkspaceID))
	_, reply, err = once.Reserve(t.Context(), p, onceKey, "digest")
	require.NoError(t, err)
	assert.NotNil(t, reply, "younger than a day")
}

func TestInterruptedRequestIsRepeatedWithTheSameIDs(t *testing.T) {
	t.Parallel()
	store, p := pebbletest.OpenStore(t), recordtest.Live(recordtest.Workspace)
	first, _, err := record.NewIdempotency(store).Reserve(t.Context(), p, onceKey, "digest")
	require.NoError(t, err)
	tool := createTool(t, store, p, "other")
	tool.ID = record.RequestResourceID(first, domain.PrefixTool)
	require.NoError(t, record.Create(first, store, tool))

	next := record.NewIdempotency(store) // of the next process
	_, _, err = next.Reserve(t.Context(), p, onceKey, "another digest")
	assert.Equal(t, domain.CodeIdempotencyMismatch, domain.CodeOf(err))
	ctx, reply, err := next.Reserve(t.Context(), p, onceKey, "digest")
	require.NoError(t, err)
	assert.Nil(t, reply)
	made, err := record.CreatedBySameRequest[domain.Tool](ctx, store, p, domain.PrefixTool)
	require.NoError(t, err)
	require.NotNil(t, made)
	assert.Equal(t, tool.ID, made.ID)
	none, err := record.CreatedBySameRequest[domain.Tool](t.Context(), store, p, domain.PrefixTool)
	require.NoError(t, err)
	assert.Nil(t, none, "a request without a key")

	encoded, err := record.NewIdempotency(store).InTurn(t.Context(), next.Turn(ctx))
	require.NoError(t, err)
	assert.Equal(t, tool.ID, record.RequestResourceID(encoded, domain.PrefixTool), "on another node, too")
	require.NoError(t, next.Release(ctx, p, onceKey, false))
	_, _, err = next.Reserve(t.Context(), p, onceKey, "another digest")
	assert.Equal(t, domain.CodeIdempotencyMismatch, domain.CodeOf(err), "it may have had an effect: the key stays")
}

func TestKeyOfARequestWithoutEffectIsReleased(t *testing.T) {
	t.Parallel()
	store, p := pebbletest.OpenStore(t), recordtest.Live(recordtest.Workspace)
	once := record.NewIdempotency(store)
	ctx, _, err := once.Reserve(t.Context(), p, onceKey, "digest")
	require.NoError(t, err)
	require.NoError(t, once.Release(ctx, p, onceKey, false))
	store.BeforeApply = func(commit.Change) error { return errors.New("the disk is full") }
	_, _, err = once.Reserve(t.Context(), p, onceKey, "another digest")
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	store.BeforeApply = nil
	ctx, _, err = once.Reserve(t.Context(), p, onceKey, "another digest")
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), record.IdempotentRequestOf(ctx).At, time.Minute)
}

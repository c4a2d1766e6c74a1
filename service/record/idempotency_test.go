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

var testKey = record.IdempotencyKey{Method: "POST", Path: "/v1/tools", Key: "k"}

func TestRequestWithIdempotencyKeyRunsOnce(t *testing.T) {
	t.Parallel()
	store, p := pebbletest.OpenStore(t), recordtest.Live(recordtest.Workspace)
	idempotency := record.NewIdempotency(store)
	ctx, reply, err := idempotency.Reserve(t.Context(), p, testKey, "digest")
	require.NoError(t, err)
	assert.Nil(t, reply)
	assert.False(t, record.IdempotentRequestOf(ctx).Repeated)
	_, _, err = idempotency.Reserve(t.Context(), p, testKey, "digest")
	assert.Equal(t, domain.CodeIdempotencyConflict, domain.CodeOf(err), "the first request is still running")
	other := recordtest.Live(recordtest.OtherWorkspace)
	other.KeyID = "key_2"
	_, _, err = idempotency.Reserve(t.Context(), other, testKey, "digest")
	require.NoError(t, err, "another credential may use the same key")

	require.NoError(t, idempotency.StoreReply(ctx, p, testKey, record.StoredReply{Digest: "digest", Sealed: []byte("reply")}))
	for _, process := range []*record.Idempotency{idempotency, record.NewIdempotency(store)} {
		_, reply, err = process.Reserve(t.Context(), p, testKey, "digest")
		require.NoError(t, err)
		require.NotNil(t, reply)
		assert.Equal(t, "reply", string(reply.Sealed))
	}
	require.NoError(t, idempotency.SweepReplies(t.Context(), p.WorkspaceID))
	_, reply, err = idempotency.Reserve(t.Context(), p, testKey, "digest")
	require.NoError(t, err)
	assert.NotNil(t, reply, "the stored reply is less than a day old")
}

func TestRepeatedRequestAfterCrashCreatesSameIDs(t *testing.T) {
	t.Parallel()
	store, p := pebbletest.OpenStore(t), recordtest.Live(recordtest.Workspace)
	first, _, err := record.NewIdempotency(store).Reserve(t.Context(), p, testKey, "digest")
	require.NoError(t, err)
	tool := createTool(t, store, p, "other")
	tool.ID = record.RequestResourceID(first, domain.PrefixTool)
	require.NoError(t, record.Create(first, store, tool))

	next := record.NewIdempotency(store) // the process after the crash
	_, _, err = next.Reserve(t.Context(), p, testKey, "another digest")
	assert.Equal(t, domain.CodeIdempotencyMismatch, domain.CodeOf(err))
	ctx, reply, err := next.Reserve(t.Context(), p, testKey, "digest")
	require.NoError(t, err)
	assert.Nil(t, reply)
	made, err := record.CreatedBySameRequest[domain.Tool](ctx, store, p, domain.PrefixTool)
	require.NoError(t, err)
	require.NotNil(t, made)
	assert.Equal(t, tool.ID, made.ID)
	none, err := record.CreatedBySameRequest[domain.Tool](t.Context(), store, p, domain.PrefixTool)
	require.NoError(t, err)
	assert.Nil(t, none, "a request without an Idempotency-Key")

	encoded, err := record.NewIdempotency(store).DecodeRequest(t.Context(), next.EncodeRequest(ctx))
	require.NoError(t, err)
	assert.Equal(t, tool.ID, record.RequestResourceID(encoded, domain.PrefixTool), "the request has the same ids on another node")
	require.NoError(t, next.Release(ctx, p, testKey, false))
	_, _, err = next.Reserve(t.Context(), p, testKey, "another digest")
	assert.Equal(t, domain.CodeIdempotencyMismatch, domain.CodeOf(err), "the request may have had an effect, so its key stays")
}

func TestIdempotencyKeyOfRequestWithoutEffectIsReleased(t *testing.T) {
	t.Parallel()
	store, p := pebbletest.OpenStore(t), recordtest.Live(recordtest.Workspace)
	idempotency := record.NewIdempotency(store)
	ctx, _, err := idempotency.Reserve(t.Context(), p, testKey, "digest")
	require.NoError(t, err)
	require.NoError(t, idempotency.Release(ctx, p, testKey, false))
	store.BeforeApply = func(commit.Change) error { return errors.New("the disk is full") }
	_, _, err = idempotency.Reserve(t.Context(), p, testKey, "another digest")
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	store.BeforeApply = nil
	ctx, _, err = idempotency.Reserve(t.Context(), p, testKey, "another digest")
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), record.IdempotentRequestOf(ctx).At, time.Minute)
}

package recordings_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
	"github.com/callboard/callboard/service/recordings"
)

// blobs is a fake blob store in which each recording has the text "audio". err is the error of Open.
type blobs struct{ err error }

type body struct{ *bytes.Reader }

func (body) Close() error { return nil }

func (b *blobs) Open(context.Context, string, string) (io.ReadSeekCloser, int64, error) {
	return body{bytes.NewReader([]byte("audio"))}, 5, b.err
}

type fixture struct {
	*recordings.Service

	store *pebbletest.Store
	blobs blobs
	by    domain.Principal
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{store: pebbletest.OpenStore(t), by: recordtest.Live(recordtest.Workspace)}
	f.Service = recordings.New(recordings.Config{
		Store: f.store, Blobs: &f.blobs, Workspaces: recordtest.Workspaces{recordtest.Workspace: {}, recordtest.OtherWorkspace: {}},
	})
	return f
}

func (f *fixture) call(t *testing.T, p domain.Principal, edit func(*domain.Call)) string {
	t.Helper()
	now := record.Now()
	c := &domain.Call{Status: domain.CallCompleted, EndedAt: &now, RecordingAvailable: true}
	edit(c)
	c.Init("call", p, record.RequestResourceID(t.Context(), domain.PrefixCall), now)
	require.NoError(t, record.Create(t.Context(), f.store, c))
	return c.ID
}

func TestRecordingErrorsUntilStored(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	ready := f.call(t, f.by, func(*domain.Call) {})
	code := func(p domain.Principal, id string) domain.Code {
		_, err := f.Recording(t.Context(), p, id)
		return domain.CodeOf(err)
	}
	r, err := f.Recording(t.Context(), f.by, ready)
	require.NoError(t, err)
	assert.Equal(t, int64(5), r.Size)
	assert.Equal(t, domain.CodeNotFound, code(recordtest.Live(recordtest.OtherWorkspace), ready))
	assert.Equal(t, domain.CodeProcessing, code(f.by, f.call(t, f.by, func(c *domain.Call) { c.RecordingAvailable, c.Processing = false, true })))
	assert.Equal(t, domain.CodeNotFound, code(f.by, f.call(t, f.by, func(c *domain.Call) { c.RecordingAvailable = false })))
	f.blobs.err = domain.ErrNotFound
	assert.Equal(t, domain.CodeNotFound, code(f.by, ready), "retention is deleting the recording")
	f.blobs.err = errors.New("no route to the bucket")
	assert.Equal(t, domain.CodeUnavailable, code(f.by, ready))
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(f.SetRecordingPaused(t.Context(), f.by, ready, true)), "the call has ended")
}

func TestRecordingLinkOpensOneRecordingUntilExpiry(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	one, two := f.call(t, f.by, func(*domain.Call) {}), f.call(t, f.by, func(*domain.Call) {})
	token, err := f.CreateRecordingLink(t.Context(), f.by, one, time.Now().Add(time.Hour))
	require.NoError(t, err)
	p, err := f.AuthenticateRecordingLink(t.Context(), one, token)
	require.NoError(t, err)
	assert.Equal(t, domain.Principal{WorkspaceID: recordtest.Workspace, Environment: domain.Live, Permissions: []domain.Permission{domain.CallsRead}}, p)
	late, err := f.CreateRecordingLink(t.Context(), f.by, one, time.Now().Add(-time.Second))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		call, token string
		code        domain.Code
	}{
		"another call":      {two, token, domain.CodeInvalidLink},
		"expired":           {one, late, domain.CodeExpiredLink},
		"nonsense":          {one, "x", domain.CodeInvalidLink},
		"another workspace": {one, recordtest.OtherWorkspace + token[len(recordtest.Workspace):], domain.CodeInvalidLink},
	} {
		_, err = f.AuthenticateRecordingLink(t.Context(), c.call, c.token)
		assert.Equal(t, c.code, domain.CodeOf(err), name)
	}
}

func TestRecordingLinkRequiresStoredSigningKey(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	one := f.call(t, f.by, func(*domain.Call) {})
	f.store.BeforeApply = func(commit.Change) error { return errors.New("the disk is full") }
	_, err := f.CreateRecordingLink(t.Context(), f.by, one, time.Now().Add(time.Hour))
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
}

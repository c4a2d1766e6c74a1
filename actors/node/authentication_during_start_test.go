package node_test

import (
	"context"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// keyReaderDuringLoad is a store backend that authenticates an API key in the middle of loading all keys.
type keyReaderDuringLoad struct {
	storecache.Backend
	authenticate func() error
	result       error
}

func (e *keyReaderDuringLoad) List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (string, error) {
	if q.Kind == "api_key" && e.result == nil {
		e.result = e.authenticate()
	}
	return e.Backend.List(ctx, q, fresh, each)
}

func TestAuthenticationDuringStartReturnsUnavailableInsteadOfUnknownKey(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	here := netip.MustParseAddr("127.0.0.1")
	key := h.firstStart.AdminKey
	h.shutdown()
	e := &keyReaderDuringLoad{authenticate: func() error { _, err := h.keys.Authenticate(t.Context(), key, here); return err }}
	h.wrapStore = func(s storecache.Backend) storecache.Backend { e.Backend = s; return e }
	h.start()
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(e.result), "%v", e.result)
	require.NoError(t, e.authenticate())
	_, err := h.keys.Authenticate(t.Context(), "svc_sk_live_wrong", here)
	assert.Equal(t, domain.CodeInvalidAPIKey, domain.CodeOf(err))
}

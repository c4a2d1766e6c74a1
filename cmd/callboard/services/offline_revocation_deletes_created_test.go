package services_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/services"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/keys"
)

func TestRevocationOnAnOfflineStoreDeletesWhatTheKeyCreated(t *testing.T) {
	t.Parallel()
	store, ctx := pebbletest.Open(t), t.Context()
	keyring := keys.NewKeyring(store, bytes.Repeat([]byte{7}, 32))
	offline, err := services.NewOffline(ctx, store, keyring, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	w, key, _, err := offline.CreateWorkspace(ctx, &domain.Workspace{Name: "Acme", Plan: domain.Enterprise, Limits: domain.DefaultEnterpriseLimits()}, false)
	require.NoError(t, err)

	p := domain.Principal{WorkspaceID: w.ID, Environment: domain.Live}
	byKey := domain.Provenance{CreatedBy: &domain.Creator{Type: domain.CreatorAPIKey, ID: key.ID}}
	meta := func(prefix domain.Prefix, object string) (m domain.Meta) {
		m.Init(object, p, domain.ID(prefix, time.Now(), [10]byte{1}), domain.Timestamp(time.Now()))
		return m
	}
	created := []domain.Record{
		&domain.Webhook{Meta: meta(domain.PrefixWebhook, "webhook"), Provenance: byKey, URL: "https://a.example/"},
		&domain.Phone{Meta: meta(domain.PrefixPhone, "phone"), Provenance: byKey, Extension: "101", Username: "anna"},
		&domain.OAuthClient{Meta: meta(domain.PrefixClient, "oauth_client"), Provenance: byKey},
		&domain.User{Meta: meta(domain.PrefixUser, "user"), Provenance: byKey, Role: domain.RoleViewer},
	}
	_, err = store.Apply(ctx, commit.Change{Workspace: w.ID, Puts: created})
	require.NoError(t, err)

	offline, err = services.NewOffline(ctx, store, keyring, slog.New(slog.DiscardHandler)) // as the command line opens it
	require.NoError(t, err)
	done, err := offline.Services().Keys.RevokeAnyKey(ctx, key.ID, true)
	require.NoError(t, err)
	assert.Empty(t, done.Remaining)
	assert.Len(t, done.Ended, len(created))
	for _, r := range created {
		_, err = store.Get(ctx, r)
		assert.ErrorIs(t, err, domain.ErrNotFound, "%T", r)
	}
}

package node_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// signInCookie signs a user in and returns the session cookie.
func (h *fixture) signInCookie(u *domain.User) string {
	h.Helper()
	text, _, err := h.services().Users.CreateSignInLink(h.Context(), h.live, u.ID, allowAnyUser)
	require.NoError(h, err)
	cookie, _, err := h.services().Users.SignIn(h.Context(), text, here, "browser")
	require.NoError(h, err)
	return cookie
}

// makeSessionIdle sets the last use of a session far into the past.
func (h *fixture) makeSessionIdle(id string) time.Time {
	h.Helper()
	row := &domain.Session{Meta: domain.Meta{ID: id, WorkspaceID: h.live.WorkspaceID}}
	version, err := h.store.Get(h.Context(), row)
	require.NoError(h, err)
	row.SeenAt = time.Now().UTC().Add(time.Minute - domain.SessionIdleTime)
	_, err = h.store.Apply(h.Context(), commit.Change{Workspace: row.WorkspaceID, Guards: []commit.Guard{{Key: row.Key(), Version: version}}, Puts: []domain.Record{row}})
	require.NoError(h, err)
	return row.SeenAt
}

func TestSessionUseIsStoredWithoutDelayingRequests(t *testing.T) {
	h, m := buildWithStoreFaults(t)
	_, u := h.createClientAndUser(domain.RoleAgent)
	cookie := h.signInCookie(u)
	_, s, err := h.services().Users.AuthenticateSession(t.Context(), cookie, here, false)
	require.NoError(t, err)
	long := h.makeSessionIdle(s.ID)
	goOn, reported := make(chan struct{}), atomic.Int32{}
	m.inject(func(c commit.Change, do func() error) error {
		if hasPut(c, "session") {
			reported.Add(1)
			select {
			case <-goOn:
			case <-time.After(30 * time.Second): // a request that waited for the store would fail
				return domain.ErrConflict
			}
		}
		return do()
	}, nil)
	for range 5 {
		_, s, err = h.services().Users.AuthenticateSession(t.Context(), cookie, here, false)
		require.NoError(t, err, "the store hangs")
		assert.True(t, s.SeenAt.After(long))
		require.Eventually(t, func() bool { return reported.Load() == 1 }, time.Minute, time.Millisecond, "one at a time")
	}
	close(goOn)
	row := &domain.Session{Meta: domain.Meta{ID: s.ID, WorkspaceID: h.live.WorkspaceID}}
	require.Eventually(t, func() bool {
		_, err := h.store.Get(t.Context(), row)
		return err == nil && row.SeenAt.After(long)
	}, time.Minute, time.Millisecond, "the store knows it in the end")
}

func TestUserChangeChecksPermissionsOnTheCommittedUser(t *testing.T) {
	h, m := buildWithStoreFaults(t)
	_, u := h.createClientAndUser(domain.RoleAgent)
	_, s, err := h.services().Users.AuthenticateSession(t.Context(), h.signInCookie(u), here, false)
	require.NoError(t, err)
	no := domain.Errorf(domain.CodeOperatorRequired, "no")
	mayNot := func(u *domain.User) error {
		if u.Operator {
			return no
		}
		return nil
	}
	created := false // becomes an operator between the read and the commit
	m.inject(func(c commit.Change, do func() error) error {
		ends := len(c.Deletes) == 1 && c.Deletes[0] == s.Key()
		if (hasPut(c, "sign_in") || ends) && !created {
			created = true
			_, err := h.services().Users.UpdateUser(t.Context(), h.live, u.ID, func(u *domain.User) error { u.Operator = true; return nil })
			require.NoError(t, err)
		}
		return do()
	}, nil)
	_, _, err = h.services().Users.CreateSignInLink(t.Context(), h.live, u.ID, mayNot)
	require.ErrorIs(t, err, no)
	assert.True(t, created)
	_, err = h.services().Users.UpdateUser(t.Context(), h.live, u.ID, func(u *domain.User) error { u.Operator = false; return nil })
	require.NoError(t, err)
	created = false
	require.ErrorIs(t, h.services().Users.EndSession(t.Context(), h.live, u.ID, s.ID, mayNot), no)
	assert.True(t, created)
	list, err := h.services().Users.ListSessions(t.Context(), h.live, u.ID, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	assert.Len(t, list.Data, 1)
}

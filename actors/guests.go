package actors

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// guests are the OAuth clients and the users of the install, and what was
// revoked of theirs.
// It answers from memory, because it stands before every request that comes
// with an OAuth token; each change is committed before it is known here.
type guests struct {
	store  commit.Store
	pepper []byte
	// changing is held from a commit of a client or a user until memory knows it:
	// both change in the same order, and no more are made than there may be.
	changing workspaceMutex
	mu       sync.RWMutex
	loaded   bool // all workspaces were read
	clients  map[string]*domain.OAuthClient
	users    map[string]*domain.User
	refused  map[string]time.Time // revoked grants and tokens, by id: until when
	telling  sync.Map             // the ids of sessions whose use is being told to the store
}

// newGuests makes one whose hashes are peppered from the pepper of API keys.
func newGuests(store commit.Store, keys *Keyring) *guests {
	g := &guests{store: store, clients: make(map[string]*domain.OAuthClient), users: make(map[string]*domain.User), refused: make(map[string]time.Time)}
	if keys != nil {
		mac := hmac.New(sha256.New, keys.pepper)
		mac.Write([]byte("callboard oauth"))
		g.pepper = mac.Sum(nil)
	}
	return g
}

// load reads what belongs to a workspace.
func (g *guests) load(ctx context.Context, workspace string) error {
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		if err := commit.Each(ctx, g.store, "oauth_client", workspace, "env="+string(env), g.remember); err != nil {
			return err
		}
		if err := commit.Each(ctx, g.store, "user", workspace, "env="+string(env), g.welcome); err != nil {
			return err
		}
	}
	return commit.Each(ctx, g.store, "oauth_revocation", workspace, "all", func(r *domain.OAuthRevocation) { g.refuse(r.ID, r.Until) })
}

func (g *guests) ready() {
	g.mu.Lock()
	g.loaded = true
	g.mu.Unlock()
}

func (g *guests) remember(c *domain.OAuthClient) {
	g.mu.Lock()
	g.clients[c.ID] = c
	g.mu.Unlock()
}

func (g *guests) forget(id string) {
	g.mu.Lock()
	delete(g.clients, id)
	g.mu.Unlock()
}

// client is one of any workspace; nil: there is none. unavailable while the
// service starts.
func (g *guests) client(id string) (*domain.OAuthClient, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if c := g.clients[id]; c != nil || g.loaded {
		return c, nil
	}
	return nil, domain.Errorf(domain.CodeUnavailable, "the service is still starting").With("retry_after", 1)
}

// count is how many clients a workspace has.
func (g *guests) count(workspace string) (n int) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, c := range g.clients {
		if c.WorkspaceID == workspace {
			n++
		}
	}
	return n
}

// welcome knows a user from now on.
func (g *guests) welcome(u *domain.User) {
	g.mu.Lock()
	g.users[u.ID] = u
	g.mu.Unlock()
}

// bid forgets a user.
func (g *guests) bid(id string) {
	g.mu.Lock()
	delete(g.users, id)
	g.mu.Unlock()
}

// user is one of any workspace; nil: there is none.
func (g *guests) user(id string) *domain.User {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.users[id]
}

// countUsers is how many users a workspace has.
func (g *guests) countUsers(workspace string) (n int) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, u := range g.users {
		if u.WorkspaceID == workspace {
			n++
		}
	}
	return n
}

func (g *guests) refuse(id string, until time.Time) {
	g.mu.Lock()
	g.refused[id] = until
	g.mu.Unlock()
}

// isRefused says whether any of the ids was revoked.
func (g *guests) isRefused(ids ...string) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, id := range ids {
		if _, ok := g.refused[id]; ok && id != "" {
			return true
		}
	}
	return false
}

// sweep deletes what has ended by itself, a bounded number of each kind.
func (g *guests) sweep(ctx context.Context, workspace string, now time.Time) error {
	over, err := g.old(ctx, workspace, "oauth_revocation", domain.OAuthSortedBefore(now), func() domain.Record { return &domain.OAuthRevocation{} })
	if err != nil {
		return err
	}
	g.mu.Lock()
	for _, k := range over {
		delete(g.refused, k.ID)
	}
	g.mu.Unlock()
	for _, o := range []struct {
		kind, before string
		fresh        func() domain.Record
	}{
		{"oauth_code", domain.OAuthSortedBefore(now.Add(-domain.CodeMemory)), func() domain.Record { return &domain.OAuthCode{} }},
		{"oauth_grant", record.IDAt(domain.PrefixGrant, now.Add(-domain.RefreshTotal)), func() domain.Record { return &domain.OAuthGrant{} }},
		{"sign_in", domain.OAuthSortedBefore(now), func() domain.Record { return &domain.SignIn{} }},
		{"session", record.IDAt(domain.PrefixSession, now.Add(-domain.SessionLife)), func() domain.Record { return &domain.Session{} }},
	} {
		if _, err = g.old(ctx, workspace, o.kind, o.before, o.fresh); err != nil {
			return err
		}
	}
	return nil
}

// old deletes the rows of a kind that sort before a place, and names them.
func (g *guests) old(ctx context.Context, workspace, kind, before string, fresh func() domain.Record) ([]domain.Key, error) {
	var old []domain.Key
	q := commit.Query{Kind: kind, Workspace: workspace, Index: "all", Oldest: true, Limit: 1000, To: before}
	_, err := g.store.List(ctx, q, fresh, func(r domain.Record) error {
		old = append(old, r.Key())
		return nil
	})
	if err != nil || len(old) == 0 {
		return nil, err
	}
	_, err = g.store.Apply(ctx, commit.Change{Workspace: workspace, Deletes: old})
	return old, err
}

package users

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// saveUseEvery is the minimum time between two commits of a session's last use.
const saveUseEvery = 5 * time.Minute

// saveUseTimeout is the time limit for the commit of a session's last use.
const saveUseTimeout = 10 * time.Second

// CreateSignInLink returns the secret text of a link that signs in a user once. may returns an error if the caller must
// not sign in this user.
func (s *Service) CreateSignInLink(ctx context.Context, p domain.Principal, userID string, may func(*domain.User) error) (text string, until time.Time, err error) {
	for range record.MaxTries {
		u, guard, err := s.guardedUser(ctx, p, userID, may)
		if err == nil {
			err = s.checkSignInLink(p, u)
		}
		if err != nil {
			return "", time.Time{}, err
		}
		secret, now := record.NewSecretText(), record.Now()
		link := &domain.SignIn{UserID: u.ID, Until: now.Add(domain.SignInLinkLifetime), OperatorSince: u.OperatorSince}
		link.Init("sign_in", p, access.HashKey(s.pepper, "sign-in "+secret), now)
		link.CreatedBy = p.Creator()
		err = record.Create(commit.WithAuditInNextCommit(ctx), s.store, link, func(c *commit.Change) { c.Guards = append(c.Guards, guard) })
		if !errors.Is(err, domain.ErrConflict) {
			return access.JoinWorkspaceSecret(p.WorkspaceID, secret), link.Until, err
		}
	}
	return "", time.Time{}, record.ConflictError()
}

// CreateSignInLinkForAnyUser returns a sign-in link for a user of any workspace. It is for operator commands on the
// server itself, which need no credential.
func (s *Service) CreateSignInLinkForAnyUser(ctx context.Context, u *domain.User) (text string, until time.Time, err error) {
	p := domain.Principal{WorkspaceID: u.WorkspaceID, Environment: u.Environment, Operator: true}
	ctx = record.WithLocalAuditEntry(ctx, u.WorkspaceID, "auth", "user.sign_in_link_created", domain.Resource{Type: "user", ID: u.ID})
	return s.CreateSignInLink(ctx, p, u.ID, func(*domain.User) error { return nil })
}

// checkSignInLink returns an error if the allowed_ips of the user are wider than those of the credential that
// creates the link. Errors: insufficient_permissions.
func (s *Service) checkSignInLink(p domain.Principal, u *domain.User) error {
	for _, outer := range s.restrictions.AllowedNetworks(p) {
		if !access.AreAllowedIPsWithin(u.AllowedIPs, outer) {
			return domain.Errorf(domain.CodeInsufficientPermissions,
				"The user may sign in from addresses outside allowed_ips of the key (%s). Use a key without allowed_ips, or narrow allowed_ips of the user.", strings.Join(outer, ", "))
		}
	}
	return nil
}

// SignIn uses a sign-in link and returns the cookie of a new session. The same commit stores the audit entry.
// Errors: invalid_link, expired_link, ip_not_allowed.
func (s *Service) SignIn(ctx context.Context, text string, from netip.Addr, agent string) (cookie string, u *domain.User, err error) {
	workspace, secret, ok := access.SplitWorkspaceSecret(text)
	invalid := domain.Errorf(domain.CodeInvalidLink, "The sign-in link was used already or is invalid.")
	if !ok {
		return "", nil, invalid
	}
	link := &domain.SignIn{Meta: domain.Meta{ID: access.HashKey(s.pepper, "sign-in "+secret), WorkspaceID: workspace}}
	version, err := s.store.Get(ctx, link)
	if errors.Is(err, domain.ErrNotFound) {
		return "", nil, invalid
	}
	if err != nil {
		return "", nil, commit.StoreError(err)
	}
	ended, err := s.keys.CreatorEnded(link.CreatedBy)
	if err != nil {
		return "", nil, err
	}
	now := record.Now()
	u = s.cache.User(link.UserID)
	switch {
	case ended:
		return "", nil, domain.Errorf(domain.CodeExpiredLink, "The API key that created the sign-in link was revoked or has expired. Request a new link.")
	case u == nil || !link.IsValidFor(u, now):
		return "", nil, domain.Errorf(domain.CodeExpiredLink, "The sign-in link has expired. Request a new link.")
	case !access.IsAllowedIP(u.AllowedIPs, from):
		return "", u, domain.Errorf(domain.CodeIPNotAllowed, "You are not allowed to sign in from this address.")
	}
	secret = record.NewSecretText()
	session := &domain.Session{UserID: u.ID, IP: from.String(), UserAgent: agent, SeenAt: now, OperatorSince: link.OperatorSince}
	session.Init("session", domain.Principal{WorkspaceID: workspace, Environment: u.Environment}, mailbox.NewID(domain.PrefixSession), now)
	session.Hash, session.CreatedBy = s.sessionHash(session.ID, secret), link.CreatedBy
	ctx = record.WithAuditEntry(ctx, domain.Principal{WorkspaceID: workspace, Environment: u.Environment, UserID: u.ID}, record.AuditAction{
		Type: "auth", Action: "user.signed_in", IP: from, UserAgent: agent, Resource: domain.Resource{Type: "user", ID: u.ID},
	})
	_, err = s.store.Apply(commit.WithAuditInNextCommit(ctx), commit.Change{
		Workspace: workspace, Guards: []commit.Guard{{Key: link.Key(), Version: version}, commit.Absent(session.Key())},
		Deletes: []domain.Key{link.Key()}, Puts: []domain.Record{session},
	})
	if errors.Is(err, domain.ErrConflict) {
		return "", nil, invalid
	}
	return access.JoinWorkspaceSecret(workspace, strings.TrimPrefix(session.ID, string(domain.PrefixSession)+"_")+"."+secret), u, commit.StoreError(err)
}

func (s *Service) sessionHash(id, secret string) string {
	return access.HashKey(s.pepper, "session "+id+" "+secret)
}

// AuthenticateSession returns the user and the session of a cookie. isRefresh is true for the automatic refresh of a
// page, which does not extend the session. Errors: authentication_required, ip_not_allowed.
func (s *Service) AuthenticateSession(ctx context.Context, cookie string, from netip.Addr, isRefresh bool) (*domain.User, *domain.Session, error) {
	notSignedIn := domain.Errorf(domain.CodeAuthenticationRequired, "You are not signed in.")
	workspace, rest, ok := access.SplitWorkspaceSecret(cookie)
	id, secret, hasSecret := strings.Cut(rest, ".")
	id, err := domain.ParseID(domain.PrefixSession, string(domain.PrefixSession)+"_"+id)
	if !ok || !hasSecret || err != nil {
		return nil, nil, notSignedIn
	}
	session := &domain.Session{Meta: domain.Meta{ID: id, WorkspaceID: workspace}}
	version, err := s.store.Get(ctx, session)
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, nil, commit.StoreError(err)
	}
	ended, unknown := s.keys.CreatorEnded(session.CreatedBy)
	if unknown != nil {
		return nil, nil, unknown
	}
	now := record.Now()
	u := s.cache.User(session.UserID)
	switch {
	case err != nil || ended || !access.SameHash(session.Hash, s.sessionHash(id, secret)) || !session.IsValid(now) || u == nil || u.WorkspaceID != workspace:
		return nil, nil, notSignedIn
	case !access.IsAllowedIP(u.AllowedIPs, from):
		return u, session, domain.Errorf(domain.CodeIPNotAllowed, "You are not allowed to be signed in from this address.")
	}
	if !isRefresh && now.Sub(session.SeenAt) >= saveUseEvery {
		session.SeenAt, session.IP, session.UpdatedAt = now, from.String(), now
		s.saveUse(*session, version)
	}
	return u, session, nil
}

// SwitchEnvironment changes the environment that the dashboard shows in a session. Errors: authentication_required for a
// session that has ended, invalid_state for a user of the test environment.
func (s *Service) SwitchEnvironment(ctx context.Context, u *domain.User, id string, env domain.Environment) error {
	if u.Environment == domain.Test {
		return domain.Errorf(domain.CodeInvalidState, "The user belongs to the test environment.")
	}
	for range record.MaxTries {
		session := &domain.Session{Meta: domain.Meta{ID: id, WorkspaceID: u.WorkspaceID}}
		version, err := s.store.Get(ctx, session)
		if errors.Is(err, domain.ErrNotFound) {
			return domain.Errorf(domain.CodeAuthenticationRequired, "You are not signed in.")
		}
		if err != nil {
			return commit.StoreError(err)
		}
		session.Shows = env
		_, err = s.store.Apply(ctx, commit.Change{Workspace: u.WorkspaceID, Guards: []commit.Guard{{Key: session.Key(), Version: version}}, Puts: []domain.Record{session}})
		if !errors.Is(err, domain.ErrConflict) {
			return commit.StoreError(err)
		}
	}
	return record.ConflictError()
}

// saveUse stores the last use of a session in the background, so that the request does not wait for the disk. After
// an error a later request of the session stores its last use.
func (s *Service) saveUse(session domain.Session, version uint64) {
	if _, running := s.saving.LoadOrStore(session.ID, struct{}{}); running {
		return
	}
	go func() {
		defer s.saving.Delete(session.ID)
		ctx, cancel := context.WithTimeout(context.Background(), saveUseTimeout)
		defer cancel()
		_, _ = s.store.Apply(ctx, commit.Change{
			Workspace: session.WorkspaceID, Guards: []commit.Guard{{Key: session.Key(), Version: version}}, Puts: []domain.Record{&session},
		})
	}()
}

// ListSessions returns a page of a user's valid sessions.
func (s *Service) ListSessions(ctx context.Context, p domain.Principal, userID string, q record.PageQuery) (record.Page[*domain.Session], error) {
	u, _, err := record.Get[domain.User](ctx, s.store, p, domain.PrefixUser, userID)
	if err != nil {
		return record.Page[*domain.Session]{}, err
	}
	now := time.Now()
	return record.List(ctx, s.store, p.WorkspaceID, "user="+u.ID, domain.PrefixSession, q, func(session *domain.Session) bool { return session.IsValid(now) })
}

// EndSession ends a session of a user. may returns an error if the caller must not end sessions of this user.
func (s *Service) EndSession(ctx context.Context, p domain.Principal, userID, id string, may func(*domain.User) error) error {
	return record.Delete(commit.WithAuditInNextCommit(ctx), s.store, p, domain.PrefixSession, id, func(c *commit.Change, session *domain.Session) error {
		u, guard, err := s.guardedUser(ctx, p, userID, may)
		if err != nil {
			return err
		}
		if session.UserID != u.ID {
			return domain.NotFound("session")
		}
		c.Guards = append(c.Guards, guard)
		return nil
	})
}

// SweepSessions deletes expired sign-in links and sessions of a workspace, up to
// 1,000 of each.
func (s *Service) SweepSessions(ctx context.Context, workspace string, now time.Time) error {
	if _, err := record.DeleteBefore[domain.SignIn](ctx, s.store, workspace, "sign_in", domain.OAuthSortKey(now)); err != nil {
		return err
	}
	_, err := record.DeleteBefore[domain.Session](ctx, s.store, workspace, "session", domain.FirstIDAt(domain.PrefixSession, now.Add(-domain.SessionLifetime)))
	return err
}

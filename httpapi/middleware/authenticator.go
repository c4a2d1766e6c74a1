package middleware

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/token"
)

// CredentialCheckInterval is the time between two checks of the credential of an open
// stream or socket.
const CredentialCheckInterval = 500 * time.Millisecond

// ErrCredentialEnded ends a stream or a WebSocket whose credential was revoked, has expired, or has lost a
// permission.
var ErrCredentialEnded = errors.New("httpapi: the credential has ended")

// Authenticator finds the principal of a credential: an API key, a JWT, an OAuth
// token, or the session cookie of a user.
type Authenticator struct {
	keys     Keys
	oauth    OAuth
	sessions Sessions
	issuer   *token.Issuer
}

// CurrentPrincipal authenticates the credential of an earlier request again and returns its principal as it is now.
func (a *Authenticator) CurrentPrincipal(ctx context.Context, v *router.Request) (domain.Principal, error) {
	if v.Cookie == "" {
		return a.authenticate(ctx, v)
	}
	u, session, err := a.sessions.AuthenticateSession(ctx, v.Cookie, v.IP, true)
	if err != nil {
		return domain.Principal{}, err
	}
	return domain.Principal{
		WorkspaceID: u.WorkspaceID, Environment: session.EnvironmentFor(u), UserID: u.ID, Permissions: u.Role.Permissions(), SignInKeyID: session.CreatedBy.KeyID(),
	}, nil
}

// authenticate returns the principal of the API key or token of a request. It sets v.Claims for a token.
func (a *Authenticator) authenticate(ctx context.Context, v *router.Request) (domain.Principal, error) {
	if !token.IsJWT(v.Credential) {
		return a.keys.Authenticate(ctx, v.Credential, v.IP)
	}
	c, err := a.issuer.Verify(ctx, v.Credential)
	if err != nil {
		return c.Principal(), err
	}
	v.Claims = &c
	p := c.Principal()
	if c.ClientID == "" {
		return p, a.keys.CheckKeyIsValid(ctx, c.WorkspaceID, c.KeyID)
	}
	if p.Permissions, err = a.TokenPermissions(ctx, &c); err != nil {
		return p, err
	}
	client, err := a.oauth.FindClient(ctx, c.ClientID)
	if err == nil && client != nil && !access.IsAllowedIP(client.AllowedIPs, v.IP) {
		err = domain.Errorf(domain.CodeIPNotAllowed, "Requests with tokens of this OAuth client are not allowed from this address.")
	}
	return p, err
}

// TokenPermissions returns the current permissions of an OAuth token. If an API key created the sign-in link of the
// token's user, the token becomes invalid with that key.
func (a *Authenticator) TokenPermissions(ctx context.Context, c *token.Claims) ([]domain.Permission, error) {
	if c.SignInKeyID != "" {
		if err := a.keys.CheckKeyIsValid(ctx, c.WorkspaceID, c.SignInKeyID); err != nil {
			return nil, err
		}
	}
	return a.oauth.CheckOAuthToken(ctx, c.Principal(), c.GrantID, c.ID)
}

// IsCredentialValid reports whether a credential is valid and still has the permissions that it had at the start of
// the stream. It returns true while the store does not answer, because nothing can be revoked then.
func (a *Authenticator) IsCredentialValid(ctx context.Context, v *router.Request) bool {
	if v.Credential == "" && v.Cookie == "" { // a signed link, which expires by itself
		return true
	}
	now := *v
	p, err := a.CurrentPrincipal(ctx, &now)
	if err != nil {
		return ctx.Err() != nil || domain.CodeOf(err) == domain.CodeUnavailable || errors.Is(err, context.DeadlineExceeded)
	}
	return slices.Equal(p.Permissions, v.Principal.Permissions)
}

// WatchCredential returns a context for a stream, a WebSocket or a download. The context ends with
// ErrCredentialEnded once the credential of the request is invalid. cancel stops the checks.
func (a *Authenticator) WatchCredential(ctx context.Context, v *router.Request) (_ context.Context, cancel context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		t := time.NewTicker(CredentialCheckInterval)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				if !a.IsCredentialValid(ctx, v) {
					end(ErrCredentialEnded)
				}
			}
		}
	}()
	return ctx, func() { end(nil) }
}

package httpapi

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

// watchEvery is how often the credential of an open stream or socket is checked.
const watchEvery = 500 * time.Millisecond

// errCredentialEnded: the credential of a stream or a socket was revoked, has
// expired, or has fewer permissions than at the start.
var errCredentialEnded = errors.New("httpapi: the credential has ended")

// principalOf is the current principal of a visit's credential: an API key, a JWT,
// an OAuth token, or a dashboard session.
func (s *Server) principalOf(ctx context.Context, v *router.Request) (domain.Principal, error) {
	if v.Cookie == "" {
		return s.whose(ctx, v)
	}
	u, session, err := s.services.Users.Session(ctx, v.Cookie, v.IP, true)
	if err != nil {
		return domain.Principal{}, err
	}
	return domain.Principal{
		WorkspaceID: u.WorkspaceID, Environment: u.Environment, UserID: u.ID, Permissions: u.Role.Permissions(), SignInKeyID: session.CreatedBy.KeyID(),
	}, nil
}

// isCredentialValid says whether a visit's credential is valid and has the
// permissions that it had at the start of the stream. While the store does not
// answer, no credential can be revoked: it counts as valid.
func (s *Server) isCredentialValid(ctx context.Context, v *router.Request) bool {
	if v.Credential == "" && v.Cookie == "" { // a signed link, which ends by itself
		return true
	}
	now := *v
	p, err := s.principalOf(ctx, &now)
	if err != nil {
		return ctx.Err() != nil || domain.CodeOf(err) == domain.CodeUnavailable || errors.Is(err, context.DeadlineExceeded)
	}
	return slices.Equal(p.Permissions, v.Principal.Permissions)
}

// WatchCredential returns a context for a stream, a socket or a download that
// ends with errCredentialEnded once the credential of the visit is invalid. cancel
// stops the checks.
func (s *Server) WatchCredential(ctx context.Context, v *router.Request) (_ context.Context, cancel context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		t := time.NewTicker(watchEvery)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				if !s.isCredentialValid(ctx, v) {
					end(errCredentialEnded)
				}
			}
		}
	}()
	return ctx, func() { end(nil) }
}

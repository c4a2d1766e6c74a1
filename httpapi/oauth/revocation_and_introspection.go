package oauth

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/token"
)

// Introspection is the response that describes a token (RFC 7662 §2.2). For an invalid token, and for a token of
// another client, it contains only active: false.
type Introspection struct {
	Active    bool   `json:"active"`
	Scope     string `json:"scope,omitempty" doc:"Current permissions of the token."`
	ClientID  string `json:"client_id,omitempty"`
	TokenType string `json:"token_type,omitempty"`
	ExpiresAt int64  `json:"exp,omitempty" doc:"Unix seconds."`
	IssuedAt  int64  `json:"iat,omitempty" doc:"Unix seconds."`
	Subject   string `json:"sub,omitempty" doc:"The user, or the client itself (claim sub)."`
	Audience  string `json:"aud,omitempty"`
	Issuer    string `json:"iss,omitempty"`
	ID        string `json:"jti,omitempty"`
}

// revokeToken revokes a token and all tokens of its grant.
func (s *Server) revokeToken(c *fiber.Ctx, f *clientForm) (any, error) {
	v := router.RequestOf(c.UserContext())
	act := clientAuditAction(v, f.client, "token.revoked")
	ctx := s.audit.WithAuditEntry(c.UserContext(), v.Principal, act)
	if g, _, err := s.grants.IntrospectToken(ctx, f.client, f.value("token")); err == nil {
		if err = s.grants.RevokeGrant(ctx, f.client, g.GrantID); err != nil {
			return nil, err
		}
		s.audit.Record(ctx, v.Principal, act)
		return struct{}{}, nil
	} else if domain.CodeOf(err) != domain.OAuthInvalidGrant {
		return nil, err
	}
	claims, _, ok, err := s.readAccessToken(ctx, f)
	if err != nil || !ok {
		return struct{}{}, err
	}
	if claims.GrantID != "" {
		err = s.grants.RevokeGrant(ctx, f.client, claims.GrantID)
	} else {
		err = s.clients.RevokeOAuth(ctx, f.client, claims.ID, claims.ExpiresAt.Time)
	}
	if err != nil {
		return nil, err
	}
	s.audit.Record(ctx, v.Principal, act)
	return struct{}{}, nil
}

// introspect serves the introspection endpoint.
func (s *Server) introspect(c *fiber.Ctx, f *clientForm) (any, error) {
	if f.client.Public {
		return nil, s.countRefusal(c, domain.Errorf(domain.OAuthInvalidClient, "This endpoint needs a client with a secret."))
	}
	if g, until, err := s.grants.IntrospectToken(c.UserContext(), f.client, f.value("token")); err == nil {
		return &Introspection{
			Active: true, Scope: access.FormatScope(g.Rights), ClientID: f.client.ID, TokenType: "refresh_token", ExpiresAt: until.Unix(), Subject: g.UserID, Issuer: s.issuer.Name,
		}, nil
	} else if domain.CodeOf(err) != domain.OAuthInvalidGrant {
		return nil, err
	}
	claims, rights, ok, err := s.readAccessToken(c.UserContext(), f)
	if err != nil || !ok {
		return &Introspection{}, err
	}
	return &Introspection{
		Active: true, Scope: access.FormatScope(rights), ClientID: claims.ClientID, TokenType: "Bearer", ExpiresAt: claims.ExpiresAt.Unix(), IssuedAt: claims.IssuedAt.Unix(),
		Subject: claims.Subject, Audience: token.Audience, Issuer: claims.Issuer, ID: claims.ID,
	}, nil
}

// readAccessToken returns the claims and permissions of a valid access token of the client. ok is false if the text is
// no such token.
func (s *Server) readAccessToken(ctx context.Context, f *clientForm) (c token.Claims, rights []domain.Permission, ok bool, err error) {
	text := f.value("token")
	if text == "" {
		return c, nil, false, domain.Errorf(domain.OAuthInvalidRequest, "token is required.")
	}
	if !token.IsJWT(text) {
		return c, nil, false, nil
	}
	c, err = s.issuer.Verify(ctx, text)
	if err != nil || c.ClientID != f.client.ID {
		if code := domain.CodeOf(err); code == domain.CodeInvalidToken || code == domain.CodeExpiredToken {
			err = nil
		}
		return c, nil, false, err
	}
	rights, err = s.access.TokenPermissions(ctx, &c)
	if domain.CodeOf(err) == domain.CodeExpiredToken {
		return c, nil, false, nil
	}
	return c, rights, err == nil, err
}

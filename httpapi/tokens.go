package httpapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/limit"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/token"
)

// NewToken is what a token of a user is asked for with.
type NewToken struct {
	UserID      string              `json:"user_id" doc:"Whom the token is for: its sub." example:"user-17"`
	Permissions []domain.Permission `json:"permissions" nullable:"false" doc:"Not more than the API key holds."`
	ExpiresIn   *int                `json:"expires_in,omitempty" doc:"Seconds, 60 to 86400; 3600 unless said."`
}

// Token is a JWT and what is in it.
type Token struct {
	Token       string              `json:"token"`
	TokenType   string              `json:"token_type" enum:"Bearer"`
	ExpiresAt   time.Time           `json:"expires_at"`
	ExpiresIn   int                 `json:"expires_in" doc:"Seconds."`
	Permissions []domain.Permission `json:"permissions"`
	WorkspaceID string              `json:"workspace_id"`
}

// JWK is the public half of a signing key (RFC 8037).
type JWK struct {
	KeyType string `json:"kty" enum:"OKP"`
	Curve   string `json:"crv" enum:"Ed25519"`
	Use     string `json:"use" enum:"sig"`
	Alg     string `json:"alg" enum:"EdDSA"`
	KeyID   string `json:"kid"`
	X       string `json:"x"`
}

// JWKS are all keys whose tokens may still hold.
type JWKS struct {
	Keys []JWK `json:"keys"`
}

func (s *Server) tokenRoutes() {
	const tag = "Credentials"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: "/v1/auth/token", ID: "issueToken", Credential: router.KeyOnly, Tag: tag, Summary: "Issue a JWT for a user of yours",
		Description: "The token is for the key's workspace and environment and dies with the key; the key's allowed_ips do not bind it.",
	}, s.issueToken)
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: "/v1/auth/refresh", ID: "refreshToken", Credential: router.JWTOnly, Tag: tag, Summary: "Refresh a JWT before it expires",
		Description: "Send the JWT itself. The next one lives as long as the first did, but never beyond 24 hours after that was issued.",
	}, s.refreshToken)
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/.well-known/jwks.json", ID: "getJWKS", Tag: tag, Public: true, Summary: "Get the keys that tokens are signed with",
	}, func(ctx context.Context, _ domain.Principal, _ *struct{}) (*cached[JWKS], error) {
		keys, err := s.services.Tokens.SigningKeys(ctx, token.NewKey)
		if err != nil {
			return nil, err
		}
		out := JWKS{Keys: []JWK{}}
		for _, k := range keys.Reads {
			out.Keys = append(out.Keys, JWK{KeyType: "OKP", Curve: "Ed25519", Use: "sig", Alg: "EdDSA", KeyID: k.ID, X: k.Public})
		}
		return &cached[JWKS]{Control: "public, max-age=300", Body: out}, nil
	})
}

// cached is an answer that others may keep for a while.
type cached[T any] struct {
	Control string `header:"Cache-Control"`
	Body    T
}

func (s *Server) issueToken(ctx context.Context, p domain.Principal, in *struct{ Body NewToken }) (*router.Response[Token], error) {
	b := &in.Body
	var ps domain.Problems
	if b.UserID == "" || len(b.UserID) > router.MaxUserID {
		ps.Add("user_id", domain.CodeValidation, "must have 1 to %d characters", router.MaxUserID)
	}
	access.CheckPermissions("permissions", b.Permissions, &ps)
	lifetime := token.Default
	if b.ExpiresIn != nil {
		lifetime = time.Duration(min(max(*b.ExpiresIn, -1), 1<<31)) * time.Second
		if lifetime < token.Shortest || lifetime > token.Longest {
			ps.Add("expires_in", domain.CodeValidation, "must be %d to %d seconds", int(token.Shortest.Seconds()), int(token.Longest.Seconds()))
		}
	}
	if err := ps.Err(); err != nil {
		return nil, err
	}
	if !access.Subset(b.Permissions, p.Permissions) {
		return nil, domain.Errorf(domain.CodeInsufficientPermissions, "A token cannot do more than the API key it hangs on.").With("required", b.Permissions)
	}
	router.SetResourceID(ctx, p.KeyID)
	return s.sign(ctx, token.Issue(s.issuer(), b.UserID, p, b.Permissions, lifetime, time.Now()))
}

func (s *Server) refreshToken(ctx context.Context, p domain.Principal, _ *struct{}) (*router.Response[Token], error) {
	router.SetResourceID(ctx, p.KeyID)
	return s.sign(ctx, token.Refresh(*router.RequestOf(ctx).Claims, time.Now()))
}

func (s *Server) sign(ctx context.Context, c token.Claims) (*router.Response[Token], error) {
	keys, err := s.services.Tokens.SigningKeys(ctx, token.NewKey)
	if err != nil {
		return nil, err
	}
	text, err := token.Sign(c, keys.Signs)
	if err != nil {
		return nil, err
	}
	return router.Respond(Token{
		Token: text, TokenType: "Bearer", ExpiresAt: c.ExpiresAt.UTC(), ExpiresIn: int(c.ExpiresAt.Sub(c.IssuedAt.Time).Seconds()),
		Permissions: c.Permissions, WorkspaceID: c.WorkspaceID,
	}, nil)
}

// issuer is the service as its tokens name it.
func (s *Server) issuer() string {
	if s.cfg.PublicURL == "" {
		return "callboard"
	}
	return s.cfg.PublicURL
}

// whose finds out who shows a credential: an API key, or the JWT of a user.
func (s *Server) whose(ctx context.Context, v *router.Request) (domain.Principal, error) {
	if !token.Looks(v.Credential) {
		return s.services.Keys.Authenticate(ctx, v.Credential, v.IP)
	}
	c, err := s.readToken(ctx, v.Credential)
	if err != nil {
		return c.Principal(), err
	}
	v.Claims = &c
	p := c.Principal()
	if c.ClientID == "" {
		return p, s.services.Keys.KeyAlive(ctx, c.WorkspaceID, c.KeyID)
	}
	if p.Permissions, err = s.oauthRights(ctx, &c); err != nil {
		return p, err
	}
	client, err := s.services.OAuth.ClientOf(ctx, c.ClientID)
	if err == nil && client != nil && !access.From(client.AllowedIPs, v.IP) {
		err = domain.Errorf(domain.CodeIPNotAllowed, "Requests with tokens of this OAuth client are not allowed from this address.")
	}
	return p, err
}

// oauthRights is what the holder of an OAuth token may do now. The token ends
// with the API key whose sign-in link the user who consented came by.
func (s *Server) oauthRights(ctx context.Context, c *token.Claims) ([]domain.Permission, error) {
	if c.SignInKeyID != "" {
		if err := s.services.Keys.KeyAlive(ctx, c.WorkspaceID, c.SignInKeyID); err != nil {
			return nil, err
		}
	}
	return s.services.OAuth.OAuthAlive(ctx, c.Principal(), c.GrantID, c.ID)
}

// readToken checks a token by itself; whether what it hangs on still holds is
// another question.
func (s *Server) readToken(ctx context.Context, text string) (token.Claims, error) {
	var fault error
	c, err := token.Read(text, s.issuer(), func(kid string) *domain.SigningKey {
		k, err := s.services.Tokens.SigningKey(ctx, kid)
		fault = err
		return k
	}, time.Now())
	if fault != nil {
		return token.Claims{}, fault
	}
	return c, err
}

// fromPage lets pages of the origins in that the workspace names, with a token; API keys must not be in any page.
func (s *Server) fromPage(c *fiber.Ctx, p domain.Principal) error {
	origin := c.Get(fiber.HeaderOrigin)
	if origin == "" {
		return nil
	}
	if !p.ByToken() {
		return domain.Errorf(router.CodeOriginNotAllowed, "An API key must not be used in a browser.")
	}
	w, err := s.Workspace(c.UserContext(), p)
	if err != nil {
		return err
	}
	if slices.Contains(w.AllowedOrigins, origin) {
		allowOrigin(c, origin)
		return nil
	}
	return domain.Errorf(router.CodeOriginNotAllowed, "allowed_origins of the workspace does not name this page's origin.")
}

func allowOrigin(c *fiber.Ctx, origin string) {
	c.Set(fiber.HeaderAccessControlAllowOrigin, origin)
	c.Set(fiber.HeaderAccessControlExposeHeaders, "X-Request-Id, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Window")
	c.Vary(fiber.HeaderOrigin)
}

// showPage lets a page of an origin that some workspace names read why its
// token was refused: it would see a fault of the network instead.
func (s *Server) showPage(c *fiber.Ctx, v *router.Request) {
	if origin := c.Get(fiber.HeaderOrigin); origin != "" && token.Looks(v.Credential) && s.services.Tokens.OriginAllowed(origin) {
		allowOrigin(c, origin)
	}
}

// preflightRule bounds the preflights of pages that are let in, by address: an
// office behind one address sends many, and none shows a bad credential.
func preflightRule() limit.Rule { return limit.Rule{N: 600, Window: time.Minute} }

// preflight answers a browser that asks whether a page may send a request at all; who may is seen when it does.
func (s *Server) preflight(c *fiber.Ctx) error {
	if c.Method() != fiber.MethodOptions {
		return c.Next()
	}
	origin := c.Get(fiber.HeaderOrigin)
	if origin == "" || c.Get(fiber.HeaderAccessControlRequestMethod) == "" {
		return c.Next()
	}
	v := router.RequestOf(c.UserContext())
	if !s.services.Tokens.OriginAllowed(origin) {
		if err := s.CountFailure(c, v); err != nil {
			return s.RespondError(c, err)
		}
		return s.RespondError(c, domain.Errorf(router.CodeOriginNotAllowed, "No workspace lets pages of this origin in."))
	}
	allowOrigin(c, origin)
	if err := tell(c, s.preflights.Take(neighbourhood(v.IP), preflightRule(), time.Now())); err != nil {
		return s.RespondError(c, err)
	}
	c.Set(fiber.HeaderAccessControlAllowMethods, "GET, HEAD, POST, PUT, PATCH, DELETE")
	c.Set(fiber.HeaderAccessControlAllowHeaders, "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Range")
	c.Set(fiber.HeaderAccessControlMaxAge, "600")
	return c.SendStatus(http.StatusNoContent)
}

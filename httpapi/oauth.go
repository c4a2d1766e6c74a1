package httpapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/allow"
	"github.com/callboard/callboard/httpapi/token"
)

// accessLife is how long an access token holds.
const accessLife = time.Hour

// formLimit bounds the forms of OAuth.
const formLimit = 16 << 10

// oauthTag marks the routes that answer in OAuth's own words.
const oauthTag = "OAuth 2.0"

// OAuthMetadata is what clients find out by themselves (RFC 8414).
type OAuthMetadata struct {
	Issuer         string              `json:"issuer" doc:"The service, as its tokens name it."`
	TokenURL       string              `json:"token_endpoint" doc:"Where tokens are got."`
	RevocationURL  string              `json:"revocation_endpoint" doc:"Where tokens are given back."`
	Introspection  string              `json:"introspection_endpoint" doc:"Where a client asks after its tokens."`
	JWKS           string              `json:"jwks_uri" doc:"The keys that tokens are signed with."`
	Scopes         []domain.Permission `json:"scopes_supported" doc:"The permissions."`
	ResponseTypes  []string            `json:"response_types_supported" doc:"What the authorization endpoint answers."`
	GrantTypes     []domain.GrantType  `json:"grant_types_supported" doc:"How tokens are got."`
	ClientAuth     []string            `json:"token_endpoint_auth_methods_supported" doc:"How clients prove themselves."`
	RevocationAuth []string            `json:"revocation_endpoint_auth_methods_supported" doc:"How clients prove themselves there."`
	AskAuth        []string            `json:"introspection_endpoint_auth_methods_supported" doc:"How clients prove themselves there."`
}

// AccessToken is the answer of the token endpoint (RFC 6749 §5.1).
type AccessToken struct {
	AccessToken string `json:"access_token" doc:"A JWT: Authorization: Bearer."`
	TokenType   string `json:"token_type" enum:"Bearer"`
	ExpiresIn   int    `json:"expires_in" doc:"Seconds."`
	Scope       string `json:"scope" doc:"What was given: permissions parted by spaces."`
}

// OAuthFailure is an error as OAuth writes it (RFC 6749 §5.2).
type OAuthFailure struct {
	Error       domain.Code `json:"error" doc:"In the words of RFC 6749, or plan_required."`
	Description string      `json:"error_description" doc:"For people."`
}

// Introspection tells of a token (RFC 7662 §2.2); of one that does not hold, and
// of another client's, only that it does not.
type Introspection struct {
	Active    bool   `json:"active"`
	Scope     string `json:"scope,omitempty" doc:"What it may do now."`
	ClientID  string `json:"client_id,omitempty"`
	TokenType string `json:"token_type,omitempty"`
	ExpiresAt int64  `json:"exp,omitempty" doc:"Unix seconds."`
	IssuedAt  int64  `json:"iat,omitempty" doc:"Unix seconds."`
	Subject   string `json:"sub,omitempty" doc:"The user, or the client itself."`
	Audience  string `json:"aud,omitempty"`
	Issuer    string `json:"iss,omitempty"`
	ID        string `json:"jti,omitempty"`
}

func (s *Server) oauthRoutes() {
	s.clientRoutes()
	add(s, operation{
		method: http.MethodGet, path: "/.well-known/oauth-authorization-server", id: "getOAuthMetadata", tag: oauthTag, open: true,
		summary: "Get what clients have to know of the authorization server",
	}, func(context.Context, domain.Principal, *struct{}) (*cached[OAuthMetadata], error) {
		return &cached[OAuthMetadata]{Control: "public, max-age=300", Body: s.metadata()}, nil
	})
	s.oauthForm(operation{
		path: "/oauth/token", id: "getOAuthToken", summary: "Get an access token",
		about: "A form with grant_type = client_credentials and scope. The client proves itself by client_id and client_secret in the form, or by Basic. " +
			"Errors are those of RFC 6749; below the plan enterprise plan_required.",
	}, map[string]string{
		"grant_type": "client_credentials.", "scope": "Permissions parted by spaces; all that the client can be given unless said.",
	}, schemaOf[AccessToken](s.api), s.token)
	s.oauthForm(operation{
		path: "/oauth/revoke", id: "revokeOAuthToken", summary: "Give a token back (RFC 7009)",
		about: "Also 200 where the token is none of the client's, or holds no more.",
	}, map[string]string{"token": "The token.", "token_type_hint": "Not needed."}, &huma.Schema{Type: huma.TypeObject}, s.revokeToken)
	s.oauthForm(operation{
		path: "/oauth/introspect", id: "introspectOAuthToken", summary: "Ask after a token of one's own (RFC 7662)",
	}, map[string]string{"token": "The token.", "token_type_hint": "Not needed."}, schemaOf[Introspection](s.api), s.introspect)
}

func (s *Server) metadata() OAuthMetadata {
	by := []string{"client_secret_basic", "client_secret_post"}
	at := s.cfg.PublicURL
	return OAuthMetadata{
		Issuer: s.issuer(), TokenURL: at + "/oauth/token", RevocationURL: at + "/oauth/revoke", Introspection: at + "/oauth/introspect", JWKS: at + "/.well-known/jwks.json",
		Scopes:        []domain.Permission{domain.AllRead, domain.AllWrite, domain.CallsRead, domain.CallsWrite, domain.AgentsRead, domain.AgentsWrite, domain.AnalyticsRead},
		ResponseTypes: []string{}, GrantTypes: []domain.GrantType{domain.GrantCredentials}, ClientAuth: by, RevocationAuth: by, AskAuth: by,
	}
}

// form is what a client sends to an OAuth endpoint, and who it is.
type form struct {
	values url.Values
	client *domain.OAuthClient
}

func (f *form) get(name string) string { return f.values.Get(name) }

// oauthForm registers an endpoint that takes a form of a client.
func (s *Server) oauthForm(op operation, fields map[string]string, good *huma.Schema, handle func(*fiber.Ctx, *form) (any, error)) {
	op.method, op.tag, op.open = http.MethodPost, oauthTag, true
	s.raw(op, func(h *huma.Operation) {
		failure := schemaOf[OAuthFailure](s.api)
		for status, about := range map[int]string{
			http.StatusBadRequest: "What is wrong with the request.", http.StatusUnauthorized: "The client did not prove itself.",
			http.StatusForbidden: "plan_required.",
		} {
			h.Responses[strconv.Itoa(status)] = response(about, fiber.MIMEApplicationJSON, failure)
		}
		for _, status := range []int{http.StatusConflict, http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType} {
			delete(h.Responses, strconv.Itoa(status))
		}
		h.Responses["200"] = response("Done.", fiber.MIMEApplicationJSON, good)
		properties := map[string]*huma.Schema{
			"client_id": {Type: huma.TypeString, Description: "Unless it stands in Basic."}, "client_secret": {Type: huma.TypeString, Description: "Unless it stands in Basic."},
		}
		for name, about := range fields {
			properties[name] = &huma.Schema{Type: huma.TypeString, Description: about}
		}
		h.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			fiber.MIMEApplicationForm: {Schema: &huma.Schema{Type: huma.TypeObject, Properties: properties}},
		}}
	}, func(c *fiber.Ctx) error {
		f, err := s.readForm(c)
		if err != nil {
			return s.oauthFailure(c, err)
		}
		out, err := handle(c, f)
		if err != nil {
			return s.oauthFailure(c, err)
		}
		c.Set(fiber.HeaderPragma, "no-cache")
		return c.JSON(out)
	})
}

// oauthFailure answers in OAuth's words where it has any.
func (s *Server) oauthFailure(c *fiber.Ctx, err error) error {
	var e *domain.Error
	if !errors.As(err, &e) {
		return err
	}
	status := http.StatusBadRequest
	switch {
	case e.Code == domain.OAuthInvalidClient:
		status = http.StatusUnauthorized
		c.Set(fiber.HeaderWWWAuthenticate, `Basic realm="callboard", charset="UTF-8"`)
	case e.Code == domain.CodePlanRequired:
		status = http.StatusForbidden
	case !slices.Contains(oauthCodes(), e.Code):
		return err
	}
	text, merr := json.Marshal(OAuthFailure{Error: e.Code, Description: e.Message})
	if merr != nil {
		return merr
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Status(status).Send(text)
}

// oauthCodes are the errors of a request that are in OAuth's words.
func oauthCodes() []domain.Code {
	return []domain.Code{
		domain.OAuthInvalidRequest, domain.OAuthInvalidGrant, domain.OAuthInvalidScope, domain.OAuthUnauthorizedClient, domain.OAuthUnsupportedGrant,
	}
}

// pairs reads a form or a query. No parameter may stand in it twice (RFC 6749
// §3.1).
func pairs(text string) (url.Values, error) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, domain.Errorf(domain.OAuthInvalidRequest, "The parameters cannot be read.")
	}
	for name, all := range values {
		if len(all) > 1 {
			return nil, domain.Errorf(domain.OAuthInvalidRequest, "The parameter %s stands there twice.", clip(strconv.Quote(name), 60))
		}
	}
	return values, nil
}

// readForm reads a form and finds out which client sends it. Whoever fails is
// counted by address; whoever does not, against the client's workspace.
func (s *Server) readForm(c *fiber.Ctx) (*form, error) {
	v := visitOf(c.UserContext())
	values, err := formOf(c)
	if err != nil {
		return nil, s.refused(c, err)
	}
	client, err := s.clientBy(c, values)
	if client != nil {
		v.principal = domain.Principal{ClientID: client.ID, WorkspaceID: client.WorkspaceID, Environment: client.Environment}
	}
	if err != nil {
		return nil, s.refused(c, err)
	}
	c.Locals(knownLocal, true)
	if err = s.pace(c, v.principal, ""); err != nil {
		return nil, err
	}
	if err = s.ports.OAuth.OAuthPlan(client.WorkspaceID); err != nil {
		s.denied(c.UserContext(), v, domain.CodeOf(err))
		return nil, err
	}
	return &form{values: values, client: client}, nil
}

// formOf is the form in the body.
func formOf(c *fiber.Ctx) (url.Values, error) {
	b := bodyOf(c)
	b.limit = formLimit
	text, err := b.all(c.Request().Header.ContentLength())
	if err != nil {
		return nil, err
	}
	if mediaType(c) != fiber.MIMEApplicationForm {
		return nil, domain.Errorf(domain.OAuthInvalidRequest, "The body must be a form: Content-Type: application/x-www-form-urlencoded.")
	}
	return pairs(string(text))
}

// refused counts a request without a good client or grant against its address,
// and notes what was shown.
func (s *Server) refused(c *fiber.Ctx, err error) error {
	code := domain.CodeOf(err)
	if code == "" || code == domain.CodeUnavailable {
		return err
	}
	v := visitOf(c.UserContext())
	if limited := s.strike(c, v); limited != nil {
		return limited
	}
	if code == domain.OAuthInvalidClient || code == domain.OAuthInvalidGrant {
		s.denied(c.UserContext(), v, code)
	}
	return err
}

// clientBy finds out which client asks, by Basic or by the form, never by both
// (RFC 6749 §2.3). With an error the client is the one that was named.
func (s *Server) clientBy(c *fiber.Ctx, values url.Values) (*domain.OAuthClient, error) {
	id, secret := values.Get("client_id"), values.Get("client_secret")
	if scheme, text, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " "); scheme != "" {
		basicID, basicSecret, ok := basic(scheme, text)
		switch {
		case !ok:
			return nil, domain.Errorf(domain.OAuthInvalidClient, "Authorization must be Basic, with the client's id and secret.")
		case values.Has("client_secret") || id != "" && id != basicID:
			return nil, domain.Errorf(domain.OAuthInvalidRequest, "The client must prove itself in one way only.")
		}
		id, secret = basicID, basicSecret
	}
	client, err := s.ports.OAuth.ClientOf(c.UserContext(), id)
	if err != nil {
		return nil, err
	}
	if !s.ports.OAuth.ClientProves(client, secret) {
		return client, domain.Errorf(domain.OAuthInvalidClient, "There is no such client, or its secret is another one.")
	}
	return client, nil
}

// basic reads the client's id and secret; both were coded as in a form.
func basic(scheme, text string) (id, secret string, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	id, secret, ok = strings.Cut(string(raw), ":")
	id, errID := url.QueryUnescape(id)
	secret, errSecret := url.QueryUnescape(secret)
	return id, secret, ok && errID == nil && errSecret == nil
}

// token answers the token endpoint.
func (s *Server) token(c *fiber.Ctx, f *form) (any, error) {
	g := domain.GrantType(f.get("grant_type"))
	switch {
	case g == "":
		return nil, domain.Errorf(domain.OAuthInvalidRequest, "grant_type is required.")
	case g != domain.GrantCredentials:
		return nil, domain.Errorf(domain.OAuthUnsupportedGrant, "grant_type is client_credentials.")
	case !f.client.May(g):
		return nil, domain.Errorf(domain.OAuthUnauthorizedClient, "The client may not get tokens in this way.")
	}
	rights, err := allow.Scope(f.get("scope"), f.client.Scopes)
	if err != nil {
		return nil, err
	}
	return s.access(c, f.client, "", "", rights, "token.issued")
}

// access signs an access token and notes it.
func (s *Server) access(c *fiber.Ctx, client *domain.OAuthClient, user, grant string, rights []domain.Permission, action string) (*AccessToken, error) {
	ctx := c.UserContext()
	signed, err := s.sign(ctx, token.Access(s.issuer(), user, grant, client, rights, accessLife, time.Now()))
	if err != nil {
		return nil, err
	}
	v := visitOf(ctx)
	v.principal.UserID = user
	act := v.act("auth", action)
	act.Resource = domain.Resource{Type: "oauth_client", ID: client.ID}
	s.ports.Audit.Note(ctx, v.principal, act)
	return &AccessToken{AccessToken: signed.Body.Token, TokenType: "Bearer", ExpiresIn: signed.Body.ExpiresIn, Scope: allow.ScopeText(rights)}, nil
}

// owned reads an access token of the client's that holds still; false: it is
// none.
func (s *Server) owned(ctx context.Context, f *form) (c token.Claims, rights []domain.Permission, ok bool, err error) {
	text := f.get("token")
	if text == "" {
		return c, nil, false, domain.Errorf(domain.OAuthInvalidRequest, "token is required.")
	}
	if !token.Looks(text) {
		return c, nil, false, nil
	}
	c, err = s.readToken(ctx, text)
	if err != nil || c.ClientID != f.client.ID {
		if code := domain.CodeOf(err); code == domain.CodeInvalidToken || code == domain.CodeExpiredToken {
			err = nil
		}
		return c, nil, false, err
	}
	rights, err = s.ports.OAuth.OAuthAlive(ctx, c.Principal(), c.GrantID, c.ID)
	if domain.CodeOf(err) == domain.CodeExpiredToken {
		return c, nil, false, nil
	}
	return c, rights, err == nil, err
}

// revokeToken takes a token back, with everything of the same consent.
func (s *Server) revokeToken(c *fiber.Ctx, f *form) (any, error) {
	ctx := c.UserContext()
	claims, _, ok, err := s.owned(ctx, f)
	if err != nil || !ok {
		return struct{}{}, err
	}
	if err = s.ports.OAuth.RevokeOAuth(ctx, f.client, claims.ID, claims.ExpiresAt.Time); err != nil {
		return nil, err
	}
	s.noteClient(ctx, f.client, "token.revoked")
	return struct{}{}, nil
}

func (s *Server) noteClient(ctx context.Context, client *domain.OAuthClient, action string) {
	v := visitOf(ctx)
	act := v.act("auth", action)
	act.Resource = domain.Resource{Type: "oauth_client", ID: client.ID}
	s.ports.Audit.Note(ctx, v.principal, act)
}

func (s *Server) introspect(c *fiber.Ctx, f *form) (any, error) {
	claims, rights, ok, err := s.owned(c.UserContext(), f)
	if err != nil || !ok {
		return &Introspection{}, err
	}
	return &Introspection{
		Active: true, Scope: allow.ScopeText(rights), ClientID: claims.ClientID, TokenType: "Bearer", ExpiresAt: claims.ExpiresAt.Unix(), IssuedAt: claims.IssuedAt.Unix(),
		Subject: claims.Subject, Audience: token.Audience, Issuer: claims.Issuer, ID: claims.ID,
	}, nil
}

package httpapi

import (
	"context"
	"encoding/base64"
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
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/token"
	"github.com/callboard/callboard/service/oauth"
	"github.com/callboard/callboard/service/record"
)

// formLimit bounds the forms of OAuth.
const formLimit = 16 << 10

// OAuthMetadata is what clients find out by themselves (RFC 8414).
type OAuthMetadata struct {
	Issuer         string              `json:"issuer" doc:"The service, as its tokens name it."`
	AuthorizeURL   string              `json:"authorization_endpoint" doc:"Where users are sent to be asked."`
	TokenURL       string              `json:"token_endpoint" doc:"Where tokens are got."`
	RevocationURL  string              `json:"revocation_endpoint" doc:"Where tokens are given back."`
	Introspection  string              `json:"introspection_endpoint" doc:"Where a client asks after its tokens."`
	JWKS           string              `json:"jwks_uri" doc:"The keys that tokens are signed with."`
	Scopes         []domain.Permission `json:"scopes_supported" doc:"The permissions."`
	ResponseTypes  []string            `json:"response_types_supported" doc:"What the authorization endpoint answers."`
	GrantTypes     []domain.GrantType  `json:"grant_types_supported" doc:"How tokens are got."`
	Challenges     []string            `json:"code_challenge_methods_supported" doc:"Of PKCE."`
	TellsIssuer    bool                `json:"authorization_response_iss_parameter_supported" doc:"iss comes with every answer (RFC 9207)."`
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
	Refresh     string `json:"refresh_token,omitempty" doc:"For the next access token, once; with that comes the next refresh token. Used twice it ends the grant."`
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
	s.authorizeRoutes()
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/.well-known/oauth-authorization-server", ID: "getOAuthMetadata", Tag: router.OAuthTag, Public: true,
		Summary: "Get what clients have to know of the authorization server",
	}, func(context.Context, domain.Principal, *struct{}) (*cached[OAuthMetadata], error) {
		return &cached[OAuthMetadata]{Control: "public, max-age=300", Body: s.metadata()}, nil
	})
	s.oauthForm(router.Operation{
		Path: "/oauth/token", ID: "getOAuthToken", Summary: "Get an access token",
		Description: "A form with grant_type = authorization_code (code, redirect_uri, code_verifier), refresh_token (refresh_token, scope) or client_credentials (scope). " +
			"The client proves itself by client_id and client_secret in the form, or by Basic; a public one names its client_id. " +
			"Errors are those of RFC 6749; below the plan enterprise plan_required.",
	}, map[string]string{ //nolint:gosec // what fields mean
		"grant_type": "authorization_code, refresh_token or client_credentials.", "scope": "Permissions parted by spaces; all that can be had unless said.",
		"code": "From the redirect; once.", "redirect_uri": "As it was when the code was asked for.", "code_verifier": "What the code_challenge was made of.",
		"refresh_token": "The last one that was given; once.",
	}, router.SchemaOf[AccessToken](s.API), s.token)
	s.oauthForm(router.Operation{
		Path: "/oauth/revoke", ID: "revokeOAuthToken", Summary: "Give a token back (RFC 7009)",
		Description: "Also 200 where the token is none of the client's, or holds no more.",
	}, map[string]string{"token": "The token.", "token_type_hint": "Not needed."}, &huma.Schema{Type: huma.TypeObject}, s.revokeToken)
	s.oauthForm(router.Operation{
		Path: "/oauth/introspect", ID: "introspectOAuthToken", Summary: "Ask after a token of one's own (RFC 7662)",
	}, map[string]string{"token": "The token.", "token_type_hint": "Not needed."}, router.SchemaOf[Introspection](s.API), s.introspect)
}

func (s *Server) metadata() OAuthMetadata {
	by := slices.Clip([]string{"client_secret_basic", "client_secret_post"})
	at := s.cfg.PublicURL
	return OAuthMetadata{
		Issuer: s.issuer(), AuthorizeURL: at + "/oauth/authorize", TokenURL: at + "/oauth/token", RevocationURL: at + "/oauth/revoke", Introspection: at + "/oauth/introspect", JWKS: at + "/.well-known/jwks.json",
		Scopes:        []domain.Permission{domain.AllRead, domain.AllWrite, domain.CallsRead, domain.CallsWrite, domain.AgentsRead, domain.AgentsWrite, domain.AnalyticsRead},
		ResponseTypes: []string{"code"}, GrantTypes: []domain.GrantType{domain.GrantCode, domain.GrantCredentials, domain.GrantRefresh},
		Challenges: []string{"S256"}, TellsIssuer: true, ClientAuth: append(by, "none"), RevocationAuth: append(by, "none"), AskAuth: by,
	}
}

// form is what a client sends to an OAuth endpoint, and who it is.
type form struct {
	values url.Values
	client *domain.OAuthClient
}

func (f *form) get(name string) string { return f.values.Get(name) }

// oauthForm registers an endpoint that takes a form of a client.
func (s *Server) oauthForm(op router.Operation, fields map[string]string, good *huma.Schema, handle func(*fiber.Ctx, *form) (any, error)) {
	op.Method, op.Tag, op.Public = http.MethodPost, router.OAuthTag, true
	op.Description = strings.TrimSpace(op.Description + " An Idempotency-Key has no effect.")
	s.AddRaw(op, func(h *huma.Operation) {
		failure := router.SchemaOf[OAuthFailure](s.API)
		for status, about := range map[int]string{
			http.StatusBadRequest: "What is wrong with the request.", http.StatusUnauthorized: "The client did not prove itself.",
			http.StatusForbidden: "plan_required.",
		} {
			h.Responses[strconv.Itoa(status)] = router.DescribeResponse(about, fiber.MIMEApplicationJSON, failure)
		}
		for _, status := range []int{http.StatusConflict, http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType} {
			delete(h.Responses, strconv.Itoa(status))
		}
		h.Responses["200"] = router.DescribeResponse("Done.", fiber.MIMEApplicationJSON, good)
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
	text, merr := domain.EncodeJSON(OAuthFailure{Error: e.Code, Description: e.Message})
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
			return nil, domain.Errorf(domain.OAuthInvalidRequest, "The parameter %s stands there twice.", router.Truncate(strconv.Quote(name), 60))
		}
	}
	return values, nil
}

// readForm reads a form and finds out which client sends it. Whoever fails is
// counted by address; whoever does not, against the client's workspace.
func (s *Server) readForm(c *fiber.Ctx) (*form, error) {
	v := router.RequestOf(c.UserContext())
	values, err := formOf(c)
	if err != nil {
		return nil, s.refused(c, err)
	}
	client, err := s.clientBy(c, values)
	if client != nil {
		v.Principal = domain.Principal{ClientID: client.ID, WorkspaceID: client.WorkspaceID, Environment: client.Environment}
	}
	if err != nil {
		return nil, s.refused(c, err)
	}
	router.ExchangeOf(c.Context()).Authenticated = true
	if err = s.fromPublicPage(c, client); err != nil {
		return nil, err
	}
	if err = s.CountRequest(c, v.Principal); err != nil {
		return nil, err
	}
	if err = s.services.OAuth.OAuthPlan(client.WorkspaceID); err != nil {
		s.denied(c.UserContext(), v, domain.CodeOf(err))
		return nil, err
	}
	return &form{values: values, client: client}, nil
}

// formOf is the form in the body.
func formOf(c *fiber.Ctx) (url.Values, error) {
	text, err := formText(c, formLimit)
	if err != nil {
		return nil, err
	}
	return pairs(text)
}

// formText is the form in the body as it came, of so many bytes at most.
func formText(c *fiber.Ctx, most int64) (string, error) {
	b := router.BodyOf(c)
	b.Limit = most
	text, err := b.ReadAll(c.Request().Header.ContentLength())
	if err != nil {
		return "", err
	}
	if router.MediaType(c) != fiber.MIMEApplicationForm {
		return "", domain.Errorf(domain.OAuthInvalidRequest, "The body must be a form: Content-Type: application/x-www-form-urlencoded.")
	}
	return string(text), nil
}

// refused counts a request without a good client or grant against its address,
// and notes what was shown.
func (s *Server) refused(c *fiber.Ctx, err error) error {
	code := domain.CodeOf(err)
	if code == "" || code == domain.CodeUnavailable {
		return err
	}
	v := router.RequestOf(c.UserContext())
	if limited := s.CountFailure(c, v); limited != nil {
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
	client, err := s.services.OAuth.ClientOf(c.UserContext(), id)
	if err != nil {
		return nil, err
	}
	if client != nil && !access.From(client.AllowedIPs, router.RequestOf(c.UserContext()).IP) {
		return client, domain.Errorf(domain.OAuthInvalidClient, "allowed_ips of the client does not name this address.")
	}
	if client != nil && client.Public && secret == "" { // it has none: PKCE proves it
		return client, nil
	}
	if !s.services.OAuth.ClientProves(client, secret) {
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

// fromPublicPage lets pages of origins that the workspace names read the answer
// to a public client.
func (s *Server) fromPublicPage(c *fiber.Ctx, client *domain.OAuthClient) error {
	origin := c.Get(fiber.HeaderOrigin)
	if origin == "" || !client.Public {
		return nil
	}
	w, err := s.Workspace(c.UserContext(), router.RequestOf(c.UserContext()).Principal)
	if err == nil && slices.Contains(w.AllowedOrigins, origin) {
		allowOrigin(c, origin)
	}
	return err
}

// token answers the token endpoint.
func (s *Server) token(c *fiber.Ctx, f *form) (any, error) {
	g := domain.GrantType(f.get("grant_type"))
	switch {
	case g == "":
		return nil, domain.Errorf(domain.OAuthInvalidRequest, "grant_type is required.")
	case g != domain.GrantCode && g != domain.GrantRefresh && g != domain.GrantCredentials:
		return nil, domain.Errorf(domain.OAuthUnsupportedGrant, "grant_type is authorization_code, refresh_token or client_credentials.")
	case !f.client.May(g):
		return nil, domain.Errorf(domain.OAuthUnauthorizedClient, "The client may not get tokens in this way.")
	}
	if g == domain.GrantCredentials {
		rights, err := access.Scope(f.get("scope"), f.client.Scopes)
		if err != nil {
			return nil, err
		}
		return s.access(c.UserContext(), f.client, oauth.Granted{Rights: rights}, "token.issued")
	}
	action := "token.issued"
	if g == domain.GrantRefresh {
		action = "token.refreshed"
	}
	v := router.RequestOf(c.UserContext())
	ctx := s.services.Audit.Ride(c.UserContext(), v.Principal, clientAct(v, f.client, action))
	granted, err := s.consented(ctx, f, g)
	if err != nil {
		s.noteReuse(ctx, f.client, err)
		return nil, s.refused(c, err)
	}
	return s.access(ctx, f.client, granted, action)
}

// consented is what a code or a refresh token stands for; either is used up.
func (s *Server) consented(ctx context.Context, f *form, g domain.GrantType) (oauth.Granted, error) {
	if g == domain.GrantRefresh {
		if f.get("refresh_token") == "" {
			return oauth.Granted{}, domain.Errorf(domain.OAuthInvalidRequest, "refresh_token is required.")
		}
		return s.services.Consents.RenewGrant(ctx, f.client, f.get("refresh_token"), f.get("scope"))
	}
	for _, name := range []string{"code", "redirect_uri"} {
		if f.get(name) == "" {
			return oauth.Granted{}, domain.Errorf(domain.OAuthInvalidRequest, "%s is required.", name)
		}
	}
	return s.services.Consents.RedeemCode(ctx, f.client, f.get("code"), f.get("redirect_uri"), f.get("code_verifier"))
}

// noteReuse tells the audit log of something that was used twice.
func (s *Server) noteReuse(ctx context.Context, client *domain.OAuthClient, err error) {
	var e *domain.Error
	if !errors.As(err, &e) || e.Extra["reused"] == nil {
		return
	}
	v := router.RequestOf(ctx)
	s.services.Audit.Record(ctx, v.Principal, clientAct(v, client, "token.reused"))
}

// access signs an access token and notes it, unless the commit that gave it has.
func (s *Server) access(ctx context.Context, client *domain.OAuthClient, g oauth.Granted, action string) (*AccessToken, error) {
	claims := token.Access(s.issuer(), g.UserID, g.GrantID, client, g.Rights, domain.AccessLife, time.Now())
	claims.SignInKeyID = g.SignInKeyID
	signed, err := s.sign(ctx, claims)
	if err != nil {
		return nil, err
	}
	v := router.RequestOf(ctx)
	v.Principal.UserID = g.UserID
	s.services.Audit.Record(ctx, v.Principal, clientAct(v, client, action))
	return &AccessToken{
		AccessToken: signed.Body.Token, TokenType: "Bearer", ExpiresIn: signed.Body.ExpiresIn, Scope: access.ScopeText(g.Rights), Refresh: g.Refresh,
	}, nil
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
	rights, err = s.oauthRights(ctx, &c)
	if domain.CodeOf(err) == domain.CodeExpiredToken {
		return c, nil, false, nil
	}
	return c, rights, err == nil, err
}

// revokeToken takes a token back, with everything of the same consent.
func (s *Server) revokeToken(c *fiber.Ctx, f *form) (any, error) {
	v := router.RequestOf(c.UserContext())
	act := clientAct(v, f.client, "token.revoked")
	ctx := s.services.Audit.Ride(c.UserContext(), v.Principal, act)
	if g, _, err := s.services.Consents.GrantOf(ctx, f.client, f.get("token")); err == nil {
		if err = s.services.Consents.EndGrant(ctx, f.client, g.GrantID); err != nil {
			return nil, err
		}
		s.services.Audit.Record(ctx, v.Principal, act)
		return struct{}{}, nil
	} else if domain.CodeOf(err) != domain.OAuthInvalidGrant {
		return nil, err
	}
	claims, _, ok, err := s.owned(ctx, f)
	if err != nil || !ok {
		return struct{}{}, err
	}
	if claims.GrantID != "" {
		err = s.services.Consents.EndGrant(ctx, f.client, claims.GrantID)
	} else {
		err = s.services.OAuth.RevokeOAuth(ctx, f.client, claims.ID, claims.ExpiresAt.Time)
	}
	if err != nil {
		return nil, err
	}
	s.services.Audit.Record(ctx, v.Principal, act)
	return struct{}{}, nil
}

// clientAct returns the audit entry of an action of an OAuth client.
func clientAct(v *router.Request, client *domain.OAuthClient, action string) record.AuditAction {
	act := v.Act("auth", action)
	act.Resource = domain.Resource{Type: "oauth_client", ID: client.ID}
	return act
}

func (s *Server) introspect(c *fiber.Ctx, f *form) (any, error) {
	if f.client.Public {
		return nil, s.refused(c, domain.Errorf(domain.OAuthInvalidClient, "This takes a client with a secret."))
	}
	if g, until, err := s.services.Consents.GrantOf(c.UserContext(), f.client, f.get("token")); err == nil {
		return &Introspection{
			Active: true, Scope: access.ScopeText(g.Rights), ClientID: f.client.ID, TokenType: "refresh_token", ExpiresAt: until.Unix(), Subject: g.UserID, Issuer: s.issuer(),
		}, nil
	} else if domain.CodeOf(err) != domain.OAuthInvalidGrant {
		return nil, err
	}
	claims, rights, ok, err := s.owned(c.UserContext(), f)
	if err != nil || !ok {
		return &Introspection{}, err
	}
	return &Introspection{
		Active: true, Scope: access.ScopeText(rights), ClientID: claims.ClientID, TokenType: "Bearer", ExpiresAt: claims.ExpiresAt.Unix(), IssuedAt: claims.IssuedAt.Unix(),
		Subject: claims.Subject, Audience: token.Audience, Issuer: claims.Issuer, ID: claims.ID,
	}, nil
}

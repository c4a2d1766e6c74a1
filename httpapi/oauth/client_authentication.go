package oauth

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/pages"
	"github.com/callboard/callboard/httpapi/router"
)

// clientForm is a form that an authenticated OAuth client has sent.
type clientForm struct {
	values url.Values
	client *domain.OAuthClient
}

func (f *clientForm) value(name string) string { return f.values.Get(name) }

// registerForm registers a route that accepts a form from an authenticated OAuth client.
func (s *Server) registerForm(op router.Operation, fields map[string]string, good *huma.Schema, handle func(*fiber.Ctx, *clientForm) (any, error)) {
	op.Method, op.Tag, op.Public = http.MethodPost, router.OAuthTag, true
	op.Description = strings.TrimSpace(op.Description + " An Idempotency-Key has no effect.")
	s.AddRaw(op, func(h *huma.Operation) {
		failure := router.SchemaOf[OAuthFailure](s.API)
		for status, about := range map[int]string{
			http.StatusBadRequest: "The request is invalid.", http.StatusUnauthorized: "The client is not authenticated.",
			http.StatusForbidden: "plan_required.",
		} {
			h.Responses[strconv.Itoa(status)] = router.DescribeResponse(about, fiber.MIMEApplicationJSON, failure)
		}
		for _, status := range []int{http.StatusConflict, http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType} {
			delete(h.Responses, strconv.Itoa(status))
		}
		h.Responses["200"] = router.DescribeResponse("Done.", fiber.MIMEApplicationJSON, good)
		properties := map[string]*huma.Schema{
			"client_id": {Type: huma.TypeString, Description: "Required without Basic authentication."}, "client_secret": {Type: huma.TypeString, Description: "Required without Basic authentication."},
		}
		for name, about := range fields {
			properties[name] = &huma.Schema{Type: huma.TypeString, Description: about}
		}
		h.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			fiber.MIMEApplicationForm: {Schema: &huma.Schema{Type: huma.TypeObject, Properties: properties}},
		}}
	}, func(c *fiber.Ctx) error {
		f, err := s.readClientForm(c)
		if err != nil {
			return s.respondError(c, err)
		}
		out, err := handle(c, f)
		if err != nil {
			return s.respondError(c, err)
		}
		c.Set(fiber.HeaderPragma, "no-cache")
		return c.JSON(out)
	})
}

// respondError answers in the format of RFC 6749 §5.2 if the code of the error is one of that RFC or plan_required.
func (s *Server) respondError(c *fiber.Ctx, err error) error {
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

// oauthCodes returns the error codes of RFC 6749 that a request can cause.
func oauthCodes() []domain.Code {
	return []domain.Code{
		domain.OAuthInvalidRequest, domain.OAuthInvalidGrant, domain.OAuthInvalidScope, domain.OAuthUnauthorizedClient, domain.OAuthUnsupportedGrant,
	}
}

// OAuthFailure is an error response (RFC 6749 §5.2).
type OAuthFailure struct { //nolint:revive // the name of the schema in the OpenAPI document
	Error       domain.Code `json:"error" doc:"An error code of RFC 6749, or plan_required."`
	Description string      `json:"error_description" doc:"Error message for people."`
}

// readClientForm reads a form and authenticates its client. A failure counts against the rate limit of the sender's
// address, a success against the rate limit of the client's workspace.
func (s *Server) readClientForm(c *fiber.Ctx) (*clientForm, error) {
	v := router.RequestOf(c.UserContext())
	values, err := pages.ReadForm(c)
	if err != nil {
		return nil, s.countRefusal(c, err)
	}
	client, err := s.authenticateClient(c, values)
	if client != nil {
		v.Principal = domain.Principal{ClientID: client.ID, WorkspaceID: client.WorkspaceID, Environment: client.Environment}
	}
	if err != nil {
		return nil, s.countRefusal(c, err)
	}
	router.ExchangeOf(c.Context()).Authenticated = true
	if client.Public { // a public client may run in a web page, which then can read the response
		if err = s.access.Origins.AllowResponse(c, v.Principal); err != nil {
			return nil, err
		}
	}
	if err = s.access.Limits.CountRequest(c, v.Principal); err != nil {
		return nil, err
	}
	if err = s.clients.CheckOAuthPlan(client.WorkspaceID); err != nil {
		s.access.Audit.NoteFailure(c.UserContext(), v, domain.CodeOf(err))
		return nil, err
	}
	return &clientForm{values: values, client: client}, nil
}

// countRefusal counts a refused request against the rate limit of its address. It writes an audit entry for an invalid
// client or grant. It returns the error of the rate limit if the limit is reached, otherwise err.
func (s *Server) countRefusal(c *fiber.Ctx, err error) error {
	code := domain.CodeOf(err)
	if code == "" || code == domain.CodeUnavailable {
		return err
	}
	v := router.RequestOf(c.UserContext())
	if limited := s.access.Limits.CountFailure(c, v); limited != nil {
		return limited
	}
	if code == domain.OAuthInvalidClient || code == domain.OAuthInvalidGrant {
		s.access.Audit.NoteFailure(c.UserContext(), v, code)
	}
	return err
}

// authenticateClient returns the client that a request names in the Authorization header or in the form, never in
// both (RFC 6749 §2.3). If authentication fails, it returns the client that the request claims to be.
func (s *Server) authenticateClient(c *fiber.Ctx, values url.Values) (*domain.OAuthClient, error) {
	id, secret := values.Get("client_id"), values.Get("client_secret")
	if scheme, text, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " "); scheme != "" {
		basicID, basicSecret, ok := parseBasic(scheme, text)
		switch {
		case !ok:
			return nil, domain.Errorf(domain.OAuthInvalidClient, "Authorization must be Basic with the client's id and secret.")
		case values.Has("client_secret") || id != "" && id != basicID:
			return nil, domain.Errorf(domain.OAuthInvalidRequest, "The client must authenticate by one method only.")
		}
		id, secret = basicID, basicSecret
	}
	client, err := s.clients.FindClient(c.UserContext(), id)
	if err != nil {
		return nil, err
	}
	if client != nil && !access.IsAllowedIP(client.AllowedIPs, router.RequestOf(c.UserContext()).IP) {
		return client, domain.Errorf(domain.OAuthInvalidClient, "allowed_ips of the client does not name this address.")
	}
	if client != nil && client.Public && secret == "" { // a public client has no secret and proves itself by PKCE
		return client, nil
	}
	if !s.clients.IsClientSecret(client, secret) {
		return client, domain.Errorf(domain.OAuthInvalidClient, "The client is unknown or its secret is wrong.")
	}
	return client, nil
}

// parseBasic returns the client id and the secret of a Basic header. Both are form-encoded (RFC 6749 §2.3.1).
func parseBasic(scheme, text string) (id, secret string, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	id, secret, ok = strings.Cut(string(raw), ":")
	id, errID := url.QueryUnescape(id)
	secret, errSecret := url.QueryUnescape(secret)
	return id, secret, ok && errID == nil && errSecret == nil
}

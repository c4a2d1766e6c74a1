package oauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/pages"
	"github.com/callboard/callboard/httpapi/router"
)

// maxState is the maximum length of the state parameter in characters.
const maxState = 1000

// authorizeFields returns the names of the parameters of an authorization request.
func authorizeFields() []string {
	return []string{"client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "code_challenge", "code_challenge_method"}
}

func (s *Server) registerAuthorization() {
	const path = "/oauth/authorize"
	pages.Register(s.Router, router.Operation{
		Method: http.MethodGet, Path: path, ID: "authorize", Tag: router.OAuthTag, Summary: "Show the consent page",
		Description: "For browsers. Shows a consent page to the signed-in user, then redirects (302) to redirect_uri with code (valid once, 60 seconds), state and iss, or with error. " +
			"An unknown client or redirect URI gets an error page, never a redirect. Public clients must use PKCE with S256.",
	}, func(h *huma.Operation) {
		for _, p := range []struct {
			name, doc string
			needed    bool
		}{
			{"client_id", "The client.", true},
			{"redirect_uri", "One of the client's redirect URIs, compared exactly.", true},
			{"response_type", "code.", true},
			{"scope", "Permissions separated by spaces. Default: all permissions of the client. The client gets at most the permissions of the user.", false},
			{"state", "Returned unchanged in the response.", false},
			{"code_challenge", "PKCE: the SHA-256 of the verifier, base64url.", false},
			{"code_challenge_method", "S256.", false},
		} {
			h.Parameters = append(h.Parameters, &huma.Param{Name: p.name, In: "query", Required: p.needed, Description: p.doc, Schema: &huma.Schema{Type: huma.TypeString}})
		}
		h.Responses["302"] = &huma.Response{Description: "Redirect to redirect_uri with error."}
	}, s.showConsent)
	pages.Register(s.Router, router.Operation{Method: http.MethodPost, Path: path, ID: "consent", Tag: router.OAuthTag, Summary: "Send the consent form", Description: "For the consent page."},
		func(h *huma.Operation) {
			h.Responses["302"] = &huma.Response{Description: "Redirect to redirect_uri with code or error."}
		}, s.answerConsent)
}

// authorizationRequest is an authorization request whose client and redirect URI are valid.
type authorizationRequest struct {
	values      url.Values
	client      *domain.OAuthClient
	permissions []domain.Permission // requested permissions that the user has
	user        *domain.User
	session     *domain.Session
}

// redirectToClient redirects the browser to the client's redirect URI. answer are the parameters that it adds.
func (s *Server) redirectToClient(c *fiber.Ctx, values, answer url.Values) error {
	uri := values.Get("redirect_uri")
	if state := values.Get("state"); state != "" {
		answer.Set("state", state)
	}
	answer.Set("iss", s.issuer.Name)
	separator := "?"
	if strings.Contains(uri, "?") {
		separator = "&"
	}
	c.Set(fiber.HeaderLocation, uri+separator+answer.Encode())
	return c.SendStatus(http.StatusFound)
}

// redirectWithError redirects the browser to the client's redirect URI with the code and message of an error.
func (s *Server) redirectWithError(c *fiber.Ctx, values url.Values, err error) error {
	var e *domain.Error
	if !errors.As(err, &e) {
		return err
	}
	return s.redirectToClient(c, values, url.Values{"error": {string(e.Code)}, "error_description": {e.Message}})
}

// readAuthorization checks a request in the order in which its contents can be trusted: the client and its redirect
// URI, then the user, then the remaining parameters. answered reports that the response has already been sent.
func (s *Server) readAuthorization(c *fiber.Ctx, text string) (a *authorizationRequest, answered bool, err error) {
	const title = "Invalid request"
	page := func(status int, title, text string) (*authorizationRequest, bool, error) {
		if limited := s.countRefusal(c, domain.Errorf(domain.OAuthInvalidRequest, "%s", text)); domain.CodeOf(limited) == domain.CodeRateLimit {
			return nil, false, limited
		}
		return nil, true, pages.RespondMessage(c, status, title, text)
	}
	values, err := pages.ParseFields(text)
	if err != nil {
		return page(http.StatusBadRequest, title, "A parameter is repeated or invalid.")
	}
	client, err := s.clients.FindClient(c.UserContext(), values.Get("client_id"))
	if err != nil {
		return nil, false, err
	}
	switch {
	case client == nil:
		return page(http.StatusBadRequest, title, "The OAuth client is unknown. Contact the site that sent you here.")
	case !slices.Contains(client.RedirectURIs, values.Get("redirect_uri")):
		return page(http.StatusBadRequest, title, "The redirect URI is not registered for the client. Contact the site that sent you here.")
	case s.clients.CheckOAuthPlan(client.WorkspaceID) != nil:
		return page(http.StatusForbidden, "Not on this plan", "plan_required: OAuth 2.0 needs the enterprise plan.")
	}
	a = &authorizationRequest{values: values, client: client}
	if a.user, a.session, err = s.access.SignedInUser(c); err != nil {
		if domain.CodeOf(err) == domain.CodeAuthenticationRequired {
			c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
			pages.RememberPage(c)
			return page(http.StatusUnauthorized, "You are not signed in", "Open a sign-in link in this browser. It leads back to this page.")
		}
		return nil, false, err
	}
	if a.user.WorkspaceID != client.WorkspaceID || a.user.Environment == domain.Test && client.Environment != domain.Test {
		return page(http.StatusForbidden, "Access denied", "The client belongs to another workspace, or you are a user of the test environment.")
	}
	if err = a.checkParameters(); err != nil {
		return nil, true, s.redirectWithError(c, values, err)
	}
	return a, false, nil
}

// checkParameters sets a.permissions. It returns the first error in the parameters other than client and redirect URI.
func (a *authorizationRequest) checkParameters() (err error) {
	v := a.values
	challenge, method := v.Get("code_challenge"), v.Get("code_challenge_method")
	switch {
	case len(v.Get("state")) > maxState:
		v.Del("state")
		return domain.Errorf(domain.OAuthInvalidRequest, "state has more than %d characters.", maxState)
	case v.Get("response_type") == "":
		return domain.Errorf(domain.OAuthInvalidRequest, "response_type is required.")
	case v.Get("response_type") != "code":
		return domain.Errorf(domain.OAuthUnsupportedResponse, "response_type is code.")
	case v.Get("response_mode") != "" && v.Get("response_mode") != "query":
		return domain.Errorf(domain.OAuthInvalidRequest, "response_mode is query.")
	case challenge == "" && (a.client.Public || method != ""):
		return domain.Errorf(domain.OAuthInvalidRequest, "code_challenge is required.")
	case challenge != "" && (method != "S256" || !access.IsValidChallenge(challenge)):
		return domain.Errorf(domain.OAuthInvalidRequest, "code_challenge_method must be S256.")
	}
	if a.permissions, err = access.ParseScope(v.Get("scope"), a.client.Scopes); err != nil {
		return err
	}
	a.permissions = access.IntersectPermissions(a.permissions, a.user.Role.Permissions())
	if len(a.permissions) == 0 {
		return domain.Errorf(domain.OAuthAccessDenied, "The user has none of the requested permissions.")
	}
	return nil
}

// proof returns a MAC that binds the form of a consent page to the user's session and the request's parameters.
func (a *authorizationRequest) proof() string {
	mac := hmac.New(sha256.New, []byte(a.session.Hash))
	for _, name := range authorizeFields() {
		mac.Write([]byte(name + "=" + url.QueryEscape(a.values.Get(name)) + "\n"))
	}
	mac.Write([]byte(access.FormatScope(a.permissions)))
	return hex.EncodeToString(mac.Sum(nil))
}

// showConsent shows the page on which the user consents to the requested permissions.
func (s *Server) showConsent(c *fiber.Ctx) error {
	a, answered, err := s.readAuthorization(c, string(c.Request().URI().QueryString()))
	if err != nil || answered {
		return err
	}
	w, err := s.Workspace(c.UserContext(), a.principal())
	if err != nil {
		return err
	}
	type right struct{ Meaning, Permission string }
	type field struct{ Name, Value string }
	data := struct {
		pages.Frame
		Client, Workspace, User, Host string
		Test                          bool
		Rights                        []right
		Fields                        []field
	}{
		Frame: pages.NewFrame("Let " + a.client.Name + " in?"), Client: a.client.Name, Workspace: w.Name, User: a.user.Name,
		Host: originOf(a.values.Get("redirect_uri")), Test: a.client.Environment == domain.Test,
	}
	for _, p := range a.permissions {
		data.Rights = append(data.Rights, right{describePermission(p), string(p)})
	}
	for _, name := range authorizeFields() {
		if a.values.Has(name) {
			data.Fields = append(data.Fields, field{name, a.values.Get(name)})
		}
	}
	data.Fields = append(data.Fields, field{"proof", a.proof()})
	return pages.Respond(c, http.StatusOK, "consent", data, data.Host)
}

// answerConsent handles the form of the consent page. It redirects to the client with an authorization code if the user
// consents, otherwise with an error.
func (s *Server) answerConsent(c *fiber.Ctx) error {
	values, err := pages.ReadForm(c)
	if err != nil {
		return s.respondInvalidForm(c, err)
	}
	a, answered, err := s.readAuthorization(c, values.Encode())
	if err != nil || answered {
		return err
	}
	if !pages.IsSameOrigin(c, s.publicURL) || !hmac.Equal([]byte(a.proof()), []byte(values.Get("proof"))) {
		return pages.RespondMessage(c, http.StatusForbidden, "This page has expired", "Go back to the site that sent you here and start again.")
	}
	act := router.RequestOf(c.UserContext()).AuditAction("auth", "oauth.consented")
	act.Resource = domain.Resource{Type: "oauth_client", ID: a.client.ID}
	if values.Get("decision") != "allow" {
		act.Action = "oauth.denied"
		s.audit.Record(c.UserContext(), a.principal(), act)
		return s.redirectWithError(c, a.values, domain.Errorf(domain.OAuthAccessDenied, "The user has denied the request."))
	}
	code := &domain.OAuthCode{
		ClientID: a.client.ID, UserID: a.user.ID, RedirectURI: a.values.Get("redirect_uri"), Challenge: a.values.Get("code_challenge"), Scopes: a.permissions,
	}
	code.WorkspaceID, code.Environment, code.Provenance = a.client.WorkspaceID, a.client.Environment, a.session.Provenance
	ctx := s.audit.WithAuditEntry(c.UserContext(), a.principal(), act)
	text, err := s.grants.IssueCode(ctx, code)
	if err != nil {
		return err
	}
	s.audit.Record(ctx, a.principal(), act)
	return s.redirectToClient(c, a.values, url.Values{"code": {text}})
}

func (a *authorizationRequest) principal() domain.Principal {
	return domain.Principal{WorkspaceID: a.user.WorkspaceID, Environment: a.client.Environment, UserID: a.user.ID}
}

// describePermission describes what a permission lets a client do.
func describePermission(p domain.Permission) string {
	switch p {
	case domain.AllRead:
		return "read all data"
	case domain.AllWrite:
		return "create, change and delete all data"
	case domain.CallsRead:
		return "read calls, campaigns, contacts and numbers"
	case domain.CallsWrite:
		return "place calls, and change campaigns, contacts and numbers"
	case domain.AgentsRead:
		return "read agents and pathways"
	case domain.AgentsWrite:
		return "change agents and pathways"
	case domain.AnalyticsRead:
		return "read usage, results and events"
	}
	return "use the permission"
}

// originOf returns the origin of a redirect URI.
func originOf(uri string) string {
	scheme, rest, _ := strings.Cut(uri, "://")
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	return scheme + "://" + host
}

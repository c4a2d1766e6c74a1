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

// maxState bounds the state parameter, in characters.
const maxState = 1000

// authorizeFields lists the parameters of an authorization request that are read.
func authorizeFields() []string {
	return []string{"client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "code_challenge", "code_challenge_method"}
}

func (s *Server) registerAuthorization() {
	const path = "/oauth/authorize"
	pages.Register(s.Router, router.Operation{
		Method: http.MethodGet, Path: path, ID: "authorize", Tag: router.OAuthTag, Summary: "Ask a user for consent",
		Description: "For browsers. Shows a consent page to a user who is signed in. Then 302 to redirect_uri with code (60 seconds, once), state and iss, or with error. " +
			"A client or a redirect URI that is none of a client's is an error page, never a redirect. PKCE by S256 is required of public clients.",
	}, func(h *huma.Operation) {
		for _, p := range []struct {
			name, doc string
			needed    bool
		}{
			{"client_id", "The client.", true},
			{"redirect_uri", "One of the client's, letter by letter.", true},
			{"response_type", "code.", true},
			{"scope", "Permissions parted by spaces; all that the client can be given unless said. The user gives no more than they have.", false},
			{"state", "Comes back with the answer.", false},
			{"code_challenge", "PKCE: the SHA-256 of the verifier, base64url.", false},
			{"code_challenge_method", "S256.", false},
		} {
			h.Parameters = append(h.Parameters, &huma.Param{Name: p.name, In: "query", Required: p.needed, Description: p.doc, Schema: &huma.Schema{Type: huma.TypeString}})
		}
		h.Responses["302"] = &huma.Response{Description: "To redirect_uri, with error."}
	}, s.showConsent)
	pages.Register(s.Router, router.Operation{Method: http.MethodPost, Path: path, ID: "consent", Tag: router.OAuthTag, Summary: "Answer the consent page", Description: "For the page itself."},
		func(h *huma.Operation) {
			h.Responses["302"] = &huma.Response{Description: "To redirect_uri, with code or error."}
		}, s.answerConsent)
}

// authorizationRequest is an authorization request with a valid client and redirect URI.
type authorizationRequest struct {
	values      url.Values
	client      *domain.OAuthClient
	permissions []domain.Permission // that the client asks for, within the user's
	user        *domain.User
	session     *domain.Session
}

// redirectToClient sends the browser to the client's redirect URI with a response.
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

// redirectWithError sends the browser to the client's redirect URI with an error.
func (s *Server) redirectWithError(c *fiber.Ctx, values url.Values, err error) error {
	var e *domain.Error
	if !errors.As(err, &e) {
		return err
	}
	return s.redirectToClient(c, values, url.Values{"error": {string(e.Code)}, "error_description": {e.Message}})
}

// readAuthorization checks a request in the order in which its parts can be trusted: the
// client and the redirect URI, then the user, then the rest. answered: the browser has
// its response.
func (s *Server) readAuthorization(c *fiber.Ctx, text string) (a *authorizationRequest, answered bool, err error) {
	const title = "This request is not good"
	page := func(status int, title, text string) (*authorizationRequest, bool, error) {
		if limited := s.countRefusal(c, domain.Errorf(domain.OAuthInvalidRequest, "%s", text)); domain.CodeOf(limited) == domain.CodeRateLimit {
			return nil, false, limited
		}
		return nil, true, pages.RespondMessage(c, status, title, text)
	}
	values, err := pages.ParseFields(text)
	if err != nil {
		return page(http.StatusBadRequest, title, "A parameter stands in it twice, or cannot be read.")
	}
	client, err := s.clients.FindClient(c.UserContext(), values.Get("client_id"))
	if err != nil {
		return nil, false, err
	}
	switch {
	case client == nil:
		return page(http.StatusBadRequest, title, "There is no such client. Ask whoever sent you here.")
	case !slices.Contains(client.RedirectURIs, values.Get("redirect_uri")):
		return page(http.StatusBadRequest, title, "It leads to an address that the client has not named. Ask whoever sent you here.")
	case s.clients.CheckOAuthPlan(client.WorkspaceID) != nil:
		return page(http.StatusForbidden, "Not on this plan", "plan_required: OAuth 2.0 needs the plan enterprise.")
	}
	a = &authorizationRequest{values: values, client: client}
	if a.user, a.session, err = s.access.SignedInUser(c); err != nil {
		if domain.CodeOf(err) == domain.CodeAuthenticationRequired {
			c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
			return page(http.StatusUnauthorized, "You are not signed in", "Open a sign-in link in this browser, then load this page again.")
		}
		return nil, false, err
	}
	if a.user.WorkspaceID != client.WorkspaceID || a.user.Environment == domain.Test && client.Environment != domain.Test {
		return page(http.StatusForbidden, "Not for you", "The client belongs to another workspace, or you are a user of the test environment.")
	}
	if err = a.checkParameters(); err != nil {
		return nil, true, s.redirectWithError(c, values, err)
	}
	return a, false, nil
}

// checkParameters returns the first error in the parameters, and sets the permissions.
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
		return domain.Errorf(domain.OAuthInvalidRequest, "code_challenge is by S256.")
	}
	if a.permissions, err = access.ParseScope(v.Get("scope"), a.client.Scopes); err != nil {
		return err
	}
	a.permissions = access.IntersectPermissions(a.permissions, a.user.Role.Permissions())
	if len(a.permissions) == 0 {
		return domain.Errorf(domain.OAuthAccessDenied, "The user may do none of it.")
	}
	return nil
}

// proof binds the form of a consent page to its session and its parameters.
func (a *authorizationRequest) proof() string {
	mac := hmac.New(sha256.New, []byte(a.session.Hash))
	for _, name := range authorizeFields() {
		mac.Write([]byte(name + "=" + url.QueryEscape(a.values.Get(name)) + "\n"))
	}
	mac.Write([]byte(access.FormatScope(a.permissions)))
	return hex.EncodeToString(mac.Sum(nil))
}

// showConsent shows the consent page.
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

// answerConsent turns the user's answer into a code.
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
		return pages.RespondMessage(c, http.StatusForbidden, "This page is out of date", "Go back to where you came from and begin again.")
	}
	act := router.RequestOf(c.UserContext()).AuditAction("auth", "oauth.consented")
	act.Resource = domain.Resource{Type: "oauth_client", ID: a.client.ID}
	if values.Get("decision") != "allow" {
		act.Action = "oauth.denied"
		s.audit.Record(c.UserContext(), a.principal(), act)
		return s.redirectWithError(c, a.values, domain.Errorf(domain.OAuthAccessDenied, "The user said no."))
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

// describePermission says what a permission lets a client do.
func describePermission(p domain.Permission) string {
	switch p {
	case domain.AllRead:
		return "read everything"
	case domain.AllWrite:
		return "create, change and delete everything"
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
	return "do what is called"
}

// originOf returns the origin of a redirect URI.
func originOf(uri string) string {
	scheme, rest, _ := strings.Cut(uri, "://")
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	return scheme + "://" + host
}

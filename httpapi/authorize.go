package httpapi

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/oauth"
)

// Consents is what users have given to OAuth clients.
type Consents interface {
	// IssueCode keeps what a user has consented to and answers the code for it.
	IssueCode(ctx context.Context, c *domain.OAuthCode) (string, error)
	// RedeemCode exchanges a code and RenewGrant a refresh token, once each.
	// Errors: invalid_grant, invalid_scope; with the extra field reused where it
	// was used before, and everything that came of it has ended.
	RedeemCode(ctx context.Context, client *domain.OAuthClient, text, redirect, verifier string) (oauth.Granted, error)
	RenewGrant(ctx context.Context, client *domain.OAuthClient, text, scope string) (oauth.Granted, error)
	// GrantOf is what a refresh token stands for, and until when. Errors:
	// invalid_grant.
	GrantOf(ctx context.Context, client *domain.OAuthClient, text string) (oauth.Granted, time.Time, error)
	// EndGrant refuses everything that a grant of the client's gave, from its
	// return on.
	EndGrant(ctx context.Context, client *domain.OAuthClient, id string) error
}

// maxState bounds what a client may have back with its code.
const maxState = 1000

// authorizeFields are the parameters of an authorization request that count.
func authorizeFields() []string {
	return []string{"client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "code_challenge", "code_challenge_method"}
}

func (s *Server) authorizeRoutes() {
	const path = "/oauth/authorize"
	s.person(router.Operation{
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
	}, s.askConsent)
	s.person(router.Operation{Method: http.MethodPost, Path: path, ID: "consent", Tag: router.OAuthTag, Summary: "Answer the consent page", Description: "For the page itself."},
		func(h *huma.Operation) {
			h.Responses["302"] = &huma.Response{Description: "To redirect_uri, with code or error."}
		}, s.takeConsent)
}

// consent is an authorization request whose client and redirect URI are good.
type consent struct {
	values url.Values
	client *domain.OAuthClient
	asked  []domain.Permission
	user   *domain.User
	key    *domain.Session
}

// back sends the browser to the client with an answer.
func (s *Server) back(c *fiber.Ctx, values, answer url.Values) error {
	uri := values.Get("redirect_uri")
	if state := values.Get("state"); state != "" {
		answer.Set("state", state)
	}
	answer.Set("iss", s.issuer())
	separator := "?"
	if strings.Contains(uri, "?") {
		separator = "&"
	}
	c.Set(fiber.HeaderLocation, uri+separator+answer.Encode())
	return c.SendStatus(http.StatusFound)
}

func (s *Server) backWith(c *fiber.Ctx, values url.Values, err error) error {
	var e *domain.Error
	if !errors.As(err, &e) {
		return err
	}
	return s.back(c, values, url.Values{"error": {string(e.Code)}, "error_description": {e.Message}})
}

// authorization checks a request in the order in which its parts can be
// believed: the client and where it leads to, then who sits there, then the
// rest. answered: the browser has its answer already.
func (s *Server) authorization(c *fiber.Ctx, text string) (a *consent, answered bool, err error) {
	const title = "This request is not good"
	page := func(status int, title, text string) (*consent, bool, error) {
		if limited := s.refused(c, domain.Errorf(domain.OAuthInvalidRequest, "%s", text)); domain.CodeOf(limited) == domain.CodeRateLimit {
			return nil, false, limited
		}
		return nil, true, s.say(c, status, title, text)
	}
	values, err := pairs(text)
	if err != nil {
		return page(http.StatusBadRequest, title, "A parameter stands in it twice, or cannot be read.")
	}
	client, err := s.services.OAuth.ClientOf(c.UserContext(), values.Get("client_id"))
	if err != nil {
		return nil, false, err
	}
	switch {
	case client == nil:
		return page(http.StatusBadRequest, title, "There is no such client. Ask whoever sent you here.")
	case !slices.Contains(client.RedirectURIs, values.Get("redirect_uri")):
		return page(http.StatusBadRequest, title, "It leads to an address that the client has not named. Ask whoever sent you here.")
	case s.services.OAuth.OAuthPlan(client.WorkspaceID) != nil:
		return page(http.StatusForbidden, "Not on this plan", "plan_required: OAuth 2.0 needs the plan enterprise.")
	}
	a = &consent{values: values, client: client}
	if a.user, a.key, err = s.signedIn(c); err != nil {
		if domain.CodeOf(err) == domain.CodeAuthenticationRequired {
			c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
			return page(http.StatusUnauthorized, "You are not signed in", "Open a sign-in link in this browser, then load this page again.")
		}
		return nil, false, err
	}
	if a.user.WorkspaceID != client.WorkspaceID || a.user.Environment == domain.Test && client.Environment != domain.Test {
		return page(http.StatusForbidden, "Not for you", "The client belongs to another workspace, or you are a user of the test environment.")
	}
	if err = a.check(); err != nil {
		return nil, true, s.backWith(c, values, err)
	}
	return a, false, nil
}

// check finds what is wrong with the rest of a request, as the client is told.
func (a *consent) check() (err error) {
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
	case challenge != "" && (method != "S256" || !access.GoodChallenge(challenge)):
		return domain.Errorf(domain.OAuthInvalidRequest, "code_challenge is by S256.")
	}
	if a.asked, err = access.Scope(v.Get("scope"), a.client.Scopes); err != nil {
		return err
	}
	a.asked = access.Meet(a.asked, a.user.Role.Permissions())
	if len(a.asked) == 0 {
		return domain.Errorf(domain.OAuthAccessDenied, "The user may do none of it.")
	}
	return nil
}

// proof binds a consent page to the session that it is shown to, and to what
// it shows.
func (a *consent) proof() string {
	mac := hmac.New(sha256.New, []byte(a.key.Hash))
	for _, name := range authorizeFields() {
		mac.Write([]byte(name + "=" + url.QueryEscape(a.values.Get(name)) + "\n"))
	}
	mac.Write([]byte(access.ScopeText(a.asked)))
	return hex.EncodeToString(mac.Sum(nil))
}

// askConsent shows the consent page.
func (s *Server) askConsent(c *fiber.Ctx) error {
	a, answered, err := s.authorization(c, string(c.Request().URI().QueryString()))
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
		frame
		Client, Workspace, User, Host string
		Test                          bool
		Rights                        []right
		Fields                        []field
	}{
		frame: titled("Let " + a.client.Name + " in?"), Client: a.client.Name, Workspace: w.Name, User: a.user.Name,
		Host: originOf(a.values.Get("redirect_uri")), Test: a.client.Environment == domain.Test,
	}
	for _, p := range a.asked {
		data.Rights = append(data.Rights, right{meaning(p), string(p)})
	}
	for _, name := range authorizeFields() {
		if a.values.Has(name) {
			data.Fields = append(data.Fields, field{name, a.values.Get(name)})
		}
	}
	data.Fields = append(data.Fields, field{"proof", a.proof()})
	return s.show(c, http.StatusOK, "consent", data, data.Host)
}

// takeConsent turns the user's answer into a code.
func (s *Server) takeConsent(c *fiber.Ctx) error {
	values, err := formOf(c)
	if err != nil {
		return s.refusedPage(c, err)
	}
	a, answered, err := s.authorization(c, values.Encode())
	if err != nil || answered {
		return err
	}
	if !s.ownPage(c) || !hmac.Equal([]byte(a.proof()), []byte(values.Get("proof"))) {
		return s.say(c, http.StatusForbidden, "This page is out of date", "Go back to where you came from and begin again.")
	}
	act := router.RequestOf(c.UserContext()).Act("auth", "oauth.consented")
	act.Resource = domain.Resource{Type: "oauth_client", ID: a.client.ID}
	if values.Get("decision") != "allow" {
		act.Action = "oauth.denied"
		s.services.Audit.Record(c.UserContext(), a.principal(), act)
		return s.backWith(c, a.values, domain.Errorf(domain.OAuthAccessDenied, "The user said no."))
	}
	code := &domain.OAuthCode{
		ClientID: a.client.ID, UserID: a.user.ID, RedirectURI: a.values.Get("redirect_uri"), Challenge: a.values.Get("code_challenge"), Scopes: a.asked,
	}
	code.WorkspaceID, code.Environment, code.Provenance = a.client.WorkspaceID, a.client.Environment, a.key.Provenance
	ctx := s.services.Audit.Ride(c.UserContext(), a.principal(), act)
	text, err := s.services.Consents.IssueCode(ctx, code)
	if err != nil {
		return err
	}
	s.services.Audit.Record(ctx, a.principal(), act)
	return s.back(c, a.values, url.Values{"code": {text}})
}

func (a *consent) principal() domain.Principal {
	return domain.Principal{WorkspaceID: a.user.WorkspaceID, Environment: a.client.Environment, UserID: a.user.ID}
}

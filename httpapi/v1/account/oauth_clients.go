package account

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

// clientHandlers serves the operations on OAuth clients.
type clientHandlers struct {
	*router.Router

	clients OAuthClients
}

// OAuthClients manages the OAuth clients of a workspace.
type OAuthClients interface {
	// CheckOAuthPlan returns plan_required if the plan of the workspace does not include OAuth.
	CheckOAuthPlan(workspace string) error
	// CreateClient returns the client and its secret, which is not stored. The secret of a public client is "".
	CreateClient(ctx context.Context, p domain.Principal, c *domain.OAuthClient) (made *domain.OAuthClient, secret string, err error)
	OAuthClient(ctx context.Context, p domain.Principal, id string) (*domain.OAuthClient, error)
	ListClients(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.OAuthClient], error)
	// DeleteClient deletes a client. Its tokens are refused as soon as the method returns.
	DeleteClient(ctx context.Context, p domain.Principal, id string) error
}

// NewClient is the request body that creates an OAuth client.
type NewClient struct {
	Name         string              `json:"name" doc:"The name that the consent page shows."`
	Scopes       []domain.Permission `json:"scopes" nullable:"false" doc:"Permissions that the client can request, at most those of the key that creates it."`
	RedirectURIs []string            `json:"redirect_uris,omitempty" nullable:"false" doc:"Redirect URIs, compared exactly. https, or http on 127.0.0.1, [::1] and localhost."`
	GrantTypes   []domain.GrantType  `json:"grant_types,omitempty" nullable:"false" doc:"Default: authorization_code and refresh_token with a redirect URI, otherwise client_credentials."`
	AllowedIPs   []string            `json:"allowed_ips,omitempty" nullable:"false" doc:"Addresses or CIDRs from which the client gets and uses tokens, within those of the key that creates it. Default: those of the key. []: from everywhere."`
	Public       bool                `json:"public,omitempty" doc:"true for a client that cannot keep a secret, such as a web page or a mobile app. The client gets no secret and must use PKCE."`
	Metadata     map[string]string   `json:"metadata,omitempty"`
}

// Client is an OAuth client as the API returns it.
type Client struct {
	domain.Meta
	domain.Provenance

	ClientID     string              `json:"client_id" doc:"The id of the client, under its OAuth name."`
	Name         string              `json:"name"`
	Scopes       []domain.Permission `json:"scopes" doc:"Permissions that the client can request."`
	RedirectURIs []string            `json:"redirect_uris" doc:"Redirect URIs, compared exactly."`
	GrantTypes   []domain.GrantType  `json:"grant_types" doc:"Grant types that the client may use."`
	Public       bool                `json:"public" doc:"true: the client has no secret and must use PKCE."`
	AllowedIPs   []string            `json:"allowed_ips" doc:"Addresses or CIDRs from which the client gets and uses tokens. []: from everywhere."`
	SecretHint   string              `json:"secret_hint,omitempty" doc:"The last characters of the secret."`
	Secret       string              `json:"client_secret,omitempty" doc:"The secret. Only in the response to its creation."`
}

// showClient converts a stored OAuth client to the form that the API returns, without the hash of the secret.
func showClient(c *domain.OAuthClient) *Client {
	out := &Client{
		Meta: c.Meta, Provenance: c.Provenance, AllowedIPs: c.AllowedIPs, ClientID: c.ID, Name: c.Name, Scopes: c.Scopes, RedirectURIs: c.RedirectURIs, GrantTypes: c.GrantTypes, Public: c.Public,
	}
	if c.Last4 != "" {
		out.SecretHint = "…" + c.Last4
	}
	return out
}

// registerClients registers the routes for OAuth clients.
func registerClients(r *router.Router, clients OAuthClients) {
	s := &clientHandlers{Router: r, clients: clients}
	const tag, path = "OAuth clients", "/v1/oauth/clients"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createClient", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create an OAuth client",
		Description: "Requires the enterprise plan, otherwise 403 plan_required. Only this response contains client_secret. For another secret create another client.",
	}, s.createClient)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listClients", Tag: tag, Summary: "List OAuth clients"},
		func(ctx context.Context, p domain.Principal, in *struct{ router.Paging }) (*router.Response[router.List[*Client]], error) {
			if err := s.clients.CheckOAuthPlan(p.WorkspaceID); err != nil {
				return nil, err
			}
			l, err := s.clients.ListClients(ctx, p, in.Query())
			return router.Page(l, err, showClient)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getClient", Tag: tag, Summary: "Get an OAuth client"},
		func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[*Client], error) {
			if err := s.clients.CheckOAuthPlan(p.WorkspaceID); err != nil {
				return nil, err
			}
			id, err := router.PathID(domain.PrefixClient, in.ID)
			if err != nil {
				return nil, err
			}
			c, err := s.clients.OAuthClient(ctx, p, id)
			if err != nil {
				return nil, err
			}
			return router.Respond(showClient(c), nil)
		})
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteClient", Credential: router.KeyOrSession, Tag: tag, Summary: "Delete an OAuth client and refuse its tokens at once",
		Description: "Possible on every plan.",
	}, router.HandleDeleteByID(domain.PrefixClient, "oauth_client", s.clients, OAuthClients.DeleteClient))
}

// client returns the OAuth client that the request body describes, or its validation errors.
func (n *NewClient) client() (*domain.OAuthClient, error) {
	c := &domain.OAuthClient{Name: n.Name, Scopes: n.Scopes, RedirectURIs: n.RedirectURIs, GrantTypes: n.GrantTypes, AllowedIPs: n.AllowedIPs, Public: n.Public}
	c.Metadata = n.Metadata
	problems := validation.Client(c)
	access.CheckAllowedIPs("allowed_ips", c.AllowedIPs, &problems)
	return c, problems.Err()
}

func (s *clientHandlers) createClient(ctx context.Context, p domain.Principal, in *struct{ Body NewClient }) (*router.Response[*Client], error) {
	if err := s.clients.CheckOAuthPlan(p.WorkspaceID); err != nil {
		return nil, err
	}
	c, err := in.Body.client()
	if err != nil {
		return nil, err
	}
	if !access.IsSubset(c.Scopes, p.Permissions) {
		return nil, domain.Errorf(domain.CodeInsufficientPermissions, "A client cannot have more permissions than the key that creates it.").With("required", c.Scopes)
	}
	created, secret, err := s.clients.CreateClient(ctx, p, c)
	if err != nil {
		return nil, err
	}
	router.SetResourceID(ctx, created.ID)
	shown := showClient(created)
	shown.Secret = secret
	return router.Respond(shown, nil)
}

// CheckRules returns the violations of the rules for a new OAuth client that the JSON schema cannot express.
func (n *NewClient) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	_, err := n.client()
	return err
}

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

// clientHandlers serves the operations of OAuth clients.
type clientHandlers struct {
	*router.Router

	clients OAuthClients
}

// OAuthClients are the OAuth clients of a workspace.
type OAuthClients interface {
	// OAuthPlan fails with plan_required where the workspace's plan has none.
	CheckOAuthPlan(workspace string) error
	// CreateClient answers the client and its secret, which is never kept; ""
	// for a public client.
	CreateClient(ctx context.Context, p domain.Principal, c *domain.OAuthClient) (made *domain.OAuthClient, secret string, err error)
	OAuthClient(ctx context.Context, p domain.Principal, id string) (*domain.OAuthClient, error)
	ListClients(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.OAuthClient], error)
	// DeleteClient: from its return on the client's tokens are refused.
	DeleteClient(ctx context.Context, p domain.Principal, id string) error
}

// NewClient is an OAuth client as it is sent.
type NewClient struct {
	Name         string              `json:"name" doc:"What its users see when they are asked."`
	Scopes       []domain.Permission `json:"scopes" nullable:"false" doc:"The most that it can be given: permissions, not more than the key holds that makes it."`
	RedirectURIs []string            `json:"redirect_uris,omitempty" nullable:"false" doc:"Where users are sent back to, compared letter by letter. https, or http on 127.0.0.1, [::1] and localhost."`
	GrantTypes   []domain.GrantType  `json:"grant_types,omitempty" nullable:"false" doc:"authorization_code and refresh_token where there is a redirect URI, else client_credentials, unless said."`
	AllowedIPs   []string            `json:"allowed_ips,omitempty" nullable:"false" doc:"Addresses or CIDRs from which the client gets and uses tokens, within those of the key that creates it. Default: those of the key. []: from everywhere."`
	Public       bool                `json:"public,omitempty" doc:"It can keep no secret (a page, a program on a phone): it gets none, and PKCE is required of it."`
	Metadata     map[string]string   `json:"metadata,omitempty"`
}

// Client is an OAuth client as the API shows it.
type Client struct {
	domain.Meta
	domain.Provenance

	ClientID     string              `json:"client_id" doc:"The id, under the name that OAuth has for it."`
	Name         string              `json:"name"`
	Scopes       []domain.Permission `json:"scopes" doc:"The most that it can be given."`
	RedirectURIs []string            `json:"redirect_uris" doc:"Where users are sent back to."`
	GrantTypes   []domain.GrantType  `json:"grant_types" doc:"How it gets tokens."`
	Public       bool                `json:"public" doc:"It has no secret."`
	AllowedIPs   []string            `json:"allowed_ips" doc:"Where it gets and uses tokens; empty: everywhere."`
	SecretHint   string              `json:"secret_hint,omitempty" doc:"The end of the secret."`
	Secret       string              `json:"client_secret,omitempty" doc:"The secret itself, only in the answer to its creation."`
}

// showClient leaves the hash behind.
func showClient(c *domain.OAuthClient) *Client {
	out := &Client{
		Meta: c.Meta, Provenance: c.Provenance, AllowedIPs: c.AllowedIPs, ClientID: c.ID, Name: c.Name, Scopes: c.Scopes, RedirectURIs: c.RedirectURIs, GrantTypes: c.GrantTypes, Public: c.Public,
	}
	if c.Last4 != "" {
		out.SecretHint = "…" + c.Last4
	}
	return out
}

// registerClients registers the operations of OAuth clients.
func registerClients(r *router.Router, clients OAuthClients) {
	s := &clientHandlers{Router: r, clients: clients}
	const tag, path = "OAuth clients", "/v1/oauth/clients"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createClient", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create an OAuth client",
		Description: "403 plan_required below the plan enterprise. The answer holds client_secret, this once: for another secret create another client.",
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
		Description: "On every plan: what was given can always be taken away.",
	}, router.HandleDeleteByID(domain.PrefixClient, "oauth_client", s.clients, OAuthClients.DeleteClient))
}

// client is the client that is asked for.
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
		return nil, domain.Errorf(domain.CodeInsufficientPermissions, "A client cannot be given more than the key holds that makes it.").With("required", c.Scopes)
	}
	made, secret, err := s.clients.CreateClient(ctx, p, c)
	if err != nil {
		return nil, err
	}
	router.SetResourceID(ctx, made.ID)
	shown := showClient(made)
	shown.Secret = secret
	return router.Respond(shown, nil)
}

// CheckRules checks what the schema cannot express.
func (n *NewClient) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	_, err := n.client()
	return err
}

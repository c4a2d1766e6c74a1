package oauth

import (
	"context"
	"net/http"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

// OAuthMetadata is the metadata of the authorization server (RFC 8414).
type OAuthMetadata struct { //nolint:revive // the name of the schema in the OpenAPI document
	Issuer            string              `json:"issuer" doc:"The service, as its tokens name it."`
	AuthorizeURL      string              `json:"authorization_endpoint" doc:"Where users are sent to be asked."`
	TokenURL          string              `json:"token_endpoint" doc:"Where tokens are got."`
	RevocationURL     string              `json:"revocation_endpoint" doc:"Where tokens are given back."`
	Introspection     string              `json:"introspection_endpoint" doc:"Where a client asks after its tokens."`
	JWKS              string              `json:"jwks_uri" doc:"The keys that tokens are signed with."`
	Scopes            []domain.Permission `json:"scopes_supported" doc:"The permissions."`
	ResponseTypes     []string            `json:"response_types_supported" doc:"What the authorization endpoint answers."`
	GrantTypes        []domain.GrantType  `json:"grant_types_supported" doc:"How tokens are got."`
	Challenges        []string            `json:"code_challenge_methods_supported" doc:"Of PKCE."`
	IssuerInResponse  bool                `json:"authorization_response_iss_parameter_supported" doc:"iss comes with every answer (RFC 9207)."`
	ClientAuth        []string            `json:"token_endpoint_auth_methods_supported" doc:"How clients prove themselves."`
	RevocationAuth    []string            `json:"revocation_endpoint_auth_methods_supported" doc:"How clients prove themselves there."`
	IntrospectionAuth []string            `json:"introspection_endpoint_auth_methods_supported" doc:"How clients prove themselves there."`
}

// registerMetadata registers the metadata of the server (RFC 8414).
func (s *Server) registerMetadata() {
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/.well-known/oauth-authorization-server", ID: "getOAuthMetadata", Tag: router.OAuthTag, Public: true,
		Summary: "Get what clients have to know of the authorization server",
	}, func(context.Context, domain.Principal, *struct{}) (*router.CachedResponse[OAuthMetadata], error) {
		return &router.CachedResponse[OAuthMetadata]{Control: "public, max-age=300", Body: s.metadata()}, nil
	})
}

func (s *Server) metadata() OAuthMetadata {
	by := slices.Clip([]string{"client_secret_basic", "client_secret_post"})
	at := s.publicURL
	return OAuthMetadata{
		Issuer: s.issuer.Name, AuthorizeURL: at + "/oauth/authorize", TokenURL: at + "/oauth/token", RevocationURL: at + "/oauth/revoke", Introspection: at + "/oauth/introspect", JWKS: at + "/.well-known/jwks.json",
		Scopes:        []domain.Permission{domain.AllRead, domain.AllWrite, domain.CallsRead, domain.CallsWrite, domain.AgentsRead, domain.AgentsWrite, domain.AnalyticsRead},
		ResponseTypes: []string{"code"}, GrantTypes: []domain.GrantType{domain.GrantCode, domain.GrantCredentials, domain.GrantRefresh},
		Challenges: []string{"S256"}, IssuerInResponse: true, ClientAuth: append(by, "none"), RevocationAuth: append(by, "none"), IntrospectionAuth: by,
	}
}

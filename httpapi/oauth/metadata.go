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
	Issuer            string              `json:"issuer" doc:"Issuer of the tokens (claim iss)."`
	AuthorizeURL      string              `json:"authorization_endpoint" doc:"Authorization endpoint."`
	TokenURL          string              `json:"token_endpoint" doc:"Token endpoint."`
	RevocationURL     string              `json:"revocation_endpoint" doc:"Revocation endpoint (RFC 7009)."`
	Introspection     string              `json:"introspection_endpoint" doc:"Introspection endpoint (RFC 7662)."`
	JWKS              string              `json:"jwks_uri" doc:"URL of the public keys that verify tokens."`
	Scopes            []domain.Permission `json:"scopes_supported" doc:"The permissions."`
	ResponseTypes     []string            `json:"response_types_supported" doc:"Response types of the authorization endpoint."`
	GrantTypes        []domain.GrantType  `json:"grant_types_supported" doc:"Supported grant types."`
	Challenges        []string            `json:"code_challenge_methods_supported" doc:"Of PKCE."`
	IssuerInResponse  bool                `json:"authorization_response_iss_parameter_supported" doc:"Authorization responses contain iss (RFC 9207)."`
	ClientAuth        []string            `json:"token_endpoint_auth_methods_supported" doc:"Client authentication methods of the token endpoint."`
	RevocationAuth    []string            `json:"revocation_endpoint_auth_methods_supported" doc:"Client authentication methods of the revocation endpoint."`
	IntrospectionAuth []string            `json:"introspection_endpoint_auth_methods_supported" doc:"Client authentication methods of the introspection endpoint."`
}

// registerMetadata registers the route that returns the metadata of the authorization server (RFC 8414).
func (s *Server) registerMetadata() {
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/.well-known/oauth-authorization-server", ID: "getOAuthMetadata", Tag: router.OAuthTag, Public: true,
		Summary: "Get the metadata of the authorization server",
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

// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
)

// GetOAuthMetadata: Get the metadata of the authorization server.
//
// GET /.well-known/oauth-authorization-server
func (c *Client) GetOAuthMetadata(ctx context.Context, options ...Option) (*OAuthMetadata, error) {
	return send[OAuthMetadata](ctx, c, "GET", "/.well-known/oauth-authorization-server", nil, nil, options)
}

// OAuthMetadata is part of a response.
type OAuthMetadata struct {
	// Authorization endpoint.
	AuthorizationEndpoint string `json:"authorization_endpoint"`
	// Authorization responses contain iss (RFC 9207).
	AuthorizationResponseIssParameterSupported bool `json:"authorization_response_iss_parameter_supported"`
	// Of PKCE.
	CodeChallengeMethodsSupported []string `json:"code_challenge_methods_supported"`
	// Supported grant types.
	GrantTypesSupported []string `json:"grant_types_supported"`
	// Introspection endpoint (RFC 7662).
	IntrospectionEndpoint string `json:"introspection_endpoint"`
	// Client authentication methods of the introspection endpoint.
	IntrospectionEndpointAuthMethodsSupported []string `json:"introspection_endpoint_auth_methods_supported"`
	// Issuer of the tokens (claim iss).
	Issuer string `json:"issuer"`
	// URL of the public keys that verify tokens.
	JWKSURI string `json:"jwks_uri"`
	// Response types of the authorization endpoint.
	ResponseTypesSupported []string `json:"response_types_supported"`
	// Revocation endpoint (RFC 7009).
	RevocationEndpoint string `json:"revocation_endpoint"`
	// Client authentication methods of the revocation endpoint.
	RevocationEndpointAuthMethodsSupported []string `json:"revocation_endpoint_auth_methods_supported"`
	// The permissions.
	ScopesSupported []string `json:"scopes_supported"`
	// Token endpoint.
	TokenEndpoint string `json:"token_endpoint"`
	// Client authentication methods of the token endpoint.
	TokenEndpointAuthMethodsSupported []string `json:"token_endpoint_auth_methods_supported"`
}

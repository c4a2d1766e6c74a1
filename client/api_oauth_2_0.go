// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
)

// GetOAuthMetadata: Get what clients have to know of the authorization server.
//
// GET /.well-known/oauth-authorization-server
func (c *Client) GetOAuthMetadata(ctx context.Context, options ...Option) (*OAuthMetadata, error) {
	return send[OAuthMetadata](ctx, c, "GET", "/.well-known/oauth-authorization-server", nil, nil, options)
}

// OAuthMetadata is an answer of the service, or a part of one.
type OAuthMetadata struct {
	// Where users are sent to be asked.
	AuthorizationEndpoint string `json:"authorization_endpoint"`
	// iss comes with every answer (RFC 9207).
	AuthorizationResponseIssParameterSupported bool `json:"authorization_response_iss_parameter_supported"`
	// Of PKCE.
	CodeChallengeMethodsSupported []string `json:"code_challenge_methods_supported"`
	// How tokens are got.
	GrantTypesSupported []string `json:"grant_types_supported"`
	// Where a client asks after its tokens.
	IntrospectionEndpoint string `json:"introspection_endpoint"`
	// How clients prove themselves there.
	IntrospectionEndpointAuthMethodsSupported []string `json:"introspection_endpoint_auth_methods_supported"`
	// The service, as its tokens name it.
	Issuer string `json:"issuer"`
	// The keys that tokens are signed with.
	JWKSURI string `json:"jwks_uri"`
	// What the authorization endpoint answers.
	ResponseTypesSupported []string `json:"response_types_supported"`
	// Where tokens are given back.
	RevocationEndpoint string `json:"revocation_endpoint"`
	// How clients prove themselves there.
	RevocationEndpointAuthMethodsSupported []string `json:"revocation_endpoint_auth_methods_supported"`
	// The permissions.
	ScopesSupported []string `json:"scopes_supported"`
	// Where tokens are got.
	TokenEndpoint string `json:"token_endpoint"`
	// How clients prove themselves.
	TokenEndpointAuthMethodsSupported []string `json:"token_endpoint_auth_methods_supported"`
}

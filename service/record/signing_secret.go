package record

import (
	"crypto/rand"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/webhook"
)

// NewSigningSecret returns a random secret with which the service signs its requests to a webhook or hook receiver.
func NewSigningSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never returns an error
	return webhook.NewSecret(b)
}

// RefuseAccessToken returns insufficient_permissions if the principal uses a JWT or an OAuth token. Operations that store
// an address for events or calls use it, because that address would stay valid after the token has expired. field is the
// request field with the address.
func RefuseAccessToken(p domain.Principal, field string) error {
	if !p.UsesAccessToken() {
		return nil
	}
	e := domain.Errorf(domain.CodeInsufficientPermissions, "%s outlives a token; use an API key or a dashboard session", field).With("required", "api_key")
	e.Param = field
	return e
}

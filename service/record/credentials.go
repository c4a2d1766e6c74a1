package record

import (
	"crypto/rand"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/webhook"
)

// NewSigningSecret returns a random secret that signs requests to receivers.
func NewSigningSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return webhook.NewSecret(b)
}

// RefuseAccessToken refuses a JWT and an OAuth token where a field names an address
// that receives events or calls: the address outlives the token. Errors:
// insufficient_permissions.
func RefuseAccessToken(p domain.Principal, field string) error {
	if !p.UsesAccessToken() {
		return nil
	}
	e := domain.Errorf(domain.CodeInsufficientPermissions, "%s outlives a token; use an API key or a dashboard session", field).With("required", "api_key")
	e.Param = field
	return e
}

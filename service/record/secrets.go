package record

import (
	"crypto/rand"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/webhook"
)

// NewSecretText returns the text of 24 random bytes, for links, codes and cookies.
func NewSecretText() string {
	var random [24]byte
	_, _ = rand.Read(random[:]) // never fails
	return domain.KeyText(random[:])
}

// NewSigningSecret returns a random secret that signs requests to webhooks, SMS
// gateways and lookups.
func NewSigningSecret() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	return webhook.NewSecret(random)
}

package token

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
)

// Keys stores the keys that sign tokens.
type Keys interface {
	// SigningKey returns the key with the key id kid, nil if no valid token can be signed with it. It reads from memory
	// only, because every request waits for it.
	SigningKey(ctx context.Context, kid string) (*domain.SigningKey, error)
	// EnsureSigningKeys returns the keys of all valid tokens and the key that signs new tokens. It creates a key with fresh
	// when the next key is due.
	EnsureSigningKeys(ctx context.Context, fresh func() (public, private string, err error)) (domain.SigningKeySet, error)
}

// Issuer signs and verifies the tokens of a Callboard installation.
type Issuer struct {
	Name string // the iss claim of its tokens
	Keys Keys
}

// NewIssuer returns an Issuer whose name is publicURL. Default: "callboard".
func NewIssuer(publicURL string, keys Keys) *Issuer {
	if publicURL == "" {
		publicURL = "callboard"
	}
	return &Issuer{Name: publicURL, Keys: keys}
}

// Sign returns a signed token in its compact form.
func (i *Issuer) Sign(ctx context.Context, c Claims) (string, error) {
	keys, err := i.Keys.EnsureSigningKeys(ctx, NewKey)
	if err != nil {
		return "", err
	}
	return Sign(c, keys.Active)
}

// Verify checks the signature, the issuer and the times of a token. It does not check whether the API key or the
// grant of the token is still valid. It returns the errors of Parse.
func (i *Issuer) Verify(ctx context.Context, text string) (Claims, error) {
	var failure error
	c, err := Parse(text, i.Name, func(kid string) *domain.SigningKey {
		k, err := i.Keys.SigningKey(ctx, kid)
		failure = err
		return k
	}, time.Now())
	if failure != nil {
		return Claims{}, failure
	}
	return c, err
}

package token

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
)

// Keys are the keys that tokens are signed with.
type Keys interface {
	// SigningKey returns the key of a kid, nil where no valid token can be signed
	// with it. It answers from memory: every request waits for it.
	SigningKey(ctx context.Context, kid string) (*domain.SigningKey, error)
	// EnsureSigningKeys returns the keys of all valid tokens, and the one that signs now.
	// fresh makes the next key when one is due.
	EnsureSigningKeys(ctx context.Context, fresh func() (public, private string, err error)) (domain.SigningKeySet, error)
}

// Issuer signs the tokens of a service and verifies them.
type Issuer struct {
	Name string // as the tokens have it: iss
	Keys Keys
}

// NewIssuer returns the issuer of a service with this base URL; "": it has none.
func NewIssuer(publicURL string, keys Keys) *Issuer {
	if publicURL == "" {
		publicURL = "callboard"
	}
	return &Issuer{Name: publicURL, Keys: keys}
}

// Sign returns the text of a token.
func (i *Issuer) Sign(ctx context.Context, c Claims) (string, error) {
	keys, err := i.Keys.EnsureSigningKeys(ctx, NewKey)
	if err != nil {
		return "", err
	}
	return Sign(c, keys.Active)
}

// Verify checks signature, issuer and times of a token. It does not check whether the
// API key or the grant of the token is valid. Errors: see Parse.
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

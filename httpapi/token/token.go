// Package token signs and verifies the JWTs of users and OAuth clients (EdDSA).
package token

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

// Audience of all tokens, and the default, minimum and maximum lifetime of user tokens.
const (
	Audience        = "callboard-api"
	DefaultLifetime = time.Hour
	MinLifetime     = time.Minute
	MaxLifetime     = 24 * time.Hour // also the maximum time from the first token to the expiry of tokens refreshed from it

	maxTokenBytes = 4096
)

// Claims are the claims of a token. Besides the documented claims they hold the API key or OAuth client, the time of
// first issue, and the lifetime.
type Claims struct {
	jwt.RegisteredClaims
	Audience    string              `json:"aud"` // a string (RFC 7519 §4.1.3) in place of the list in RegisteredClaims
	Permissions []domain.Permission `json:"permissions"`
	WorkspaceID string              `json:"workspace_id"`
	Environment domain.Environment  `json:"environment"`
	KeyID       string              `json:"key_id,omitempty"`
	ClientID    string              `json:"client_id,omitempty"`      // client of an OAuth token (RFC 9068)
	Scope       string              `json:"scope,omitempty"`          // Permissions in OAuth notation
	GrantID     string              `json:"grant_id,omitempty"`       // grant of the user's consent
	SignInKeyID string              `json:"sign_in_key_id,omitempty"` // the API key that created the user's sign-in link
	First       int64               `json:"first_iat,omitempty"`      // time of the first token, Unix seconds
	Lifetime    int64               `json:"lifetime,omitempty"`       // lifetime in seconds
}

// GetAudience returns the audience in the form that the JWT library checks.
func (c Claims) GetAudience() (jwt.ClaimStrings, error) { return jwt.ClaimStrings{c.Audience}, nil }

// UserClaims returns the claims of a new token for a user. p is the principal of the API key that issues the token.
func UserClaims(issuer, user string, p domain.Principal, rights []domain.Permission, lifetime time.Duration, now time.Time) Claims {
	c := Claims{
		Permissions: rights, WorkspaceID: p.WorkspaceID, Environment: p.Environment, KeyID: p.KeyID,
		First: now.Unix(), Lifetime: int64(lifetime / time.Second),
	}
	c.Issuer, c.Subject, c.Audience = issuer, user, Audience
	c.setTimes(now, now.Add(lifetime))
	return c
}

// AccessClaims returns the claims of an access token of an OAuth client. If user is "", the token is for the client
// itself.
func AccessClaims(issuer, user, grant string, c *domain.OAuthClient, rights []domain.Permission, lifetime time.Duration, now time.Time) Claims {
	a := Claims{
		Permissions: rights, Scope: access.FormatScope(rights), WorkspaceID: c.WorkspaceID, Environment: c.Environment, ClientID: c.ID, GrantID: grant,
	}
	if user == "" {
		user = c.ID
	}
	a.Issuer, a.Subject, a.Audience = issuer, user, Audience
	a.setTimes(now, now.Add(lifetime))
	return a
}

// RefreshedClaims returns the claims of the token that replaces a token. The lifetime is the same, but the new token
// expires at most a day after the first token was issued.
func RefreshedClaims(c Claims, now time.Time) Claims {
	until := now.Add(time.Duration(c.Lifetime) * time.Second)
	if last := time.Unix(c.First, 0).Add(MaxLifetime); until.After(last) {
		until = last
	}
	c.setTimes(now, until)
	return c
}

func (c *Claims) setTimes(now, until time.Time) {
	c.IssuedAt, c.ExpiresAt = jwt.NewNumericDate(now), jwt.NewNumericDate(until)
	c.ID = rand.Text()
}

// Principal returns the principal that a token authenticates.
func (c *Claims) Principal() domain.Principal {
	p := domain.Principal{
		KeyID: c.KeyID, ClientID: c.ClientID, WorkspaceID: c.WorkspaceID, Environment: c.Environment, Permissions: c.Permissions, UserID: c.Subject,
	}
	if c.ClientID != "" && c.Subject == c.ClientID {
		p.UserID = "" // the token belongs to the client, not to a user
	}
	return p
}

// NewKey returns a new Ed25519 key pair for signing tokens, in base64url.
func NewKey() (public, private string, err error) {
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", "", err
	}
	return base64.RawURLEncoding.EncodeToString(pub), base64.RawURLEncoding.EncodeToString(priv.Seed()), nil
}

// Sign returns a token with the given claims in its compact form, signed with the key k.
func Sign(c Claims, k *domain.SigningKey) (string, error) {
	seed, err := base64.RawURLEncoding.DecodeString(k.Private)
	if err != nil || len(seed) != ed25519.SeedSize {
		return "", fmt.Errorf("token: signing key %s is no Ed25519 seed", k.ID)
	}
	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, c)
	t.Header["kid"] = k.ID
	return t.SignedString(ed25519.NewKeyFromSeed(seed))
}

// IsJWT reports whether a credential has the form of a JWT.
func IsJWT(credential string) bool {
	return strings.HasPrefix(credential, "eyJ") && strings.Count(credential, ".") == 2
}

// UnverifiedWorkspace returns the workspace id in a token, "" if there is none. It does not verify the token.
func UnverifiedWorkspace(text string) string {
	if len(text) > maxTokenBytes || !IsJWT(text) {
		return ""
	}
	_, rest, _ := strings.Cut(text, ".")
	coded, _, _ := strings.Cut(rest, ".")
	payload, err := base64.RawURLEncoding.DecodeString(coded)
	if err != nil {
		return ""
	}
	var c struct {
		WorkspaceID string `json:"workspace_id"`
	}
	if json.Unmarshal(payload, &c) != nil {
		return ""
	}
	return c.WorkspaceID
}

// Parse verifies a token: first its signature, then its times. Errors: invalid_token, or expired_token with the
// claims of a token that is otherwise valid.
func Parse(text, issuer string, keys func(kid string) *domain.SigningKey, now time.Time) (Claims, error) {
	var c Claims
	if len(text) > maxTokenBytes {
		return c, invalid("the token is too long")
	}
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}), jwt.WithIssuer(issuer), jwt.WithAudience(Audience),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithStrictDecoding(), jwt.WithTimeFunc(func() time.Time { return now }),
	)
	_, err := parser.ParseWithClaims(text, &c, func(t *jwt.Token) (any, error) {
		kid, _ := t.Header["kid"].(string)
		k := keys(kid)
		if k == nil {
			return nil, errors.New("unknown kid")
		}
		pub, err := base64.RawURLEncoding.DecodeString(k.Public)
		if err != nil || len(pub) != ed25519.PublicKeySize {
			return nil, errors.New("no key")
		}
		return ed25519.PublicKey(pub), nil
	})
	switch {
	case err == nil && (c.Subject == "" || (c.KeyID == "") == (c.ClientID == "") || c.WorkspaceID == ""):
		return Claims{}, invalid("required claims are missing")
	case err == nil:
		return c, nil
	case !onlyExpired(err):
		return Claims{}, invalid("the token's signature, issuer or audience is wrong")
	}
	return c, domain.Errorf(domain.CodeExpiredToken, "The token has expired. Get a new one.")
}

// onlyExpired reports whether the token's expiry is the only error. The JWT library checks the signature before the
// claims.
func onlyExpired(err error) bool {
	for _, other := range []error{
		jwt.ErrTokenMalformed, jwt.ErrTokenUnverifiable, jwt.ErrTokenSignatureInvalid, jwt.ErrTokenInvalidAudience, jwt.ErrTokenInvalidIssuer,
		jwt.ErrTokenUsedBeforeIssued, jwt.ErrTokenNotValidYet, jwt.ErrTokenRequiredClaimMissing, jwt.ErrTokenInvalidSubject, jwt.ErrTokenInvalidId,
	} {
		if errors.Is(err, other) {
			return false
		}
	}
	return errors.Is(err, jwt.ErrTokenExpired)
}

func invalid(why string) error {
	return domain.Errorf(domain.CodeInvalidToken, "The token is not valid: %s.", why)
}

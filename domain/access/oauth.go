package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// secretPrefix is the prefix of OAuth client secrets. Secret scanners search for it.
const secretPrefix = "svc_cs_"

// NewClientSecret returns an OAuth client secret made of 24 random bytes, and its last four characters. The API shows the
// secret once. The store keeps only its hash (HashKey).
func NewClientSecret(random [24]byte) (text, last4 string) {
	text = secretPrefix + domain.EncodeKeyBytes(random[:])
	text += checksum(text)
	return text, text[len(text)-4:]
}

// IntersectPermissions returns the permissions that both lists allow. "*:read" and "calls:read" give "calls:read".
func IntersectPermissions(a, b []domain.Permission) []domain.Permission {
	out := []domain.Permission{}
	for _, p := range a {
		if Covers(b, p) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, p := range b {
		if Covers(a, p) && !Covers(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// maxScope limits the length of a scope parameter.
const maxScope = 500

// ParseScope parses the scope parameter of an OAuth client: permissions separated by spaces, all of which most must
// cover. Duplicates are dropped. An empty scope means all permissions in most. The error is invalid_scope.
func ParseScope(text string, most []domain.Permission) ([]domain.Permission, error) {
	if len(text) > maxScope {
		return nil, domain.Errorf(domain.OAuthInvalidScope, "The scope has more than %d characters.", maxScope)
	}
	var asked []domain.Permission
	for word := range strings.FieldsSeq(text) {
		p := domain.Permission(word)
		switch {
		case !IsKnownPermission(p):
			return nil, domain.Errorf(domain.OAuthInvalidScope, "The scope holds a word that is no permission.")
		case !Covers(most, p):
			return nil, domain.Errorf(domain.OAuthInvalidScope, "The client cannot be given %s.", p)
		case !slices.Contains(asked, p):
			asked = append(asked, p)
		}
	}
	if asked == nil {
		return slices.Clone(most), nil
	}
	return asked, nil
}

// FormatScope returns permissions as a scope parameter.
func FormatScope(list []domain.Permission) string {
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = string(p)
	}
	return strings.Join(words, " ")
}

// Lengths of a PKCE verifier (RFC 7636 §4.1) and of an S256 challenge.
const (
	minVerifier     = 43
	maxVerifier     = 128
	challengeLength = 43
)

// IsValidChallenge reports whether a text has the form of a PKCE challenge of the method S256 (RFC 7636 §4.2).
func IsValidChallenge(text string) bool {
	sum, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(text) == challengeLength && len(sum) == sha256.Size
}

// VerifyChallenge reports whether a PKCE verifier belongs to an S256 challenge. If the authorization request had no
// challenge, only an empty verifier is valid, so that a removed challenge is detected.
func VerifyChallenge(challenge, verifier string) bool {
	if challenge == "" {
		return verifier == ""
	}
	if len(verifier) < minVerifier || len(verifier) > maxVerifier || strings.ContainsFunc(verifier, isReservedCharacter) {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

func isReservedCharacter(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("-._~", r)
}

// CheckCode decides whether a client may exchange an authorization code. reused is true if the code was used
// before: its grant must then be revoked (RFC 6749 §4.1.2). The error is invalid_grant.
func CheckCode(c *domain.OAuthCode, clientID, redirect, verifier string, now time.Time) (reused bool, err error) {
	switch {
	case c.ClientID != clientID:
		return false, domain.Errorf(domain.OAuthInvalidGrant, "The code was issued to another client.")
	case c.GrantID != "":
		return true, domain.Errorf(domain.OAuthInvalidGrant, "The code was used before. Its tokens are revoked.")
	case !now.Before(c.Until):
		return false, domain.Errorf(domain.OAuthInvalidGrant, "The code is too old.")
	case c.RedirectURI != redirect:
		return false, domain.Errorf(domain.OAuthInvalidGrant, "The redirect_uri differs from that of the authorization request.")
	case !VerifyChallenge(c.Challenge, verifier):
		return false, domain.Errorf(domain.OAuthInvalidGrant, "The code_verifier does not match the challenge of the code.")
	}
	return false, nil
}

// CheckRefresh checks whether a client may use the refresh token with this generation number. reused is true if the
// token was already used: the grant must then be revoked. The error is invalid_grant.
func CheckRefresh(g *domain.OAuthGrant, clientID string, generation int, now time.Time) (reused bool, err error) {
	switch {
	case g.ClientID != clientID:
		return false, domain.Errorf(domain.OAuthInvalidGrant, "The refresh token is another client's.")
	case g.RevokedAt != nil:
		return false, domain.Errorf(domain.OAuthInvalidGrant, "The refresh token was revoked.")
	case generation != g.Generation:
		return true, domain.Errorf(domain.OAuthInvalidGrant, "The refresh token was used before. All tokens that were issued with it are revoked: sign in again.")
	case !now.Before(g.ExpiresAt()):
		return false, domain.Errorf(domain.OAuthInvalidGrant, "The refresh token is too old.")
	}
	return false, nil
}

// refreshPrefix is the prefix of refresh tokens: svc_rt_<grant>_<generation>_<proof>.
const refreshPrefix = "svc_rt_"

// NewRefreshToken returns the refresh token with a generation number of a grant. The token contains an HMAC made with
// the secret pepper, so it need not be stored.
func NewRefreshToken(pepper []byte, grantID string, generation int) string {
	body := refreshPrefix + strings.TrimPrefix(grantID, string(domain.PrefixGrant)+"_") + "_" + strconv.Itoa(generation)
	return body + "_" + HashKey(pepper, "refresh "+body)
}

// maxRefreshToken limits the length of a refresh token.
const maxRefreshToken = 200

// ParseRefreshToken parses a refresh token and verifies its HMAC.
func ParseRefreshToken(pepper []byte, text string) (grantID string, generation int, ok bool) {
	rest, ok := strings.CutPrefix(text, refreshPrefix)
	parts := strings.Split(rest, "_")
	if !ok || len(parts) != 3 || len(text) > maxRefreshToken {
		return "", 0, false
	}
	generation, err := strconv.Atoi(parts[1])
	if err != nil {
		return "", 0, false
	}
	grantID = string(domain.PrefixGrant) + "_" + parts[0]
	return grantID, generation, SameHash(NewRefreshToken(pepper, grantID, generation), text)
}

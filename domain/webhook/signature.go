package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// secretPrefix marks secrets that Standard Webhooks libraries can read.
const secretPrefix = "whsec_"

// The lengths of a key of Standard Webhooks, in bytes.
const (
	minStandardKey = 24
	maxStandardKey = 64
)

// Sign is the value of X-Svc-Signature: "sha256=" and the hex HMAC-SHA-256 of
// the body under the secret's bytes as given, prefix included.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// StandardKey is the key of Standard Webhooks inside a secret: what follows
// whsec_ is base64 of 24 to 64 bytes. ok is false for any other secret.
func StandardKey(secret string) (key []byte, ok bool) {
	text, ok := strings.CutPrefix(secret, secretPrefix)
	if !ok {
		return nil, false
	}
	encoding := base64.StdEncoding.Strict()
	if !strings.HasSuffix(text, "=") {
		encoding = base64.RawStdEncoding.Strict()
	}
	key, err := encoding.DecodeString(text)
	if err != nil || len(key) < minStandardKey || len(key) > maxStandardKey {
		return nil, false
	}
	return key, true
}

// StandardSign is the value of webhook-signature: "v1," and the base64
// HMAC-SHA-256 of "id.timestamp.body".
func StandardSign(key []byte, id string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// NewSecret spells a generated secret, which both signatures can use.
func NewSecret(random [32]byte) string {
	return secretPrefix + base64.StdEncoding.EncodeToString(random[:])
}

// SecretHint is what is shown of a secret after its creation.
func SecretHint(secret string) string {
	const shown = 4
	if len(secret) < 4*shown {
		return "…"
	}
	return "…" + secret[len(secret)-shown:]
}

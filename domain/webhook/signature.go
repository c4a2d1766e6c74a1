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

// secretPrefix marks secrets in the format of Standard Webhooks.
const secretPrefix = "whsec_"

// Key lengths of Standard Webhooks in bytes.
const (
	minStandardKey = 24
	maxStandardKey = 64
)

// Sign returns the value of X-Svc-Signature: "sha256=" and the HMAC-SHA-256 of the body in hex. The key is the
// complete secret, including its prefix.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// StandardKey returns the Standard Webhooks key that a secret contains: base64 of 24 to 64 bytes after whsec_. ok is
// false for other secrets.
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

// StandardSign returns the value of webhook-signature: "v1," and the base64 HMAC-SHA-256 of "id.timestamp.body".
func StandardSign(key []byte, id string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// NewSecret returns a secret that is valid for Sign and for StandardSign.
func NewSecret(random [32]byte) string {
	return secretPrefix + base64.StdEncoding.EncodeToString(random[:])
}

// SecretHint returns the part of a secret that may be shown after its creation.
func SecretHint(secret string) string {
	const shown = 4
	if len(secret) < 4*shown {
		return "…"
	}
	return "…" + secret[len(secret)-shown:]
}

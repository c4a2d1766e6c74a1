package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"

	"github.com/callboard/callboard/domain"
)

// Format of an API key: svc_sk_live_<id>_<secret><checksum>.
const (
	livePrefix   = "svc_sk_live_"
	testPrefix   = "svc_sk_test_"
	ulidLength   = 26
	secretLength = 39 // 24 bytes in base32
	crcLength    = 7  // 4 bytes in base32
	keyLength    = len(livePrefix) + ulidLength + 1 + secretLength + crcLength
)

// Key holds the parts of an API key that can be read without a lookup.
type Key struct {
	ID          string // key_<ULID> of the row
	Environment domain.Environment
	Prefix      string // text before the secret; may be shown
	Last4       string
}

// NewKey returns the API key for an ID (key_<ULID>) and 24 random bytes. The text is shown once, and only HashKey
// of it is stored.
func NewKey(id string, env domain.Environment, random [24]byte) (text string, key Key, err error) {
	id, err = domain.ParseID(domain.PrefixKey, id)
	if err != nil {
		return "", Key{}, err
	}
	text = livePrefix
	if env == domain.Test {
		text = testPrefix
	}
	text += strings.TrimPrefix(id, string(domain.PrefixKey)+"_") + "_" + domain.EncodeKeyBytes(random[:])
	text += checksum(text)
	key, err = ParseKey(text)
	return text, key, err
}

// ParseKey parses an API key and verifies its checksum, so that a malformed key needs no lookup. The error is
// always invalid_api_key.
func ParseKey(text string) (Key, error) {
	env, ok := domain.Live, strings.HasPrefix(text, livePrefix)
	if strings.HasPrefix(text, testPrefix) {
		env, ok = domain.Test, true
	}
	if !ok || len(text) != keyLength {
		return Key{}, errInvalidKey()
	}
	body, sum := text[:keyLength-crcLength], text[keyLength-crcLength:]
	if checksum(body) != sum {
		return Key{}, errInvalidKey()
	}
	id, secret := body[len(livePrefix):len(livePrefix)+ulidLength], body[len(livePrefix)+ulidLength:]
	full, err := domain.ParseID(domain.PrefixKey, string(domain.PrefixKey)+"_"+id)
	if err != nil || full[len(domain.PrefixKey)+1:] != id || secret[0] != '_' {
		return Key{}, errInvalidKey()
	}
	return Key{
		ID: full, Environment: env, Prefix: body[:len(livePrefix)+ulidLength], Last4: text[keyLength-4:],
	}, nil
}

// HashKey returns the stored form of a key: HMAC-SHA-256 under the pepper, in hex. Keys contain 192 random bits and
// need no slow password hash.
func HashKey(pepper []byte, text string) string {
	mac := hmac.New(sha256.New, pepper)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// SameHash compares two hashes in constant time.
func SameHash(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

func checksum(text string) string {
	return domain.EncodeKeyBytes(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(text))))
}

func errInvalidKey() error {
	return domain.Errorf(domain.CodeInvalidAPIKey, "the API key is malformed or unknown")
}

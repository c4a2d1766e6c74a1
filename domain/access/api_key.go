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

// Parts of the text of an API key: svc_sk_live_<id>_<secret><checksum>, or svc_sk_test_ for the test environment.
const (
	livePrefix   = "svc_sk_live_"
	testPrefix   = "svc_sk_test_"
	ulidLength   = 26
	secretLength = 39 // 24 bytes in base32
	crcLength    = 7  // 4 bytes in base32
	keyLength    = len(livePrefix) + ulidLength + 1 + secretLength + crcLength
)

// Key holds the parts of an API key that can be read from its text, without the store.
type Key struct {
	ID          string // key_<ULID>, the ID of the stored key
	Environment domain.Environment
	Prefix      string // text before the secret; may be shown
	Last4       string
}

// NewKey returns the text of an API key for an ID (key_<ULID>) and 24 random bytes. The API shows the text once. The
// store keeps only its hash (HashKey).
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

// ParseKey parses the text of an API key and verifies the checksum, so that a mistyped key is rejected without reading
// the store. The error is always invalid_api_key.
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

// HashKey returns the form in which an API key is stored: HMAC-SHA-256 with the secret pepper, in hex. A slow password
// hash is not needed, because keys contain 192 random bits.
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

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

// The shape of an API key: svc_sk_live_<id>_<secret><checksum>.
const (
	livePrefix   = "svc_sk_live_"
	testPrefix   = "svc_sk_test_"
	ulidLength   = 26
	secretLength = 39 // 24 bytes in base32
	crcLength    = 7  // 4 bytes in base32
	keyLength    = len(livePrefix) + ulidLength + 1 + secretLength + crcLength
)

// Key is what the text of an API key says, before any look-up.
type Key struct {
	ID          string // key_<ULID>: the row to look up
	Environment domain.Environment
	Prefix      string // up to the secret; may be shown
	Last4       string
}

// NewKey spells the key of a row (key_<ULID>) from 24 random bytes. The result
// is shown once; only HashKey of it is kept.
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

// ParseKey reads the text of an API key and checks its checksum, so that a
// malformed key costs no look-up. Every failure is invalid_api_key.
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

// HashKey is what is kept of a key: HMAC-SHA-256 under the pepper, in hex.
// Keys hold 192 random bits, so a slow password hash would add nothing.
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

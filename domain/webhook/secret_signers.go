package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"strconv"
	"sync"
	"time"
)

// SecretSigners caches the HMAC signers for the two secrets of an endpoint. A nil SecretSigners caches nothing. It is
// safe for concurrent use.
type SecretSigners struct {
	mu    sync.Mutex
	known map[string]*secretSigner
}

// secretSigner computes signatures with one secret and reuses its HMAC states.
type secretSigner struct {
	plain          sync.Pool
	standard       sync.Pool
	hasStandardKey bool // the secret contains a Standard Webhooks key
}

func newSigner(secret string) *secretSigner {
	s := new(secretSigner)
	s.plain.New = func() any { return hmac.New(sha256.New, []byte(secret)) }
	if key, ok := StandardKey(secret); ok {
		s.hasStandardKey = true
		s.standard.New = func() any { return hmac.New(sha256.New, key) }
	}
	return s
}

func (s *SecretSigners) signerFor(secret string) *secretSigner {
	if s == nil {
		return newSigner(secret)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.known[secret]; known != nil {
		return known
	}
	if s.known == nil || len(s.known) > 1 { // after a rotation, the old signers are dropped
		s.known = make(map[string]*secretSigner)
	}
	made := newSigner(secret)
	s.known[secret] = made
	return made
}

// sign returns the same signature as Sign with the secret.
func (s *secretSigner) sign(body []byte) string {
	var room [sha256.Size]byte
	const begin = "sha256="
	text := append(make([]byte, 0, len(begin)+2*sha256.Size), begin...)
	return string(hex.AppendEncode(text, sum(&s.plain, room[:0], body)))
}

// standardSign returns the same signature as StandardSign. The secret must contain a Standard Webhooks key.
func (s *secretSigner) standardSign(id string, at time.Time, body []byte) string {
	var room [sha256.Size]byte
	stamp := append(strconv.AppendInt(append(append(make([]byte, 0, 64), id...), '.'), at.Unix(), 10), '.')
	text := append(make([]byte, 0, 48), "v1,"...)
	return string(base64.StdEncoding.AppendEncode(text, sum(&s.standard, room[:0], stamp, body)))
}

// sum appends the HMAC of the concatenated parts to b. It takes the HMAC state from the pool.
func sum(pool *sync.Pool, b []byte, parts ...[]byte) []byte {
	mac, _ := pool.Get().(hash.Hash)
	defer pool.Put(mac)
	mac.Reset()
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(b)
}

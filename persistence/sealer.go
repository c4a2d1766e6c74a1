package persistence

import (
	"context"
	"crypto/cipher"
	"encoding/base64"
	"errors"

	"github.com/callboard/callboard/domain"
)

// Sealer encrypts texts with one key. A process can use it without opening a Store.
type Sealer struct{ aead cipher.AEAD }

// NewSealer returns a sealer for a key of 32 bytes.
func NewSealer(key []byte) (*Sealer, error) {
	aead, err := newAEAD(key)
	return &Sealer{aead}, err
}

// Seal encrypts a text. The result can be decrypted only with the same key of a record and the same field name.
func (s *Sealer) Seal(_ context.Context, k domain.Key, field, text string) (string, error) {
	sealed, err := encrypt(s.aead, []byte(text), additionalData(k, field))
	return base64.RawStdEncoding.EncodeToString(sealed), err
}

// Unseal decrypts a text that Seal encrypted for the same record key and field name.
func (s *Sealer) Unseal(_ context.Context, k domain.Key, field, sealed string) (string, error) {
	text, err := base64.RawStdEncoding.DecodeString(sealed)
	if err == nil {
		text, err = decrypt(s.aead, text, additionalData(k, field))
	}
	if err != nil {
		return "", errors.Join(domain.ErrDamaged, err)
	}
	return string(text), nil
}

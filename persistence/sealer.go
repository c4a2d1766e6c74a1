package persistence

import (
	"context"
	"crypto/cipher"
	"encoding/base64"
	"errors"

	"github.com/callboard/callboard/domain"
)

// Sealer seals texts under one key, for a process that has no part of a store open.
type Sealer struct{ aead cipher.AEAD }

// NewSealer makes a sealer of a key of 32 bytes.
func NewSealer(key []byte) (*Sealer, error) {
	aead, err := newAEAD(key)
	return &Sealer{aead}, err
}

// Seal encrypts a text and binds it to a key and a field.
func (s *Sealer) Seal(_ context.Context, k domain.Key, field, text string) (string, error) {
	sealed, err := lock(s.aead, []byte(text), additional(k, field))
	return base64.RawStdEncoding.EncodeToString(sealed), err
}

// Unseal decrypts what Seal made for the same key and field.
func (s *Sealer) Unseal(_ context.Context, k domain.Key, field, sealed string) (string, error) {
	text, err := base64.RawStdEncoding.DecodeString(sealed)
	if err == nil {
		text, err = unlock(s.aead, text, additional(k, field))
	}
	if err != nil {
		return "", errors.Join(domain.ErrDamaged, err)
	}
	return string(text), nil
}

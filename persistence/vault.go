package persistence

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/callboard/callboard/domain"
)

// MasterKeySize is the length of a master key in bytes.
const MasterKeySize = 32

const sealedMark = "s1."

var errSealed = errors.New("a sealed text cannot be opened")

// vault encrypts texts under one data key per workspace.
type vault struct {
	driver         Driver
	master         cipher.AEAD
	checkWorkspace func(workspace string) error
	commit         func(context.Context, Commit) (Result, error)

	creating sync.Mutex // held while a data key is created
	mu       sync.Mutex
	keys     map[string]cipher.AEAD // by workspace
	closed   map[string]bool        // deleted workspaces, which get no new data key
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("persistence: cipher: %w", err)
	}
	return cipher.NewGCM(block)
}

// fingerprint returns a value that identifies a master key without revealing it.
func fingerprint(master []byte) []byte {
	m := hmac.New(sha256.New, master)
	m.Write([]byte("callboard master key, version 1"))
	return []byte(hex.EncodeToString(m.Sum(nil)[:16]))
}

// checkMaster returns ErrMasterKey if the store belongs to another master key. known is false if the store contains no
// fingerprint of a master key.
func checkMaster(ctx context.Context, d Driver, master []byte) (known bool, err error) {
	have, _, err := d.Get(ctx, fingerprintKey)
	switch {
	case errors.Is(err, domain.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case subtle.ConstantTimeCompare(have, fingerprint(master)) != 1:
		return true, fmt.Errorf("%w: the store has fingerprint %s, the given key has %s", ErrMasterKey, have, fingerprint(master))
	}
	return true, nil
}

// additionalData returns the AEAD additional data of an encrypted field. It prevents that the text is decrypted as
// another field or for another record.
func additionalData(k domain.Key, field string) []byte {
	return []byte(k.Workspace + "\x00" + k.Kind + "\x00" + k.ID + "\x00" + field + "\x00")
}

func encrypt(aead cipher.AEAD, text, bound []byte) ([]byte, error) {
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(text)+aead.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("persistence: random: %w", err)
	}
	return aead.Seal(nonce, nonce, text, bound), nil
}

func decrypt(aead cipher.AEAD, sealed, bound []byte) ([]byte, error) {
	n := aead.NonceSize()
	if len(sealed) < n+aead.Overhead() {
		return nil, fmt.Errorf("%w: %d bytes are too short", errSealed, len(sealed))
	}
	text, err := aead.Open(nil, sealed[:n], sealed[n:], bound)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSealed, err)
	}
	return text, nil
}

func (v *vault) seal(ctx context.Context, k domain.Key, field, text string) (string, error) {
	aead, err := v.key(ctx, k.Workspace, true)
	if err != nil {
		return "", err
	}
	sealed, err := encrypt(aead, []byte(text), additionalData(k, field))
	if err != nil {
		return "", err
	}
	return sealedMark + base64.RawStdEncoding.EncodeToString(sealed), nil
}

func (v *vault) unseal(ctx context.Context, k domain.Key, field, text string) (string, error) {
	body, ok := strings.CutPrefix(text, sealedMark)
	if !ok {
		return "", fmt.Errorf("%w: %w: %s %s %s is not sealed", domain.ErrDamaged, errSealed, k.Kind, k.ID, field)
	}
	sealed, err := base64.RawStdEncoding.DecodeString(body)
	if err != nil {
		return "", fmt.Errorf("%w: %w: %s %s %s: %w", domain.ErrDamaged, errSealed, k.Kind, k.ID, field, err)
	}
	aead, err := v.key(ctx, k.Workspace, false)
	if err != nil {
		return "", err
	}
	plain, err := decrypt(aead, sealed, additionalData(k, field))
	if err != nil {
		return "", fmt.Errorf("%w: %s %s %s: %w", domain.ErrDamaged, k.Kind, k.ID, field, err)
	}
	return string(plain), nil
}

// key returns the data key of a workspace. If the workspace has none and create is set, key creates one.
func (v *vault) key(ctx context.Context, workspace string, create bool) (cipher.AEAD, error) {
	v.mu.Lock()
	aead, ok := v.keys[workspace]
	v.mu.Unlock()
	if ok {
		return aead, nil
	}
	row := Key{Table: table("_key", workspace), ID: "data"}
	bound := dataKeyAAD(workspace)
	wrapped, _, err := v.driver.Get(ctx, row)
	if errors.Is(err, domain.ErrNotFound) && create {
		wrapped, err = v.create(ctx, workspace, row, bound)
	}
	if err != nil {
		return nil, fmt.Errorf("persistence: data key of %q: %w", workspace, err)
	}
	plain, err := decrypt(v.master, wrapped, bound)
	if err != nil {
		return nil, fmt.Errorf("persistence: data key of %q: %w", workspace, err)
	}
	if aead, err = newAEAD(plain); err != nil {
		return nil, err
	}
	v.mu.Lock()
	if !v.closed[workspace] {
		v.keys[workspace] = aead
	}
	v.mu.Unlock()
	return aead, nil
}

// close removes the data key of a deleted workspace from memory and prevents the creation of a new one.
func (v *vault) close(workspace string) {
	v.creating.Lock()
	defer v.creating.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed[workspace] = true
	delete(v.keys, workspace)
}

// create commits a new data key of a workspace, encrypted with the master key. If another process has committed a data
// key first, create returns that key.
func (v *vault) create(ctx context.Context, workspace string, row Key, bound []byte) ([]byte, error) {
	if err := v.checkWorkspace(workspace); err != nil {
		return nil, err
	}
	v.creating.Lock()
	defer v.creating.Unlock()
	v.mu.Lock()
	closed := v.closed[workspace]
	v.mu.Unlock()
	if closed {
		return nil, domain.ErrFenced
	}
	plain := make([]byte, MasterKeySize)
	if _, err := rand.Read(plain); err != nil {
		return nil, fmt.Errorf("persistence: random: %w", err)
	}
	wrapped, err := encrypt(v.master, plain, bound)
	if err != nil {
		return nil, err
	}
	_, err = v.commit(ctx, Commit{Guards: []Guard{{Key: row}}, Puts: []Put{{Key: row, Value: wrapped}}})
	if errors.Is(err, domain.ErrConflict) {
		wrapped, _, err = v.driver.Get(ctx, row)
	}
	return wrapped, err
}

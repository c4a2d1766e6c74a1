package domain

import "time"

// SigningKey signs the JWTs of users. It belongs to the installation, its ID is the kid of the tokens, and its
// private key is encrypted at rest.
type SigningKey struct {
	Meta
	Public  string `json:"public"`  // Ed25519 public key, base64url
	Private string `json:"private"` // Ed25519 seed, base64url; never shown
}

const (
	// SigningKeyRotationAge is the age of the newest key at which a new key is created.
	SigningKeyRotationAge = 30 * 24 * time.Hour
	// SigningKeyLead is the time between the publication of a key and its first use. It is twice the time for which
	// clients cache the key list, so that every client knows the key in time.
	SigningKeyLead = 10 * time.Minute
	// signatureLifetime is how long a key must verify tokens after its last use: the maximum token lifetime and a margin.
	signatureLifetime = 25 * time.Hour
)

// SigningKeySet defines which signing keys sign and verify tokens at a given time.
type SigningKeySet struct {
	Verifying   []*SigningKey // keys that verify tokens, including the next signing key; oldest first
	Active      *SigningKey   // key that signs; nil: there is no key
	NeedsNewKey bool          // a new key has to be created
}

// SelectSigningKeys selects the keys in use at now. keys has all keys, oldest first. A key signs from SigningKeyLead
// after its creation until the next key signs. The first key signs at once.
func SelectSigningKeys(keys []*SigningKey, now time.Time) SigningKeySet {
	s := SigningKeySet{NeedsNewKey: true}
	for i, k := range keys {
		over := false
		if i+1 < len(keys) {
			over = !now.Before(keys[i+1].signsFrom().Add(signatureLifetime))
		}
		if !over {
			s.Verifying = append(s.Verifying, k)
		}
		if s.Active == nil || !now.Before(k.signsFrom()) {
			s.Active = k
		}
		s.NeedsNewKey = !now.Before(k.CreatedAt.Add(SigningKeyRotationAge))
	}
	return s
}

func (k *SigningKey) signsFrom() time.Time { return k.CreatedAt.Add(SigningKeyLead) }

// Key returns the key of the signing key in the store.
func (k *SigningKey) Key() Key { return Key{"signing_key", "", k.ID} }

// Indexes returns one index of all keys of the installation.
func (k *SigningKey) Indexes() []string { return []string{"all"} }

// Sort returns the ID, which sorts by creation time.
func (k *SigningKey) Sort() string { return k.ID }

// Sealed returns a copy whose private key is encrypted by f.
func (k *SigningKey) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *k
	var err error
	c.Private, err = f("private", k.Private)
	return &c, err
}

// Unseal decrypts the private key with f.
func (k *SigningKey) Unseal(f func(field, text string) (string, error)) (err error) {
	k.Private, err = f("private", k.Private)
	return err
}

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
	// SigningKeyRotationAge is the age at which the newest key gets a successor.
	SigningKeyRotationAge = 30 * 24 * time.Hour
	// SigningKeyLead is the time between the publication of a key and its first use: twice the cache time of the
	// key list.
	SigningKeyLead = 10 * time.Minute
	// signatureLifetime is the maximum lifetime of a signed token, with a margin.
	signatureLifetime = 25 * time.Hour
)

// SigningKeySet defines which signing keys are in use at a time.
type SigningKeySet struct {
	Verifying   []*SigningKey // keys that verify tokens, including the next signing key; oldest first
	Active      *SigningKey   // key that signs; nil: there is no key
	NeedsNewKey bool          // a new key has to be created
}

// SelectSigningKeys selects among all keys, oldest first. A key signs from SigningKeyLead after its creation until
// its successor signs. The first key signs at once.
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

// Key returns the store key.
func (k *SigningKey) Key() Key { return Key{"signing_key", "", k.ID} }

// Indexes returns one index of all keys of the installation.
func (k *SigningKey) Indexes() []string { return []string{"all"} }

// Sort returns the ID, which sorts by creation time.
func (k *SigningKey) Sort() string { return k.ID }

// Sealed returns a copy with an encrypted private key.
func (k *SigningKey) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *k
	var err error
	c.Private, err = f("private", k.Private)
	return &c, err
}

// Unseal decrypts the private key.
func (k *SigningKey) Unseal(f func(field, text string) (string, error)) (err error) {
	k.Private, err = f("private", k.Private)
	return err
}

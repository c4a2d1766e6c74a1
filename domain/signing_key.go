package domain

import "time"

// SigningKey signs the tokens of users. It belongs to the install, and its
// private half is kept sealed. Its id is the kid of what it signs.
type SigningKey struct {
	Meta
	Public  string `json:"public"`  // Ed25519, base64url
	Private string `json:"private"` // its seed, base64url; never shown
}

const (
	// SigningKeyLife is the age at which the newest key gets a follower.
	SigningKeyRotationAge = 30 * 24 * time.Hour
	// SigningKeyLead is how long a key can be read by all before it signs:
	// twice as long as others may keep a list of keys.
	SigningKeyLead = 10 * time.Minute
	// signedLife is how long what a key signed last can hold, and a little more.
	signatureLifetime = 25 * time.Hour
)

// SigningKeySet is which keys of an install count at a time.
type SigningKeySet struct {
	Verifying   []*SigningKey // whose tokens may hold, and the one that signs next; oldest first
	Active      *SigningKey   // nil: there is no key yet
	NeedsNewKey bool          // another key is to be made now
}

// SelectSigningKeys sorts keys, oldest first. A key signs from SigningKeyLead after it
// was made, the first of all at once, until the next one does.
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

// Key names the row.
func (k *SigningKey) Key() Key { return Key{"signing_key", "", k.ID} }

// Indexes: all of the install.
func (k *SigningKey) Indexes() []string { return []string{"all"} }

// Sort is by age.
func (k *SigningKey) Sort() string { return k.ID }

// Sealed returns a copy whose private half is sealed.
func (k *SigningKey) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *k
	var err error
	c.Private, err = f("private", k.Private)
	return &c, err
}

// Unseal restores the private half.
func (k *SigningKey) Unseal(f func(field, text string) (string, error)) (err error) {
	k.Private, err = f("private", k.Private)
	return err
}

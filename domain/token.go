package domain

import "time"

// SigningKey signs the tokens of users. It belongs to the install, and its
// private half is kept sealed. Its id is the kid of what it signs.
type SigningKey struct {
	Meta
	Public  string `json:"public"`  // Ed25519, base64url
	Private string `json:"private"` // its seed, base64url; never shown
}

// A key signs for SigningKeyLife; what it signed can be read for a day more.
const (
	SigningKeyLife = 30 * 24 * time.Hour
	signedLife     = 24 * time.Hour
)

// Signs says whether the key signs new tokens.
func (k *SigningKey) Signs(now time.Time) bool { return now.Before(k.CreatedAt.Add(SigningKeyLife)) }

// Reads says whether tokens that it signed may still hold.
func (k *SigningKey) Reads(now time.Time) bool {
	return now.Before(k.CreatedAt.Add(SigningKeyLife + signedLife + time.Hour))
}

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

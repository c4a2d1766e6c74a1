package record

import (
	"crypto/rand"

	"github.com/callboard/callboard/domain"
)

// NewSecretText returns the text of 24 random bytes, for links, codes and cookies.
func NewSecretText() string {
	var random [24]byte
	_, _ = rand.Read(random[:]) // never fails
	return domain.KeyText(random[:])
}

package record

import (
	"crypto/rand"

	"github.com/callboard/callboard/domain"
)

// NewSecretText returns 24 random bytes as text, for links, codes and cookies.
func NewSecretText() string {
	var random [24]byte
	_, _ = rand.Read(random[:]) // crypto/rand.Read never returns an error
	return domain.EncodeKeyBytes(random[:])
}

package dashboard

import (
	"crypto/rand"
	"encoding/hex"
)

// idempotencyField is the hidden form field with the Idempotency-Key that the form's API request gets.
const idempotencyField = "once"

// newIdempotencyKey returns a random idempotency key for a new form.
func newIdempotencyKey() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // Read of crypto/rand never fails
	return hex.EncodeToString(b)
}

// idempotencyKey returns the idempotency key in the submitted form, "" if the form has no valid key.
func (r *Request) idempotencyKey() string {
	name := r.Form.Get(idempotencyField)
	if b, err := hex.DecodeString(name); err != nil || len(b) != 16 {
		return ""
	}
	return name
}

// nextIdempotencyKey returns the key for the form on the page after an error. It keeps the key of the submitted form,
// so that a request that has run does not run again. After idempotency_mismatch it returns a new key.
func (r *Request) nextIdempotencyKey(p *problem) string {
	if name := r.idempotencyKey(); name != "" && p != nil && p.Code != "idempotency_mismatch" {
		return name
	}
	return newIdempotencyKey()
}

package dashboard

import (
	"crypto/rand"
	"encoding/hex"
)

// idempotencyField is the form field with the Idempotency-Key of the form's request.
const idempotencyField = "once"

// newIdempotencyKey returns the key of a new form.
func newIdempotencyKey() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // Read of crypto/rand never fails
	return hex.EncodeToString(b)
}

// idempotencyKey returns the key in the sent form, "" if there is none.
func (r *Request) idempotencyKey() string {
	name := r.Form.Get(idempotencyField)
	if b, err := hex.DecodeString(name); err != nil || len(b) != 16 {
		return ""
	}
	return name
}

// nextIdempotencyKey returns the key for the form that is shown after an error. It keeps the sent key, so that a
// request that has already run is not repeated. After idempotency_mismatch it returns a new key.
func (r *Request) nextIdempotencyKey(p *problem) string {
	if name := r.idempotencyKey(); name != "" && p != nil && p.Code != "idempotency_mismatch" {
		return name
	}
	return newIdempotencyKey()
}

package record

// IdempotencyKey is the scope of an Idempotency-Key: credential, environment (both in
// the Principal), method and path.
type IdempotencyKey struct {
	Key    string // hex SHA-256 of the header: the header itself unlocks the reply
	Method string
	Path   string
}

// StoredReply is a stored answer. Sealed is opaque: it is encrypted under a key
// that only the client's header gives.
type StoredReply struct {
	Digest string // hex SHA-256 of the request's body
	Sealed []byte
}

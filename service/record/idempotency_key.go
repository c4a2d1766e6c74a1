package record

// IdempotencyKey identifies a request by its Idempotency-Key header, method and path. The credential and the
// environment, which also belong to the scope, are in the Principal.
type IdempotencyKey struct {
	Key    string // hex SHA-256 of the header; the header itself decrypts the reply
	Method string
	Path   string
}

// StoredReply is the stored reply of a request. Sealed is the reply, encrypted under a key that is derived from the
// client's Idempotency-Key header.
type StoredReply struct {
	Digest string // hex SHA-256 of the request body
	Sealed []byte
}

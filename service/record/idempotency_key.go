package record

// IdempotencyKey identifies a request by its Idempotency-Key header, method and path. Two requests are the same only if
// they also have the same credential and environment, which the Principal contains.
type IdempotencyKey struct {
	Key    string // hex SHA-256 of the header; the header itself decrypts the reply
	Method string
	Path   string
}

// StoredReply is the stored response to a request. Sealed is the response, encrypted under a key that is derived from
// the client's Idempotency-Key header.
type StoredReply struct {
	Digest string // hex SHA-256 of the request body
	Sealed []byte
}

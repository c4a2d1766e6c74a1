package ask

import "github.com/callboard/callboard/domain"

// ResourceRef names a resource in an answer.
type ResourceRef = domain.ResourceRef

// RevokeKeyRequest are the options of the revocation of a key.
type RevokeKeyRequest struct {
	Cascade bool                     // end what the key created, too
	MayEnd  func(*domain.User) error // refuses users whom the caller may not delete; they remain
}

// RevokeKeyResult lists the resources that a revoked key created, directly or through
// other credentials that it created.
type RevokeKeyResult struct {
	Remaining []ResourceRef // still in use
	Ended     []ResourceRef // ended by Cascade
}

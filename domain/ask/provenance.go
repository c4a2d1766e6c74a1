package ask

import "github.com/callboard/callboard/domain"

// ResourceRef names a resource in an answer.
type ResourceRef struct {
	ID     string `json:"id" doc:"Its id."`
	Object string `json:"object" doc:"Its type: oauth_client, user, webhook, phone, api_key, trunk, sms_gateway, tool."`
}

// KeyRevocation is how a key is revoked.
type KeyRevocation struct {
	Cascade bool                     // end what the key created, too
	MayEnd  func(*domain.User) error // refuses users whom the caller may not delete; they remain
}

// RevokedKey is what became of the resources that a revoked key created,
// directly or through other credentials that it created.
type RevokedKey struct {
	Remaining []ResourceRef // they go on
	Ended     []ResourceRef // by Cascade
}

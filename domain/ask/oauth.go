package ask

import "github.com/callboard/callboard/domain"

// Granted is what a client was given by a user.
type Granted struct {
	GrantID string
	UserID  string
	// SignInKeyID is the API key whose sign-in link the user came by; "": none.
	SignInKeyID string
	Rights      []domain.Permission // now: within what the client and the user may
	Refresh     string              // the refresh token; "": the client gets none
}

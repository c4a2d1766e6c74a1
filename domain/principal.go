package domain

// Principal holds the identity and the permissions of the credential that authenticated a request.
type Principal struct {
	KeyID       string
	WorkspaceID string
	Environment Environment
	Permissions []Permission
	Operator    bool
	UsesSession bool   // signed in at the dashboard, by a session
	UserID      string // with a user token: its sub; with a session: the user
	ClientID    string // with an OAuth token: the client
	SignInKeyID string // with a dashboard session: the API key that the session depends on (Session.CreatedBy.KeyID); empty: none
}

// UsesAccessToken reports whether the request was authenticated with a JWT or an OAuth token.
func (p *Principal) UsesAccessToken() bool {
	return p.ClientID != "" || p.UserID != "" && p.KeyID != ""
}

// UsesTokenOrSession reports whether the request was authenticated with a token or a session, and not with an API
// key.
func (p *Principal) UsesTokenOrSession() bool { return p.UserID != "" || p.ClientID != "" }

package domain

// CreatorType is the kind of credential that created a resource.
type CreatorType string

// The kinds of credentials that create resources.
const (
	CreatorAPIKey   CreatorType = "api_key"
	CreatorOperator CreatorType = "operator" // an operator key
	CreatorUser     CreatorType = "user"     // a dashboard session
	CreatorClient   CreatorType = "oauth_client"
	CreatorSystem   CreatorType = "system" // the command line on the server, or the service itself
)

// Creator is the credential that created a resource.
type Creator struct {
	Type CreatorType `json:"type" enum:"api_key,operator,user,oauth_client,system" doc:"The kind of credential: an API key or a JWT made with it, an operator key, a dashboard session of a user, an OAuth client, or the service itself."`
	ID   string      `json:"id" doc:"The id of the key, user or client. Empty for system."`
	// SignInKeyID is the ID of the API key on which the dashboard session of a user depends.
	SignInKeyID string `json:"sign_in_key_id,omitempty" doc:"The API key whose sign-in link opened the dashboard session of a user. Missing for other sessions."`
}

// KeyID returns the ID of the API key that created the resource, or on which the creating user's session depends. It
// returns "" for other credentials.
func (c *Creator) KeyID() string {
	switch {
	case c == nil:
		return ""
	case c.Type == CreatorAPIKey || c.Type == CreatorOperator:
		return c.ID
	}
	return c.SignInKeyID
}

// Provenance records which credential created a resource that carries access rights.
type Provenance struct {
	CreatedBy *Creator `json:"created_by,omitempty" doc:"The credential that created it."`
}

// Creator returns the credential of the principal in the form of created_by. A JWT counts as the API key from which
// it was issued.
func (p *Principal) Creator() *Creator {
	switch {
	case p.ClientID != "":
		return &Creator{Type: CreatorClient, ID: p.ClientID}
	case p.KeyID != "" && p.Operator:
		return &Creator{Type: CreatorOperator, ID: p.KeyID}
	case p.KeyID != "":
		return &Creator{Type: CreatorAPIKey, ID: p.KeyID}
	case p.UserID != "":
		return &Creator{Type: CreatorUser, ID: p.UserID, SignInKeyID: p.SignInKeyID}
	}
	return &Creator{Type: CreatorSystem}
}

package domain

// SMSGateway carries text messages over HTTP: it is given those that go out,
// and tells of those that come in and of what became of the others.
type SMSGateway struct {
	Meta
	Provenance
	Name       string   `json:"name"`
	URL        string   `json:"url"`
	Secret     string   `json:"secret,omitempty" doc:"Signs what is sent to the URL. Shown once, at creation and when it is changed."`
	SecretHint string   `json:"secret_hint" doc:"The last characters of the secret."`
	Prefixes   []string `json:"prefixes" doc:"Numbers that it takes; empty: all."`
	Priority   int      `json:"priority" doc:"Among trunks and gateways of one prefix length: lower first."`
}

// Key names the row.
func (g *SMSGateway) Key() Key { return Key{"sms_gateway", g.WorkspaceID, g.ID} }

// Indexes: by environment.
func (g *SMSGateway) Indexes() []string { return []string{envIndex(g.Environment)} }

// Sort is by age.
func (g *SMSGateway) Sort() string { return g.ID }

// Sealed returns a copy whose secret went through f.
func (g *SMSGateway) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *g
	var err error
	c.Secret, err = f("secret", g.Secret)
	return &c, err
}

// Unseal puts the secret through f.
func (g *SMSGateway) Unseal(f func(field, text string) (string, error)) (err error) {
	g.Secret, err = f("secret", g.Secret)
	return err
}

// Public is the gateway as the API shows it: a hint for the secret.
func (g *SMSGateway) Public() *SMSGateway {
	c := *g
	c.Secret = ""
	return &c
}

// InboundMessageKey stands for a message that a carrier has told us, so that it is taken
// once however often it comes. It goes after a day.
type InboundMessageKey struct {
	WorkspaceID string `json:"workspace_id"`
	ID          string `json:"id"`  // a ULID, by age
	Digest      string `json:"dig"` // of what names the message
	MessageID   string `json:"message_id"`
}

// Key names the row, by the digest.
func (t *InboundMessageKey) Key() Key { return Key{"sms_seen", t.WorkspaceID, t.Digest} }

// Indexes: all of them, by age.
func (t *InboundMessageKey) Indexes() []string { return []string{"all"} }

// Sort is by age.
func (t *InboundMessageKey) Sort() string { return t.ID }

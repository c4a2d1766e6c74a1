package domain

// SMSGateway is an HTTP server of the workspace that delivers text messages. Callboard sends outbound messages to the
// gateway. The gateway reports inbound messages and delivery results to Callboard.
type SMSGateway struct {
	Meta
	Provenance
	Name       string   `json:"name"`
	URL        string   `json:"url"`
	Secret     string   `json:"secret,omitempty" doc:"The secret that signs requests to the URL. It is shown only after creation and after a change."`
	SecretHint string   `json:"secret_hint" doc:"The last characters of the secret."`
	Prefixes   []string `json:"prefixes" doc:"Prefixes of the phone numbers that the gateway delivers to. Empty: all numbers."`
	Priority   int      `json:"priority" doc:"Trunks and gateways with the same prefix length are tried in ascending order of priority."`
}

// Key returns the key of the SMS gateway in the store.
func (g *SMSGateway) Key() Key { return Key{"sms_gateway", g.WorkspaceID, g.ID} }

// Indexes returns the index of all SMS gateways in the environment.
func (g *SMSGateway) Indexes() []string { return []string{envIndex(g.Environment)} }

// Sort returns the ID, which sorts by creation time.
func (g *SMSGateway) Sort() string { return g.ID }

// Sealed returns a copy whose secret is encrypted by f.
func (g *SMSGateway) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *g
	var err error
	c.Secret, err = f("secret", g.Secret)
	return &c, err
}

// Unseal decrypts the secret with f.
func (g *SMSGateway) Unseal(f func(field, text string) (string, error)) (err error) {
	g.Secret, err = f("secret", g.Secret)
	return err
}

// Public returns a copy with the fields that the API shows, without the secret.
func (g *SMSGateway) Public() *SMSGateway {
	c := *g
	c.Secret = ""
	return &c
}

// InboundMessageKey marks an inbound message as accepted, so that a repeated delivery by the carrier is ignored. The
// store deletes it after a day.
type InboundMessageKey struct {
	WorkspaceID string `json:"workspace_id"`
	ID          string `json:"id"`  // ULID
	Digest      string `json:"dig"` // digest of what identifies the message at the carrier
	MessageID   string `json:"message_id"`
}

// Key returns the store key, which contains the digest of the message.
func (t *InboundMessageKey) Key() Key { return Key{"sms_seen", t.WorkspaceID, t.Digest} }

// Indexes returns the index of all inbound message keys, oldest first.
func (t *InboundMessageKey) Indexes() []string { return []string{"all"} }

// Sort returns the ID, which sorts by creation time.
func (t *InboundMessageKey) Sort() string { return t.ID }

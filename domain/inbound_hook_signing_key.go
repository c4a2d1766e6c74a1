package domain

import "time"

// InboundHookKey is the secret that signs requests to an agent's on_inbound URL. It is encrypted at rest.
type InboundHookKey struct {
	WorkspaceID string    `json:"workspace_id"`
	AgentID     string    `json:"agent_id"`
	Secret      string    `json:"secret"`
	MadeAt      time.Time `json:"made_at"`
}

// Key returns the store key, which contains the ID of the agent.
func (k *InboundHookKey) Key() Key { return Key{"lookup_key", k.WorkspaceID, k.AgentID} }

// Indexes returns nil: the secret is read by key or key prefix only.
func (k *InboundHookKey) Indexes() []string { return nil }

// Sort returns the agent ID.
func (k *InboundHookKey) Sort() string { return k.AgentID }

// Sealed returns a copy whose secret is encrypted by f.
func (k *InboundHookKey) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *k
	var err error
	c.Secret, err = f("secret", k.Secret)
	return &c, err
}

// Unseal decrypts the secret with f.
func (k *InboundHookKey) Unseal(f func(field, text string) (string, error)) (err error) {
	k.Secret, err = f("secret", k.Secret)
	return err
}

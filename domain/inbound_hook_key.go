package domain

import "time"

// InboundHookKey signs what an agent's on_inbound is asked. It is kept sealed.
type InboundHookKey struct {
	WorkspaceID string    `json:"workspace_id"`
	AgentID     string    `json:"agent_id"`
	Secret      string    `json:"secret"`
	MadeAt      time.Time `json:"made_at"`
}

// Key names the row, by the agent.
func (k *InboundHookKey) Key() Key { return Key{"lookup_key", k.WorkspaceID, k.AgentID} }

// Indexes: none.
func (k *InboundHookKey) Indexes() []string { return nil }

// Sort is by agent.
func (k *InboundHookKey) Sort() string { return k.AgentID }

// Sealed returns a copy whose secret went through f.
func (k *InboundHookKey) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *k
	var err error
	c.Secret, err = f("secret", k.Secret)
	return &c, err
}

// Unseal puts the secret through f.
func (k *InboundHookKey) Unseal(f func(field, text string) (string, error)) (err error) {
	k.Secret, err = f("secret", k.Secret)
	return err
}

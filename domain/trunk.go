package domain

import "time"

// Proxy is one target of a trunk.
type Proxy struct {
	Host      string `json:"host"`
	Port      int    `json:"port"`
	Transport string `json:"transport"` // udp | tcp
	Priority  int    `json:"priority"`  // lower first
	Weight    int    `json:"weight"`
}

// TrunkAuth are the digest credentials that a trunk demands.
type TrunkAuth struct {
	Username string `json:"username"`
	Password string `json:"password,omitempty"`
	Realm    string `json:"realm,omitempty"`
}

// TrunkInbound says from where a trunk's calls may come.
type TrunkInbound struct {
	AllowedIPs []string `json:"allowed_ips"` // empty: the proxies' addresses
}

// Trunk is a way to the telephone network.
type Trunk struct {
	Meta
	Name           string       `json:"name"`
	Proxies        []Proxy      `json:"proxies"`
	Auth           *TrunkAuth   `json:"auth,omitempty"`
	FromDomain     string       `json:"from_domain,omitempty"`
	NumberFormat   string       `json:"number_format"` // e164 (+1…) | digits (1…)
	Inbound        TrunkInbound `json:"inbound"`
	Codecs         []string     `json:"codecs"` // PCMU, PCMA
	CallsPerSecond float64      `json:"calls_per_second"`
	MaxChannels    int          `json:"max_channels"` // 0: no limit of its own
	MediaNetworks  []string     `json:"media_networks"`
	Prefixes       []string     `json:"prefixes"` // numbers it takes; empty: all
	CallerIDs      []string     `json:"caller_ids"`
	Simulator      bool         `json:"simulator,omitempty"` // the built-in carrier
}

// Key names the row.
func (t *Trunk) Key() Key { return Key{"trunk", t.WorkspaceID, t.ID} }

// Indexes: by environment.
func (t *Trunk) Indexes() []string { return []string{envIndex(t.Environment)} }

// Sort is by age.
func (t *Trunk) Sort() string { return t.ID }

// Sealed returns a copy whose password went through f.
func (t *Trunk) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *t
	if t.Auth == nil {
		return &c, nil
	}
	a := *t.Auth
	var err error
	a.Password, err = f("auth.password", a.Password)
	c.Auth = &a
	return &c, err
}

// Unseal puts the password through f.
func (t *Trunk) Unseal(f func(field, text string) (string, error)) (err error) {
	if t.Auth != nil {
		t.Auth.Password, err = f("auth.password", t.Auth.Password)
	}
	return err
}

// Public is the trunk as the API shows it: without its password.
func (t *Trunk) Public() *Trunk {
	c := *t
	if t.Auth != nil {
		a := *t.Auth
		a.Password = ""
		c.Auth = &a
	}
	return &c
}

// PhoneNumber is a number of a workspace and who answers it.
type PhoneNumber struct {
	Meta
	Number  string `json:"number"` // E.164, or * for the rest of its trunk
	AgentID string `json:"agent_id"`
	TrunkID string `json:"trunk_id"`
}

// Key names the row.
func (n *PhoneNumber) Key() Key { return Key{"number", n.WorkspaceID, n.ID} }

// Indexes: by environment and by number.
func (n *PhoneNumber) Indexes() []string {
	return []string{envIndex(n.Environment), "number=" + n.Number}
}

// Sort is by age.
func (n *PhoneNumber) Sort() string { return n.ID }

// NumberClaim makes a number unique in the install: its row is guarded to be
// absent when the number is taken.
type NumberClaim struct {
	Number      string    `json:"number"`
	WorkspaceID string    `json:"workspace_id"`
	NumberID    string    `json:"number_id"`
	ClaimedAt   time.Time `json:"claimed_at"`
}

// Key names the row.
func (n *NumberClaim) Key() Key { return Key{"number_claim", "", n.Number} }

// Indexes: none.
func (n *NumberClaim) Indexes() []string { return nil }

// Sort is by number.
func (n *NumberClaim) Sort() string { return n.Number }

package domain

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"time"
)

// Phone is a softphone or desk phone that registers with the service. It can call agents and be called, and agents
// can transfer callers to it.
type Phone struct {
	Meta
	Provenance
	Extension string `json:"extension"` // 2 to 6 digits, unique among the phones and agents of a workspace
	Username  string `json:"username"`  // user name for registration, unique in the installation
	Password  string `json:"password,omitempty"`
	Name      string `json:"name"`
	// Codecs, DTMF, SRTP, KeysInClear and NAT have the same meaning as in Trunk.
	Codecs      []string `json:"codecs"`
	DTMF        string   `json:"dtmf"`
	SRTP        string   `json:"srtp"`
	KeysInClear bool     `json:"srtp_keys_in_clear"`
	NAT         string   `json:"nat"`
	Transport   string   `json:"transport"` // allowed transports of the phone: any, udp, tcp or tls

	// Status and Contacts are shown and not stored here. Registrations holds them.
	Status   string         `json:"status,omitempty" enum:"registered,unregistered"`
	Contacts []PhoneContact `json:"contacts,omitempty"`
	Warnings []Detail       `json:"warnings,omitempty"` // shown, never stored
}

// IsTestOnly reports whether a phone belongs to the test environment. Such a phone is stored and never used.
func (p *Phone) IsTestOnly() bool { return p.Environment == Test }

// PhoneTransportAny allows udp, tcp and tls.
const PhoneTransportAny = "any"

// MediaTrunk returns a trunk that has only the media settings of the phone.
func (p *Phone) MediaTrunk() Trunk {
	return Trunk{Codecs: p.Codecs, DTMF: p.DTMF, SRTP: p.SRTP, KeysInClear: p.KeysInClear, NAT: p.NAT}
}

// SetDefaults sets omitted fields to their defaults.
func (p *Phone) SetDefaults() {
	if len(p.Codecs) == 0 {
		p.Codecs = []string{"PCMU", "PCMA"}
	}
	p.DTMF, p.SRTP = cmp.Or(p.DTMF, "auto"), cmp.Or(p.SRTP, "off")
	p.NAT, p.Transport = cmp.Or(p.NAT, NATAuto), cmp.Or(p.Transport, PhoneTransportAny)
}

// The registration states of a phone.
const (
	PhoneRegistered   = "registered"
	PhoneUnregistered = "unregistered"
)

// PhoneContact is one registered address of a phone.
type PhoneContact struct {
	Address   string    `json:"address"` // source address of its messages, host:port
	Transport string    `json:"transport"`
	UserAgent string    `json:"user_agent,omitempty"`
	Priority  float64   `json:"priority"` // q value, 0 to 1
	Since     time.Time `json:"since"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Key returns the store key.
func (p *Phone) Key() Key { return Key{"phone", p.WorkspaceID, p.ID} }

// Indexes returns the environment.
func (p *Phone) Indexes() []string { return []string{envIndex(p.Environment)} }

// Sort returns the ID, which sorts by creation time.
func (p *Phone) Sort() string { return p.ID }

// Sealed returns a copy with an encrypted password and without fields that are only shown.
func (p *Phone) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *p
	c.Status, c.Contacts = "", nil
	var err error
	c.Password, err = f("password", p.Password)
	return &c, err
}

// Unseal decrypts the password.
func (p *Phone) Unseal(f func(field, text string) (string, error)) (err error) {
	p.Password, err = f("password", p.Password)
	return err
}

// Public returns the phone as the API shows it, without its password.
func (p *Phone) Public() *Phone {
	c := *p
	c.Password = ""
	if c.Status == "" {
		c.Status = PhoneUnregistered
	}
	if p.IsTestOnly() {
		c.Warnings = []Detail{testEnvironmentWarning("this phone cannot register and is never called: the test environment reaches the built-in carrier only. Create it with a live key")}
	}
	return &c
}

// Registrations holds the registered addresses of a phone, so that a restart loses no registration.
type Registrations struct {
	PhoneID     string          `json:"phone_id"`
	WorkspaceID string          `json:"workspace_id"`
	Bindings    json.RawMessage `json:"bindings"` // []sip.Binding
}

// Key returns the store key.
func (r *Registrations) Key() Key { return Key{"registrations", r.WorkspaceID, r.PhoneID} }

// Indexes returns one index of all rows of a workspace.
func (r *Registrations) Indexes() []string { return []string{"all"} }

// Sort returns the phone ID.
func (r *Registrations) Sort() string { return r.PhoneID }

// UsernameClaim reserves the username of a phone, so that it is unique in the installation.
type UsernameClaim struct {
	Username    string `json:"username"`
	WorkspaceID string `json:"workspace_id"`
	PhoneID     string `json:"phone_id"`
}

// UsernameClaim returns the row that reserves the username.
func (p *Phone) UsernameClaim() *UsernameClaim {
	return &UsernameClaim{Username: p.Username, WorkspaceID: p.WorkspaceID, PhoneID: p.ID}
}

// Key returns the store key.
func (c *UsernameClaim) Key() Key { return Key{"phone_username", "", c.Username} }

// Indexes returns no indexes.
func (c *UsernameClaim) Indexes() []string { return nil }

// Sort returns the username.
func (c *UsernameClaim) Sort() string { return c.Username }

// ExtensionClaim reserves an extension of a workspace for a phone or an agent.
type ExtensionClaim struct {
	WorkspaceID string      `json:"workspace_id"`
	Environment Environment `json:"environment"`
	Extension   string      `json:"extension"`
	OwnerID     string      `json:"owner_id"` // phone_… or agent_…
}

// Key returns the store key.
func (c *ExtensionClaim) Key() Key {
	return Key{"extension", c.WorkspaceID, string(c.Environment) + "/" + c.Extension}
}

// Indexes returns no indexes.
func (c *ExtensionClaim) Indexes() []string { return nil }

// Sort returns the extension.
func (c *ExtensionClaim) Sort() string { return c.Extension }

var (
	extension = regexp.MustCompile(`^[0-9]{2,6}$`)
	username  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,31}$`)
)

// IsExtension reports whether a text is an internal extension: 2 to 6 digits that are no emergency number. Full
// telephone numbers are longer.
func IsExtension(text string) bool { return extension.MatchString(text) && !emergency[text] }

// IsUsername reports whether a text is a valid username of a phone.
func IsUsername(text string) bool { return username.MatchString(text) }

// ParsePhoneUser returns the extension or username in a text or in a SIP URI such as sip:1001@calls.example.com. ok
// is false for telephone numbers.
func ParsePhoneUser(to string) (user string, ok bool) {
	to = strings.TrimSpace(to)
	if rest, found := strings.CutPrefix(to, "sip:"); found {
		user, _, _ = strings.Cut(rest, "@")
		user, _, _ = strings.Cut(user, ";")
		return user, IsUsername(user) || IsExtension(user)
	}
	return to, IsExtension(to)
}

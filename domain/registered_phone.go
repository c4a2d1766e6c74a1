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

	// Status and Contacts are set for API responses and are not stored with the phone. Registrations stores them.
	Status   string         `json:"status,omitempty" enum:"registered,unregistered"`
	Contacts []PhoneContact `json:"contacts,omitempty"`
	Warnings []Detail       `json:"warnings,omitempty"` // shown, never stored
}

// IsTestOnly reports whether a phone belongs to the test environment. Such a phone is stored, but no call uses it.
func (p *Phone) IsTestOnly() bool { return p.Environment == Test }

// PhoneTransportAny is the value of Phone.Transport that allows udp, tcp and tls.
const PhoneTransportAny = "any"

// MediaTrunk returns a Trunk with the media settings of the phone, for code that negotiates media with trunks and
// phones. Its other fields are empty.
func (p *Phone) MediaTrunk() Trunk {
	return Trunk{Codecs: p.Codecs, DTMF: p.DTMF, SRTP: p.SRTP, KeysInClear: p.KeysInClear, NAT: p.NAT}
}

// SetDefaults sets the omitted media and transport settings of the phone to their defaults.
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

// Key returns the key of the phone in the store.
func (p *Phone) Key() Key { return Key{"phone", p.WorkspaceID, p.ID} }

// Indexes returns the index of all phones in the environment.
func (p *Phone) Indexes() []string { return []string{envIndex(p.Environment)} }

// Sort returns the ID, which sorts by creation time.
func (p *Phone) Sort() string { return p.ID }

// Sealed returns a copy whose password is encrypted by f, without the fields that only API responses have.
func (p *Phone) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *p
	c.Status, c.Contacts = "", nil
	var err error
	c.Password, err = f("password", p.Password)
	return &c, err
}

// Unseal decrypts the password with f.
func (p *Phone) Unseal(f func(field, text string) (string, error)) (err error) {
	p.Password, err = f("password", p.Password)
	return err
}

// Public returns a copy with the fields that the API shows, without the password.
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

// Registrations stores the registered addresses of a phone, so that the phone stays registered after a restart.
type Registrations struct {
	PhoneID     string          `json:"phone_id"`
	WorkspaceID string          `json:"workspace_id"`
	Bindings    json.RawMessage `json:"bindings"` // []sip.Binding
}

// Key returns the key of the registrations of a phone in the store.
func (r *Registrations) Key() Key { return Key{"registrations", r.WorkspaceID, r.PhoneID} }

// Indexes returns the index of the registrations of all phones in the workspace.
func (r *Registrations) Indexes() []string { return []string{"all"} }

// Sort returns the phone ID.
func (r *Registrations) Sort() string { return r.PhoneID }

// UsernameClaim reserves the username of a phone, so that it is unique in the installation.
type UsernameClaim struct {
	Username    string `json:"username"`
	WorkspaceID string `json:"workspace_id"`
	PhoneID     string `json:"phone_id"`
}

// UsernameClaim returns the record that reserves the username of the phone.
func (p *Phone) UsernameClaim() *UsernameClaim {
	return &UsernameClaim{Username: p.Username, WorkspaceID: p.WorkspaceID, PhoneID: p.ID}
}

// Key returns the key of the username claim in the store.
func (c *UsernameClaim) Key() Key { return Key{"phone_username", "", c.Username} }

// Indexes returns nil: the username claim is read by key or key prefix only.
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

// Key returns the key of the extension claim in the store.
func (c *ExtensionClaim) Key() Key {
	return Key{"extension", c.WorkspaceID, string(c.Environment) + "/" + c.Extension}
}

// Indexes returns nil: the extension claim is read by key or key prefix only.
func (c *ExtensionClaim) Indexes() []string { return nil }

// Sort returns the extension.
func (c *ExtensionClaim) Sort() string { return c.Extension }

var (
	extension = regexp.MustCompile(`^[0-9]{2,6}$`)
	username  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,31}$`)
)

// IsExtension reports whether a text is an internal extension: 2 to 6 digits that are not an emergency number.
func IsExtension(text string) bool { return extension.MatchString(text) && !emergency[text] }

// IsUsername reports whether a text is a valid username of a phone.
func IsUsername(text string) bool { return username.MatchString(text) }

// ParsePhoneUser returns the extension or username in a text, which may be a SIP URI such as
// sip:1001@calls.example.com. ok is false for telephone numbers.
func ParsePhoneUser(to string) (user string, ok bool) {
	to = strings.TrimSpace(to)
	if rest, found := strings.CutPrefix(to, "sip:"); found {
		user, _, _ = strings.Cut(rest, "@")
		user, _, _ = strings.Cut(user, ";")
		return user, IsUsername(user) || IsExtension(user)
	}
	return to, IsExtension(to)
}

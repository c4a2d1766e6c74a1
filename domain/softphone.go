package domain

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"time"
)

// Phone is a softphone or desk phone that registers here: it can be called,
// it calls agents, and it is where an agent finds a person.
type Phone struct {
	Meta
	Provenance
	Extension string `json:"extension"` // what is dialled: 2 to 6 digits, unique among the phones and agents of a workspace
	Username  string `json:"username"`  // what the phone signs in with: unique in the installation
	Password  string `json:"password,omitempty"`
	Name      string `json:"name"`
	// Codecs, DTMF, SRTP, KeysInClear and NAT are as those of a Trunk.
	Codecs      []string `json:"codecs"`
	DTMF        string   `json:"dtmf"`
	SRTP        string   `json:"srtp"`
	KeysInClear bool     `json:"srtp_keys_in_clear"`
	NAT         string   `json:"nat"`
	Transport   string   `json:"transport"` // any | udp | tcp | tls: how it may register and call

	// Status and Contacts are shown, not kept here: Registrations holds them.
	Status   string         `json:"status,omitempty" enum:"registered,unregistered"`
	Contacts []PhoneContact `json:"contacts,omitempty"`
	Warnings []Detail       `json:"warnings,omitempty"` // shown, never kept
}

// IsTestOnly says whether a phone belongs to the test environment. Such a phone is
// stored and never used.
func (p *Phone) IsTestOnly() bool { return p.Environment == Test }

// PhoneTransportAny is a transport of a phone besides udp, tcp and tls.
const PhoneTransportAny = "any"

// MediaTrunk is a trunk with the media settings of the phone and nothing else.
func (p *Phone) MediaTrunk() Trunk {
	return Trunk{Codecs: p.Codecs, DTMF: p.DTMF, SRTP: p.SRTP, KeysInClear: p.KeysInClear, NAT: p.NAT}
}

// SetDefaults fills in what was left out.
func (p *Phone) SetDefaults() {
	if len(p.Codecs) == 0 {
		p.Codecs = []string{"PCMU", "PCMA"}
	}
	p.DTMF, p.SRTP = cmp.Or(p.DTMF, "auto"), cmp.Or(p.SRTP, "off")
	p.NAT, p.Transport = cmp.Or(p.NAT, NATAuto), cmp.Or(p.Transport, PhoneTransportAny)
}

// The states of a phone.
const (
	PhoneRegistered   = "registered"
	PhoneUnregistered = "unregistered"
)

// PhoneContact is one place at which a phone is registered.
type PhoneContact struct {
	Address   string    `json:"address"` // that its messages come from, host:port
	Transport string    `json:"transport"`
	UserAgent string    `json:"user_agent,omitempty"`
	Priority  float64   `json:"priority"` // q, 0 to 1
	Since     time.Time `json:"since"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Key names the row.
func (p *Phone) Key() Key { return Key{"phone", p.WorkspaceID, p.ID} }

// Indexes: by environment.
func (p *Phone) Indexes() []string { return []string{envIndex(p.Environment)} }

// Sort is by age.
func (p *Phone) Sort() string { return p.ID }

// Sealed returns a copy whose password went through f, without what is only
// shown.
func (p *Phone) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *p
	c.Status, c.Contacts = "", nil
	var err error
	c.Password, err = f("password", p.Password)
	return &c, err
}

// Unseal puts the password through f.
func (p *Phone) Unseal(f func(field, text string) (string, error)) (err error) {
	p.Password, err = f("password", p.Password)
	return err
}

// Public is the phone as the API shows it: without its password.
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

// Registrations are the places at which a phone is registered. A crash and a
// restart lose none.
type Registrations struct {
	PhoneID     string          `json:"phone_id"`
	WorkspaceID string          `json:"workspace_id"`
	Bindings    json.RawMessage `json:"bindings"` // []sip.Binding
}

// Key names the row.
func (r *Registrations) Key() Key { return Key{"registrations", r.WorkspaceID, r.PhoneID} }

// Indexes: all of a workspace.
func (r *Registrations) Indexes() []string { return []string{"all"} }

// Sort is by phone.
func (r *Registrations) Sort() string { return r.PhoneID }

// UsernameClaim makes the username of a phone unique in the installation.
type UsernameClaim struct {
	Username    string `json:"username"`
	WorkspaceID string `json:"workspace_id"`
	PhoneID     string `json:"phone_id"`
}

// UsernameClaim returns the row that makes the username unique.
func (p *Phone) UsernameClaim() *UsernameClaim {
	return &UsernameClaim{Username: p.Username, WorkspaceID: p.WorkspaceID, PhoneID: p.ID}
}

// Key names the row.
func (c *UsernameClaim) Key() Key { return Key{"phone_username", "", c.Username} }

// Indexes: none.
func (c *UsernameClaim) Indexes() []string { return nil }

// Sort is by username.
func (c *UsernameClaim) Sort() string { return c.Username }

// ExtensionClaim says who has an extension of a workspace: a phone or an agent.
type ExtensionClaim struct {
	WorkspaceID string      `json:"workspace_id"`
	Environment Environment `json:"environment"`
	Extension   string      `json:"extension"`
	OwnerID     string      `json:"owner_id"` // phone_… or agent_…
}

// Key names the row.
func (c *ExtensionClaim) Key() Key {
	return Key{"extension", c.WorkspaceID, string(c.Environment) + "/" + c.Extension}
}

// Indexes: none.
func (c *ExtensionClaim) Indexes() []string { return nil }

// Sort is by extension.
func (c *ExtensionClaim) Sort() string { return c.Extension }

var (
	extension = regexp.MustCompile(`^[0-9]{2,6}$`)
	username  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,31}$`)
)

// IsExtension tells whether a text is dialled within a workspace: 2 to 6
// digits that summon help nowhere. No full telephone number looks so.
func IsExtension(text string) bool { return extension.MatchString(text) && !emergency[text] }

// IsUsername tells whether a phone can sign in with a text.
func IsUsername(text string) bool { return username.MatchString(text) }

// ParsePhoneUser is who is meant by an extension, a username or a SIP address of
// ours (sip:1001@calls.example.com); ok is false for telephone numbers.
func ParsePhoneUser(to string) (user string, ok bool) {
	to = strings.TrimSpace(to)
	if rest, found := strings.CutPrefix(to, "sip:"); found {
		user, _, _ = strings.Cut(rest, "@")
		user, _, _ = strings.Cut(user, ";")
		return user, IsUsername(user) || IsExtension(user)
	}
	return to, IsExtension(to)
}

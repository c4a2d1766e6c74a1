package domain

import (
	"time"
)

// Proxy is one SIP server of a trunk. A name without a port is resolved with NAPTR and SRV (RFC 3263) and may have
// several targets.
type Proxy struct {
	Host      string `json:"host"`
	Port      int    `json:"port"`      // 0: from SRV if Host is a name
	Transport string `json:"transport"` // udp | tcp | tls
	Priority  int    `json:"priority"`  // lower first
	Weight    int    `json:"weight"`    // share among proxies with the same priority
}

// TrunkAuth holds digest credentials. They authenticate the service at the trunk, or the trunk at the service.
type TrunkAuth struct {
	Username string `json:"username"`
	Password string `json:"password,omitempty"`
	Realm    string `json:"realm,omitempty"`
}

// TrunkInbound limits the sources and the rate of a trunk's inbound calls.
type TrunkInbound struct {
	AllowedIPs     []string    `json:"allowed_ips"` // empty: the addresses of the proxies
	Auth           *TrunkAuth  `json:"auth,omitempty"`
	Match          *TrunkMatch `json:"match,omitempty"`  // nil: all calls from the source belong to the trunk
	CallsPerSecond float64     `json:"calls_per_second"` // 0: no limit for this trunk
}

// Rate is the price of a call minute to numbers with a prefix. The longest matching prefix applies.
type Rate struct {
	Prefix string `json:"prefix"` // for example +1202; "+" matches all numbers
	Cost   string `json:"cost"`   // dollars per minute as decimal text
}

// TrunkAlarms holds the thresholds beyond which the event system.degraded is emitted. Zero disables a threshold.
type TrunkAlarms struct {
	MinASR            float64 `json:"min_asr"`              // minimum answer-seizure ratio, 0 to 1
	MinACDSeconds     float64 `json:"min_acd_seconds"`      // minimum mean length of answered calls
	MaxShortCallShare float64 `json:"max_short_call_share"` // maximum share of short calls among answered calls, 0 to 1
	ShortCallSeconds  int     `json:"short_call_seconds"`   // maximum length of a short call. Default: 6.
	MinCalls          int     `json:"min_calls"`            // minimum number of calls for an alarm. Default: 20.
}

// Number formats of a trunk.
const (
	FormatE164     = "e164"     // +12025550100
	FormatDigits   = "digits"   // 12025550100
	FormatNational = "national" // 2025550100; foreign numbers with the international prefix of the country
)

// NAT modes of a trunk: the remote address to which the service sends media (media.NATMode).
const (
	NATAuto = "auto" // the address in the SDP if it is reachable, else the source address of the media
	NATOn   = "on"   // the source address of the media
	NATOff  = "off"  // the address in the SDP
)

// SMS modes of a trunk: the content type of text messages in SIP MESSAGE requests (RFC 3428).
const (
	SMSOff   = "off"
	SMSPlain = "plain" // text/plain
	SMSIMDN  = "imdn"  // message/cpim with a request for a delivery report (RFC 5438)
)

// Headers that carry the caller ID in calls to and from a trunk.
const (
	HeaderAsserted  = "P-Asserted-Identity"
	HeaderRemote    = "Remote-Party-ID"
	HeaderDiversion = "Diversion"
)

// Trunk is a SIP connection to a carrier or PBX.
type Trunk struct {
	Meta
	Provenance
	Name          string     `json:"name"`
	Proxies       []Proxy    `json:"proxies"`
	OutboundProxy *Proxy     `json:"outbound_proxy,omitempty"` // requests to the proxies are sent through this proxy
	Auth          *TrunkAuth `json:"auth,omitempty"`
	Register      bool       `json:"register"` // register at the first proxy with Auth
	FromDomain    string     `json:"from_domain,omitempty"`
	NumberFormat  string     `json:"number_format"`            // e164, digits or national
	NumberCountry string     `json:"number_country,omitempty"` // country for the format national
	NumberStrip   string     `json:"number_strip,omitempty"`   // prefix that is removed from the called number after formatting
	NumberAdd     string     `json:"number_add,omitempty"`     // prefix that is added after NumberStrip
	// RewriteApproved means that an operator has approved that NumberStrip and NumberAdd rewrite the dialed number.
	RewriteApproved bool          `json:"number_rewrite_approved,omitempty"`
	Inbound         TrunkInbound  `json:"inbound"`
	Codecs          []string      `json:"codecs"`             // PCMU, PCMA, G722 or opus, in order of preference
	DTMF            string        `json:"dtmf"`               // auto, rfc4733, info or inband
	SRTP            string        `json:"srtp"`               // off, optional or required
	KeysInClear     bool          `json:"srtp_keys_in_clear"` // SRTP keys may be sent without TLS
	NAT             string        `json:"nat"`                // auto, on or off
	CallsPerSecond  float64       `json:"calls_per_second"`
	MaxChannels     int           `json:"max_channels"` // 0: no limit for this trunk
	OptionsPing     bool          `json:"options_ping"` // targets are checked with OPTIONS requests
	MediaNetworks   []string      `json:"media_networks"`
	RedirectHosts   []string      `json:"redirect_hosts"` // hosts, addresses and networks to which 3xx responses may redirect a call; empty: none
	SMS             string        `json:"sms"`            // off, plain or imdn
	Prefixes        []string      `json:"prefixes"`       // prefixes of numbers that the trunk accepts; empty: all
	Priority        int           `json:"priority"`       // lower first, among trunks with the same prefix length
	Costs           []Rate        `json:"costs"`          // cheaper first, among trunks with the same priority
	CallerIDs       []string      `json:"caller_ids"`
	CallerIDHeaders []string      `json:"caller_id_headers"` // P-Asserted-Identity, Remote-Party-ID, Diversion: sent to and trusted from the trunk
	Alarms          TrunkAlarms   `json:"alarms"`
	Simulator       bool          `json:"simulator,omitempty"` // the built-in test carrier
	SIPURI          string        `json:"sip_uri,omitempty"`   // address to which the carrier sends calls; shown, never stored
	Health          *TrunkHealth  `json:"health,omitempty"`    // shown, never stored
	Quality         *TrunkQuality `json:"quality,omitempty"`   // shown, never stored
	Warnings        []Detail      `json:"warnings,omitempty"`  // shown, never stored
}

// IsTestOnly reports whether a trunk belongs to the test environment and is not the test carrier. Such a trunk is
// stored, but no call uses it.
func (t *Trunk) IsTestOnly() bool { return t.Environment == Test && !t.Simulator }

// TrunkHealth is the current state of a trunk.
type TrunkHealth struct {
	Status       string             `json:"status"` // up, degraded (a target is down, or calls back off) or down (all targets are down)
	Channels     int                `json:"channels"`
	Waiting      int                `json:"waiting"` // calls that wait for a trunk slot
	BackoffUntil *time.Time         `json:"backoff_until"`
	LastError    string             `json:"last_error,omitempty"`
	Targets      []TargetHealth     `json:"targets"`
	Registration *TrunkRegistration `json:"registration,omitempty"` // nil: the trunk does not register
}

// TrunkRegistration is the state of a trunk's registration at its carrier.
type TrunkRegistration struct {
	Status  string     `json:"status"` // trying, registered, failed or removed
	Code    int        `json:"code,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	Expires *time.Time `json:"expires_at"`
	RetryAt *time.Time `json:"retry_at"`
}

// TargetHealth is the state of one target of a trunk: a proxy, or one of the addresses of its name.
type TargetHealth struct {
	Target     string     `json:"target"` // host:port;transport
	Proxy      string     `json:"proxy"`  // host of the proxy as configured
	Status     string     `json:"status"` // up, out (tried last) or resting (not tried, at the request of the target)
	Failures   int        `json:"consecutive_failures"`
	OutUntil   *time.Time `json:"out_until"`
	LastError  string     `json:"last_error,omitempty"`
	PingedAt   *time.Time `json:"pinged_at"` // time of the last OPTIONS request
	PingOK     *bool      `json:"ping_ok"`
	PingCode   int        `json:"ping_code,omitempty"`
	PingMillis int64      `json:"ping_ms,omitempty"`
}

// TrunkQuality summarizes the outbound calls of the last hour, and the inbound calls since the start of the
// process.
type TrunkQuality struct {
	WindowSeconds   int            `json:"window_seconds"`
	Attempts        int            `json:"attempts"`
	Answered        int            `json:"answered"`
	ASR             float64        `json:"asr"` // answer-seizure ratio, 0 to 1
	ACDSeconds      float64        `json:"acd_seconds"`
	ShortCalls      int            `json:"short_calls"`
	ShortCallShare  float64        `json:"short_call_share"` // of answered calls, 0 to 1
	Refusals        map[string]int `json:"refusals"`         // unanswered attempts by reason
	InboundCalls    uint64         `json:"inbound_calls"`
	InboundRefusals map[string]int `json:"inbound_refusals"` // rejected inbound calls by reason
	Alarms          []string       `json:"alarms"`           // measures beyond their thresholds: asr, acd, short_call_share
}

// Key returns the key of the trunk in the store.
func (t *Trunk) Key() Key { return Key{"trunk", t.WorkspaceID, t.ID} }

// Indexes returns the index of all trunks in the environment.
func (t *Trunk) Indexes() []string { return []string{envIndex(t.Environment)} }

// Sort returns the ID, which sorts by creation time.
func (t *Trunk) Sort() string { return t.ID }

// Sealed returns a copy whose passwords are encrypted by f, without the fields that only API responses have.
func (t *Trunk) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *t
	c.SIPURI, c.Health, c.Quality, c.Warnings = "", nil, nil, nil
	for _, x := range []struct {
		auth **TrunkAuth
		name string
	}{{&c.Auth, "auth.password"}, {&c.Inbound.Auth, "inbound.auth.password"}} {
		if *x.auth == nil {
			continue
		}
		a := **x.auth
		var err error
		if a.Password, err = f(x.name, a.Password); err != nil {
			return nil, err
		}
		*x.auth = &a
	}
	return &c, nil
}

// Unseal decrypts the passwords with f.
func (t *Trunk) Unseal(f func(field, text string) (string, error)) (err error) {
	if t.Auth != nil {
		if t.Auth.Password, err = f("auth.password", t.Auth.Password); err != nil {
			return err
		}
	}
	if t.Inbound.Auth != nil {
		t.Inbound.Auth.Password, err = f("inbound.auth.password", t.Inbound.Auth.Password)
	}
	return err
}

// Public returns a copy with the fields that the API shows, without the passwords.
func (t *Trunk) Public() *Trunk {
	c := *t
	for _, auth := range []**TrunkAuth{&c.Auth, &c.Inbound.Auth} {
		if *auth != nil {
			a := **auth
			a.Password = ""
			*auth = &a
		}
	}
	if t.IsTestOnly() {
		c.Warnings = []Detail{testEnvironmentWarning("this trunk is never used: calls and messages with a test key reach the built-in carrier only. Create it with a live key")}
	}
	return &c
}

// testEnvironmentWarning returns the warning that no call uses a trunk or phone that was created with a test key.
func testEnvironmentWarning(message string) Detail {
	return Detail{Code: WarningTestEnvironment, Message: message}
}

// NumberStatus reports whether a phone number is in use.
type NumberStatus string

// The states of a phone number. A pending number is reserved for the workspace and waits for an operator's approval. No
// calls or messages use a pending number.
const (
	NumberLive    NumberStatus = "live"
	NumberPending NumberStatus = "pending"
)

// Values returns the states of a phone number.
func (NumberStatus) Values() []string {
	return values(NumberLive, NumberPending)
}

// PhoneNumber is a number of a workspace and the agent that answers it.
type PhoneNumber struct {
	Meta
	Number     string       `json:"number"` // E.164, or * for all other numbers of the trunk
	AgentID    string       `json:"agent_id"`
	TrunkID    string       `json:"trunk_id"`
	SMSEnabled bool         `json:"sms_enabled"` // messages may be sent from the number
	Status     NumberStatus `json:"status"`
}

// Key returns the key of the phone number in the store.
func (n *PhoneNumber) Key() Key { return Key{"number", n.WorkspaceID, n.ID} }

// Indexes returns the indexes by environment and by number, and the index of numbers that can send messages.
func (n *PhoneNumber) Indexes() []string {
	ix := []string{envIndex(n.Environment), "number=" + n.Number}
	if n.SMSEnabled && n.Status == NumberLive {
		ix = append(ix, "sms="+string(n.Environment))
	}
	return ix
}

// Sort returns the ID, which sorts by creation time.
func (n *PhoneNumber) Sort() string { return n.ID }

// NumberClaim reserves a number, so that it is unique in the installation. The commit that creates a PhoneNumber fails
// if another NumberClaim for the number exists.
type NumberClaim struct {
	Number      string    `json:"number"`
	WorkspaceID string    `json:"workspace_id"`
	NumberID    string    `json:"number_id"`
	ClaimedAt   time.Time `json:"claimed_at"`
}

// Claim returns the record that reserves the number. The number "*" is reserved once for each trunk.
func (n *PhoneNumber) Claim() *NumberClaim {
	number := n.Number
	if number == "*" {
		number = "*@" + n.TrunkID
	}
	return &NumberClaim{Number: number, WorkspaceID: n.WorkspaceID, NumberID: n.ID, ClaimedAt: n.CreatedAt}
}

// Key returns the key of the number claim in the store.
func (n *NumberClaim) Key() Key { return Key{"number_claim", "", n.Number} }

// Indexes returns nil: the number claim is read by key or key prefix only.
func (n *NumberClaim) Indexes() []string { return nil }

// Sort returns the number.
func (n *NumberClaim) Sort() string { return n.Number }

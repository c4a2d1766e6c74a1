package domain

import (
	"time"
)

// Proxy is one target of a trunk. A name without a port is looked up by NAPTR
// and SRV (RFC 3263), so that it may be several.
type Proxy struct {
	Host      string `json:"host"`
	Port      int    `json:"port"`      // 0: by SRV where Host is a name
	Transport string `json:"transport"` // udp | tcp | tls
	Priority  int    `json:"priority"`  // lower first
	Weight    int    `json:"weight"`    // share among targets of one priority
}

// TrunkAuth are the digest credentials that a trunk demands, or that are
// demanded of it.
type TrunkAuth struct {
	Username string `json:"username"`
	Password string `json:"password,omitempty"`
	Realm    string `json:"realm,omitempty"`
}

// TrunkInbound says from where a trunk's calls may come, and how many.
type TrunkInbound struct {
	AllowedIPs     []string    `json:"allowed_ips"` // empty: the proxies' addresses
	Auth           *TrunkAuth  `json:"auth,omitempty"`
	Match          *TrunkMatch `json:"match,omitempty"`  // nil: its calls carry no header of their own
	CallsPerSecond float64     `json:"calls_per_second"` // 0: no limit of its own
}

// Rate is what a trunk's carrier asks for a minute to numbers of a prefix; the
// longest matching prefix counts.
type Rate struct {
	Prefix string `json:"prefix"` // +1202; "+" is everywhere
	Cost   string `json:"cost"`   // dollars a minute, as decimal text
}

// TrunkAlarms are the bounds beyond which a trunk's calls are told as
// system.degraded. Zero switches one off.
type TrunkAlarms struct {
	MinASR            float64 `json:"min_asr"`              // answered of attempted, 0 to 1
	MinACDSeconds     float64 `json:"min_acd_seconds"`      // mean length of answered calls
	MaxShortCallShare float64 `json:"max_short_call_share"` // of answered calls, 0 to 1
	ShortCallSeconds  int     `json:"short_call_seconds"`   // up to here an answered call is short; 6 unless said
	MinCalls          int     `json:"min_calls"`            // no judgement over fewer; 20 unless said
}

// The ways of writing numbers to a trunk.
const (
	FormatE164     = "e164"     // +12025550100
	FormatDigits   = "digits"   // 12025550100
	FormatNational = "national" // 2025550100, abroad with the country's international prefix
)

// Where audio goes to and comes from (media.NATMode).
const (
	NATAuto = "auto" // the address in the SDP where it may be reached, else the source of the audio
	NATOn   = "on"   // the source of the audio
	NATOff  = "off"  // the address in the SDP
)

// How a trunk carries text messages, by SIP MESSAGE (RFC 3428).
const (
	SMSOff   = "off"
	SMSPlain = "plain" // as text/plain
	SMSIMDN  = "imdn"  // as message/cpim that asks for a delivery report (RFC 5438)
)

// The headers with which a trunk may be told who calls, and may tell us.
const (
	HeaderAsserted  = "P-Asserted-Identity"
	HeaderRemote    = "Remote-Party-ID"
	HeaderDiversion = "Diversion"
)

// Trunk is a way to the telephone network.
type Trunk struct {
	Meta
	Provenance
	Name          string     `json:"name"`
	Proxies       []Proxy    `json:"proxies"`
	OutboundProxy *Proxy     `json:"outbound_proxy,omitempty"` // what is sent to the proxies goes by way of it
	Auth          *TrunkAuth `json:"auth,omitempty"`
	Register      bool       `json:"register"` // at its first proxy, with its credentials
	FromDomain    string     `json:"from_domain,omitempty"`
	NumberFormat  string     `json:"number_format"`            // e164 | digits | national
	NumberCountry string     `json:"number_country,omitempty"` // of national
	NumberStrip   string     `json:"number_strip,omitempty"`   // taken off the beginning of the number called, once it is written
	NumberAdd     string     `json:"number_add,omitempty"`     // then put before it
	// RewriteApproved says that an operator has set NumberStrip and NumberAdd.
	RewriteApproved bool          `json:"number_rewrite_approved,omitempty"`
	Inbound         TrunkInbound  `json:"inbound"`
	Codecs          []string      `json:"codecs"`             // PCMU, PCMA, G722, opus, in the order of preference
	DTMF            string        `json:"dtmf"`               // auto | rfc4733 | info | inband
	SRTP            string        `json:"srtp"`               // off | optional | required
	KeysInClear     bool          `json:"srtp_keys_in_clear"` // its keys may be told without TLS
	NAT             string        `json:"nat"`                // auto | on | off
	CallsPerSecond  float64       `json:"calls_per_second"`
	MaxChannels     int           `json:"max_channels"` // 0: no limit of its own
	OptionsPing     bool          `json:"options_ping"` // its targets are asked by OPTIONS whether they live
	MediaNetworks   []string      `json:"media_networks"`
	RedirectHosts   []string      `json:"redirect_hosts"` // names, addresses and networks to which its 3xx may send a call on; empty: to none
	SMS             string        `json:"sms"`            // off | plain | imdn
	Prefixes        []string      `json:"prefixes"`       // numbers it takes; empty: all
	Priority        int           `json:"priority"`       // among trunks of one prefix length, lower first
	Costs           []Rate        `json:"costs"`          // among trunks of one priority, cheaper first
	CallerIDs       []string      `json:"caller_ids"`
	CallerIDHeaders []string      `json:"caller_id_headers"` // P-Asserted-Identity, Remote-Party-ID, Diversion: sent, and believed
	Alarms          TrunkAlarms   `json:"alarms"`
	Simulator       bool          `json:"simulator,omitempty"` // the built-in carrier
	SIPURI          string        `json:"sip_uri,omitempty"`   // where the carrier sends calls; shown, never kept
	Health          *TrunkHealth  `json:"health,omitempty"`    // shown, never kept
	Quality         *TrunkQuality `json:"quality,omitempty"`   // shown, never kept
	Warnings        []Detail      `json:"warnings,omitempty"`  // shown, never kept
}

// IsTestOnly says whether a trunk belongs to the test environment and is not the
// built-in carrier. Such a trunk is stored and never used.
func (t *Trunk) IsTestOnly() bool { return t.Environment == Test && !t.Simulator }

// TrunkHealth is how a trunk does now.
type TrunkHealth struct {
	Status       string             `json:"status"` // up | degraded (a target is out, or it backs off) | down (all are)
	Channels     int                `json:"channels"`
	Waiting      int                `json:"waiting"` // calls that wait for their turn
	BackoffUntil *time.Time         `json:"backoff_until"`
	LastError    string             `json:"last_error,omitempty"`
	Targets      []TargetHealth     `json:"targets"`
	Registration *TrunkRegistration `json:"registration,omitempty"` // of a trunk that registers
}

// TrunkRegistration is where a trunk's registration at its carrier stands.
type TrunkRegistration struct {
	Status  string     `json:"status"` // trying | registered | failed | removed
	Code    int        `json:"code,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	Expires *time.Time `json:"expires_at"`
	RetryAt *time.Time `json:"retry_at"`
}

// TargetHealth is how one target of a trunk does: a proxy, or one of those
// that its name leads to.
type TargetHealth struct {
	Target     string     `json:"target"` // host:port;transport
	Proxy      string     `json:"proxy"`  // as the trunk names it
	Status     string     `json:"status"` // up | out (tried last) | resting (it asked for it: not tried)
	Failures   int        `json:"consecutive_failures"`
	OutUntil   *time.Time `json:"out_until"`
	LastError  string     `json:"last_error,omitempty"`
	PingedAt   *time.Time `json:"pinged_at"` // by OPTIONS
	PingOK     *bool      `json:"ping_ok"`
	PingCode   int        `json:"ping_code,omitempty"`
	PingMillis int64      `json:"ping_ms,omitempty"`
}

// TrunkQuality is what became of a trunk's outbound calls of the last hour,
// and of what came in since the start of the process.
type TrunkQuality struct {
	WindowSeconds   int            `json:"window_seconds"`
	Attempts        int            `json:"attempts"`
	Answered        int            `json:"answered"`
	ASR             float64        `json:"asr"` // answered of attempted, 0 to 1
	ACDSeconds      float64        `json:"acd_seconds"`
	ShortCalls      int            `json:"short_calls"`
	ShortCallShare  float64        `json:"short_call_share"` // of answered calls, 0 to 1
	Refusals        map[string]int `json:"refusals"`         // of attempts, by reason
	InboundCalls    uint64         `json:"inbound_calls"`
	InboundRefusals map[string]int `json:"inbound_refusals"` // by reason
	Alarms          []string       `json:"alarms"`           // what is beyond its bound now: asr, acd, short_call_share
}

// Key names the row.
func (t *Trunk) Key() Key { return Key{"trunk", t.WorkspaceID, t.ID} }

// Indexes: by environment.
func (t *Trunk) Indexes() []string { return []string{envIndex(t.Environment)} }

// Sort is by age.
func (t *Trunk) Sort() string { return t.ID }

// Sealed returns a copy whose passwords went through f, without what is only
// shown.
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

// Unseal puts the passwords through f.
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

// Public is the trunk as the API shows it: without its passwords.
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

// testEnvironmentWarning is the warning of a trunk or a phone that a test key has
// created and that is never used.
func testEnvironmentWarning(message string) Detail {
	return Detail{Code: WarningTestEnvironment, Message: message}
}

// NumberStatus says whether a number is used.
type NumberStatus string

// The states of a number. A pending one is claimed, and waits for an operator:
// nothing comes in to it and nothing goes out from it.
const (
	NumberLive    NumberStatus = "live"
	NumberPending NumberStatus = "pending"
)

// Values are the states of a phone number.
func (NumberStatus) Values() []string {
	return values(NumberLive, NumberPending)
}

// PhoneNumber is a number of a workspace and who answers it.
type PhoneNumber struct {
	Meta
	Number     string       `json:"number"` // E.164, or * for the rest of its trunk
	AgentID    string       `json:"agent_id"`
	TrunkID    string       `json:"trunk_id"`
	SMSEnabled bool         `json:"sms_enabled"` // messages may come from it
	Status     NumberStatus `json:"status"`
}

// Key names the row.
func (n *PhoneNumber) Key() Key { return Key{"number", n.WorkspaceID, n.ID} }

// Indexes: by environment and by number, and those that messages may come from.
func (n *PhoneNumber) Indexes() []string {
	ix := []string{envIndex(n.Environment), "number=" + n.Number}
	if n.SMSEnabled && n.Status == NumberLive {
		ix = append(ix, "sms="+string(n.Environment))
	}
	return ix
}

// Sort is by age.
func (n *PhoneNumber) Sort() string { return n.ID }

// NumberClaim makes a number unique in the installation: its row is guarded to be
// absent when the number is taken.
type NumberClaim struct {
	Number      string    `json:"number"`
	WorkspaceID string    `json:"workspace_id"`
	NumberID    string    `json:"number_id"`
	ClaimedAt   time.Time `json:"claimed_at"`
}

// Claim returns the row that makes the number unique in the installation; "*" is
// unique for each trunk.
func (n *PhoneNumber) Claim() *NumberClaim {
	number := n.Number
	if number == "*" {
		number = "*@" + n.TrunkID
	}
	return &NumberClaim{Number: number, WorkspaceID: n.WorkspaceID, NumberID: n.ID, ClaimedAt: n.CreatedAt}
}

// Key names the row.
func (n *NumberClaim) Key() Key { return Key{"number_claim", "", n.Number} }

// Indexes: none.
func (n *NumberClaim) Indexes() []string { return nil }

// Sort is by number.
func (n *NumberClaim) Sort() string { return n.Number }

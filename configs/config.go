// Package configs turns a YAML file, the CALLBOARD_ environment and the flags
// of the command line into one checked struct. A flag wins over the
// environment, the environment over the file, the file over the default.
// It opens no socket and no store and knows nobody else of this house: the
// command hands the values on to the rooms that need them.
package configs

import (
	"log/slog"
	"net/netip"
	"slices"
	"time"
)

// EnvPrefix begins the name of every environment variable read here.
const EnvPrefix = "CALLBOARD_"

// Config holds every setting, checked. See docs/configuration.md.
type Config struct {
	Data          string // folder of everything durable
	RedisURL      Secret // redis:// or rediss://; empty: the embedded store
	Blobs         Blobs
	BlobsKeyFile  string // empty: see ReadBlobKeys
	MasterKeyFile string // empty: master.key in Data

	NodeAddr netip.AddrPort // where other nodes connect; zero: there are none
	Shards   int            // into which the workspaces are divided among nodes
	Lease    time.Duration

	HTTPAddr       netip.AddrPort
	PublicURL      string // without a final slash; empty: see BaseURL
	TLSCert        string
	TLSKey         string
	InsecureHTTP   bool
	TrustedProxies []netip.Prefix
	AdminAddr      netip.AddrPort // zero: no admin listener

	SIP        []SIPListener  // at least one
	SIPAddr    netip.AddrPort // of the first of them
	SIPCert    []string       // of tls listeners; none: TLSCert
	SIPKey     []string       // one for each of SIPCert
	SIPRoots   string         // trusted besides those of the system when we call over TLS
	SIPClients string         // have to have issued the certificates of whoever connects to us; empty: nobody needs one
	SIPProbes  []netip.Prefix // dispatchers, whose OPTIONS is answered
	SIPPrivate []netip.Prefix // far ends that are given the address listened on, not PublicIP
	SIPDSCP    int
	PublicIP   netip.Addr // zero: the address that is listened on
	MediaPorts PortRange

	RecordingFormat string // ulaw or pcm
	EnginesFile     string // see ReadEngines; empty: what the machine has

	EgressAllow  []Allowed
	EgressPorts  []uint16 // for HTTP, besides 443
	EgressCAFile string
	WebhookSends int // requests under way at once

	DefaultPlan   string // starter, professional or enterprise
	DefaultLimits Limits
	Simulator     bool
	Drain         time.Duration // how long live calls may take to end
	SurviveCalls  bool          // another process goes on with the live calls when this one ends

	OTLPURL         string // of a collector of traces; empty: none
	OTLPHeadersFile string
	OTLPShare       float64

	SMTPAddr         string // host:port of the mail server of alerts; empty: none
	SMTPFrom         string
	SMTPTLS          string // starttls, tls or none
	SMTPUser         string // empty: it asks for none
	SMTPPasswordFile string

	LogLevel  slog.Level
	LogFormat LogFormat

	shown []Shown
}

// SIPListener is one address at which SIP listens.
type SIPListener struct {
	Network string // udp, tcp or tls; empty: udp and tcp
	Addr    netip.AddrPort
}

// Networks are those of the listener, one socket each.
func (l SIPListener) Networks() []string {
	if l.Network == "" {
		return []string{"udp", "tcp"}
	}
	return []string{l.Network}
}

// KeyPair is a certificate chain and its key, both files in PEM.
type KeyPair struct{ Chain, Key string }

// SIPFiles are those of tls listeners, the one that is shown to whoever names
// no server first; none: there is no certificate.
func (c *Config) SIPFiles() (all []KeyPair) {
	for i, chain := range c.SIPCert {
		all = append(all, KeyPair{chain, c.SIPKey[i]})
	}
	if len(all) == 0 && c.TLSCert != "" {
		all = append(all, KeyPair{c.TLSCert, c.TLSKey})
	}
	return all
}

// PortRange is a range of UDP ports, both ends included.
type PortRange struct{ Low, High uint16 }

// Allowed is a network that tenants may name although it is not public; port 0
// stands for every port.
type Allowed struct {
	Prefix netip.Prefix
	Port   uint16
}

// Limits replace the ceilings of the plan for a new workspace; 0 keeps the
// ceiling of the plan.
type Limits struct {
	RequestsPerMinute  int
	ConcurrentInbound  int
	ConcurrentOutbound int
	CallsPerMinute     int
}

// LogFormat is the shape of a log line.
type LogFormat string

// The shapes of log lines.
const (
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)

// Secret is a value that no printing shows.
type Secret struct{ value string }

// Reveal returns the value itself, for the one who connects with it.
func (s Secret) Reveal() string { return s.value }

// String hides the value.
func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return "[hidden]"
}

// GoString hides the value from %#v.
func (s Secret) GoString() string { return `configs.Secret("` + s.String() + `")` }

// MarshalText hides the value from JSON and from slog's JSON lines.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the value from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// BaseURL is the address under which clients reach the service: PublicURL, or
// where that is empty one made of the address that is really listened on
// (which differs from HTTPAddr when that asks for port 0).
func (c *Config) BaseURL(listening netip.AddrPort) string {
	if c.PublicURL != "" {
		return c.PublicURL
	}
	ip := listening.Addr().Unmap()
	switch {
	case !ip.IsUnspecified():
	case c.PublicIP.IsValid():
		ip = c.PublicIP
	case ip.Is4():
		ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	default:
		ip = netip.IPv6Loopback()
	}
	scheme := "http://"
	if c.TLSCert != "" {
		scheme = "https://"
	}
	return scheme + netip.AddrPortFrom(ip, listening.Port()).String()
}

// Shown is one setting as it may be printed.
type Shown struct {
	Key   string
	Value string // of a secret only what is none
	From  string // default, file, environment or flag
}

// Redacted lists every setting in the order of the documentation, without
// secrets.
func (c *Config) Redacted() []Shown { return slices.Clone(c.shown) }

// Attrs are the settings that differ from their defaults, for one log line.
func (c *Config) Attrs() []slog.Attr {
	var attrs []slog.Attr
	for _, s := range c.shown {
		if s.From != fromDefault {
			attrs = append(attrs, slog.String(s.Key, s.Value))
		}
	}
	return attrs
}

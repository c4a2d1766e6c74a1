// Package configs turns a YAML file, the CALLBOARD_ environment and the flags
// of the command line into one checked struct. A flag wins over the
// environment, the environment over the file, the file over the default.
// It opens no socket and no store and imports no other package of the code
// base: the command passes the values to the packages that need them.
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
	Data          string // folder of the store, the keys and the local socket
	RedisURL      Secret // redis:// or rediss://; empty: the embedded store
	Blobs         Blobs
	BlobsKeyFile  string // empty: see ReadBlobKeys
	MasterKeyFile string // empty: master.key in Data

	Node     Node
	HTTP     HTTP
	SIP      SIP
	PublicIP netip.Addr // zero: the address that is listened on
	Media    Media

	EnginesFile  string // see ReadEngines; empty: the embedded engines only
	Egress       Egress
	WebhookSends int // concurrent webhook requests

	DefaultPlan   string // starter, professional or enterprise
	DefaultLimits Limits
	Simulator     bool          // run the test carrier
	Drain         time.Duration // how long live calls may take to end

	OTLP OTLP
	SMTP SMTP
	Log  Log

	shown []ShownSetting
}

// Node is what one node of a cluster needs.
type Node struct {
	Addr         netip.AddrPort // where other nodes connect; zero: there is no cluster
	Shards       int            // into which the workspaces are divided among nodes
	Lease        time.Duration  // of a shard
	SurviveCalls bool           // another process resumes the live calls when this one ends
}

// HTTP is the listener of the API and the dashboard.
type HTTP struct {
	Addr           netip.AddrPort
	PublicURL      string // without a final slash; empty: see BaseURL
	CertFile       string // PEM; empty: plain HTTP
	KeyFile        string
	AllowPlain     bool // plain HTTP beyond loopback
	TrustedProxies []netip.Prefix
	AdminAddr      netip.AddrPort // zero: no admin listener
}

// SIP is the user agent's side of the network.
type SIP struct {
	Listeners       []SIPListener  // at least one
	Addr            netip.AddrPort // of the first of them
	CertFiles       []string       // of tls listeners; none: HTTP.CertFile
	KeyFiles        []string       // one for each of CertFiles
	CAFile          string         // authorities trusted besides those of the system, for calls over TLS
	ClientCAFile    string         // authorities of client certificates; empty: clients need none
	ProbeNetworks   []netip.Prefix // dispatchers, whose OPTIONS is answered
	PrivateNetworks []netip.Prefix // peers that get the address listened on instead of PublicIP
	DSCP            int
}

// Media is the RTP side of the network, with the recordings of it.
type Media struct {
	Ports           PortRange
	RecordingFormat string // ulaw or pcm
}

// Egress says which targets tenants may name.
type Egress struct {
	Allow  []Allowed // although they are not public
	Ports  []uint16  // of HTTPS, besides 443
	CAFile string
}

// OTLP is the collector of traces.
type OTLP struct {
	URL         string // empty: no traces are sent
	HeadersFile string
	Share       float64 // of the calls, 0 to 1
}

// SMTP is the mail server of alerts.
type SMTP struct {
	Addr         string // host:port; empty: no mails are sent
	From         string
	TLS          string // starttls, tls or none
	User         string // empty: no authentication
	PasswordFile string
}

// Log is the log of the process.
type Log struct {
	Level  slog.Level
	Format LogFormat
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
	for i, chain := range c.SIP.CertFiles {
		all = append(all, KeyPair{chain, c.SIP.KeyFiles[i]})
	}
	if len(all) == 0 && c.HTTP.CertFile != "" {
		all = append(all, KeyPair{c.HTTP.CertFile, c.HTTP.KeyFile})
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
// (which differs from HTTP.Addr when that asks for port 0).
func (c *Config) BaseURL(listening netip.AddrPort) string {
	if c.HTTP.PublicURL != "" {
		return c.HTTP.PublicURL
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
	if c.HTTP.CertFile != "" {
		scheme = "https://"
	}
	return scheme + netip.AddrPortFrom(ip, listening.Port()).String()
}

// ShownSetting is one setting as it may be printed.
type ShownSetting struct {
	Key   string
	Value string // of a secret only what is none
	From  string // default, file, environment or flag
}

// Redacted lists every setting in the order of the documentation, without
// secrets.
func (c *Config) Redacted() []ShownSetting { return slices.Clone(c.shown) }

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

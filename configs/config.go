// Package configs merges the YAML file, the CALLBOARD_ environment variables and the command-line flags into one
// checked struct.
//
// A flag overrides the environment, the environment overrides the file, and the file overrides the default. The
// package opens no sockets and no stores, and imports no other package of Callboard.
package configs

import (
	"log/slog"
	"net/netip"
	"slices"
	"time"
)

// EnvPrefix begins the name of every environment variable that Load reads.
const EnvPrefix = "CALLBOARD_"

// Config holds the checked value of every setting. docs/configuration.md describes the settings.
type Config struct {
	Data          string // folder of the store, the keys and the local socket
	RedisURL      Secret // redis:// or rediss:// URL; empty: the embedded store
	Blobs         Blobs
	BlobsKeyFile  string // empty: ReadBlobKeys reads the environment
	MasterKeyFile string // empty: master.key in Data

	Node     Node
	HTTP     HTTP
	SIP      SIP
	PublicIP netip.Addr // zero: the listen address is the public address
	Media    Media

	EnginesFile  string // file that ReadEngines reads; empty: only the embedded engines
	Egress       Egress
	WebhookSends int // maximum of concurrent webhook requests

	DefaultPlan   string // starter, professional or enterprise
	DefaultLimits Limits
	Simulator     bool          // whether the test carrier runs
	DrainTimeout  time.Duration // how long shutdown waits for live calls to end

	OTLP OTLP
	SMTP SMTP
	Log  Log

	effective []EffectiveSetting
}

// Node configures one node of a cluster.
type Node struct {
	Addr          netip.AddrPort // address for connections from other nodes; zero: there is no cluster
	Shards        int            // number of shards that divide the workspaces among the nodes
	LeaseDuration time.Duration  // lifetime of a shard lease without renewal
	SurviveCalls  bool           // whether another process resumes the live calls when this process ends
}

// HTTP configures the listener of the API and the dashboard.
type HTTP struct {
	Addr           netip.AddrPort
	PublicURL      string // without a final slash; empty: BaseURL derives one from the listen address
	CertFile       string // PEM; empty: plain HTTP
	KeyFile        string
	AllowPlain     bool // allow plain HTTP on addresses other than loopback
	TrustedProxies []netip.Prefix
	AdminAddr      netip.AddrPort // zero: no admin listener
}

// SIP configures the sockets, the certificates and the peer networks of the SIP user agent.
type SIP struct {
	Listeners       []SIPListener  // at least one
	Addr            netip.AddrPort // the address of the first listener
	CertFiles       []string       // certificates of the TLS listeners; empty: HTTP.CertFile
	KeyFiles        []string       // the private key of each of CertFiles, in the same order
	CAFile          string         // additional certificate authorities for outbound calls over TLS
	ClientCAFile    string         // authorities of client certificates; empty: clients need no certificate
	ProbeNetworks   []netip.Prefix // networks of SIP proxies whose OPTIONS requests get an answer
	PrivateNetworks []netip.Prefix // peers in these networks get the listen address instead of PublicIP
	DSCP            int
}

// Media configures the RTP ports and the recording format.
type Media struct {
	Ports           PortRange
	RecordingFormat string // ulaw or pcm
}

// Egress restricts the addresses to which the service connects on behalf of tenants, such as webhook URLs.
type Egress struct {
	AllowedNetworks []AllowedNetwork // permitted although their addresses are not public
	Ports           []uint16         // permitted ports of HTTPS targets in addition to 443
	CAFile          string
}

// OTLP configures the collector of traces.
type OTLP struct {
	URL         string // empty: Callboard sends no traces
	HeadersFile string
	Share       float64 // fraction of the calls that are traced, 0 to 1
}

// SMTP configures the mail server for alerts.
type SMTP struct {
	Addr         string // host:port; empty: Callboard sends no mails
	From         string
	TLS          string // starttls, tls or none
	User         string // empty: no authentication
	PasswordFile string
}

// Log configures the level and the format of the log.
type Log struct {
	Level  slog.Level
	Format LogFormat
}

// SIPListener is one address at which SIP listens.
type SIPListener struct {
	Network string // udp, tcp or tls; empty: udp and tcp
	Addr    netip.AddrPort
}

// Networks returns the transport protocols of the listener: udp, tcp or tls. Each has a socket of its own.
func (l SIPListener) Networks() []string {
	if l.Network == "" {
		return []string{"udp", "tcp"}
	}
	return []string{l.Network}
}

// KeyPair names the PEM files of a certificate chain and its private key.
type KeyPair struct{ Chain, Key string }

// SIPKeyPairs returns the certificates of the SIP TLS listeners. Clients that send no server name (SNI) get the first. If
// no SIP certificate is configured, the HTTP certificate is used.
func (c *Config) SIPKeyPairs() (all []KeyPair) {
	for i, chain := range c.SIP.CertFiles {
		all = append(all, KeyPair{chain, c.SIP.KeyFiles[i]})
	}
	if len(all) == 0 && c.HTTP.CertFile != "" {
		all = append(all, KeyPair{c.HTTP.CertFile, c.HTTP.KeyFile})
	}
	return all
}

// PortRange is a range of UDP ports that includes both ends.
type PortRange struct{ Low, High uint16 }

// AllowedNetwork is a network that tenants can name although its addresses are not public. Port 0 permits every
// port.
type AllowedNetwork struct {
	Prefix netip.Prefix
	Port   uint16
}

// Limits holds limits for the first workspace. A field that is not 0 replaces the limit of the workspace's plan.
type Limits struct {
	RequestsPerMinute  int
	ConcurrentInbound  int
	ConcurrentOutbound int
	CallsPerMinute     int
}

// LogFormat names the encoding of log lines.
type LogFormat string

// Encodings of log lines.
const (
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)

// Secret is a string that fmt, encoding/json and log/slog print as "[hidden]".
type Secret struct{ value string }

// Reveal returns the secret as plain text. Only the client that authenticates with the secret may call it.
func (s Secret) Reveal() string { return s.value }

// String returns "[hidden]", or an empty string for an empty secret.
func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return "[hidden]"
}

// GoString hides the secret from the %#v verb.
func (s Secret) GoString() string { return `configs.Secret("` + s.String() + `")` }

// MarshalText hides the secret from encoding/json and from slog's JSON handler.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the secret from log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// BaseURL returns the URL at which clients reach the service: HTTP.PublicURL, or else a URL made of the listen
// address. The actual listen address differs from HTTP.Addr if HTTP.Addr has port 0.
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

// EffectiveSetting is the value of a setting with its source, in a form without secrets for output.
type EffectiveSetting struct {
	Key    string
	Value  string // of a secret only the parts that are not confidential
	Source string // default, file, environment or flag
}

// EffectiveSettings returns every setting in the order of the documentation. Secrets are hidden.
func (c *Config) EffectiveSettings() []EffectiveSetting { return slices.Clone(c.effective) }

// LogAttrs returns the settings that do not come from their defaults, as attributes of one log line.
func (c *Config) LogAttrs() []slog.Attr {
	var attrs []slog.Attr
	for _, s := range c.effective {
		if s.Source != fromDefault {
			attrs = append(attrs, slog.String(s.Key, s.Value))
		}
	}
	return attrs
}

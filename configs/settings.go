package configs

import (
	"net/url"
	"slices"
	"strings"
)

// Setting describes one setting for the documentation, the command line and the loader.
type Setting struct {
	Group   string
	Key     string // key in the YAML file
	Env     string // name of the environment variable
	Flag    string // command-line flag without dashes; empty: there is no flag
	Default string
	Rule    string // completes "must be …" in error messages
	Doc     string // description for the documentation

	show func(string) string        // hides secrets of a printed value; nil: the value has none
	set  func(*Config, string) bool // parses and stores a value; false: the value breaks the rule
	// derive sets a default that depends on other settings, and returns its text. It runs after all values are
	// parsed. If derive is nil, the default is Default.
	derive func(*Config) string
	rule   *crossRule
}

// crossRule is a rule about several settings. The loader checks it only if the value of each of these settings is valid.
type crossRule struct {
	keys  []string             // keys of the other settings
	check func(*Config) string // completes "must be …"; empty: the rule holds
}

// Settings returns every setting in the order of the documentation.
func Settings() []Setting {
	all := make([]Setting, 0, 32)
	for _, g := range []struct {
		name string
		list []Setting
	}{
		{"Storage", storageSettings()},
		{"Several nodes", nodeSettings()},
		{"HTTP", httpSettings()},
		{"SIP and media", append(sipSettings(), mediaSettings()...)},
		{"Egress", egressSettings()},
		{"Workspaces", workspaceSettings()},
		{"Process", slices.Concat(processSettings(), mailSettings(), logSettings())},
	} {
		for _, s := range g.list {
			s.Group = g.name
			s.Env = EnvPrefix + strings.ToUpper(s.Key)
			all = append(all, s)
		}
	}
	return all
}

func storageSettings() []Setting {
	return []Setting{
		{
			Key: "data", Flag: "data", Default: "./data",
			Rule: "the path of a folder",
			Doc:  "Data folder: the embedded store, keys, recordings and the local socket of `callboard keys`. Only one process can use a data folder.",
			set:  setField(func(c *Config) *string { return &c.Data }, parsePath),
		},
		{
			Key:  "redis_url",
			Rule: "a URL such as redis://host:6379/0 or, for TLS, rediss://host:6379, with user:password@ before the host if Redis requires authentication",
			Doc:  "Redis that stores the records. Empty: the embedded Pebble store inside `data`. `blobs_url` determines where recordings are stored in both cases.",
			show: showURL,
			set:  setField(func(c *Config) *Secret { return &c.RedisURL }, parseRedisURL),
		},
		{
			Key:  "blobs_url",
			Rule: blobsRule,
			Doc:  "S3-compatible bucket, or folder of a shared file system, that stores recordings and exports encrypted: see [operations](operations.md#recordings-in-a-bucket). Default of `region`: us-east-1. Default of `endpoint`: AWS's endpoint of the region. Default of `path_style`: true if `endpoint` is set. Empty: the folder `blobs` inside `data`. On a node of a cluster (`node_addr`) without `blobs_url`, recordings stay in the spool and cannot be played.",
			show: showBlobs,
			set:  setField(func(c *Config) *Blobs { return &c.Blobs }, parseBlobs),
		},
		{
			Key:  "blobs_key_file",
			Rule: blobsKeyRule,
			Doc:  "File with the credentials of the bucket. Callboard reloads a changed file without a restart. Empty: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` of the environment.",
			set:  setField(func(c *Config) *string { return &c.BlobsKeyFile }, checkBlobKeyFile),
			rule: &crossRule{[]string{"blobs_url"}, func(c *Config) string { return requireOtherSetting(c.BlobsKeyFile, c.Blobs.Bucket, "blobs_url") }},
		},
		{
			Key:  "master_key_file",
			Rule: "an existing file",
			Doc:  "File with the 32-byte master key, which encrypts the key of every workspace. Empty: `master.key` inside `data`, which the first start creates with a warning.",
			set:  setField(func(c *Config) *string { return &c.MasterKeyFile }, parseFile),
		},
	}
}

func httpSettings() []Setting {
	return []Setting{
		{
			Key: "http_addr", Flag: "http", Default: "127.0.0.1:8080",
			Rule: "an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080",
			Doc:  "Listen address of the API and the dashboard. Any address other than loopback requires `tls_cert`, `trusted_proxies` or `insecure_http`. Port 0 takes any free port.",
			set:  setField(func(c *Config) *addrPort { return (*addrPort)(&c.HTTP.Addr) }, parseAddrPort),
			rule: &crossRule{[]string{"tls_cert", "trusted_proxies", "insecure_http"}, checkHTTPAddr},
		},
		{
			Key:  "public_url",
			Rule: "an http:// or https:// URL without user, query and fragment",
			Doc:  "Base URL of every link that the service returns. Empty: derived from `http_addr`.",
			show: showURL,
			set:  setField(func(c *Config) *string { return &c.HTTP.PublicURL }, parsePublicURL),
		},
		{
			Key:  "tls_cert",
			Rule: "an existing file",
			Doc:  "Certificate chain of the HTTP listener, PEM. Requires `tls_key`. Callboard reloads changed files without a restart.",
			set:  setField(func(c *Config) *string { return &c.HTTP.CertFile }, parseFile),
			rule: &crossRule{[]string{"tls_key"}, func(c *Config) string { return requireOtherSetting(c.HTTP.CertFile, c.HTTP.KeyFile, "tls_key") }},
		},
		{
			Key:  "tls_key",
			Rule: "an existing file",
			Doc:  "Private key of the HTTP listener, PEM. Requires `tls_cert`.",
			set:  setField(func(c *Config) *string { return &c.HTTP.KeyFile }, parseFile),
			rule: &crossRule{[]string{"tls_cert"}, func(c *Config) string { return requireOtherSetting(c.HTTP.KeyFile, c.HTTP.CertFile, "tls_cert") }},
		},
		{
			Key: "insecure_http", Flag: "insecure-http", Default: "false",
			Rule: "true or false",
			Doc:  "Allow plain HTTP on addresses other than loopback. API keys then cross the network unencrypted.",
			set:  setField(func(c *Config) *bool { return &c.HTTP.AllowPlain }, parseBool),
		},
		{
			Key:  "trusted_proxies",
			Rule: "a list of networks such as 10.0.0.0/8,192.0.2.7, none of which is everyone (/0)",
			Doc:  "Networks of reverse proxies whose `X-Forwarded-For` header Callboard trusts.",
			set:  setField(func(c *Config) *prefixes { return (*prefixes)(&c.HTTP.TrustedProxies) }, parseNetworks),
		},
		{
			Key:  "admin_addr",
			Rule: "a loopback address and a port, such as 127.0.0.1:9090",
			Doc:  "Listen address of the admin endpoints `/metrics` (for Prometheus), `/debug/pprof` and `/debug/counters` (internal counters of the process, as JSON). Empty: no admin listener.",
			set:  setField(func(c *Config) *addrPort { return (*addrPort)(&c.HTTP.AdminAddr) }, parseLoopback),
			rule: &crossRule{[]string{"http_addr"}, func(c *Config) string {
				if c.HTTP.AdminAddr.Port() != 0 && c.HTTP.AdminAddr == c.HTTP.Addr {
					return "another address than http_addr"
				}
				return ""
			}},
		},
	}
}

func sipSettings() []Setting {
	return []Setting{
		{
			Key: "sip_addr", Flag: "sip", Default: "127.0.0.1:5060",
			Rule: "a list of IP addresses and ports, each for UDP and TCP such as 192.0.2.10:5060, or for one of them or TLS such as udp://192.0.2.10:5060,tcp://[2001:db8::1]:5060,tls://192.0.2.10:5061",
			Doc:  "Listen addresses of SIP. The default is loopback: set another address to reach carriers. 0.0.0.0 and [::] require `public_ip`; tls:// requires a certificate.",
			set: func(c *Config, s string) bool {
				listeners, ok := parseSIPListeners(s)
				if ok {
					c.SIP.Listeners, c.SIP.Addr = listeners, listeners[0].Addr
				}
				return ok
			},
			rule: &crossRule{[]string{"public_ip", "http_addr", "sip_tls_cert", "tls_cert"}, checkSIPAddr},
		},
		{
			Key:  "sip_tls_cert",
			Rule: "a list of existing files",
			Doc:  "Certificate chains of SIP over TLS, PEM. A tls:// listener selects the certificate by the server name that the client sends (SNI), else the first. The first is also the client certificate for carriers. Requires `sip_tls_key`. Empty: `tls_cert`. Callboard reloads changed files without a restart.",
			set:  setField(func(c *Config) *[]string { return &c.SIP.CertFiles }, parseFiles),
			rule: &crossRule{[]string{"sip_tls_key"}, func(c *Config) string { return requireSameLength(c.SIP.CertFiles, c.SIP.KeyFiles, "sip_tls_key") }},
		},
		{
			Key:  "sip_tls_key",
			Rule: "a list of existing files",
			Doc:  "Private keys of SIP over TLS, PEM: one for each file of `sip_tls_cert`, in the same order.",
			set:  setField(func(c *Config) *[]string { return &c.SIP.KeyFiles }, parseFiles),
			rule: &crossRule{[]string{"sip_tls_cert"}, func(c *Config) string { return requireSameLength(c.SIP.KeyFiles, c.SIP.CertFiles, "sip_tls_cert") }},
		},
		{
			Key:  "sip_tls_ca_file",
			Rule: "an existing file",
			Doc:  "Additional trusted certificate authorities, PEM, for outbound SIP connections over TLS.",
			set:  setField(func(c *Config) *string { return &c.SIP.CAFile }, parseFile),
		},
		{
			Key:  "sip_tls_client_ca_file",
			Rule: "an existing file",
			Doc:  "Certificate authorities, PEM, for client certificates of inbound SIP connections over TLS. Empty: clients need no certificate.",
			set:  setField(func(c *Config) *string { return &c.SIP.ClientCAFile }, parseFile),
		},
		{
			Key:  "public_ip",
			Rule: "one IP address that others can reach",
			Doc:  "Public address of a NAT. Contact, Via and SDP show it instead of the listen address.",
			set:  setField(func(c *Config) *addr { return (*addr)(&c.PublicIP) }, parsePublicIP),
		},
		{
			Key:  "sip_private",
			Rule: "a list of networks such as 10.0.0.0/8,192.0.2.7, none of which is everyone (/0)",
			Doc:  "SIP peers in these networks get the listen address instead of `public_ip`. Peers on loopback always do.",
			set:  setField(func(c *Config) *prefixes { return (*prefixes)(&c.SIP.PrivateNetworks) }, parseNetworks),
		},
		{
			Key:  "sip_probes",
			Rule: "a list of networks such as 10.0.0.0/8,192.0.2.7, none of which is everyone (/0)",
			Doc:  "Networks of SIP load balancers that probe this node with OPTIONS although no trunk has their address. Callboard always answers OPTIONS from trunks and from networks in `sip_private`.",
			set:  setField(func(c *Config) *prefixes { return (*prefixes)(&c.SIP.ProbeNetworks) }, parseNetworks),
		},
		{
			Key: "sip_dscp", Default: "24",
			Rule: "a whole number from 0 to 63",
			Doc:  "DSCP mark of SIP packets. 24 is CS3, the class for signaling.",
			set:  setField(func(c *Config) *int { return &c.SIP.DSCP }, parseDSCP),
		},
	}
}

func mediaSettings() []Setting {
	return []Setting{
		{
			Key: "media_ports", Default: "20000-29999",
			Rule: "a range LOW-HIGH of at least two ports within 1024-65535",
			Doc:  "UDP ports for RTP and RTCP, two per call.",
			set:  setField(func(c *Config) *PortRange { return &c.Media.Ports }, parsePortRange),
			rule: &crossRule{[]string{"sip_addr"}, func(c *Config) string {
				for _, l := range c.SIP.Listeners {
					if p := l.Addr.Port(); p >= c.Media.Ports.Low && p <= c.Media.Ports.High {
						return "a range without the port of sip_addr"
					}
				}
				return ""
			}},
		},
		{
			Key: "recording_format", Default: "ulaw",
			Rule: "ulaw or pcm",
			Doc:  "Encoding of recordings: `ulaw` is G.711 µ-law at 16 kB per second; `pcm` is 16-bit linear at 32 kB per second, which every player supports.",
			set:  setField(func(c *Config) *string { return &c.Media.RecordingFormat }, parseChoice("ulaw", "pcm")),
		},
		{
			Key:  "engines_file",
			Rule: "an existing file",
			Doc:  "File that configures external engines for TTS, STT, LLM and realtime: see [engines](engines.md). Empty: only the embedded engines.",
			set:  setField(func(c *Config) *string { return &c.EnginesFile }, parseFile),
		},
		{
			Key: "simulator", Default: "true",
			Rule: "true or false",
			Doc:  "Whether the test carrier runs: simulated phones over loopback for test keys and the demo.",
			set:  setField(func(c *Config) *bool { return &c.Simulator }, parseBool),
		},
	}
}

func egressSettings() []Setting {
	return []Setting{
		{
			Key:  "egress_allow",
			Rule: "a list of networks with or without a port, such as 10.0.0.0/8,192.0.2.7:8443,[fd00::]/8:443",
			Doc:  "Networks that tenants can name in webhooks, trunks and media URLs although the addresses are not public.",
			set:  setField(func(c *Config) *[]AllowedNetwork { return &c.Egress.AllowedNetworks }, parseAllowedNetworks),
		},
		{
			Key:  "egress_ports",
			Rule: "a list of ports 1-65535",
			Doc:  "Permitted ports of public HTTPS targets in addition to 443.",
			set:  setField(func(c *Config) *[]uint16 { return &c.Egress.Ports }, parsePorts),
		},
		{
			Key:  "egress_ca_file",
			Rule: "an existing file",
			Doc:  "Additional trusted certificate authorities, PEM, for outgoing HTTPS.",
			set:  setField(func(c *Config) *string { return &c.Egress.CAFile }, parseFile),
		},
		{
			Key: "webhook_sends", Default: "2048",
			Rule: "a whole number from 8 to 65536",
			Doc:  "Maximum concurrent webhook requests of all workspaces together: see [webhooks](webhooks.md#limits-of-sending).",
			set:  setField(func(c *Config) *int { return &c.WebhookSends }, parseWebhookSends),
		},
	}
}

func workspaceSettings() []Setting {
	return []Setting{
		{
			Key: "default_plan", Default: planEnterprise,
			Rule: "starter, professional or enterprise",
			Doc:  "Plan of the workspace `default`, which the first start creates. `POST /v1/workspaces` without `plan` always creates a workspace on `starter`.",
			set:  setField(func(c *Config) *string { return &c.DefaultPlan }, parseChoice("starter", "professional", planEnterprise)),
		},
		{
			Key:  "default_limits",
			Rule: "a list of requests_per_minute, concurrent_inbound, concurrent_outbound and calls_per_minute, each =1 to =10000000, such as calls_per_minute=600",
			Doc:  "Limits of the workspace `default` instead of those of its plan. Requires the plan `enterprise`.",
			set:  setField(func(c *Config) *Limits { return &c.DefaultLimits }, parseLimits),
			rule: &crossRule{[]string{"default_plan"}, func(c *Config) string {
				if c.DefaultPlan != planEnterprise && c.DefaultLimits != (Limits{}) {
					return "empty unless default_plan is enterprise"
				}
				return ""
			}},
		},
	}
}

func processSettings() []Setting {
	return []Setting{
		{
			Key: "drain_seconds", Default: "30",
			Rule: "a whole number of seconds from 0 to 3600",
			Doc:  "Seconds that live calls have to end after SIGTERM or Ctrl-C.",
			set:  setField(func(c *Config) *seconds { return (*seconds)(&c.DrainTimeout) }, parseSeconds),
		},
		{
			Key:  "otlp_url",
			Rule: "the http or https URL of a collector without /v1/traces, such as http://127.0.0.1:4318",
			Doc:  "Collector for traces of calls and webhook deliveries, by OTLP over HTTP (protobuf): see [operations](operations.md#traces). Empty: no traces.",
			set:  setField(func(c *Config) *string { return &c.OTLP.URL }, parsePublicURL),
		},
		{
			Key:  "otlp_headers_file",
			Rule: "an existing file",
			Doc:  "File with HTTP headers for the collector, one `Name: value` per line.",
			set:  setField(func(c *Config) *string { return &c.OTLP.HeadersFile }, parseFile),
		},
		{
			Key: "otlp_share", Default: "1",
			Rule: "a number from 0 to 1",
			Doc:  "Fraction of calls that are traced.",
			set:  setField(func(c *Config) *float64 { return &c.OTLP.Share }, parseFraction),
		},
	}
}

func mailSettings() []Setting {
	return []Setting{
		{
			Key:  "smtp_addr",
			Rule: "the host and the port of a mail server, such as mail.example.com:587",
			Doc:  "Mail server for [alerts](operations.md#alerts). Empty: Callboard sends no mails.",
			set:  setField(func(c *Config) *string { return &c.SMTP.Addr }, parseHostPort),
			rule: &crossRule{[]string{"smtp_from"}, func(c *Config) string { return requireOtherSetting(c.SMTP.Addr, c.SMTP.From, "smtp_from") }},
		},
		{
			Key:  "smtp_from",
			Rule: "a mail address such as callboard@example.com",
			Doc:  "Sender address of alert mails. Requires `smtp_addr`.",
			set:  setField(func(c *Config) *string { return &c.SMTP.From }, parseMailAddress),
			rule: &crossRule{[]string{"smtp_addr"}, func(c *Config) string { return requireOtherSetting(c.SMTP.From, c.SMTP.Addr, "smtp_addr") }},
		},
		{
			Key: "smtp_tls", Default: "starttls",
			Rule: "starttls, tls or none",
			Doc:  "Encryption of the SMTP connection: `starttls` (port 587; Callboard sends nothing if the server does not offer it), `tls` (implicit TLS, port 465) or `none`.",
			set:  setField(func(c *Config) *string { return &c.SMTP.TLS }, parseChoice("starttls", "tls", "none")),
			rule: &crossRule{[]string{"smtp_user"}, func(c *Config) string {
				if c.SMTP.TLS == "none" && c.SMTP.User != "" {
					return "starttls or tls if smtp_user is set: the password must not cross the network unencrypted"
				}
				return ""
			}},
		},
		{
			Key:  "smtp_user",
			Rule: "a name without control characters",
			Doc:  "User name at the mail server. Requires `smtp_password_file`. Empty: no authentication.",
			set:  setField(func(c *Config) *string { return &c.SMTP.User }, parseUserName),
			rule: &crossRule{[]string{"smtp_password_file"}, func(c *Config) string {
				return requireOtherSetting(c.SMTP.User, c.SMTP.PasswordFile, "smtp_password_file")
			}},
		},
		{
			Key:  "smtp_password_file",
			Rule: "an existing file",
			Doc:  "File with the password of `smtp_user` on one line.",
			set:  setField(func(c *Config) *string { return &c.SMTP.PasswordFile }, parseFile),
			rule: &crossRule{[]string{"smtp_user"}, func(c *Config) string { return requireOtherSetting(c.SMTP.PasswordFile, c.SMTP.User, "smtp_user") }},
		},
	}
}

func logSettings() []Setting {
	return []Setting{
		{
			Key: "log_level", Flag: "log-level", Default: "info",
			Rule: "debug, info, warn or error",
			Doc:  "Minimum severity of log lines.",
			set:  setField(func(c *Config) *level { return (*level)(&c.Log.Level) }, parseLevel),
		},
		{
			Key: "log_format", Default: string(LogText),
			Rule: "text or json",
			Doc:  "Format of log lines.",
			set: setField(func(c *Config) *LogFormat { return &c.Log.Format }, func(s string) (LogFormat, bool) {
				return LogFormat(s), s == string(LogText) || s == string(LogJSON)
			}),
		},
	}
}

const planEnterprise = "enterprise"

func checkHTTPAddr(c *Config) string {
	if c.HTTP.Addr.Addr().Unmap().IsLoopback() || c.HTTP.CertFile != "" || len(c.HTTP.TrustedProxies) > 0 || c.HTTP.AllowPlain {
		return ""
	}
	return "a loopback address, unless tls_cert and tls_key, trusted_proxies or insecure_http is set"
}

func checkSIPAddr(c *Config) string {
	for _, l := range c.SIP.Listeners {
		switch {
		case l.Addr.Addr().IsUnspecified() && !c.PublicIP.IsValid():
			return "one address of this machine, unless public_ip is set"
		case l.Network != "udp" && l.Addr.Port() != 0 && l.Addr == c.HTTP.Addr:
			return "another address than http_addr: SIP listens on TCP as well"
		case l.Network == "tls" && len(c.SIP.CertFiles) == 0 && c.HTTP.CertFile == "":
			return "without tls:// unless sip_tls_cert and sip_tls_key are set"
		}
	}
	return ""
}

// requireOtherSetting returns an error text if value is set while other, the value of the setting name, is empty.
func requireOtherSetting(value, other, name string) string {
	if value != "" && other == "" {
		return "set together with " + name
	}
	return ""
}

// requireSameLength returns an error text if values is set and does not have the length of other, the value of the
// setting name.
func requireSameLength(values, other []string, name string) string {
	if len(values) > 0 && len(values) != len(other) {
		return "set together with " + name + ", with the same number of files"
	}
	return ""
}

// showURL returns the text with which an error message or a log line shows a URL. It hides the user, the password and the
// query. If a password contains an unescaped / or #, it hides the whole URL, because parts may be misread.
func showURL(s string) string {
	u, err := url.Parse(s)
	switch {
	case s == "":
		return ""
	case err != nil, u.Host == "", u.Fragment != "", strings.Contains(u.Path+u.RawQuery, "@"):
		return "[hidden]"
	}
	u.RawQuery = ""
	if u.User != nil {
		u.User = url.UserPassword("xxxxx", "xxxxx")
	}
	return u.String()
}

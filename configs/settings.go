package configs

import (
	"net/url"
	"strings"
)

// Setting describes one setting to a reader, a command line and a test.
type Setting struct {
	Group   string
	Key     string // in the YAML file
	Env     string // in the environment
	Flag    string // on the command line, without dashes; empty: none
	Default string
	Rule    string // what a value must be: completes "must be …"
	Doc     string // what it is for

	show func(string) string        // nil: as it is
	set  func(*Config, string) bool // false: the value breaks the rule
	// derive is the default where that depends on other settings: it sets the
	// field once these are read, and returns the value; nil: Default is.
	derive func(*Config) string
	rule   *crossRule
}

// crossRule is a rule about several settings. It is checked if each of them is
// valid alone.
type crossRule struct {
	keys  []string             // of the other settings
	check func(*Config) string // completes "must be …"; empty: valid
}

// Settings lists every setting in the order of the documentation.
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
		{"What tenants may reach", egressSettings()},
		{"Workspaces", workspaceSettings()},
		{"Process", processSettings()},
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
			Doc:  "Everything durable: the embedded store, keys, recordings, the local socket of `callboard keys`. Two processes never share one.",
			set:  setField(func(c *Config) *string { return &c.Data }, parsePath),
		},
		{
			Key:  "redis_url",
			Rule: "a URL such as redis://host:6379/0 or, for TLS, rediss://host:6379, with user:password@ before the host where it asks for them",
			Doc:  "Keep the records in this Redis. Empty: in the embedded Pebble store inside `data`. Recordings lie where `blobs_url` says either way.",
			show: showURL,
			set:  setField(func(c *Config) *Secret { return &c.RedisURL }, parseRedis),
		},
		{
			Key:  "blobs_url",
			Rule: blobsRule,
			Doc:  "Keep recordings and exports, sealed, in this bucket of a store that speaks S3, or in this folder of a shared file system: see [operations](operations.md#recordings-in-a-bucket). `region` is us-east-1 unless it is named, `endpoint` AWS's of that region, `path_style` true where an endpoint is named. Empty: in the folder `blobs` inside `data`; with `node_addr` recordings wait in the spool and none can be played.",
			show: showBlobs,
			set:  setField(func(c *Config) *Blobs { return &c.Blobs }, parseBlobs),
		},
		{
			Key:  "blobs_key_file",
			Rule: blobsKeyRule,
			Doc:  "The key for that bucket; a changed file is read again without a restart. Empty: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` of the environment.",
			set:  setField(func(c *Config) *string { return &c.BlobsKeyFile }, parseBlobKeys),
			rule: &crossRule{[]string{"blobs_url"}, func(c *Config) string { return requireWith(c.BlobsKeyFile, c.Blobs.Bucket, "blobs_url") }},
		},
		{
			Key:  "master_key_file",
			Rule: "an existing file",
			Doc:  "The 32 bytes that wrap the key of every workspace. Empty: `master.key` inside `data`, made on first start, with a warning.",
			set:  setField(func(c *Config) *string { return &c.MasterKeyFile }, parseFile),
		},
	}
}

func httpSettings() []Setting {
	return []Setting{
		{
			Key: "http_addr", Flag: "http", Default: "127.0.0.1:8080",
			Rule: "an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080",
			Doc:  "Where the API and the dashboard listen. Beyond loopback it needs `tls_cert`, `trusted_proxies` or `insecure_http`. Port 0 takes any free port.",
			set:  setField(func(c *Config) *addrPort { return (*addrPort)(&c.HTTP.Addr) }, parseAddrPort),
			rule: &crossRule{[]string{"tls_cert", "trusted_proxies", "insecure_http"}, checkHTTPAddr},
		},
		{
			Key:  "public_url",
			Rule: "an http:// or https:// URL without user, query and fragment",
			Doc:  "The base of every link that the service hands out. Empty: made from `http_addr`.",
			show: showURL,
			set:  setField(func(c *Config) *string { return &c.HTTP.PublicURL }, parsePublicURL),
		},
		{
			Key:  "tls_cert",
			Rule: "an existing file",
			Doc:  "Certificate chain of the HTTP listener, PEM. Goes with `tls_key`. Changed files are read again without a restart.",
			set:  setField(func(c *Config) *string { return &c.HTTP.CertFile }, parseFile),
			rule: &crossRule{[]string{"tls_key"}, func(c *Config) string { return requireWith(c.HTTP.CertFile, c.HTTP.KeyFile, "tls_key") }},
		},
		{
			Key:  "tls_key",
			Rule: "an existing file",
			Doc:  "Private key of the HTTP listener, PEM. Goes with `tls_cert`.",
			set:  setField(func(c *Config) *string { return &c.HTTP.KeyFile }, parseFile),
			rule: &crossRule{[]string{"tls_cert"}, func(c *Config) string { return requireWith(c.HTTP.KeyFile, c.HTTP.CertFile, "tls_cert") }},
		},
		{
			Key: "insecure_http", Flag: "insecure-http", Default: "false",
			Rule: "true or false",
			Doc:  "Allow plain HTTP beyond loopback. Keys then cross the network in the clear.",
			set:  setField(func(c *Config) *bool { return &c.HTTP.AllowPlain }, parseBool),
		},
		{
			Key:  "trusted_proxies",
			Rule: "a list of networks such as 10.0.0.0/8,192.0.2.7, none of which is everyone (/0)",
			Doc:  "Only from these is `X-Forwarded-For` believed.",
			set:  setField(func(c *Config) *prefixes { return (*prefixes)(&c.HTTP.TrustedProxies) }, parseProxies),
		},
		{
			Key:  "admin_addr",
			Rule: "a loopback address and a port, such as 127.0.0.1:9090",
			Doc:  "Where `/metrics` (for Prometheus), `/debug/pprof` and `/debug/counters` (what the process keeps, as JSON) listen. Empty: nowhere.",
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
			Doc:  "Where SIP listens. Loopback by default: set it to reach carriers. 0.0.0.0 and [::] need `public_ip`; tls:// needs a certificate.",
			set: func(c *Config, s string) bool {
				listeners, ok := parseSIP(s)
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
			Doc:  "Certificate chains of SIP over TLS, PEM: of tls:// listeners, each for those who ask for a name in it, the first for everybody else and for carriers that ask for one. Goes with `sip_tls_key`. Empty: `tls_cert`. Changed files are read again without a restart.",
			set:  setField(func(c *Config) *[]string { return &c.SIP.CertFiles }, parseFiles),
			rule: &crossRule{[]string{"sip_tls_key"}, func(c *Config) string { return requireAllWith(c.SIP.CertFiles, c.SIP.KeyFiles, "sip_tls_key") }},
		},
		{
			Key:  "sip_tls_key",
			Rule: "a list of existing files",
			Doc:  "Private keys of SIP over TLS, PEM, one for each of `sip_tls_cert`, in its order.",
			set:  setField(func(c *Config) *[]string { return &c.SIP.KeyFiles }, parseFiles),
			rule: &crossRule{[]string{"sip_tls_cert"}, func(c *Config) string { return requireAllWith(c.SIP.KeyFiles, c.SIP.CertFiles, "sip_tls_cert") }},
		},
		{
			Key:  "sip_tls_ca_file",
			Rule: "an existing file",
			Doc:  "Certificate authorities, PEM, trusted besides those of the system when SIP calls over TLS.",
			set:  setField(func(c *Config) *string { return &c.SIP.CAFile }, parseFile),
		},
		{
			Key:  "sip_tls_client_ca_file",
			Rule: "an existing file",
			Doc:  "Certificate authorities, PEM, one of which must have issued the certificate of whoever connects by TLS. Empty: nobody needs one.",
			set:  setField(func(c *Config) *string { return &c.SIP.ClientCAFile }, parseFile),
		},
		{
			Key:  "public_ip",
			Rule: "one IP address that others can reach",
			Doc:  "Written into Contact, Via and SDP instead of the address listened on: the outer address of a NAT.",
			set:  setField(func(c *Config) *addr { return (*addr)(&c.PublicIP) }, parsePublicIP),
		},
		{
			Key:  "sip_private",
			Rule: "a list of networks such as 10.0.0.0/8,192.0.2.7, none of which is everyone (/0)",
			Doc:  "Far ends in these networks are given the address listened on instead of `public_ip`. Those on loopback always are.",
			set:  setField(func(c *Config) *prefixes { return (*prefixes)(&c.SIP.PrivateNetworks) }, parseProxies),
		},
		{
			Key:  "sip_probes",
			Rule: "a list of networks such as 10.0.0.0/8,192.0.2.7, none of which is everyone (/0)",
			Doc:  "Dispatchers in these networks get an answer to OPTIONS, by which they find out who takes calls, although no trunk leads there. Those in `sip_private`, and every trunk's, always do.",
			set:  setField(func(c *Config) *prefixes { return (*prefixes)(&c.SIP.ProbeNetworks) }, parseProxies),
		},
		{
			Key: "sip_dscp", Default: "24",
			Rule: "a whole number from 0 to 63",
			Doc:  "DSCP mark of what the SIP sockets send: 24 is CS3, the class for signalling.",
			set:  setField(func(c *Config) *int { return &c.SIP.DSCP }, parseDSCP),
		},
	}
}

func mediaSettings() []Setting {
	return []Setting{
		{
			Key: "media_ports", Default: "20000-29999",
			Rule: "a range LOW-HIGH of at least two ports within 1024-65535",
			Doc:  "UDP ports of RTP and RTCP, two per call.",
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
			Doc:  "How recordings are written: G.711 µ-law, 16 kB a second, or 16-bit linear, twice that, which every player knows.",
			set:  setField(func(c *Config) *string { return &c.Media.RecordingFormat }, oneOf("ulaw", "pcm")),
		},
		{
			Key:  "engines_file",
			Rule: "an existing file",
			Doc:  "Engines that speak, hear and think besides those of the machine: see [engines](engines.md). Empty: none.",
			set:  setField(func(c *Config) *string { return &c.EnginesFile }, parseFile),
		},
		{
			Key: "simulator", Default: "true",
			Rule: "true or false",
			Doc:  "Run the built-in carrier: phones over loopback for test keys and the demo.",
			set:  setField(func(c *Config) *bool { return &c.Simulator }, parseBool),
		},
	}
}

func egressSettings() []Setting {
	return []Setting{
		{
			Key:  "egress_allow",
			Rule: "a list of networks with or without a port, such as 10.0.0.0/8,192.0.2.7:8443,[fd00::]/8:443",
			Doc:  "Networks that tenants may name (webhooks, trunks, media) although they are not public.",
			set:  setField(func(c *Config) *[]Allowed { return &c.Egress.Allow }, parseAllowed),
		},
		{
			Key:  "egress_ports",
			Rule: "a list of ports 1-65535",
			Doc:  "Ports besides 443 at which public HTTPS targets are reached.",
			set:  setField(func(c *Config) *[]uint16 { return &c.Egress.Ports }, parsePorts),
		},
		{
			Key:  "egress_ca_file",
			Rule: "an existing file",
			Doc:  "Certificate authorities, PEM, trusted besides those of the system for outgoing HTTPS.",
			set:  setField(func(c *Config) *string { return &c.Egress.CAFile }, parseFile),
		},
		{
			Key: "webhook_sends", Default: "2048",
			Rule: "a whole number from 8 to 65536",
			Doc:  "Webhook requests under way at once, in all workspaces together; see [webhooks](webhooks.md#limits-of-sending).",
			set:  setField(func(c *Config) *int { return &c.WebhookSends }, parseSends),
		},
	}
}

func workspaceSettings() []Setting {
	return []Setting{
		{
			Key: "default_plan", Default: planEnterprise,
			Rule: "starter, professional or enterprise",
			Doc:  "Plan of the first workspace, `default`, which the first start makes. `POST /v1/workspaces` without `plan` makes a starter, whatever this setting says.",
			set:  setField(func(c *Config) *string { return &c.DefaultPlan }, oneOf("starter", "professional", planEnterprise)),
		},
		{
			Key:  "default_limits",
			Rule: "a list of requests_per_minute, concurrent_inbound, concurrent_outbound and calls_per_minute, each =1 to =10000000, such as calls_per_minute=600",
			Doc:  "Limits of the first workspace, `default`, instead of those of its plan. On `enterprise` only.",
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
			Doc:  "How long live calls may take to end after SIGTERM or Ctrl-C.",
			set:  setField(func(c *Config) *seconds { return (*seconds)(&c.Drain) }, parseSeconds),
		},
		{
			Key:  "otlp_url",
			Rule: "the http or https URL of a collector without /v1/traces, such as http://127.0.0.1:4318",
			Doc:  "Where traces of calls and deliveries go, by OTLP over HTTP (protobuf); see [operations](operations.md#traces). Empty: nowhere.",
			set:  setField(func(c *Config) *string { return &c.OTLP.URL }, parsePublicURL),
		},
		{
			Key:  "otlp_headers_file",
			Rule: "an existing file",
			Doc:  "Header lines for that collector, one `Name: value` a line.",
			set:  setField(func(c *Config) *string { return &c.OTLP.HeadersFile }, parseFile),
		},
		{
			Key: "otlp_share", Default: "1",
			Rule: "a number from 0 to 1",
			Doc:  "The share of calls whose traces are sent.",
			set:  setField(func(c *Config) *float64 { return &c.OTLP.Share }, parseShare),
		},
		{
			Key:  "smtp_addr",
			Rule: "the host and the port of a mail server, such as mail.example.com:587",
			Doc:  "Where mails of [alerts](operations.md#alerts) go. Empty: none are sent.",
			set:  setField(func(c *Config) *string { return &c.SMTP.Addr }, parseHostPort),
			rule: &crossRule{[]string{"smtp_from"}, func(c *Config) string { return requireWith(c.SMTP.Addr, c.SMTP.From, "smtp_from") }},
		},
		{
			Key:  "smtp_from",
			Rule: "a mail address such as callboard@example.com",
			Doc:  "Who these mails are from.",
			set:  setField(func(c *Config) *string { return &c.SMTP.From }, parseMail),
			rule: &crossRule{[]string{"smtp_addr"}, func(c *Config) string { return requireWith(c.SMTP.From, c.SMTP.Addr, "smtp_addr") }},
		},
		{
			Key: "smtp_tls", Default: "starttls",
			Rule: "starttls, tls or none",
			Doc:  "How the connection is encrypted: `starttls` (port 587; without it nothing is sent), `tls` from the first byte on (port 465), `none`.",
			set:  setField(func(c *Config) *string { return &c.SMTP.TLS }, oneOf("starttls", "tls", "none")),
			rule: &crossRule{[]string{"smtp_user"}, func(c *Config) string {
				if c.SMTP.TLS == "none" && c.SMTP.User != "" {
					return "starttls or tls where smtp_user is set: a password does not cross the network in the clear"
				}
				return ""
			}},
		},
		{
			Key:  "smtp_user",
			Rule: "a name without control characters",
			Doc:  "Who we are to the mail server. Goes with `smtp_password_file`. Empty: it does not ask.",
			set:  setField(func(c *Config) *string { return &c.SMTP.User }, parseLine),
			rule: &crossRule{[]string{"smtp_password_file"}, func(c *Config) string { return requireWith(c.SMTP.User, c.SMTP.PasswordFile, "smtp_password_file") }},
		},
		{
			Key:  "smtp_password_file",
			Rule: "an existing file",
			Doc:  "The password for it, in one line.",
			set:  setField(func(c *Config) *string { return &c.SMTP.PasswordFile }, parseFile),
			rule: &crossRule{[]string{"smtp_user"}, func(c *Config) string { return requireWith(c.SMTP.PasswordFile, c.SMTP.User, "smtp_user") }},
		},
		{
			Key: "log_level", Flag: "log-level", Default: "info",
			Rule: "debug, info, warn or error",
			Doc:  "Least severe line that is written.",
			set:  setField(func(c *Config) *level { return (*level)(&c.Log.Level) }, parseLevel),
		},
		{
			Key: "log_format", Default: string(LogText),
			Rule: "text or json",
			Doc:  "Shape of a log line.",
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
			return "one address of this machine, unless public_ip says what others reach"
		case l.Network != "udp" && l.Addr.Port() != 0 && l.Addr == c.HTTP.Addr:
			return "another address than http_addr: SIP listens on TCP as well"
		case l.Network == "tls" && len(c.SIP.CertFiles) == 0 && c.HTTP.CertFile == "":
			return "without tls:// unless sip_tls_cert and sip_tls_key are set"
		}
	}
	return ""
}

// requireWith returns a broken rule if mine is set without the other setting.
func requireWith(mine, other, name string) string {
	if mine != "" && other == "" {
		return "set together with " + name
	}
	return ""
}

// requireAllWith returns a broken rule unless both lists have the same length.
func requireAllWith(mine, other []string, name string) string {
	if len(mine) > 0 && len(mine) != len(other) {
		return "set together with " + name + ", as many files as there"
	}
	return ""
}

// showURL keeps what helps (host, database) and drops what is secret, also
// when a password with / or # in it stands where a parser sees host and path.
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

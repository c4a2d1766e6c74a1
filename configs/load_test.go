package configs_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/configs"
)

// createFile creates a file for settings that require an existing file.
func createFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	return path
}

func createYAMLFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "callboard.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// problemLines returns the problems of an *InvalidError, one line each.
func problemLines(t *testing.T, err error) []string {
	t.Helper()
	var invalid *configs.InvalidError
	require.ErrorAs(t, err, &invalid)
	lines := make([]string, len(invalid.Problems))
	for i, p := range invalid.Problems {
		lines[i] = p.String()
	}
	return lines
}

func TestDefaultsAreLoopbackAndEmbeddedStore(t *testing.T) {
	c, err := configs.Load("", nil, nil)
	require.NoError(t, err)
	assert.Equal(t, "./data", c.Data)
	assert.Empty(t, c.RedisURL.Reveal())
	assert.Equal(t, "127.0.0.1:8080", c.HTTP.Addr.String())
	assert.Equal(t, "127.0.0.1:5060", c.SIP.Addr.String())
	assert.Equal(t, configs.PortRange{Low: 20000, High: 29999}, c.Media.Ports)
	assert.False(t, c.HTTP.AdminAddr.IsValid())
	assert.Empty(t, c.Egress.AllowedNetworks)
	assert.Equal(t, 30*time.Second, c.DrainTimeout)
	assert.Equal(t, "enterprise", c.DefaultPlan)
	assert.Equal(t, slog.LevelInfo, c.Log.Level)
	assert.True(t, c.Simulator)
	assert.Equal(t, "http://127.0.0.1:8080", c.BaseURL(c.HTTP.Addr))
	assert.Empty(t, c.LogAttrs())
}

// nonDefaultValues returns for each setting a value that differs from its default.
func nonDefaultValues(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"data": "/srv/callboard", "redis_url": "redis://u:p@10.0.0.9:6379/2", "master_key_file": createFile(t, "master.key"),
		"blobs_url": "s3://calls/eu?endpoint=https://store.example:9000&region=eu-1&path_style=no", "blobs_key_file": createKeyFile(t),
		"node_addr": "10.0.0.7:8090", "lease_seconds": "3", "shards": "64",
		"http_addr": "0.0.0.0:8443", "public_url": "https://calls.example.com/", "tls_cert": createFile(t, "cert.pem"),
		"tls_key": createFile(t, "key.pem"), "insecure_http": "true", "trusted_proxies": "10.0.0.0/8, 192.0.2.7", "admin_addr": "localhost:9090",
		"sip_addr": "0.0.0.0:5080, tls://[::]:5081", "sip_tls_cert": createFile(t, "sip.pem"), "sip_tls_key": createFile(t, "sip.key"),
		"sip_tls_ca_file": createFile(t, "roots.pem"), "sip_tls_client_ca_file": createFile(t, "clients.pem"),
		"sip_private": "10.0.0.0/8,192.168.7.1", "sip_probes": "198.51.100.0/24", "sip_dscp": "40",
		"public_ip": "203.0.113.5", "media_ports": "30000-30999", "simulator": "false",
		"recording_format": "pcm", "engines_file": createFile(t, "engines.yaml"),
		"egress_allow": "127.0.0.0/8,192.0.2.7:8443,[fd00::]/8:443", "egress_ports": "8443,9443,8443", "egress_ca_file": createFile(t, "ca.pem"),
		"webhook_sends": "512",
		"default_plan":  "starter", "default_limits": "",
		"otlp_url": "https://traces.example.com:4318/tenant/", "otlp_headers_file": createFile(t, "otlp.headers"), "otlp_share": "0.25",
		"smtp_addr": "mail.example.com:465", "smtp_from": "callboard@example.com", "smtp_tls": "tls", "smtp_user": "ada", "smtp_password_file": createFile(t, "smtp.password"),
		"drain_seconds": "5", "survive_calls": "true", "log_level": "debug", "log_format": "json",
	}
}

func wantedConfig(values map[string]string) configs.Config {
	return configs.Config{
		Data: "/srv/callboard", MasterKeyFile: values["master_key_file"],
		Blobs:        configs.Blobs{Bucket: "calls", Prefix: "eu", Endpoint: "https://store.example:9000", CustomEndpoint: true, Region: "eu-1"},
		BlobsKeyFile: values["blobs_key_file"],
		PublicIP:     netip.MustParseAddr("203.0.113.5"),
		Node:         configs.Node{Addr: netip.MustParseAddrPort("10.0.0.7:8090"), LeaseDuration: 3 * time.Second, Shards: 64, SurviveCalls: true},
		HTTP: configs.HTTP{
			Addr: netip.MustParseAddrPort("0.0.0.0:8443"), PublicURL: "https://calls.example.com",
			CertFile: values["tls_cert"], KeyFile: values["tls_key"], AllowPlain: true,
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.7/32")},
			AdminAddr:      netip.MustParseAddrPort("127.0.0.1:9090"),
		},
		SIP: configs.SIP{
			Addr: netip.MustParseAddrPort("0.0.0.0:5080"),
			Listeners: []configs.SIPListener{
				{Addr: netip.MustParseAddrPort("0.0.0.0:5080")}, {Network: "tls", Addr: netip.MustParseAddrPort("[::]:5081")},
			},
			CertFiles: []string{values["sip_tls_cert"]}, KeyFiles: []string{values["sip_tls_key"]}, CAFile: values["sip_tls_ca_file"],
			ClientCAFile: values["sip_tls_client_ca_file"], DSCP: 40,
			ProbeNetworks:   []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")},
			PrivateNetworks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.168.7.1/32")},
		},
		Media:       configs.Media{Ports: configs.PortRange{Low: 30000, High: 30999}, RecordingFormat: "pcm"},
		EnginesFile: values["engines_file"],
		Egress: configs.Egress{
			AllowedNetworks: []configs.AllowedNetwork{
				{Prefix: netip.MustParsePrefix("127.0.0.0/8")},
				{Prefix: netip.MustParsePrefix("192.0.2.7/32"), Port: 8443},
				{Prefix: netip.MustParsePrefix("fd00::/8"), Port: 443},
			},
			Ports: []uint16{8443, 9443}, CAFile: values["egress_ca_file"],
		},
		WebhookSends: 512,
		OTLP:         configs.OTLP{URL: "https://traces.example.com:4318/tenant", HeadersFile: values["otlp_headers_file"], Share: 0.25},
		SMTP:         configs.SMTP{Addr: "mail.example.com:465", From: "callboard@example.com", TLS: "tls", User: "ada", PasswordFile: values["smtp_password_file"]},
		DefaultPlan:  "starter", DrainTimeout: 5 * time.Second,
		Log: configs.Log{Level: slog.LevelDebug, Format: configs.LogJSON},
	}
}

// exportedFields returns the exported fields of c by name, without RedisURL, whose secret the test compares itself.
func exportedFields(c configs.Config) map[string]any {
	out := make(map[string]any)
	v := reflect.ValueOf(c)
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.IsExported() && f.Name != "RedisURL" {
			out[f.Name] = v.FieldByIndex(f.Index).Interface()
		}
	}
	return out
}

func TestEverySettingReachesItsFieldFromEverySource(t *testing.T) {
	values := nonDefaultValues(t)
	var env []string
	var text strings.Builder
	for _, s := range configs.Settings() {
		value, ok := values[s.Key]
		require.True(t, ok, "the test has no value for %s", s.Key)
		env = append(env, s.Env+"="+value)
		fmt.Fprintf(&text, "%s: %q\n", s.Key, value)
	}
	for name, load := range map[string]func() (*configs.Config, error){
		"environment": func() (*configs.Config, error) { return configs.Load("", env, nil) },
		"file":        func() (*configs.Config, error) { return configs.Load(createYAMLFile(t, text.String()), nil, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			c, err := load()
			require.NoError(t, err)
			assert.Equal(t, exportedFields(wantedConfig(values)), exportedFields(*c))
			assert.Equal(t, values["redis_url"], c.RedisURL.Reveal())
		})
	}
}

func TestListsAndMapsCanBeYAML(t *testing.T) {
	c, err := configs.Load(createYAMLFile(t, `
trusted_proxies: [10.0.0.0/8, 192.0.2.7]
egress_ports:
  - 8443
default_limits:
  calls_per_minute: 600
  concurrent_outbound: 50
drain_seconds: 7
simulator: false
redis_url:
`), nil, nil)
	require.NoError(t, err)
	assert.Len(t, c.HTTP.TrustedProxies, 2)
	assert.Equal(t, []uint16{8443}, c.Egress.Ports)
	assert.Equal(t, configs.Limits{CallsPerMinute: 600, ConcurrentOutbound: 50}, c.DefaultLimits)
	assert.Equal(t, 7*time.Second, c.DrainTimeout)
	assert.False(t, c.Simulator)
}

func TestFlagOverridesEnvironmentAndEnvironmentOverridesFile(t *testing.T) {
	file := createYAMLFile(t, "data: /file\nhttp_addr: 127.0.0.1:1001\nsip_addr: 127.0.0.1:1001\ndefault_limits: {calls_per_minute: 9}\n")
	env := []string{"CALLBOARD_HTTP_ADDR=127.0.0.1:1002", "CALLBOARD_SIP_ADDR=127.0.0.1:1012", "CALLBOARD_DEFAULT_LIMITS=calls_per_minute=8", "HOME=/root"}
	c, err := configs.Load(file, env, map[string]string{"http": "127.0.0.1:1003"})
	require.NoError(t, err)
	assert.Equal(t, "/file", c.Data)
	assert.Equal(t, "127.0.0.1:1012", c.SIP.Addr.String())
	assert.Equal(t, "127.0.0.1:1003", c.HTTP.Addr.String())
	assert.Equal(t, 8, c.DefaultLimits.CallsPerMinute)
	from := make(map[string]string)
	for _, s := range c.EffectiveSettings() {
		from[s.Key] = s.Source
	}
	assert.Equal(t, []string{"file", "environment", "flag", "default"}, []string{from["data"], from["sip_addr"], from["http_addr"], from["log_level"]})
}

func TestSurviveCallsDefaultsToTrueWithNodeAddr(t *testing.T) {
	node := []string{"CALLBOARD_NODE_ADDR=10.0.0.7:8090", "CALLBOARD_REDIS_URL=redis://h", "CALLBOARD_MASTER_KEY_FILE=" + createFile(t, "key"), "CALLBOARD_BLOBS_URL=file:///mnt/shared"}
	for name, c := range map[string]struct {
		env  []string
		want bool
	}{
		"a single process":           {nil, false},
		"a single process, enabled":  {[]string{"CALLBOARD_SURVIVE_CALLS=true"}, true},
		"a node":                     {node, true},
		"a node with an empty value": {append(node, "CALLBOARD_SURVIVE_CALLS="), true},
		"a node, disabled":           {append(node, "CALLBOARD_SURVIVE_CALLS=false"), false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := configs.Load("", c.env, nil)
			require.NoError(t, err)
			assert.Equal(t, c.want, cfg.Node.SurviveCalls)
			for _, s := range cfg.EffectiveSettings() {
				if s.Key == "survive_calls" {
					assert.Equal(t, strconv.FormatBool(c.want), s.Value)
				}
			}
		})
	}
}

func TestEmptyValueMeansDefault(t *testing.T) {
	c, err := configs.Load(createYAMLFile(t, "http_addr: 127.0.0.1:1\nredis_url: redis://h\n"), []string{"CALLBOARD_HTTP_ADDR=", "CALLBOARD_REDIS_URL= "}, nil)
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:8080", c.HTTP.Addr.String())
	assert.Empty(t, c.RedisURL.Reveal())
}

func TestAllWrongSettingsAreReportedWithValueAndRule(t *testing.T) {
	file := createYAMLFile(t, "htp_addr: 127.0.0.1:1\ndrain_seconds: 1h\nlog_level: {a: 1}\n")
	env := []string{"CALLBOARD_SIP_ADR=x", "CALLBOARD_MEDIA_PORTS=30000", "CALLBOARD_DEFAULT_LIMITS=calls=7", "CALLBOARD_XYZZY=1", "CALLBOARD_REDIS_URL=redis://:s3cr3t@h:port"}
	_, err := configs.Load(file, env, map[string]string{"http": "0.0.0.0:80", "dat": "x"})
	assert.Equal(t, []string{
		"htp_addr in callboard.yaml: there is no such setting; did you mean http_addr or sip_addr or smtp_addr?",
		"CALLBOARD_SIP_ADR: there is no such setting; did you mean CALLBOARD_SIP_ADDR?",
		"CALLBOARD_XYZZY: there is no such setting",
		"--dat: there is no such setting; did you mean data?",
		`CALLBOARD_REDIS_URL = "[hidden]": must be a URL such as redis://host:6379/0 or, for TLS, rediss://host:6379, with user:password@ before the host if Redis requires authentication`,
		`CALLBOARD_MEDIA_PORTS = "30000": must be a range LOW-HIGH of at least two ports within 1024-65535`,
		`CALLBOARD_DEFAULT_LIMITS = "calls=7": must be a list of requests_per_minute, concurrent_inbound, concurrent_outbound and calls_per_minute, each =1 to =10000000, such as calls_per_minute=600`,
		`drain_seconds in callboard.yaml = "1h": must be a whole number of seconds from 0 to 3600`,
		`log_level in callboard.yaml = "a=1": must be debug, info, warn or error`,
		`--http = "0.0.0.0:80": must be a loopback address, unless tls_cert and tls_key, trusted_proxies or insecure_http is set`,
	}, problemLines(t, err))
	assert.Contains(t, err.Error(), "10 settings are wrong:\n  htp_addr")
}

func TestRulesBetweenSettings(t *testing.T) {
	cert := createFile(t, "cert.pem")
	for name, c := range map[string]struct {
		env  []string
		want string // empty: allowed
	}{
		"plain HTTP beyond loopback":         {[]string{"CALLBOARD_HTTP_ADDR=192.0.2.1:80"}, "CALLBOARD_HTTP_ADDR"},
		"plain HTTP on every IPv6 address":   {[]string{"CALLBOARD_HTTP_ADDR=[::]:80"}, "CALLBOARD_HTTP_ADDR"},
		"plain HTTP with insecure_http":      {[]string{"CALLBOARD_HTTP_ADDR=192.0.2.1:80", "CALLBOARD_INSECURE_HTTP=true"}, ""},
		"HTTP behind a proxy":                {[]string{"CALLBOARD_HTTP_ADDR=192.0.2.1:80", "CALLBOARD_TRUSTED_PROXIES=192.0.2.2"}, ""},
		"IPv6 loopback":                      {[]string{"CALLBOARD_HTTP_ADDR=[::1]:80"}, ""},
		"a certificate without its key":      {[]string{"CALLBOARD_TLS_CERT=" + cert}, "CALLBOARD_TLS_CERT"},
		"a key without its certificate":      {[]string{"CALLBOARD_TLS_KEY=" + cert}, "CALLBOARD_TLS_KEY"},
		"a proxy network of /0":              {[]string{"CALLBOARD_TRUSTED_PROXIES=::/0"}, "CALLBOARD_TRUSTED_PROXIES"},
		"SIP on 0.0.0.0 without a public IP": {[]string{"CALLBOARD_SIP_ADDR=0.0.0.0:5060"}, "CALLBOARD_SIP_ADDR"},
		"SIP on 0.0.0.0 with a public IP":    {[]string{"CALLBOARD_SIP_ADDR=0.0.0.0:5060", "CALLBOARD_PUBLIC_IP=203.0.113.5"}, ""},
		"SIP on the port of HTTP":            {[]string{"CALLBOARD_SIP_ADDR=127.0.0.1:8080"}, "CALLBOARD_SIP_ADDR"},
		"SIP among the media ports":          {[]string{"CALLBOARD_SIP_ADDR=127.0.0.1:20000"}, "CALLBOARD_MEDIA_PORTS"},
		"admin beyond loopback":              {[]string{"CALLBOARD_ADMIN_ADDR=192.0.2.1:9090"}, "CALLBOARD_ADMIN_ADDR"},
		"admin on the port of HTTP":          {[]string{"CALLBOARD_ADMIN_ADDR=127.0.0.1:8080"}, "CALLBOARD_ADMIN_ADDR"},
		"limits with the plan starter":       {[]string{"CALLBOARD_DEFAULT_PLAN=starter", "CALLBOARD_DEFAULT_LIMITS=calls_per_minute=1"}, "CALLBOARD_DEFAULT_LIMITS"},
		"a missing key file":                 {[]string{"CALLBOARD_MASTER_KEY_FILE=/nonexistent/key"}, "CALLBOARD_MASTER_KEY_FILE"},
		"a key file that is a folder":        {[]string{"CALLBOARD_MASTER_KEY_FILE=" + t.TempDir()}, "CALLBOARD_MASTER_KEY_FILE"},
		"a node without redis_url":           {[]string{"CALLBOARD_NODE_ADDR=10.0.0.7:8090", "CALLBOARD_MASTER_KEY_FILE=" + cert, "CALLBOARD_BLOBS_URL=file:///mnt/shared"}, "CALLBOARD_NODE_ADDR"},
		"a node without master_key_file":     {[]string{"CALLBOARD_NODE_ADDR=10.0.0.7:8090", "CALLBOARD_REDIS_URL=redis://h"}, "CALLBOARD_NODE_ADDR"},
		"a node":                             {[]string{"CALLBOARD_NODE_ADDR=10.0.0.7:8090", "CALLBOARD_REDIS_URL=redis://h", "CALLBOARD_MASTER_KEY_FILE=" + cert, "CALLBOARD_BLOBS_URL=file:///mnt/shared"}, ""},
		"a node on the port of HTTP":         {[]string{"CALLBOARD_NODE_ADDR=127.0.0.1:8080", "CALLBOARD_REDIS_URL=redis://h", "CALLBOARD_MASTER_KEY_FILE=" + cert, "CALLBOARD_BLOBS_URL=file:///mnt/shared"}, "CALLBOARD_NODE_ADDR"},
		"a node on 0.0.0.0":                  {[]string{"CALLBOARD_NODE_ADDR=0.0.0.0:8090", "CALLBOARD_REDIS_URL=redis://h", "CALLBOARD_MASTER_KEY_FILE=" + cert, "CALLBOARD_BLOBS_URL=file:///mnt/shared"}, "CALLBOARD_NODE_ADDR"},
		"a node without blobs_url":           {[]string{"CALLBOARD_NODE_ADDR=10.0.0.7:8090", "CALLBOARD_REDIS_URL=redis://h", "CALLBOARD_MASTER_KEY_FILE=" + cert}, ""},
		"a lease of 0 seconds":               {[]string{"CALLBOARD_LEASE_SECONDS=0"}, "CALLBOARD_LEASE_SECONDS"},
		"variables of the command line":      {[]string{"CALLBOARD_KEY=svc_sk_live_x", "CALLBOARD_URL=http://127.0.0.1:1", "CALLBOARD_PROFILE=a", "CALLBOARD_PROFILES=/nowhere"}, ""},
		"variables of a cluster":             {[]string{"CALLBOARD_PORT=tcp://10.0.0.1:8080", "CALLBOARD_SERVICE_HOST=10.0.0.1", "CALLBOARD_SERVICE_PORT_HTTP=8080", "CALLBOARD_PORT_8080_TCP_ADDR=10.0.0.1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := configs.Load("", c.env, nil)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			lines := problemLines(t, err)
			require.Len(t, lines, 1)
			assert.True(t, strings.HasPrefix(lines[0], c.want+" = "), lines[0])
		})
	}
}

func TestLoadRejectsFilesThatAreNotSettings(t *testing.T) {
	for name, path := range map[string]string{
		"absent":       filepath.Join(t.TempDir(), "none.yaml"),
		"empty":        createYAMLFile(t, ""),
		"a list":       createYAMLFile(t, "- a\n"),
		"broken":       createYAMLFile(t, "a: [\n"),
		"a key twice":  createYAMLFile(t, "data: a\ndata: b\n"),
		"far too long": createYAMLFile(t, strings.Repeat("# x\n", 1<<19)),
		"a folder":     t.TempDir(),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := configs.Load(path, nil, nil)
			require.Error(t, err)
			var invalid *configs.InvalidError
			assert.NotErrorAs(t, err, &invalid)
			assert.Contains(t, err.Error(), path)
		})
	}
}

func TestPasswordsAreHiddenInEveryOutput(t *testing.T) {
	for _, url := range []string{
		"redis://user:s3cr3t@host:6379/1?x=1", "redis://s3cr3t@host", "redis://:s3cr3t@host",
		"redis://s3cr3t/x@host", "redis://s3cr3t#x@host", "redis://u:s3cr3t/x@host", "http://u:s3cr3t@host", "u:s3cr3t@host:6379", "redis://h?p=s3cr3t",
	} {
		c, err := configs.Load("", []string{"CALLBOARD_REDIS_URL=" + url}, nil)
		if err != nil {
			assert.NotContains(t, err.Error(), "s3cr3t", url)
			continue
		}
		var log strings.Builder
		slog.New(slog.NewJSONHandler(&log, nil)).Info("settings", slog.Any("config", c), slog.Any("redis", c.RedisURL))
		slog.New(slog.NewTextHandler(&log, nil)).LogAttrs(t.Context(), slog.LevelInfo, "settings", c.LogAttrs()...)
		text, err := json.Marshal(c)
		require.NoError(t, err)
		printed := log.String() + string(text) + fmt.Sprintf("%v %+v %#v %s %v", c, *c, *c, c.RedisURL, c.EffectiveSettings())
		assert.NotContains(t, printed, "s3cr3t", url)
		assert.Contains(t, printed, "redis_url", url)
	}
}

func TestBaseURLFollowsListenAddress(t *testing.T) {
	for name, c := range map[string]struct {
		env    []string
		listen string
		want   string
	}{
		"given":                 {[]string{"CALLBOARD_PUBLIC_URL=https://x.example/base/"}, "127.0.0.1:1", "https://x.example/base"},
		"a free port":           {nil, "127.0.0.1:4321", "http://127.0.0.1:4321"},
		"everywhere":            {nil, "0.0.0.0:80", "http://127.0.0.1:80"},
		"everywhere, IPv6":      {nil, "[::]:80", "http://[::1]:80"},
		"everywhere, public IP": {[]string{"CALLBOARD_PUBLIC_IP=203.0.113.5"}, "[::]:80", "http://203.0.113.5:80"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := configs.Load("", c.env, nil)
			require.NoError(t, err)
			assert.Equal(t, c.want, cfg.BaseURL(netip.MustParseAddrPort(c.listen)))
		})
	}
	pem := createFile(t, "both.pem")
	cfg, err := configs.Load("", []string{"CALLBOARD_TLS_CERT=" + pem, "CALLBOARD_TLS_KEY=" + pem}, nil)
	require.NoError(t, err)
	assert.Equal(t, "https://127.0.0.1:8080", cfg.BaseURL(cfg.HTTP.Addr))
}

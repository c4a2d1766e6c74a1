package configs_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/configs"
)

func TestEgressAllowParsesNetworksAndPorts(t *testing.T) {
	allowed := func(prefix string, port uint16) configs.AllowedNetwork {
		return configs.AllowedNetwork{Prefix: netip.MustParsePrefix(prefix), Port: port}
	}
	for text, want := range map[string]*configs.AllowedNetwork{
		"127.0.0.0/8":      new(allowed("127.0.0.0/8", 0)),
		"127.1.2.3/8":      new(allowed("127.0.0.0/8", 0)),
		"10.0.0.0/8:5060":  new(allowed("10.0.0.0/8", 5060)),
		"10.0.0.1":         new(allowed("10.0.0.1/32", 0)),
		"10.0.0.1:443":     new(allowed("10.0.0.1/32", 443)),
		"fd00::/8":         new(allowed("fd00::/8", 0)),
		"fd00::/8:443":     new(allowed("fd00::/8", 443)),
		"[fd00::]/8:443":   new(allowed("fd00::/8", 443)),
		"[fd00::1]:443":    new(allowed("fd00::1/128", 443)),
		"fd00::1":          new(allowed("fd00::1/128", 0)),
		"::ffff:10.0.0.1":  new(allowed("10.0.0.1/32", 0)),
		"::ffff:1.0.0.0/8": nil,
		"10.0.0.0/33":      nil,
		"10.0.0.1:0":       nil,
		"10.0.0.1:65536":   nil,
		"10.0.0.1:":        nil,
		"[10.0.0.1]:443":   nil,
		"[fd00::1:443":     nil,
		"example.com:443":  nil,
		"10.0.0.1,":        nil,
		"fe80::1%eth0":     nil,
	} {
		t.Run(text, func(t *testing.T) {
			c, err := configs.Load("", []string{"CALLBOARD_EGRESS_ALLOW=" + text}, nil)
			if want == nil {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []configs.AllowedNetwork{*want}, c.Egress.AllowedNetworks)
		})
	}
}

func TestSIPAddrParsesListeners(t *testing.T) {
	cert, key := createFile(t, "cert.pem"), createFile(t, "key.pem")
	for text, want := range map[string]string{
		"127.0.0.1:5060": "udp 127.0.0.1:5060, tcp 127.0.0.1:5060",
		"udp://127.0.0.1:5060, tls://[2001:db8::1]:5061": "udp 127.0.0.1:5060, tls [2001:db8::1]:5061",
		"127.0.0.1:5060,tls://127.0.0.1:5061":            "udp 127.0.0.1:5060, tcp 127.0.0.1:5060, tls 127.0.0.1:5061",
		"udp://127.0.0.1:5060,tcp://127.0.0.1:5060":      "udp 127.0.0.1:5060, tcp 127.0.0.1:5060",
		"127.0.0.1:0,127.0.0.1:0":                        "udp 127.0.0.1:0, tcp 127.0.0.1:0, udp 127.0.0.1:0, tcp 127.0.0.1:0",
		"tcp://127.0.0.1:5060,tls://127.0.0.1:5060":      "", // both are the same TCP socket
		"127.0.0.1:5060,udp://127.0.0.1:5060":            "",
		"sctp://127.0.0.1:5060":                          "",
		"tls://carrier.example:5061":                     "",
		"://127.0.0.1:5060":                              "",
		"127.0.0.1:5060,":                                "",
		"tcp://127.0.0.1:8080":                           "", // the address of http_addr
		"udp://127.0.0.1:8080":                           "udp 127.0.0.1:8080",
		"udp://127.0.0.1:5060,udp://0.0.0.0:5070":        "", // public_ip is not set
	} {
		t.Run(text, func(t *testing.T) {
			c, err := configs.Load("", []string{"CALLBOARD_SIP_ADDR=" + text, "CALLBOARD_SIP_TLS_CERT=" + cert, "CALLBOARD_SIP_TLS_KEY=" + key}, nil)
			if want == "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			var got []string
			for _, l := range c.SIP.Listeners {
				for _, n := range l.Networks() {
					got = append(got, n+" "+l.Addr.String())
				}
			}
			assert.Equal(t, want, strings.Join(got, ", "))
			assert.Equal(t, c.SIP.Listeners[0].Addr, c.SIP.Addr)
		})
	}
}

func TestTLSListenerRequiresCertificate(t *testing.T) {
	cert, key := createFile(t, "cert.pem"), createFile(t, "key.pem")
	listen := "CALLBOARD_SIP_ADDR=tls://127.0.0.1:5061"
	_, err := configs.Load("", []string{listen}, nil)
	require.ErrorContains(t, err, "sip_tls_cert")
	_, err = configs.Load("", []string{listen, "CALLBOARD_SIP_TLS_CERT=" + cert}, nil)
	require.ErrorContains(t, err, "sip_tls_key")
	c, err := configs.Load("", []string{listen, "CALLBOARD_TLS_CERT=" + cert, "CALLBOARD_TLS_KEY=" + key}, nil)
	require.NoError(t, err)
	assert.Equal(t, []configs.KeyPair{{Chain: cert, Key: key}}, c.SIPKeyPairs())
}

func TestTLSListenerAcceptsSeveralKeyPairs(t *testing.T) {
	cert, key, more, other := createFile(t, "cert.pem"), createFile(t, "key.pem"), createFile(t, "cert2.pem"), createFile(t, "key2.pem")
	listen, certs := "CALLBOARD_SIP_ADDR=tls://127.0.0.1:5061", "CALLBOARD_SIP_TLS_CERT="+cert+", "+more
	c, err := configs.Load("", []string{listen, certs, "CALLBOARD_SIP_TLS_KEY=" + key + "," + other}, nil)
	require.NoError(t, err)
	assert.Equal(t, []configs.KeyPair{{Chain: cert, Key: key}, {Chain: more, Key: other}}, c.SIPKeyPairs())
	for _, keys := range []string{key, key + "," + other + "," + key, key + ",/nowhere"} {
		_, err = configs.Load("", []string{listen, certs, "CALLBOARD_SIP_TLS_KEY=" + keys}, nil)
		require.ErrorContains(t, err, "CALLBOARD_SIP_TLS_", keys)
	}
}

func TestInvalidValuesAreRejected(t *testing.T) {
	for _, line := range []string{
		"DATA=a\x00b", "HTTP_ADDR=8080", "HTTP_ADDR=:8080", "HTTP_ADDR=example.com:80", "HTTP_ADDR=127.0.0.1:65536", "HTTP_ADDR=224.0.0.1:80",
		"HTTP_ADDR=[fe80::1%eth0]:80", "PUBLIC_IP=0.0.0.0", "PUBLIC_IP=example.com", "PUBLIC_IP=ff02::1", "MEDIA_PORTS=30000-20000",
		"MEDIA_PORTS=20000-20000", "SIP_DSCP=64", "SIP_DSCP=-1", "SIP_PRIVATE=0.0.0.0/0", "SIP_TLS_CERT=/nowhere", "MEDIA_PORTS=80-90", "MEDIA_PORTS=20000-70000", "MEDIA_PORTS=-1-5", "PUBLIC_URL=ftp://h", "PUBLIC_URL=https://",
		"PUBLIC_URL=https://u@h", "PUBLIC_URL=https://h?a=1", "PUBLIC_URL=https://h?", "PUBLIC_URL=https://h#", "REDIS_URL=redis://", "REDIS_URL=redis://h/x",
		"REDIS_URL=redis://h/-1", "REDIS_URL=tcp://h", "EGRESS_PORTS=0", "EGRESS_PORTS=443,", "EGRESS_PORTS=a", "TRUSTED_PROXIES=0.0.0.0/0", "TRUSTED_PROXIES=a",
		"DRAIN_SECONDS=-1", "DRAIN_SECONDS=3601", "DRAIN_SECONDS=1.5", "LOG_LEVEL=loud", "LOG_FORMAT=xml", "SIMULATOR=maybe", "DEFAULT_PLAN=free",
		"DEFAULT_LIMITS=calls_per_minute", "DEFAULT_LIMITS=calls_per_minute=0", "DEFAULT_LIMITS=calls_per_minute=1,calls_per_minute=2", "DEFAULT_LIMITS=calls_per_minute=10000001",
	} {
		t.Run(line, func(t *testing.T) {
			_, err := configs.Load("", []string{"CALLBOARD_" + line}, nil)
			require.Len(t, problemLines(t, err), 1)
			name, _, _ := strings.Cut(line, "=")
			assert.Contains(t, err.Error(), "CALLBOARD_"+name+" = ")
		})
	}
}

// FuzzEnvironment gives arbitrary values to every setting. No value may cause a panic, and each error names the
// setting.
func FuzzEnvironment(f *testing.F) {
	for _, s := range []string{"", "127.0.0.1:80", "[::1]/8:443", "10.0.0.0/8:1,[", "20000-29999", "redis://u:p@h/1", "a=1,b=2", "https://h", "%zz"} {
		f.Add(s)
	}
	settings := configs.Settings()
	f.Fuzz(func(t *testing.T, value string) {
		for _, s := range settings {
			_, err := configs.Load("", []string{s.Env + "=" + value}, nil)
			if err != nil {
				assert.Contains(t, err.Error(), s.Env)
			}
		}
	})
}

// FuzzFile gives arbitrary bytes as the YAML file. Load must return an error or a complete configuration.
func FuzzFile(f *testing.F) {
	for _, s := range []string{"data: x\n", "a: &a [*a]\n", "\"a\\0b\": 1\n", "default_limits: {1: 2}\n", "egress_ports: [[1], {a: b}]\n", "log_level: 2020-01-01\n", "<<: {data: x}\n"} {
		f.Add([]byte(s))
	}
	path := filepath.Join(f.TempDir(), "fuzz.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.WriteFile(path, text, 0o600))
		c, err := configs.Load(path, nil, nil)
		if err == nil {
			assert.Len(t, c.EffectiveSettings(), len(configs.Settings()))
		}
	})
}

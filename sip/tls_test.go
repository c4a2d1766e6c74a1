package sip_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// authority is a certificate authority that issues certificates for a test.
type authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
	next atomic.Int64 // the last serial number; shared by parallel tests
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, root, root, &key.PublicKey, key)
	require.NoError(t, err)
	root, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(root)
	a := &authority{t: t, cert: root, key: key, pool: pool}
	a.next.Store(2)
	return a
}

// issue returns a certificate and its key for a host name or an IP address. The certificate is valid for the time good.
func (a *authority) issue(name string, good time.Duration) (chain, key []byte) {
	a.t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(a.next.Add(1)), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(good),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		leaf.IPAddresses = []net.IP{ip}
	} else {
		leaf.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.cert, &own.PublicKey, a.key)
	require.NoError(a.t, err)
	private, err := x509.MarshalECPrivateKey(own)
	require.NoError(a.t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})
}

// certificateSource returns a function that always returns the same new certificate for a name.
func (a *authority) certificateSource(name string, good time.Duration) func() (*tls.Certificate, error) {
	a.t.Helper()
	pair, err := tls.X509KeyPair(a.issue(name, good))
	require.NoError(a.t, err)
	return func() (*tls.Certificate, error) { return &pair, nil }
}

// listenTLS adds a TLS listener to a user agent.
func listenTLS(conf *transport.TLS, more func(*sip.Config, *sip.UserAgent)) func(*sip.Config, *sip.UserAgent) {
	return func(c *sip.Config, ua *sip.UserAgent) {
		if ua == nil {
			c.TLS = conf
			if conf != nil && conf.Certificate != nil {
				c.Listen = append(c.Listen, transport.Listener{Network: "tls", Addr: "127.0.0.1:0"})
			}
		}
		if more != nil {
			more(c, ua)
		}
	}
}

func newTLSInvite(ua *sip.UserAgent, here *eventLog, name string) sip.Invite {
	return sip.Invite{
		Attempt: "tls" + name, Target: resolve.Target{Host: "127.0.0.1", Port: int(ua.Addr("tls").Port()), Transport: "tls", Name: name},
		To: "+15550001", From: "+15559999", Body: []byte(sdp), Notify: here.add,
	}
}

func TestCallsOverTLS(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	there, here := newEventLog(), newEventLog()
	far := startUserAgent(t, listenTLS(&transport.TLS{Certificate: ca.certificateSource("sip.example.com", time.Hour), Roots: ca.pool}, answerCalls(there)))
	near := startUserAgent(t, listenTLS(&transport.TLS{Certificate: ca.certificateSource("near.example.com", time.Hour), Roots: ca.pool}, nil))
	d, err := near.Invite(newTLSInvite(far, here, "sip.example.com"))
	require.NoError(t, err)
	next[sip.Trying](t, here)
	next[sip.Ringing](t, here)
	answered := next[sip.Answered](t, here)
	assert.Contains(t, answered.State.RemoteTarget, ";transport=tls")
	assert.Equal(t, "tls", answered.State.Target.Transport)
	body, err := reinvite(t, d, there)
	require.NoError(t, err)
	assert.Equal(t, "answer", body)
	d.Bye(16, "done")
	assert.False(t, next[sip.Ended](t, here).Fault)
	assert.True(t, next[sip.Ended](t, there).ByRemote)
	assert.Equal(t, 1, near.Counters().TCP, "one connection for the whole call")
}

func TestTLSPeerMustProveItsName(t *testing.T) {
	t.Parallel()
	ca, stranger := newAuthority(t), newAuthority(t)
	for name, c := range map[string]struct {
		roots *x509.CertPool
		by    func() (*tls.Certificate, error)
		names []string
		fine  bool
	}{
		"its name":             {ca.pool, ca.certificateSource("sip.example.com", time.Hour), []string{"sip.example.com"}, true},
		"its address":          {ca.pool, ca.certificateSource("127.0.0.1", time.Hour), []string{""}, true},
		"one of many names":    {ca.pool, ca.certificateSource("*.example.com", time.Hour), []string{"a.example.com"}, true},
		"another name":         {ca.pool, ca.certificateSource("sip.example.com", time.Hour), []string{"sip.example.org", "example.com"}, false},
		"a name, not address":  {ca.pool, ca.certificateSource("sip.example.com", time.Hour), []string{""}, false},
		"out of date":          {ca.pool, ca.certificateSource("sip.example.com", -time.Minute), []string{"sip.example.com"}, false},
		"from somebody else":   {ca.pool, stranger.certificateSource("sip.example.com", time.Hour), []string{"sip.example.com"}, false},
		"the machine's issuer": {nil, ca.certificateSource("sip.example.com", time.Hour), []string{"sip.example.com"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there := newEventLog()
			far := startUserAgent(t, listenTLS(&transport.TLS{Certificate: c.by}, answerCalls(there)))
			near := startUserAgent(t, listenTLS(&transport.TLS{Roots: c.roots}, nil))
			for _, name := range c.names {
				here := newEventLog()
				_, err := near.Invite(newTLSInvite(far, here, name))
				require.NoError(t, err)
				if c.fine {
					next[sip.Trying](t, here)
					continue
				}
				f := next[sip.Refused](t, here).Final
				assert.True(t, f.TransportFailure)
				assert.Contains(t, f.Phrase, "certificate")
				assert.Zero(t, far.Counters().Received, "no message was sent to the wrong peer")
			}
		})
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	far := startUserAgent(t, listenTLS(&transport.TLS{Certificate: ca.certificateSource("127.0.0.1", time.Hour)}, nil))
	addr := far.Addr("tls").String()
	_, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: ca.pool, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	require.Error(t, err)
	c, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: ca.pool, MaxVersion: tls.VersionTLS12})
	require.NoError(t, err)
	require.NoError(t, c.Close())

	old, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return ca.certificateSource("127.0.0.1", time.Hour)()
		},
	})
	require.NoError(t, err)
	defer func() { _ = old.Close() }()
	go func() {
		for {
			c, err := old.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = c.Read(make([]byte, 1)); _ = c.Close() }()
		}
	}()
	here := newEventLog()
	near := startUserAgent(t, listenTLS(&transport.TLS{Roots: ca.pool}, nil))
	_, err = near.Invite(sip.Invite{
		Attempt: "old", Target: resolve.Target{Host: "127.0.0.1", Port: old.Addr().(*net.TCPAddr).Port, Transport: "tls"},
		To: "+1", From: "+2", Notify: here.add,
	})
	require.NoError(t, err)
	assert.True(t, next[sip.Refused](t, here).Final.TransportFailure)
}

func TestTLSListenerRequiresClientCertificate(t *testing.T) {
	t.Parallel()
	ca, stranger := newAuthority(t), newAuthority(t)
	far := startUserAgent(t, listenTLS(&transport.TLS{Certificate: ca.certificateSource("127.0.0.1", time.Hour), Clients: ca.pool}, answerCalls(newEventLog())))
	for name, c := range map[string]struct {
		by   func() (*tls.Certificate, error)
		fine bool
	}{"ours": {ca.certificateSource("near", time.Hour), true}, "nobody's": {nil, false}, "strange": {stranger.certificateSource("near", time.Hour), false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here := newEventLog()
			near := startUserAgent(t, listenTLS(&transport.TLS{Certificate: c.by, Roots: ca.pool}, nil))
			in := newTLSInvite(far, here, "")
			if !c.fine { // no answer arrives, so the test waits briefly only
				in.SilentAfter = 500 * time.Millisecond
			}
			_, err := near.Invite(in)
			require.NoError(t, err)
			if c.fine {
				next[sip.Trying](t, here)
				return
			}
			f := next[sip.Refused](t, here).Final
			assert.True(t, f.TransportFailure || f.NoResponse, "%+v", f)
		})
	}
}

func TestTLSCertificateFilesAreReloaded(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	dir := t.TempDir()
	chain, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write := func(name string, at time.Time) {
		c, k := ca.issue(name, time.Hour)
		for path, b := range map[string][]byte{chain: c, key: k} {
			require.NoError(t, os.WriteFile(path, b, 0o600))
			require.NoError(t, os.Chtimes(path, at, at))
		}
	}
	write("one.example.com", time.Unix(1000, 0))
	far := startUserAgent(t, listenTLS(&transport.TLS{Certificate: transport.CertificateFiles(chain, key, nil)}, nil))
	shown := func() string {
		c, err := tls.Dial("tcp", far.Addr("tls").String(), &tls.Config{InsecureSkipVerify: true})
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		return c.ConnectionState().PeerCertificates[0].DNSNames[0]
	}
	assert.Equal(t, "one.example.com", shown())
	write("two.example.com", time.Unix(2000, 0))
	assert.Equal(t, "two.example.com", shown())
	// While the certificate file is half-written, the previous certificate stays in use.
	require.NoError(t, os.WriteFile(chain, []byte("-----BEGIN"), 0o600))
	assert.Equal(t, "two.example.com", shown())
	require.NoError(t, os.Remove(key))
	assert.Equal(t, "two.example.com", shown())
	write("three.example.com", time.Unix(3000, 0))
	assert.Equal(t, "three.example.com", shown())
	// While the key cannot be read, the previous pair stays in use. Once the key can be read, the new pair is used,
	// although the size and time of the file have not changed.
	write("four.example.com", time.Unix(4000, 0))
	right, err := os.ReadFile(key)
	require.NoError(t, err)
	put := func(text []byte) {
		require.NoError(t, os.WriteFile(key, text, 0o600))
		require.NoError(t, os.Chtimes(key, time.Unix(4000, 0), time.Unix(4000, 0)))
	}
	put(make([]byte, len(right)))
	assert.Equal(t, "three.example.com", shown())
	put(right)
	assert.Equal(t, "four.example.com", shown())
}

func TestTLSCertificateIsSelectedBySNI(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	far := startUserAgent(t, listenTLS(&transport.TLS{
		Certificate: ca.certificateSource("one.example.com", time.Hour),
		Others:      []func() (*tls.Certificate, error){ca.certificateSource("two.example.com", time.Hour), ca.certificateSource("three.example.com", time.Hour)},
	}, nil))
	for asked, want := range map[string]string{
		"one.example.com": "one.example.com", "two.example.com": "two.example.com", "three.example.com": "three.example.com",
		"": "one.example.com", "four.example.com": "one.example.com",
	} {
		c, err := tls.Dial("tcp", far.Addr("tls").String(), &tls.Config{ServerName: asked, InsecureSkipVerify: true})
		require.NoError(t, err)
		assert.Equal(t, want, c.ConnectionState().PeerCertificates[0].DNSNames[0], asked)
		require.NoError(t, c.Close())
	}
	broken := &transport.TLS{
		Certificate: ca.certificateSource("one.example.com", time.Hour),
		Others:      []func() (*tls.Certificate, error){transport.CertificateFiles("/nowhere.pem", "/nowhere.key", nil)},
	}
	ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "tls", Addr: "127.0.0.1:0"}}, TLS: broken})
	require.NoError(t, err)
	require.ErrorContains(t, ua.Serve(t.Context()), "certificate")
}

func TestTLSListenerNeedsCertificate(t *testing.T) {
	t.Parallel()
	for _, conf := range []*transport.TLS{nil, {}, {Certificate: transport.CertificateFiles("/nowhere.pem", "/nowhere.key", nil)}} {
		ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "tls", Addr: "127.0.0.1:0"}}, TLS: conf})
		require.NoError(t, err)
		require.ErrorContains(t, ua.Serve(t.Context()), "ertificate")
	}
}

// TestTLSDialogIgnoresUDPContact: a TLS dialog does not follow a Contact that leads to an unencrypted transport.
func TestTLSDialogIgnoresUDPContact(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	open, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = open.Close() }()
	conf := &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return ca.certificateSource("127.0.0.1", time.Hour)()
	}}
	l, err := tls.Listen("tcp", "127.0.0.1:0", conf)
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	got := make(chan string, 4)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		buf := make([]byte, 8192)
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			m := msg{text: string(buf[:n])}
			got <- m.method()
			switch m.method() {
			case "INVITE":
				_, _ = c.Write([]byte(m.reply(200, "p1", "Contact: <sip:peer@"+open.LocalAddr().String()+";transport=udp>", sdp)))
			case "BYE":
				_, _ = c.Write([]byte(m.reply(200, "p1")))
			}
		}
	}()
	here := newEventLog()
	near := startUserAgent(t, listenTLS(&transport.TLS{Roots: ca.pool}, nil))
	d, err := near.Invite(sip.Invite{
		Attempt: "a", Target: resolve.Target{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Transport: "tls"}, To: "+1", From: "+2", Notify: here.add,
		Body: []byte(sdp), // without a body the ACK would wait for the answer to the remote party's offer
	})
	require.NoError(t, err)
	next[sip.Answered](t, here)
	assert.Equal(t, "INVITE", <-got)
	assert.Equal(t, "ACK", <-got)
	d.Bye(16, "")
	next[sip.Ended](t, here)
	assert.Equal(t, "BYE", <-got)
}

func TestTLSDialogReusesInboundConnection(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	there := newEventLog()
	far := startUserAgent(t, listenTLS(&transport.TLS{Certificate: ca.certificateSource("127.0.0.1", time.Hour)}, answerCalls(there)))
	c, err := tls.Dial("tcp", far.Addr("tls").String(), &tls.Config{RootCAs: ca.pool})
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	_, err = c.Write([]byte(strings.NewReplacer("SIP/2.0/UDP", "SIP/2.0/TLS", "5070>", "5070;transport=tls>").Replace(inboundInvite())))
	require.NoError(t, err)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
	var all string
	buf := make([]byte, 8192)
	for !strings.Contains(all, "SIP/2.0 200") {
		n, err := c.Read(buf)
		require.NoError(t, err, all)
		all += string(buf[:n])
	}
	contact := msg{text: all[strings.Index(all, "SIP/2.0 200"):]}.get("Contact")
	want := netip.MustParseAddrPort(far.Addr("tls").String())
	assert.Equal(t, "<sip:+15551000@"+want.String()+";transport=tls>", contact)
}

package alerts_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"math/big"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/alerts"
)

// smtpServer is a mail server on a real socket that stores the emails it receives.
type smtpServer struct {
	*testing.T
	listener       net.Listener
	tls            *tls.Config
	roots          *x509.CertPool
	credentials    string // username, zero byte, password; "": no authentication
	implicitTLS    bool   // TLS from the first byte
	offersSTARTTLS bool   // offers STARTTLS
	dropsAfterData bool   // closes the connection after accepting an email

	mu         sync.Mutex
	rejections int // number of emails rejected with 451
	received   []receivedEmail
}

// receivedEmail is one email that the mail server accepted.
type receivedEmail struct {
	from string
	to   []string
	data string
	tls  bool
	user string
}

func newSMTPServer(t *testing.T, change func(*smtpServer)) *smtpServer {
	t.Helper()
	b := &smtpServer{T: t, offersSTARTTLS: true}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	card := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, card, card, key.Public(), key)
	require.NoError(t, err)
	signed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	b.roots = x509.NewCertPool()
	b.roots.AddCert(signed)
	b.tls = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
	if change != nil {
		change(b)
	}
	b.listener, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := b.listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() { b.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = b.listener.Close()
		open.Wait()
	})
	return b
}

// client returns an SMTP client that connects to this mail server with the given encryption mode.
func (b *smtpServer) client(how string) *alerts.SMTP {
	at, _ := b.listener.Addr().(*net.TCPAddr)
	return &alerts.SMTP{Host: "127.0.0.1", Port: at.Port, From: "callboard@example.com", TLS: how, Roots: b.roots, Domain: "callboard.example"}
}

func (b *smtpServer) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	secure := false
	if b.implicitTLS {
		c, secure = tls.Server(c, b.tls), true
	}
	r := bufio.NewReader(c)
	say := func(line string) { _, _ = fmt.Fprint(c, line, "\r\n") }
	say("220 mail ESMTP")
	one := receivedEmail{tls: secure}
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		verb, rest, _ := strings.Cut(line, " ")
		switch strings.ToUpper(verb) {
		case "EHLO":
			say("250-mail")
			if b.offersSTARTTLS && !one.tls {
				say("250-STARTTLS")
			}
			if b.credentials != "" && one.tls {
				say("250-AUTH PLAIN")
			}
			say("250 8BITMIME")
		case "STARTTLS":
			say("220 go on")
			c, one.tls = tls.Server(c, b.tls), true
			r = bufio.NewReader(c)
		case "AUTH":
			text, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(rest, "PLAIN "))
			if strings.TrimPrefix(string(text), "\x00") != b.credentials {
				say("535 5.7.8 no")
				continue
			}
			one.user = b.credentials
			say("235 yes")
		case "MAIL":
			if b.credentials != "" && one.user == "" {
				say("530 5.7.0 who are you")
				continue
			}
			one.from = rest
			say("250 ok")
		case "RCPT":
			one.to = append(one.to, rest)
			say("250 ok")
		case "DATA":
			if b.rejectNext() {
				say("451 4.7.1 later, please\r\n")
				return
			}
			say("354 go on")
			data, err := readData(r)
			if err != nil {
				return
			}
			one.data = data
			b.mu.Lock()
			b.received = append(b.received, one)
			b.mu.Unlock()
			say("250 taken")
			if b.dropsAfterData {
				return
			}
			one = receivedEmail{tls: one.tls, user: one.user}
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (b *smtpServer) rejectNext() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rejections--
	return b.rejections >= 0
}

func readData(r *bufio.Reader) (string, error) {
	var all strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil || line == ".\r\n" {
			return all.String(), err
		}
		all.WriteString(strings.TrimPrefix(line, "."))
	}
}

func (b *smtpServer) emails() []receivedEmail {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]receivedEmail(nil), b.received...)
}

func TestSMTPSendByEncryptionAndLogin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		how    string
		change func(*smtpServer)
		login  string
		fails  string
	}{
		"starttls":                     {how: alerts.TLSStartTLS},
		"tls":                          {how: alerts.TLSImplicit, change: func(b *smtpServer) { b.implicitTLS = true }},
		"no encryption":                {how: alerts.TLSNone},
		"STARTTLS with password":       {how: alerts.TLSStartTLS, change: func(b *smtpServer) { b.credentials = "ada\x00secret" }, login: "ada\x00secret"},
		"TLS with password":            {how: alerts.TLSImplicit, change: func(b *smtpServer) { b.credentials, b.implicitTLS = "ada\x00secret", true }, login: "ada\x00secret"},
		"wrong password":               {how: alerts.TLSStartTLS, change: func(b *smtpServer) { b.credentials = "ada\x00secret" }, login: "ada\x00guess", fails: "535"},
		"STARTTLS not offered":         {how: alerts.TLSStartTLS, change: func(b *smtpServer) { b.offersSTARTTLS = false }, fails: "STARTTLS"},
		"password without TLS":         {how: alerts.TLSNone, login: "ada\x00secret", fails: "could not be sent"},
		"connection closed after data": {how: alerts.TLSNone, change: func(b *smtpServer) { b.dropsAfterData = true }},
		"temporary rejection":          {how: alerts.TLSNone, change: func(b *smtpServer) { b.rejections = 1 }, fails: "451"},
		"unknown certificate":          {how: alerts.TLSStartTLS, change: func(b *smtpServer) { b.roots = x509.NewCertPool() }, fails: "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSMTPServer(t, c.change)
			s := b.client(c.how)
			s.Username, s.Password, _ = strings.Cut(c.login, "\x00")
			err := s.Send(t.Context(), alerts.Email{ID: "mail_1", To: []string{"ops@example.com", "ada@example.com"}, Subject: "[callboard] trunk Ä is down", Body: "one\n.\ntwo\n"})
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				assert.NotContains(t, err.Error(), "secret")
				assert.Empty(t, b.emails())
				return
			}
			require.NoError(t, err)
			require.Len(t, b.emails(), 1)
			got := b.emails()[0]
			assert.Equal(t, []any{c.how != alerts.TLSNone, c.login, 2}, []any{got.tls, got.user, len(got.to)})
			m, err := mail.ReadMessage(strings.NewReader(got.data))
			require.NoError(t, err)
			assert.Equal(t, []string{"<mail_1@example.com>", "auto-generated"}, []string{m.Header.Get("Message-Id"), m.Header.Get("Auto-Submitted")})
		})
	}
}

func TestSMTPHeaderInjectionIsPrevented(t *testing.T) {
	t.Parallel()
	b := newSMTPServer(t, nil)
	s := b.client(alerts.TLSNone)
	require.NoError(t, s.Send(t.Context(), alerts.Email{
		ID: "mail_1", To: []string{"ops@example.com"}, Subject: "x\r\nBcc: evil@example.com\r\n\r\nbody", Body: "y",
	}))
	got := b.emails()[0]
	m, err := mail.ReadMessage(strings.NewReader(got.data))
	require.NoError(t, err)
	assert.Empty(t, m.Header.Get("Bcc"))
	assert.Len(t, got.to, 1)
	require.Error(t, s.Send(t.Context(), alerts.Email{ID: "mail_2", To: []string{"ops@example.com>\r\nRCPT TO:<evil@example.com"}, Subject: "x", Body: "y"}))
	bound, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, s.Send(bound, alerts.Email{ID: "mail_3", To: []string{"ops@example.com"}, Subject: "x", Body: "y"}))
}

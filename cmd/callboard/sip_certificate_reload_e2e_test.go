package main_test

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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

// writeCertificate writes a self-signed certificate for 127.0.0.1 and its key.
func writeCertificate(t *testing.T, name, certFile, keyFile string) {
	t.Helper()
	writeCertificateFor(t, nodeHost, name, certFile, keyFile)
}

// writeCertificateFor writes a self-signed certificate for another address.
func writeCertificateFor(t *testing.T, at netip.Addr, name, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{at.AsSlice()},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), 0o600))
}

func TestSIPOverTLSReloadsRenewedCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "sip.pem"), filepath.Join(dir, "sip.key")
	writeCertificate(t, "first", cert, key)
	s := prepareService(t, "CALLBOARD_SIP_TLS_CERT="+cert, "CALLBOARD_SIP_TLS_KEY="+key)
	secure := "127.0.0.1:" + strconv.Itoa(s.sip+1)
	s.args = append(s.args, "--sip", "127.0.0.1:"+strconv.Itoa(s.sip)+",tls://"+secure)
	s.start()
	s.removeLimits()
	s.createTrunk("", siptest.Port(t)) // authorizes calls from the trunk's address

	ask := func() string {
		pool := x509.NewCertPool()
		text, err := os.ReadFile(cert)
		require.NoError(t, err)
		pool.AppendCertsFromPEM(text)
		c, err := tls.Dial("tcp", secure, &tls.Config{RootCAs: pool})
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		_, err = c.Write([]byte(strings.Join([]string{
			"OPTIONS sip:" + secure + " SIP/2.0", "Via: SIP/2.0/TLS 127.0.0.1:9;branch=z9hG4bKtls;rport", "From: <sip:a@b>;tag=1", "To: <sip:a@b>",
			"Call-ID: " + rand.Text(), "CSeq: 1 OPTIONS", "Max-Forwards: 70", "Content-Length: 0", "", "",
		}, "\r\n")))
		require.NoError(t, err)
		require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
		b := make([]byte, 4096)
		n, err := c.Read(b)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(string(b[:n]), "SIP/2.0 200"), string(b[:n]))
		return c.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	assert.Equal(t, "first", ask())
	writeCertificate(t, "second", cert, key)
	assert.Equal(t, "second", ask(), "without a restart")
}

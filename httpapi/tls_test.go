package httpapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
)

// certificate writes a self-signed certificate for the loopback address and returns its files.
func certificate(t *testing.T) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(certFile, text, 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	pool = x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(text))
	return certFile, keyFile, pool
}

func TestServerReloadsTLSCertificateWithoutRestart(t *testing.T) {
	var now atomic.Pointer[tls.Certificate]
	load := func() *x509.CertPool {
		certFile, keyFile, pool := certificate(t)
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		require.NoError(t, err)
		now.Store(&pair)
		return pool
	}
	first := load()
	d := startServer(t, httpapi.Config{Certificate: func() (*tls.Certificate, error) { return now.Load(), nil }})
	get := func(pool *x509.CertPool) ([]any, error) {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
		defer client.CloseIdleConnections()
		req := d.request("/v1/workspace")
		req.URL.Scheme = "https"
		res, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer func() { _ = res.Body.Close() }()
		return []any{res.StatusCode, res.Header.Get("Strict-Transport-Security")}, nil
	}
	got, err := get(first)
	require.NoError(t, err)
	assert.Equal(t, []any{200, "max-age=31536000"}, got)
	second := load()
	got, err = get(second)
	require.NoError(t, err)
	assert.Equal(t, []any{200, "max-age=31536000"}, got)
	_, err = get(first)
	require.ErrorAs(t, err, new(*tls.CertificateVerificationError), "the former certificate is not presented")
	missing := httpapi.New(httpapi.Config{Certificate: func() (*tls.Certificate, error) { return nil, os.ErrNotExist }}, newFakeServices().services())
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.ErrorIs(t, missing.Serve(ln), os.ErrNotExist)
	_ = ln.Close()
}

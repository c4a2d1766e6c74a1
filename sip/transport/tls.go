package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

var errNoCertificate = errors.New("sip: TLS without a certificate")

// TLS configures TLS connections, with TLS 1.2 or newer.
type TLS struct {
	// Certificate returns the certificate of this side. It is called at each handshake with a client, and with a server
	// that requests a client certificate. If it is nil, there is no certificate, and a TLS listener is impossible.
	Certificate func() (*tls.Certificate, error)
	// Others are further certificates. One of them is used if it has the name that the client requests (SNI) and
	// Certificate does not.
	Others []func() (*tls.Certificate, error)
	// Roots verify the certificates of peers to which this side connects. Default: the root certificates of the machine.
	Roots *x509.CertPool
	// Clients are the authorities of client certificates. If set, each connecting peer needs a certificate of one of them.
	Clients *x509.CertPool
}

// ServerConfig returns the TLS configuration for inbound connections.
func (t *TLS) ServerConfig() (*tls.Config, error) {
	if t == nil || t.Certificate == nil {
		return nil, errNoCertificate
	}
	for _, read := range append([]func() (*tls.Certificate, error){t.Certificate}, t.Others...) {
		if _, err := read(); err != nil {
			return nil, fmt.Errorf("sip: certificate: %w", err)
		}
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: t.certificateFor}
	if t.Clients != nil {
		conf.ClientCAs, conf.ClientAuth = t.Clients, tls.RequireAndVerifyClientCert
	}
	return conf, nil
}

// certificateFor returns the certificate for a client: the first that has the name which the client requests (SNI),
// otherwise Certificate.
func (t *TLS) certificateFor(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	first, err := t.Certificate()
	if err == nil && hello.SupportsCertificate(first) == nil {
		return first, nil
	}
	for _, read := range t.Others {
		if other, bad := read(); bad == nil && hello.SupportsCertificate(other) == nil {
			return other, nil
		}
	}
	return first, err
}

// ClientConfig returns the TLS configuration for outbound connections. The caller adds the name that the certificate of
// the peer must have (RFC 5922 §7.2).
func (t *TLS) ClientConfig() *tls.Config {
	conf := &tls.Config{MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(256)}
	if t == nil {
		return conf
	}
	conf.RootCAs = t.Roots
	if t.Certificate != nil {
		conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return t.Certificate() }
	}
	return conf
}

// CertificateFiles returns a TLS.Certificate that reads a certificate chain and its key from PEM files. After one of the
// files has changed, the next handshake reads both again. If the pair does not match or cannot be read, for example
// because it is half-written, this is logged once. Then the previous pair stays in use, and each handshake tries again.
// log may be nil.
func CertificateFiles(chain, key string, log *slog.Logger) func() (*tls.Certificate, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	f := &certificateFiles{chain: chain, key: key, log: log}
	return f.current
}

type certificateFiles struct {
	chain, key string
	log        *slog.Logger
	mu         sync.Mutex
	seen       [2]fileMark // times and sizes of the files of the loaded pair
	refused    string      // why the current files cannot be used, as logged
	loaded     *tls.Certificate
}

type fileMark struct {
	at   time.Time
	size int64
}

func (f *certificateFiles) current() (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, err := marks(f.chain, f.key)
	if err == nil && now == f.seen && f.loaded != nil {
		return f.loaded, nil
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(f.chain, f.key)
	}
	switch {
	case err == nil:
		if f.loaded != nil {
			f.log.Info("certificate_reloaded", slog.String("file", f.chain))
		}
		f.loaded, f.seen, f.refused = &pair, now, ""
	case f.loaded == nil:
		return nil, err
	case err.Error() != f.refused:
		f.refused = err.Error()
		f.log.Warn("certificate_kept", slog.String("file", f.chain), slog.Any("error", err))
	}
	return f.loaded, nil
}

func marks(files ...string) (all [2]fileMark, err error) {
	for i, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return all, err
		}
		all[i] = fileMark{info.ModTime(), info.Size()}
	}
	return all, nil
}

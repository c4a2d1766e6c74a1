package server

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/sip/transport"
)

// listenTLS returns a listener that accepts TLS connections if tls_cert is configured, or else ln itself.
func listenTLS(cfg *configs.Config, ln net.Listener, log *slog.Logger) (net.Listener, error) {
	if cfg.HTTP.CertFile == "" {
		return ln, nil
	}
	certificate := transport.CertificateFiles(cfg.HTTP.CertFile, cfg.HTTP.KeyFile, log)
	if _, err := certificate(); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return tls.NewListener(ln, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate() },
	}), nil
}

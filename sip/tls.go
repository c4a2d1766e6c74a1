package sip

import (
	"crypto/tls"
	"crypto/x509"
)

// TLS says how connections are secured, never below TLS 1.2.
type TLS struct {
	// Certificate is asked at each handshake: as the server's own, and as the
	// client's where a server demands one. Nil: we have none, and cannot listen.
	Certificate func() (*tls.Certificate, error)
	// Roots prove the far ends that we call; nil: those of the machine.
	Roots *x509.CertPool
	// Clients, if set, must have issued the certificate of whoever connects to us.
	Clients *x509.CertPool
}

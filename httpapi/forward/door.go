package forward

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"

	"golang.org/x/net/netutil"
)

// SeedSize is what a Credential is made of, in bytes.
const SeedSize = ed25519.SeedSize

// errStranger: whoever connects, or is connected to, is no node of this install.
var errStranger = errors.New("forward: the far end is no node of this install")

// Credential is what the nodes of an install know each other by: one key that
// all of them make of the same secret. It is used for connections between them
// and for nothing else.
type Credential struct {
	certificate tls.Certificate
	public      ed25519.PublicKey
}

// NewCredential makes it of SeedSize secret bytes.
func NewCredential(seed []byte) (*Credential, error) {
	if len(seed) != SeedSize {
		return nil, fmt.Errorf("forward: a seed has %d bytes, not %d", SeedSize, len(seed))
	}
	key := ed25519.NewKeyFromSeed(seed)
	public, _ := key.Public().(ed25519.PublicKey)
	// Nobody looks at the dates: the key alone counts, and clocks may be wrong.
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "callboard node"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, public, key)
	if err != nil {
		return nil, fmt.Errorf("forward: %w", err)
	}
	return &Credential{certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, public: public}, nil
}

// config is for both ends of a connection: each shows that it has the key.
func (c *Credential) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
		Certificates: []tls.Certificate{c.certificate}, ClientAuth: tls.RequireAnyClientCert,
		InsecureSkipVerify: true, //nolint:gosec // it is verified below, by its key instead of by names and authorities
		VerifyConnection:   c.verify,
	}
}

func (c *Credential) verify(s tls.ConnectionState) error {
	if len(s.PeerCertificates) == 0 {
		return errStranger
	}
	if key, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey); !ok || !bytes.Equal(key, c.public) {
		return errStranger
	}
	return nil
}

// Door takes the connections of other nodes from a listener. Whoever has not
// the key gets no further than the handshake, and takes no connection from
// clients.
func Door(ln net.Listener, c *Credential) net.Listener {
	return &door{Listener: tls.NewListener(netutil.LimitListener(ln, nodesMost), c.config())}
}

type door struct{ net.Listener }

// Accept is a net.Listener's.
func (d *door) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	secure, ok := conn.(*tls.Conn)
	if !ok {
		return nil, errStranger
	}
	return inner{secure}, nil
}

// inner is a connection of a node.
type inner struct{ *tls.Conn }

// RemoteAddr is the node's.
func (c inner) RemoteAddr() net.Addr { return NodeAddr{c.Conn.RemoteAddr()} }

// NodeAddr is where a node sends from; it speaks for the client that it names
// last in X-Forwarded-For.
type NodeAddr struct{ net.Addr }

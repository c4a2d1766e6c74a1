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

// SeedSize is the size in bytes of the seed of a Credential.
const SeedSize = ed25519.SeedSize

// errNoNode reports that a peer is not a node of this installation.
var errNoNode = errors.New("forward: the peer is not a node of this installation")

// Credential authenticates connections between the nodes of an installation. All nodes derive the same key from
// their shared secret.
type Credential struct {
	certificate tls.Certificate
	public      ed25519.PublicKey
}

// NewCredential derives the credential from SeedSize secret bytes.
func NewCredential(seed []byte) (*Credential, error) {
	if len(seed) != SeedSize {
		return nil, fmt.Errorf("forward: a seed has %d bytes, not %d", SeedSize, len(seed))
	}
	key := ed25519.NewKeyFromSeed(seed)
	public, _ := key.Public().(ed25519.PublicKey)
	// Peers verify the key and ignore the validity dates, because clocks of nodes may be wrong.
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

// config returns the TLS configuration for the client and the server of a connection. Each must prove that it has the
// key.
func (c *Credential) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
		Certificates: []tls.Certificate{c.certificate}, ClientAuth: tls.RequireAnyClientCert,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection checks the key instead of names and authorities
		VerifyConnection:   c.verify,
	}
}

func (c *Credential) verify(s tls.ConnectionState) error {
	if len(s.PeerCertificates) == 0 {
		return errNoNode
	}
	if key, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey); !ok || !bytes.Equal(key, c.public) {
		return errNoNode
	}
	return nil
}

// NodeListener returns a listener that accepts only connections of other nodes. The TLS handshake fails for a peer
// without the key of the installation.
func NodeListener(ln net.Listener, c *Credential) net.Listener {
	return &nodeListener{Listener: tls.NewListener(netutil.LimitListener(ln, maxPeerConns), c.config())}
}

type nodeListener struct{ net.Listener }

// Accept implements net.Listener.
func (d *nodeListener) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	secure, ok := conn.(*tls.Conn)
	if !ok {
		return nil, errNoNode
	}
	return nodeConn{secure}, nil
}

// nodeConn is a connection from another node. Its remote address is a NodeAddr.
type nodeConn struct{ *tls.Conn }

// RemoteAddr returns the address of the node as a NodeAddr.
func (c nodeConn) RemoteAddr() net.Addr { return NodeAddr{c.Conn.RemoteAddr()} }

// NodeAddr is the address of another node of the installation. For a request from this address, the last address in
// X-Forwarded-For is the client.
type NodeAddr struct{ net.Addr }

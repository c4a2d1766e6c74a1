package main_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

// Debian's SIPp has no TLS support. SIPp therefore uses TCP to a proxy in this process, and the proxy uses TLS to the
// service.

// certificates writes the certificate of the service and those of the proxy for IPv4 and IPv6. The file peers.pem
// contains the proxy's certificates, which the service must trust.
func certificates(t *testing.T, dir string) {
	t.Helper()
	var peers []byte
	for suffix, at := range map[string]netip.Addr{"": nodeHost, "6": netip.IPv6Loopback()} {
		writeCertificateFor(t, at, "peer", filepath.Join(dir, "peer"+suffix+".pem"), filepath.Join(dir, "peer"+suffix+".key"))
		peers = append(peers, readFile(t, dir, "peer"+suffix+".pem")...)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "peers.pem"), peers, 0o600))
	writeCertificate(t, "service", filepath.Join(dir, "service.pem"), filepath.Join(dir, "service.key"))
}

func readFile(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return text
}

// listenTLS accepts TLS connections from the service at the port after SIPp's port, and forwards them to SIPp.
func listenTLS(t *testing.T, dir string, p *scenarioPeer) {
	t.Helper()
	name := "peer"
	if p.target.Addr().Is6() {
		name = "peer6"
	}
	pair, err := tls.X509KeyPair(readFile(t, dir, name+".pem"), readFile(t, dir, name+".key"))
	require.NoError(t, err)
	l, err := tls.Listen("tcp", p.target.String(), &tls.Config{Certificates: []tls.Certificate{pair}})
	require.NoError(t, err)
	proxyConnections(t, l, func(service net.Conn) (net.Conn, net.Conn, error) {
		sipp, err := net.Dial("tcp", p.at.String())
		return sipp, service, err
	}, p)
}

// dialTLS forwards TCP connections from SIPp to the service over TLS. It returns the address to which SIPp connects.
func dialTLS(t *testing.T, dir string, remote netip.AddrPort, p *scenarioPeer) netip.AddrPort {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(readFile(t, dir, "service.pem"))
	at := netip.AddrPortFrom(remote.Addr(), uint16(siptest.Port(t)))
	l, err := net.Listen("tcp", at.String())
	require.NoError(t, err)
	proxyConnections(t, l, func(sipp net.Conn) (net.Conn, net.Conn, error) {
		service, err := tls.Dial("tcp", remote.String(), &tls.Config{RootCAs: pool, ServerName: nodeHost.String()})
		return sipp, service, err
	}, p)
	return at
}

// proxyConnections forwards data between SIPp and the service. join opens the second connection for each accepted one.
// In SIPp's messages, TCP becomes TLS and SIPp's address becomes the proxy's.
func proxyConnections(t *testing.T, l net.Listener, join func(net.Conn) (sipp, service net.Conn, err error), p *scenarioPeer) {
	t.Helper()
	var work sync.WaitGroup
	var mu sync.Mutex
	var open []io.Closer
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			sipp, service, err := join(c)
			if err != nil {
				_ = c.Close()
				continue
			}
			mu.Lock()
			open = append(open, sipp, service)
			mu.Unlock()
			work.Go(func() { _, _ = io.Copy(sipp, service); _ = sipp.Close() })
			work.Go(func() { rewriteTransport(service, sipp, p); _ = service.Close() })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		work.Wait()
	})
}

// rewriteTransport copies SIPp's messages to the service and replaces the transport and SIPp's address. SIPp writes
// each message at once, so no header is split between two reads.
func rewriteTransport(to io.Writer, from io.Reader, p *scenarioPeer) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		text := bytes.ReplaceAll(b[:n], []byte(p.at.String()), fmt.Append(nil, p.target.String()))
		text = bytes.ReplaceAll(text, []byte("SIP/2.0/TCP"), []byte("SIP/2.0/TLS"))
		text = bytes.ReplaceAll(text, []byte("transport=TCP"), []byte("transport=TLS"))
		if _, err = to.Write(text); err != nil {
			return
		}
	}
}

package main

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/sip/transport"
)

// urlAddrs are the addresses of a store, which no tenant may name.
func urlAddrs(text string, usual uint16) []netip.AddrPort {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	return addrsOf(u.Hostname(), u.Port(), usual)
}

// addrsOf are the addresses of a host at a port, or at the usual one.
func addrsOf(host, port string, usual uint16) (out []netip.AddrPort) {
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		usual = uint16(n)
	}
	found, err := net.LookupIP(host) //nolint:noctx // once, at the start
	if err != nil {
		return nil
	}
	for _, ip := range found {
		if a, ok := netip.AddrFromSlice(ip); ok {
			out = append(out, netip.AddrPortFrom(a.Unmap(), usual))
		}
	}
	return out
}

// egress is what tenants may name, less our own listeners and stores.
func (s *service) egress() access.Egress {
	e := access.Egress{Allow: slices.Clone(s.more.allow), Own: []netip.AddrPort{s.front}}
	for _, l := range s.cfg.SIP {
		e.Own = append(e.Own, l.Addr)
	}
	for _, a := range s.cfg.EgressAllow {
		e.Allow = append(e.Allow, access.Rule{Network: a.Prefix, Port: a.Port})
	}
	for _, p := range s.cfg.EgressPorts {
		e.Ports = append(e.Ports, int(p))
	}
	if s.cfg.AdminAddr.IsValid() {
		e.Own = append(e.Own, s.cfg.AdminAddr)
	}
	if s.cfg.NodeAddr.IsValid() {
		e.Own = append(e.Own, s.cfg.NodeAddr)
	}
	e.Own = append(e.Own, urlAddrs(s.cfg.RedisURL.Reveal(), 6379)...)
	e.Own = append(e.Own, blobAddrs(s.cfg.Blobs)...)
	e.Local = localAddrs()
	return e
}

// localAddrs are the addresses of this machine.
func localAddrs() []netip.Addr {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var out []netip.Addr
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				out = append(out, ip.Unmap())
			}
		}
	}
	return out
}

// secured speaks TLS on a listener of clients where that is set up.
func secured(cfg *configs.Config, ln net.Listener, log *slog.Logger) (net.Listener, error) {
	if cfg.TLSCert == "" {
		return ln, nil
	}
	certificate := transport.CertificateFiles(cfg.TLSCert, cfg.TLSKey, log)
	if _, err := certificate(); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return tls.NewListener(ln, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate() },
	}), nil
}

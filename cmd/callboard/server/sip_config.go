package server

import (
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/netip"
	"os"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/sip/transport"
)

// sipListeners returns the SIP listeners of the settings.
func sipListeners(cfg *configs.Config) []transport.Listener {
	var all []transport.Listener
	for _, l := range cfg.SIP.Listeners {
		for _, network := range l.Networks() {
			all = append(all, transport.Listener{Network: network, Addr: l.Addr.String()})
		}
	}
	return all
}

// ownAddrs returns the addresses of the SIP listeners, except for unspecified ones such as 0.0.0.0. SIP uses them as
// source addresses, also for loopback destinations.
func ownAddrs(cfg *configs.Config) []netip.Addr {
	var all []netip.Addr
	for _, l := range cfg.SIP.Listeners {
		if a := l.Addr.Addr().Unmap(); !a.IsUnspecified() {
			all = append(all, a)
		}
	}
	return all
}

// mediaAddr returns the local address for RTP. It is the address of the SIP listeners if all have the same address.
// Otherwise RTP is received on all local addresses of the listeners' IP versions.
func mediaAddr(cfg *configs.Config) netip.Addr {
	isSingle, hasIPv6 := true, false
	for _, at := range append([]netip.AddrPort{cfg.SIP.Addr}, sipAddrs(cfg)...) {
		ip := at.Addr().Unmap()
		isSingle = isSingle && ip == cfg.SIP.Addr.Addr().Unmap()
		hasIPv6 = hasIPv6 || ip.Is6()
	}
	switch {
	case isSingle:
		return cfg.SIP.Addr.Addr()
	case hasIPv6:
		return netip.IPv6Unspecified()
	}
	return netip.IPv4Unspecified()
}

// sipAddrs returns the addresses of the SIP listeners.
func sipAddrs(cfg *configs.Config) (out []netip.AddrPort) {
	for _, l := range cfg.SIP.Listeners {
		out = append(out, l.Addr)
	}
	return out
}

// sipTLS returns the TLS configuration of SIP. Without a configured certificate, only outbound TLS works.
func sipTLS(cfg *configs.Config, log *slog.Logger) (*transport.TLS, error) {
	t := new(transport.TLS)
	for i, f := range cfg.SIPKeyPairs() {
		if read := transport.CertificateFiles(f.Chain, f.Key, log); i == 0 {
			t.Certificate = read
		} else {
			t.Others = append(t.Others, read)
		}
	}
	if cfg.SIP.CAFile != "" {
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool()
		}
		if t.Roots, err = addPEM(roots, "sip_tls_ca_file", cfg.SIP.CAFile); err != nil {
			return nil, err
		}
	}
	if cfg.SIP.ClientCAFile != "" {
		var err error
		if t.Clients, err = addPEM(x509.NewCertPool(), "sip_tls_client_ca_file", cfg.SIP.ClientCAFile); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// addPEM adds the certificates of a PEM file to a pool. setting is the name of the setting for the error text.
func addPEM(pool *x509.CertPool, setting, path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path) //nolint:gosec // the operator chooses the path
	if err != nil {
		return nil, err
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s = %s: must hold certificates in PEM", setting, path)
	}
	return pool, nil
}

// sipURI returns the URI to which carriers send calls.
func sipURI(cfg *configs.Config) string {
	at := cfg.SIP.Addr
	if cfg.PublicIP.IsValid() {
		at = netip.AddrPortFrom(cfg.PublicIP, at.Port())
	}
	return "sip:" + at.String()
}

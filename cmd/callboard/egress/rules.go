// Package egress provides the rules for outgoing connections: the addresses to which tenants may connect, and the
// certificate authorities that connections trust.
package egress

import (
	"crypto/x509"
	"fmt"
	"net/netip"
	"os"
	"slices"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain/access"
)

// Rules returns the rules for addresses that tenants configure, such as webhook URLs. allow adds permitted networks.
// httpAddr is the service's own HTTP listener, which tenants may not use.
func Rules(cfg *configs.Config, allow []access.EgressRule, httpAddr netip.AddrPort) access.Egress {
	e := access.Egress{Allow: slices.Clone(allow), OwnListeners: []netip.AddrPort{httpAddr}}
	for _, l := range cfg.SIP.Listeners {
		e.OwnListeners = append(e.OwnListeners, l.Addr)
	}
	for _, a := range cfg.Egress.AllowedNetworks {
		e.Allow = append(e.Allow, access.EgressRule{Network: a.Prefix, Port: a.Port})
	}
	for _, p := range cfg.Egress.Ports {
		e.Ports = append(e.Ports, int(p))
	}
	if cfg.HTTP.AdminAddr.IsValid() {
		e.OwnListeners = append(e.OwnListeners, cfg.HTTP.AdminAddr)
	}
	if cfg.Node.Addr.IsValid() {
		e.OwnListeners = append(e.OwnListeners, cfg.Node.Addr)
	}
	e.OwnListeners = append(e.OwnListeners, urlAddrs(cfg.RedisURL.Reveal(), 6379)...)
	e.OwnListeners = append(e.OwnListeners, blobAddrs(cfg.Blobs)...)
	e.LocalAddresses = localAddrs()
	return e
}

// Roots returns the certificate authorities that outgoing connections trust: the system's, those of egress_ca_file
// and rootCA in PEM. It returns nil if only the system's are trusted.
func Roots(cfg *configs.Config, rootCA []byte) (*x509.CertPool, error) {
	if cfg.Egress.CAFile == "" && rootCA == nil {
		return nil, nil //nolint:nilnil // nil: the system's
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if cfg.Egress.CAFile != "" {
		pem, err := os.ReadFile(cfg.Egress.CAFile)
		if err != nil {
			return nil, err
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("egress_ca_file = %s: must hold certificates in PEM", cfg.Egress.CAFile)
		}
	}
	pool.AppendCertsFromPEM(rootCA)
	return pool, nil
}

// Package egress holds the rules for outgoing connections: which addresses tenants may
// name, and which certificate authorities are trusted.
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

// Rules are the rules for addresses that tenants name. allow are rules beside
// those of the settings; front is the address of our HTTP listener.
func Rules(cfg *configs.Config, allow []access.EgressRule, front netip.AddrPort) access.Egress {
	e := access.Egress{Allow: slices.Clone(allow), OwnListeners: []netip.AddrPort{front}}
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

// Roots are the certificate authorities that outgoing connections trust: those of
// the machine, of egress_ca_file and rootCA in PEM. Nil: those of the machine alone.
func Roots(cfg *configs.Config, rootCA []byte) (*x509.CertPool, error) {
	if cfg.Egress.CAFile == "" && rootCA == nil {
		return nil, nil //nolint:nilnil // nil: those of the machine
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

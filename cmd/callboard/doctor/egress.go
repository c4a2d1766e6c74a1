package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/netip"
	"os"
)

// metadata is where clouds tell machines their secrets.
var metadata = []netip.Addr{netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("100.100.100.200")} //nolint:gochecknoglobals // a list

// egress looks at what tenants may reach, and whether webhooks get out.
func (d *Diagnosis) egress(ctx context.Context) {
	for _, a := range d.Config.Egress.AllowedNetworks {
		if a.Prefix.Bits() == 0 {
			d.report.bad("egress_open", "name the networks that webhooks and trunks need", "egress_allow has %s: tenants reach everything that this machine reaches", a.Prefix)
			continue
		}
		for _, m := range metadata {
			if a.Prefix.Contains(m) {
				d.report.bad("egress_metadata", "name narrower networks", "egress_allow has %s with %s, where clouds tell machines their secrets", a.Prefix, m)
			}
		}
	}
	if d.Reach != "" {
		d.reach(ctx)
	}
}

// reach tries what a webhook does: a name, a connection, a certificate.
func (d *Diagnosis) reach(ctx context.Context) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if path := d.Config.Egress.CAFile; path != "" {
		if text, failed := os.ReadFile(path); failed == nil { //nolint:gosec // the operator names it
			roots.AppendCertsFromPEM(text)
		}
	}
	to := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, d.Reach, http.NoBody)
	if err != nil || req.URL.Scheme != "https" {
		d.report.bad("egress", "--reach must be an https:// URL", "%s is none", d.Reach)
		return
	}
	resp, err := to.Do(req)
	var verify *tls.CertificateVerificationError
	switch {
	case err == nil:
		_ = resp.Body.Close()
		d.report.ok("egress", "%s answers %d", d.Reach, resp.StatusCode)
	case errors.As(err, &verify):
		d.report.bad("egress_certificate", "name its authority in egress_ca_file", "the certificate of %s is not trusted: %v", d.Reach, verify.Err)
	default:
		d.report.bad("egress", "open the firewall for outgoing TCP 443, and look at the name servers; webhooks go by no proxy", "webhooks do not get out: %v", err)
	}
}

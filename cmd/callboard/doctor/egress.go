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

// metadataAddresses are the addresses at which clouds give machines their credentials.
var metadataAddresses = []netip.Addr{netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("100.100.100.200")} //nolint:gochecknoglobals // a list

// checkEgress reports egress rules that let tenants reach every network or a cloud metadata service. It also checks
// whether webhooks reach ReachURL.
func (d *Diagnosis) checkEgress(ctx context.Context) {
	for _, a := range d.Config.Egress.AllowedNetworks {
		if a.Prefix.Bits() == 0 {
			d.report.bad("egress_open", "list only the networks that webhooks and trunks need", "egress_allow contains %s: tenants can reach every address that this machine can reach", a.Prefix)
			continue
		}
		for _, m := range metadataAddresses {
			if a.Prefix.Contains(m) {
				d.report.bad("egress_metadata", "list narrower networks", "egress_allow contains %s with %s, where clouds give machines their credentials", a.Prefix, m)
			}
		}
	}
	if d.ReachURL != "" {
		d.checkReachURL(ctx)
	}
}

// checkReachURL sends a HEAD request to ReachURL. Like a webhook delivery, it resolves the name, connects and
// verifies the certificate.
func (d *Diagnosis) checkReachURL(ctx context.Context) {
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
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, d.ReachURL, http.NoBody)
	if err != nil || req.URL.Scheme != "https" {
		d.report.bad("egress", "--reach must be an https:// URL", "%s is not an https:// URL", d.ReachURL)
		return
	}
	resp, err := to.Do(req)
	var verify *tls.CertificateVerificationError
	switch {
	case err == nil:
		_ = resp.Body.Close()
		d.report.ok("egress", "%s answered %d", d.ReachURL, resp.StatusCode)
	case errors.As(err, &verify):
		d.report.bad("egress_certificate", "add its certificate authority to egress_ca_file", "the certificate of %s is not trusted: %v", d.ReachURL, verify.Err)
	default:
		d.report.bad("egress", "open the firewall for outgoing TCP 443 and check the name servers; webhooks use no proxy", "webhooks cannot reach the URL: %v", err)
	}
}

package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/netip"
	"net/url"
	"os"
	"time"

	"github.com/callboard/callboard/configs"
)

// expiryWarning is how long before its expiry a certificate causes a warning.
const expiryWarning = 14 * 24 * time.Hour

func publicHost(c *configs.Config) string {
	u, err := url.Parse(c.HTTP.PublicURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// certificateChecker checks the certificates, keys and certificate authorities of the settings.
type certificateChecker struct {
	report *report
	config *configs.Config
	now    time.Time
}

func (k *certificateChecker) check(context.Context) {
	c := k.config
	if c.HTTP.CertFile != "" {
		k.checkCertificate("tls_cert", c.HTTP.CertFile, c.HTTP.KeyFile, publicHost(c))
	}
	for i, chain := range c.SIP.CertFiles {
		k.checkCertificate("sip_tls_cert", chain, c.SIP.KeyFiles[i], "")
	}
	for setting, path := range map[string]string{"egress_ca_file": c.Egress.CAFile, "sip_tls_ca_file": c.SIP.CAFile, "sip_tls_client_ca_file": c.SIP.ClientCAFile} {
		if path == "" {
			continue
		}
		text, err := os.ReadFile(path) //nolint:gosec // the operator names it
		if err != nil || !x509.NewCertPool().AppendCertsFromPEM(text) {
			k.report.bad("authorities", "use a file with PEM certificates", "%s = %s contains no certificate", setting, path)
		}
	}
}

func (k *certificateChecker) checkCertificate(setting, chain, key, host string) {
	if mode, others := checkFileAccess(key); others {
		k.report.bad("certificate_key_mode", "chmod 600 "+key, "other users of this machine can read or change the private key %s (%04o)", key, mode)
	}
	pair, err := tls.LoadX509KeyPair(chain, key)
	if err != nil {
		k.report.bad("certificate_key", "use a chain and its private key, both in PEM", "%s: %v", setting, err)
		return
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		k.report.bad("certificate", "use another certificate", "%s: %v", setting, err)
		return
	}
	sound := true
	fault := func(f func(check, remedy, what string, args ...any), check, remedy, what string, args ...any) {
		sound = false
		f(check, remedy, setting+": "+what, args...)
	}
	const renew = "renew the certificate; Callboard reloads changed files without a restart"
	switch {
	case k.now.After(leaf.NotAfter):
		fault(k.report.bad, "certificate_expired", renew, "the certificate expired at %s", leaf.NotAfter.Format(time.RFC3339))
	case k.now.Before(leaf.NotBefore):
		fault(k.report.bad, "certificate_not_yet_valid", "check the clock, or wait", "the certificate is valid from %s", leaf.NotBefore.Format(time.RFC3339))
	case leaf.NotAfter.Sub(k.now) < expiryWarning:
		fault(k.report.warn, "certificate_expires", renew, "the certificate expires at %s", leaf.NotAfter.Format(time.RFC3339))
	}
	if host != "" && leaf.VerifyHostname(host) != nil {
		fault(k.report.bad, "certificate_name", "use a certificate for the host name in public_url", "the certificate is for %v, public_url names %s", certificateNames(leaf), host)
	}
	if hasWeakKey(leaf) {
		fault(k.report.bad, "certificate_weak", "use a key of ECDSA P-256 or of RSA with at least 2048 bits", "the key of the certificate is too short")
	}
	k.checkChain(setting, pair, leaf, fault)
	if sound {
		k.report.ok("certificate", "%s is valid until %s", setting, leaf.NotAfter.Format(time.DateOnly))
	}
}

// checkChain warns if a certificate is self-signed, or if its chain does not end at a certificate authority that
// this machine trusts.
func (k *certificateChecker) checkChain(setting string, pair tls.Certificate, leaf *x509.Certificate, fault func(f func(check, remedy, what string, args ...any), check, remedy, what string, args ...any)) {
	between := x509.NewCertPool()
	for _, der := range pair.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(c)
		}
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if path := k.config.SIP.CAFile; path != "" && setting == "sip_tls_cert" {
		if text, failed := os.ReadFile(path); failed == nil { //nolint:gosec // the operator names it
			roots.AppendCertsFromPEM(text)
		}
	}
	at := k.now
	if at.After(leaf.NotAfter) || at.Before(leaf.NotBefore) { // checkCertificate has already reported the expiry
		at = leaf.NotAfter.Add(-time.Second)
	}
	var unknown x509.UnknownAuthorityError
	if _, err = leaf.Verify(x509.VerifyOptions{Intermediates: between, Roots: roots, CurrentTime: at}); !errors.As(err, &unknown) {
		return
	}
	if leaf.Issuer.String() == leaf.Subject.String() {
		fault(k.report.warn, "certificate_self_signed", "use a certificate of a public certificate authority", "the certificate is self-signed: clients trust it only if they are configured to")
		return
	}
	fault(k.report.warn, "certificate_chain", "append the certificates of "+leaf.Issuer.String()+" to the file", "the chain does not end at a certificate authority that this machine trusts")
}

func certificateNames(c *x509.Certificate) []string {
	out := c.DNSNames
	for _, ip := range c.IPAddresses {
		if a, ok := netip.AddrFromSlice(ip); ok {
			out = append(out, a.Unmap().String())
		}
	}
	return out
}

func hasWeakKey(c *x509.Certificate) bool {
	switch k := c.PublicKey.(type) {
	case *rsa.PublicKey:
		return k.N.BitLen() < 2048
	case *ecdsa.PublicKey:
		return k.Curve.Params().BitSize < 256
	}
	return false
}

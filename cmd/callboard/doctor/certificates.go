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

// soon is how long before its end a certificate ought to be followed.
const soon = 14 * 24 * time.Hour

func publicHost(c *configs.Config) string {
	u, err := url.Parse(c.HTTP.PublicURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// certificateChecker looks at the certificates, keys and authorities that the settings name.
type certificateChecker struct {
	report *report
	config *configs.Config
	now    time.Time
}

func (k *certificateChecker) check(context.Context) {
	c := k.config
	if c.HTTP.CertFile != "" {
		k.certificate("tls_cert", c.HTTP.CertFile, c.HTTP.KeyFile, publicHost(c))
	}
	for i, chain := range c.SIP.CertFiles {
		k.certificate("sip_tls_cert", chain, c.SIP.KeyFiles[i], "")
	}
	for setting, path := range map[string]string{"egress_ca_file": c.Egress.CAFile, "sip_tls_ca_file": c.SIP.CAFile, "sip_tls_client_ca_file": c.SIP.ClientCAFile} {
		if path == "" {
			continue
		}
		text, err := os.ReadFile(path) //nolint:gosec // the operator names it
		if err != nil || !x509.NewCertPool().AppendCertsFromPEM(text) {
			k.report.bad("authorities", "certificates in PEM", "%s = %s holds no certificate", setting, path)
		}
	}
}

func (k *certificateChecker) certificate(setting, chain, key, host string) {
	if mode, others := open(key); others {
		k.report.bad("certificate_key_mode", "chmod 600 "+key, "others on this machine may read the private key %s (%04o)", key, mode)
	}
	pair, err := tls.LoadX509KeyPair(chain, key)
	if err != nil {
		k.report.bad("certificate_key", "the chain and the key that belong together, both in PEM", "%s: %v", setting, err)
		return
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		k.report.bad("certificate", "another certificate", "%s: %v", setting, err)
		return
	}
	sound := true
	fault := func(f func(check, remedy, what string, args ...any), check, remedy, what string, args ...any) {
		sound = false
		f(check, remedy, setting+": "+what, args...)
	}
	const renew = "renew it; changed files are read without a restart"
	switch {
	case k.now.After(leaf.NotAfter):
		fault(k.report.bad, "certificate_expired", renew, "the certificate has expired at %s", leaf.NotAfter.Format(time.RFC3339))
	case k.now.Before(leaf.NotBefore):
		fault(k.report.bad, "certificate_early", "look at the clock, or wait", "the certificate is good from %s on", leaf.NotBefore.Format(time.RFC3339))
	case leaf.NotAfter.Sub(k.now) < soon:
		fault(k.report.warn, "certificate_expires", renew, "the certificate expires at %s", leaf.NotAfter.Format(time.RFC3339))
	}
	if host != "" && leaf.VerifyHostname(host) != nil {
		fault(k.report.bad, "certificate_name", "a certificate for the name in public_url", "the certificate is for %v, public_url names %s", names(leaf), host)
	}
	if weak(leaf) {
		fault(k.report.bad, "certificate_weak", "a key of ECDSA P-256, or RSA of 2048 bits and more", "the key of the certificate is too short")
	}
	k.chain(setting, pair, leaf, fault)
	if sound {
		k.report.ok("certificate", "%s is good until %s", setting, leaf.NotAfter.Format(time.DateOnly))
	}
}

// chain looks whether others can follow the certificate to a root.
func (k *certificateChecker) chain(setting string, pair tls.Certificate, leaf *x509.Certificate, fault func(f func(check, remedy, what string, args ...any), check, remedy, what string, args ...any)) {
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
	if at.After(leaf.NotAfter) || at.Before(leaf.NotBefore) { // that is told already
		at = leaf.NotAfter.Add(-time.Second)
	}
	var unknown x509.UnknownAuthorityError
	if _, err = leaf.Verify(x509.VerifyOptions{Intermediates: between, Roots: roots, CurrentTime: at}); !errors.As(err, &unknown) {
		return
	}
	if leaf.Issuer.String() == leaf.Subject.String() {
		fault(k.report.warn, "certificate_self", "a certificate of an authority that others know", "the certificate is signed by itself: nobody trusts it unless told to")
		return
	}
	fault(k.report.warn, "certificate_chain", "put the certificates of "+leaf.Issuer.String()+" behind it in the file", "the chain does not lead to an authority that this machine knows")
}

func names(c *x509.Certificate) []string {
	out := c.DNSNames
	for _, ip := range c.IPAddresses {
		if a, ok := netip.AddrFromSlice(ip); ok {
			out = append(out, a.Unmap().String())
		}
	}
	return out
}

func weak(c *x509.Certificate) bool {
	switch k := c.PublicKey.(type) {
	case *rsa.PublicKey:
		return k.N.BitLen() < 2048
	case *ecdsa.PublicKey:
		return k.Curve.Params().BitSize < 256
	}
	return false
}

package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"time"

	"github.com/callboard/callboard/configs"
)

// soon is how long before its end a certificate ought to be followed.
const soon = 14 * 24 * time.Hour

func publicHost(c *configs.Config) string {
	u, err := url.Parse(c.PublicURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func (v *Visit) certificates(context.Context) {
	c := v.Config
	if c.TLSCert != "" {
		v.certificate("tls_cert", c.TLSCert, c.TLSKey, publicHost(c))
	}
	for i, chain := range c.SIPCert {
		v.certificate("sip_tls_cert", chain, c.SIPKey[i], "")
	}
	for setting, path := range map[string]string{"egress_ca_file": c.EgressCAFile, "sip_tls_ca_file": c.SIPRoots, "sip_tls_client_ca_file": c.SIPClients} {
		if path == "" {
			continue
		}
		text, err := os.ReadFile(path) //nolint:gosec // the operator names it
		if err != nil || !x509.NewCertPool().AppendCertsFromPEM(text) {
			v.bad("authorities", "certificates in PEM", "%s = %s holds no certificate", setting, path)
		}
	}
}

func (v *Visit) certificate(setting, chain, key, host string) {
	if mode, others := open(key); others {
		v.bad("certificate_key_mode", "chmod 600 "+key, "others on this machine may read the private key %s (%04o)", key, mode)
	}
	pair, err := tls.LoadX509KeyPair(chain, key)
	if err != nil {
		v.bad("certificate_key", "the chain and the key that belong together, both in PEM", "%s: %v", setting, err)
		return
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		v.bad("certificate", "another certificate", "%s: %v", setting, err)
		return
	}
	sound := true
	fault := func(f func(check, mend, what string, args ...any), check, mend, what string, args ...any) {
		sound = false
		f(check, mend, setting+": "+what, args...)
	}
	const renew = "renew it; changed files are read without a restart"
	switch {
	case v.Now.After(leaf.NotAfter):
		fault(v.bad, "certificate_expired", renew, "the certificate has expired at %s", leaf.NotAfter.Format(time.RFC3339))
	case v.Now.Before(leaf.NotBefore):
		fault(v.bad, "certificate_early", "look at the clock, or wait", "the certificate is good from %s on", leaf.NotBefore.Format(time.RFC3339))
	case leaf.NotAfter.Sub(v.Now) < soon:
		fault(v.warn, "certificate_expires", renew, "the certificate expires at %s", leaf.NotAfter.Format(time.RFC3339))
	}
	if host != "" && leaf.VerifyHostname(host) != nil {
		fault(v.bad, "certificate_name", "a certificate for the name in public_url", "the certificate is for %v, public_url names %s", names(leaf), host)
	}
	if weak(leaf) {
		fault(v.bad, "certificate_weak", "a key of ECDSA P-256, or RSA of 2048 bits and more", "the key of the certificate is too short")
	}
	v.chain(setting, pair, leaf, fault)
	if sound {
		v.ok("certificate", "%s is good until %s", setting, leaf.NotAfter.Format(time.DateOnly))
	}
}

// chain looks whether others can follow the certificate to a root.
func (v *Visit) chain(setting string, pair tls.Certificate, leaf *x509.Certificate, fault func(f func(check, mend, what string, args ...any), check, mend, what string, args ...any)) {
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
	if path := v.Config.SIPRoots; path != "" && setting == "sip_tls_cert" {
		if text, failed := os.ReadFile(path); failed == nil { //nolint:gosec // the operator names it
			roots.AppendCertsFromPEM(text)
		}
	}
	at := v.Now
	if at.After(leaf.NotAfter) || at.Before(leaf.NotBefore) { // that is told already
		at = leaf.NotAfter.Add(-time.Second)
	}
	var unknown x509.UnknownAuthorityError
	if _, err = leaf.Verify(x509.VerifyOptions{Intermediates: between, Roots: roots, CurrentTime: at}); !errors.As(err, &unknown) {
		return
	}
	if leaf.Issuer.String() == leaf.Subject.String() {
		fault(v.warn, "certificate_self", "a certificate of an authority that others know", "the certificate is signed by itself: nobody trusts it unless told to")
		return
	}
	fault(v.warn, "certificate_chain", "put the certificates of "+leaf.Issuer.String()+" behind it in the file", "the chain does not lead to an authority that this machine knows")
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

// reach tries what a webhook does: a name, a connection, a certificate.
func (v *Visit) reach(ctx context.Context) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if path := v.Config.EgressCAFile; path != "" {
		if text, failed := os.ReadFile(path); failed == nil { //nolint:gosec // the operator names it
			roots.AppendCertsFromPEM(text)
		}
	}
	to := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, v.Reach, http.NoBody)
	if err != nil || req.URL.Scheme != "https" {
		v.bad("egress", "--reach must be an https:// URL", "%s is none", v.Reach)
		return
	}
	resp, err := to.Do(req)
	var verify *tls.CertificateVerificationError
	switch {
	case err == nil:
		_ = resp.Body.Close()
		v.ok("egress", "%s answers %d", v.Reach, resp.StatusCode)
	case errors.As(err, &verify):
		v.bad("egress_certificate", "name its authority in egress_ca_file", "the certificate of %s is not trusted: %v", v.Reach, verify.Err)
	default:
		v.bad("egress", "open the firewall for outgoing TCP 443, and look at the name servers; webhooks go by no proxy", "webhooks do not get out: %v", err)
	}
}

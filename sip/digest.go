package sip

import (
	"bytes"
	"io"
	"net/netip"
	"strings"

	"github.com/icholy/digest"
)

// signer answers the challenges of the host that we called, and of no other:
// whoever is called could otherwise ask for proofs to guess the password from.
type signer struct {
	creds *Credentials
	host  netip.Addr // that we called
	realm string     // of the first challenge that was answered; later ones must name it too
	last  *digest.Challenge
	name  string // of the header that carries the proof
	nc    int    // requests signed with the nonce of last
}

// learn takes the challenge of a 401 or 407. A further one is taken only when
// it says that the nonce was stale: otherwise the password is wrong.
func (s *signer) learn(m *message, first bool) bool {
	if s == nil || s.creds == nil || m.flow.addr.Addr() != s.host {
		return false
	}
	asked, name := "WWW-Authenticate", "Authorization"
	if m.code == 407 {
		asked, name = "Proxy-Authenticate", "Proxy-Authorization"
	}
	c := s.choose(m.all(asked))
	if c == nil || !first && !c.Stale {
		return false
	}
	s.last, s.name, s.realm, s.nc = c, name, c.Realm, 0
	return true
}

// choose prefers SHA-256 and refuses realms that are not ours.
func (s *signer) choose(offers []string) *digest.Challenge {
	var chosen *digest.Challenge
	for _, offer := range offers {
		c, err := digest.ParseChallenge(offer)
		if err != nil || s.creds.Realm != "" && c.Realm != s.creds.Realm || s.realm != "" && c.Realm != s.realm {
			continue
		}
		switch strings.ToUpper(c.Algorithm) {
		case "SHA-256":
			return c
		case "", "MD5":
			if chosen == nil {
				chosen = c
			}
		}
	}
	return chosen
}

// sign proves a request with the nonce learnt last; ok is false without one.
func (s *signer) sign(method, uri string, body []byte) (h Header, ok bool) {
	if s == nil || s.last == nil {
		return h, false
	}
	s.nc++
	cred, err := digest.Digest(s.last, digest.Options{
		Method: method, URI: uri, Username: s.creds.Username, Password: s.creds.Password, Count: s.nc,
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	})
	if err != nil || !clean(cred.String()) {
		return h, false
	}
	return Header{s.name, cred.String()}, true
}

// renew takes the nonce that an answer names for the next request (RFC 7616 3.5).
func (s *signer) renew(m *message) {
	if s == nil || s.last == nil || m.flow.addr.Addr() != s.host {
		return
	}
	for _, name := range []string{"Authentication-Info", "Proxy-Authentication-Info"} {
		if nonce, found := paramsOf(m.get(name)).get("nextnonce"); found && nonce != "" && clean(nonce) {
			fresh := *s.last
			fresh.Nonce = nonce
			s.last, s.nc = &fresh, 0
		}
	}
}

// answerChallenge computes credentials for a 401 or 407 of the host we called
// and keeps them in d.auth.
func (d *Dialog) answerChallenge(m *message, method string, first bool, body []byte) bool {
	if d.creds == nil {
		return false
	}
	if d.signer == nil {
		d.signer = &signer{creds: d.creds, host: d.flow.addr.Addr()}
	}
	if d.phase == early {
		d.signer.host = d.flow.addr.Addr() // another address of the target, tried after the first
	}
	if !d.signer.learn(m, first) {
		return false
	}
	uri, _, _ := d.far.route()
	if d.phase == early {
		uri = d.remoteURI
	}
	h, ok := d.signer.sign(method, uri, body)
	if !ok {
		return false
	}
	d.auth = append(keepOther(d.auth, h.Name), h)
	return true
}

func keepOther(auth []Header, name string) []Header {
	var kept []Header
	for _, h := range auth {
		if h.Name != name {
			kept = append(kept, h)
		}
	}
	return kept
}

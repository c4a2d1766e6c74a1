package sip

import (
	"bytes"
	"io"
	"strings"

	"github.com/icholy/digest"
)

// answerChallenge computes credentials for a 401 or 407 of the host we called
// and keeps them in d.auth. A second challenge is answered only when it says
// that the nonce was stale: otherwise the password is wrong.
func (d *Dialog) answerChallenge(m *message, method string, first bool, body []byte) bool {
	if d.creds == nil {
		return false
	}
	asked, answer := "WWW-Authenticate", "Authorization"
	if m.code == 407 {
		asked, answer = "Proxy-Authenticate", "Proxy-Authorization"
	}
	chosen := d.choose(m.all(asked))
	if chosen == nil || !first && !chosen.Stale {
		return false
	}
	uri, _, _ := d.far.route()
	if d.phase == early {
		uri = d.remoteURI
	}
	cred, err := digest.Digest(chosen, digest.Options{
		Method: method, URI: uri, Username: d.creds.Username, Password: d.creds.Password, Count: 1,
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	})
	if err != nil || !clean(cred.String()) {
		return false
	}
	d.auth = append(keepOther(d.auth, answer), Header{answer, cred.String()})
	return true
}

// choose prefers SHA-256 and refuses realms that are not ours.
func (d *Dialog) choose(offers []string) *digest.Challenge {
	var chosen *digest.Challenge
	for _, offer := range offers {
		c, err := digest.ParseChallenge(offer)
		if err != nil || d.creds.Realm != "" && c.Realm != d.creds.Realm {
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

func keepOther(auth []Header, name string) []Header {
	var kept []Header
	for _, h := range auth {
		if h.Name != name {
			kept = append(kept, h)
		}
	}
	return kept
}

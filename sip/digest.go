package sip

import (
	"bytes"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/icholy/digest"

	"github.com/callboard/callboard/sip/message"
)

const (
	maxRealms     = 4 // of one peer that a request carries credentials for
	maxChallenges = 2 // of one realm that are answered for one request
)

// signer answers the digest challenges (RFC 3261 §22, RFC 7616) of the host that was called. It answers no other
// host, which could collect responses to guess the password from. A request can carry credentials for several
// realms: those of each proxy on its way and of the user agent behind them.
type signer struct {
	creds   *Credentials
	host    netip.Addr // that was called
	realms  []*realmDigest
	settled bool // a call was set up with these realms: others are not answered
}

// realmDigest is the latest challenge of one realm.
type realmDigest struct {
	header     string // that carries the credentials
	challenge  *digest.Challenge
	count      int // requests signed with the nonce of the challenge
	challenges int // answered for the request under way
}

// learn takes the challenges of a 401 or 407 and reports whether the request can be sent again. first is set for the
// first challenge of a request. A realm that has been answered is answered again only if its nonce was stale:
// otherwise the password is wrong.
func (s *signer) learn(m *received, first bool) bool {
	if s == nil || s.creds == nil || m.flow.addr.Addr() != s.host {
		return false
	}
	if first {
		for _, r := range s.realms {
			r.challenges = 0
		}
	}
	learnt := false
	for _, c := range s.challenges(m) {
		at := slices.IndexFunc(s.realms, func(r *realmDigest) bool {
			return r.header == c.header && r.challenge.Realm == c.challenge.Realm
		})
		switch {
		case at < 0 && !s.settled && len(s.realms) < maxRealms:
			s.realms = append(s.realms, &c)
			c.challenges = 1
		case at < 0:
			return false
		case s.realms[at].challenges > 0 && !c.challenge.Stale, s.realms[at].challenges >= maxChallenges:
			return false
		default:
			c.challenges = s.realms[at].challenges + 1
			s.realms[at] = &c
		}
		learnt = true
	}
	return learnt
}

// challenges are those of an answer that can be answered, one for each realm: a proxy that forks collects the
// challenges of several servers (RFC 3261 §22.3). SHA-256 is preferred to MD5.
func (s *signer) challenges(m *received) []realmDigest {
	var found []realmDigest
	for _, h := range [...][2]string{{"WWW-Authenticate", "Authorization"}, {"Proxy-Authenticate", "Proxy-Authorization"}} {
		for _, value := range m.HeaderValues(h[0]) {
			c, err := digest.ParseChallenge(value)
			if err != nil || s.creds.Realm != "" && c.Realm != s.creds.Realm {
				continue
			}
			algorithm := strings.ToUpper(c.Algorithm)
			if algorithm != "SHA-256" && algorithm != "MD5" && algorithm != "" {
				continue
			}
			at := slices.IndexFunc(found, func(r realmDigest) bool { return r.header == h[1] && r.challenge.Realm == c.Realm })
			switch {
			case at < 0:
				found = append(found, realmDigest{header: h[1], challenge: c})
			case algorithm == "SHA-256" && !strings.EqualFold(found[at].challenge.Algorithm, algorithm):
				found[at].challenge = c
			}
		}
	}
	return found
}

// sign returns the credentials of a request: a header for each realm that has challenged one before.
func (s *signer) sign(method, uri string, body []byte) []message.Header {
	if s == nil {
		return nil
	}
	var headers []message.Header
	for _, r := range s.realms {
		r.count++
		cred, err := digest.Digest(r.challenge, digest.Options{
			Method: method, URI: uri, Username: s.creds.Username, Password: s.creds.Password, Count: r.count,
			GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
		})
		if err == nil && message.IsSingleLine(cred.String()) {
			headers = append(headers, message.Header{Name: r.header, Value: cred.String()})
		}
	}
	return headers
}

// renew takes the nonce that an answer names for the next request (RFC 7616 §3.5). It does not name the realm, so
// it is ignored where several realms share a header.
func (s *signer) renew(m *received) {
	if s == nil || m.flow.addr.Addr() != s.host {
		return
	}
	for _, h := range [...][2]string{{"Authentication-Info", "Authorization"}, {"Proxy-Authentication-Info", "Proxy-Authorization"}} {
		nonce, found := message.ParseAuthParams(m.HeaderValue(h[0])).Get("nextnonce")
		var of []*realmDigest
		for _, r := range s.realms {
			if r.header == h[1] {
				of = append(of, r)
			}
		}
		if found && nonce != "" && message.IsSingleLine(nonce) && len(of) == 1 {
			fresh := *of[0].challenge
			fresh.Nonce = nonce
			of[0].challenge, of[0].count = &fresh, 0
		}
	}
}

// answerChallenge returns the credentials that a request gets after a 401 or 407 of the host that was called; none
// if it cannot be answered. first is set for the first challenge of that request.
func (d *Dialog) answerChallenge(m *received, method string, first bool, body []byte) []message.Header {
	if d.creds == nil {
		return nil
	}
	if d.signer == nil {
		d.signer = &signer{creds: d.creds, host: d.flow.addr.Addr()}
	}
	if d.phase == early {
		d.signer.host = d.flow.addr.Addr() // another address of the target, tried after the first
	} else if first && len(d.signer.realms) > 0 {
		d.signer.settled = true
	}
	if !d.signer.learn(m, first) {
		return nil
	}
	uri, _, _ := d.far.route()
	if d.phase == early {
		uri = d.remoteURI
	}
	return d.signer.sign(method, uri, body)
}

// isChallenge tells whether an answer asks for credentials.
func (m *received) isChallenge() bool { return m.Code == 401 || m.Code == 407 }

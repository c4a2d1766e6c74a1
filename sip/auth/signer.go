package auth

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
	maxRealms     = 4 // realms that a request carries credentials for
	maxChallenges = 2 // challenges of one realm that are answered for one request
)

// Signer answers the digest challenges (RFC 3261 §22, RFC 7616) of the host that is called. It answers no other
// host, which could collect responses to guess the password. A request can carry credentials for several realms:
// those of the proxies on its way and of the user agent behind them.
type Signer struct {
	creds  *Credentials
	host   netip.Addr // the host that is called
	realms []*realmDigest
	frozen bool // a call was set up with these realms; further realms are not answered
}

// realmDigest is the latest challenge of one realm.
type realmDigest struct {
	header     string // name of the header that carries the credentials
	challenge  *digest.Challenge
	count      int // requests signed with the nonce of the challenge
	challenges int // challenges answered for the current request
}

// NewSigner returns a signer that answers the challenges of a host. Without credentials it answers none.
func NewSigner(creds *Credentials, host netip.Addr) *Signer {
	return &Signer{creds: creds, host: host}
}

// SetHost sets the host whose challenges are answered. It is called before a request goes to the next address of the
// target.
func (s *Signer) SetHost(host netip.Addr) { s.host = host }

// FreezeRealms prevents the learning of further realms if at least one realm is known.
func (s *Signer) FreezeRealms() { s.frozen = s.frozen || len(s.realms) > 0 }

// LearnChallenges stores the challenges of a 401 or 407 from an address, and returns whether the request can be
// sent again with credentials. first is true for the first challenge of a request. A realm that was answered for this
// request is answered again only if its nonce was stale, because otherwise the password is wrong.
func (s *Signer) LearnChallenges(m *message.Message, from netip.Addr, first bool) bool {
	if s == nil || s.creds == nil || from != s.host {
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
		case at < 0 && !s.frozen && len(s.realms) < maxRealms:
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

// challenges returns the challenges of a response that can be answered, one for each realm. A forking proxy
// collects the challenges of several servers (RFC 3261 §22.3). SHA-256 is preferred to MD5.
func (s *Signer) challenges(m *message.Message) []realmDigest {
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

// SignRequest returns the credentials of a request: a header for each realm that has challenged a request before.
func (s *Signer) SignRequest(method, uri string, body []byte) []message.Header {
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

// RenewNonce stores the next nonce that a response names (RFC 7616 §3.5). The response does not name the realm, so
// its nonce is ignored if several realms share a header.
func (s *Signer) RenewNonce(m *message.Message, from netip.Addr) {
	if s == nil || from != s.host {
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

// Credentials are a user name and a password for the digest challenges of a target.
type Credentials struct {
	Username, Password string
	Realm              string // "" answers whatever realm the target names
}

// Package auth implements SIP digest authentication (RFC 7616, RFC 8760).
//
// A Signer answers the challenges of a peer. A Verifier challenges peers and checks their credentials. The callers
// handle the sockets and pass the address of the peer.
package auth

import (
	"crypto/md5" //nolint:gosec // most phones know MD5 only; SHA-256 is offered first
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"hash"
	"net/netip"
	"strconv"
	"strings"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/ratelimit"
)

const (
	defaultRealm = "callboard"
	// A source may send wrong credentials ten times in a row, and then once in six seconds. At this rate a thousand
	// million guesses take 190 years.
	failureBurst = 10
	failureRate  = 1.0 / 6
	maxDigest    = 512 // bytes of one parameter
)

// Account is a user who may register and call.
type Account struct {
	ID       string // the owner's identifier of the account
	User     string
	Password string
	Network  string // udp, tcp or tls: the only network that its messages may use; "": any network
}

// AllowsNetwork reports whether messages of the account may use a network.
func (a *Account) AllowsNetwork(network string) bool { return a.Network == "" || a.Network == network }

// Verdict is the result of checking the credentials of a request.
type Verdict uint8

// The values of Verdict.
const (
	Authenticated    Verdict = iota
	NoCredentials            // no credentials for the realm, or for a nonce that this verifier did not create
	StaleNonce               // correct, but for a nonce that has expired or whose count was used
	WrongCredentials         // wrong user or password
	TooManyFailures          // the source failed too often; the credentials were not checked
)

// Verifier is the server side of digest authentication (RFC 7616, RFC 3261 §22). Challenges need no memory. All
// wrong credentials get the same response, which does not reveal which users exist.
type Verifier struct {
	realm    string
	account  func(user string) (Account, bool)
	nonces   *nonces
	failures *ratelimit.Limiter
	md5      *md5Fallback
	sources  bool // md5 identifies peers by their source only, as the user in From is not the user of the credentials
	id       message.Identifiers
}

// NewVerifier returns a verifier. account finds an account by its user name. An empty realm selects the default realm.
func NewVerifier(realm string, secret []byte, account func(string) (Account, bool)) *Verifier {
	if realm == "" {
		realm = defaultRealm
	}
	return &Verifier{
		realm: realm, account: account, nonces: newNonces(secret), failures: ratelimit.NewLimiter(failureRate, failureBurst), md5: newMD5Fallback(), id: message.NewIdentifiers(secret),
	}
}

// NewTrunkVerifier returns a Verifier without accounts. WithAccounts adds the accounts of the trunks at a source.
func NewTrunkVerifier(secret []byte) *Verifier {
	v := NewVerifier("", secret, nil)
	v.md5.wait = trunkChallengeWait
	return v
}

// WithAccounts returns a verifier for the accounts of a source. It shares the nonces and all other state with a. An
// empty realm selects the realm of a.
func (a *Verifier) WithAccounts(realm string, account func(string) (Account, bool)) Verifier {
	auth := *a
	auth.account = account
	auth.sources = true
	if realm != "" {
		auth.realm = realm
	}
	return auth
}

// HasAccounts reports whether the verifier has accounts, without which it cannot check credentials.
func (a *Verifier) HasAccounts() bool { return a.account != nil }

// Challenges returns the challenges of a request: SHA-256 and MD5, or MD5 only for a peer that does not answer
// SHA-256.
func (a *Verifier) Challenges(m *message.Message, source netip.Addr, stale bool, now time.Time) []message.Header {
	all := a.allChallenges(source, stale, now)
	fresh := len(m.HeaderValues("authorization")) == 0
	if a.md5.md5Only(source, a.md5User(source, message.URIUser(m.From.URI)), m.CallID, m.CSeq, fresh, now) {
		return all[1:]
	}
	return all
}

// ChallengeFallbacks returns the possible sets of challenges, the best first. A source that may be forged gets the
// first set whose response is not larger than the request, so that a forged source gains an attacker no
// amplification.
func (a *Verifier) ChallengeFallbacks(m *message.Message, source netip.Addr, stale bool, now time.Time) [][]message.Header {
	all := a.Challenges(m, source, stale, now)
	if len(all) == 1 {
		return [][]message.Header{all}
	}
	return [][]message.Header{all, all[:1], all[1:]}
}

// allChallenges returns the headers of all challenges, SHA-256 first.
func (a *Verifier) allChallenges(source netip.Addr, stale bool, now time.Time) []message.Header {
	out := make([]message.Header, 0, 2)
	nonce := a.nonces.newNonce(source, now)
	for _, algorithm := range []string{"SHA-256", "MD5"} {
		v := "Digest realm=" + message.QuoteString(a.realm) + ",nonce=\"" + nonce + "\",algorithm=" + algorithm + ",qop=\"auth\""
		if stale {
			v += ",stale=true"
		}
		out = append(out, message.Header{Name: "WWW-Authenticate", Value: v})
	}
	return out
}

// credentials is an Authorization header with all of its parameters.
type credentials struct {
	user, nonce, uri, response, cnonce, count string
	nc                                        uint32
	algorithm                                 func() hash.Hash
	better                                    bool // the algorithm is stronger than MD5
}

// readCredentials reads the credentials for a realm from Authorization headers. ok is false if no header can be
// correct. It reads only a bounded part of each header.
func readCredentials(values []string, realm string) (p credentials, ok bool) {
	for _, v := range values {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(v), " ")
		if !strings.EqualFold(scheme, "digest") || len(rest) > 8*maxDigest {
			continue
		}
		all := message.ParseAuthParams(rest)
		if got, _ := all.Get("realm"); got != realm || all.HasRepeated() {
			continue
		}
		return credentialsOf(all)
	}
	return p, false
}

// ClaimedUser returns the user that the credentials of a request name, without checking them; "" if there are none.
func ClaimedUser(m *message.Message) string {
	for _, v := range m.HeaderValues("authorization") {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(v), " ")
		if !strings.EqualFold(scheme, "digest") || len(rest) > 8*maxDigest {
			continue
		}
		if user, named := message.ParseAuthParams(rest).Get("username"); named && len(user) <= maxDigest {
			return user
		}
	}
	return ""
}

func credentialsOf(all message.AuthParams) (p credentials, ok bool) {
	for name, into := range map[string]*string{
		"username": &p.user, "nonce": &p.nonce, "uri": &p.uri, "response": &p.response, "cnonce": &p.cnonce, "nc": &p.count,
	} {
		v, found := all.Get(name)
		if !found || v == "" || len(v) > maxDigest {
			return p, false
		}
		*into = v
	}
	qop, _ := all.Get("qop")
	nc, err := strconv.ParseUint(p.count, 16, 32)
	if !strings.EqualFold(qop, "auth") || len(p.count) != 8 || err != nil {
		return p, false
	}
	p.nc = uint32(nc)
	algorithm, _ := all.Get("algorithm")
	switch strings.ToUpper(algorithm) {
	case "SHA-256":
		p.algorithm, p.better = sha256.New, true
	case "MD5", "":
		p.algorithm = md5.New
	default:
		return p, false
	}
	return p, true
}

// matches reports whether the response in the credentials is the correct digest for a password.
func (p *credentials) matches(realm, password, method string) bool {
	h := func(parts ...string) string {
		w := p.algorithm()
		for i, part := range parts {
			if i > 0 {
				_, _ = w.Write([]byte{':'})
			}
			_, _ = w.Write([]byte(part))
		}
		return hex.EncodeToString(w.Sum(nil))
	}
	want := h(h(p.user, realm, password), p.nonce, p.count, p.cnonce, "auth", h(method, p.uri))
	return subtle.ConstantTimeCompare([]byte(want), []byte(strings.ToLower(p.response))) == 1
}

// CheckRequest checks the credentials of a request from a source, and returns the account.
func (a *Verifier) CheckRequest(m *message.Message, source netip.Addr, now time.Time) (Account, Verdict) {
	p, ok := readCredentials(m.HeaderValues("authorization"), a.realm)
	if !ok {
		return Account{}, NoCredentials
	}
	made, ours, old := a.nonces.check(p.nonce, source, now)
	if !ours {
		return Account{}, NoCredentials
	}
	if !a.failures.Spend(source, 0, now) {
		return Account{}, TooManyFailures
	}
	account, known := a.account(p.user)
	if !known { // as much work as for a user that exists
		account.Password = a.id.MAC(32, "nobody", p.user)
	}
	right := p.matches(a.realm, account.Password, m.Method) && known && sameURI(p.uri, m.URI)
	switch {
	case !right:
		a.failures.Spend(source, 1, now)
		return Account{}, WrongCredentials
	case old || !a.nonces.count(account.ID, p.nonce, made, p.nc, now):
		return Account{}, StaleNonce
	}
	a.md5.authenticated(source, a.md5User(source, p.user), p.better, now)
	return account, Authenticated
}

// md5User returns the user name under which md5 stores a peer. Trunks of a source are stored under the source address.
func (a *Verifier) md5User(source netip.Addr, user string) string {
	if a.sources {
		return source.String()
	}
	return user
}

// sameURI reports whether credentials were created for this Request-URI. URI parameters are not compared, because
// phones differ in the parameters that they sign.
func sameURI(signed string, asked sipmsg.Uri) bool {
	var u sipmsg.Uri
	if err := sipmsg.ParseUri(signed, &u); err != nil {
		return false
	}
	return u.User == asked.User && strings.EqualFold(u.Host, asked.Host) && u.Port == asked.Port
}

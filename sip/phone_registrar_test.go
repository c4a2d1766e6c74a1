package sip_test

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// phoneAccounts are the phone accounts of a test with the bindings of their phones.
type phoneAccounts struct {
	mu    sync.Mutex
	bound map[string][]registrar.Binding
	calls []string // the accounts whose calls were received
}

func newPhoneAccounts() *phoneAccounts {
	return &phoneAccounts{bound: make(map[string][]registrar.Binding)}
}

// newPhoneStage returns a stage that admits phones only: no trunk admits a source.
func newPhoneStage(t *testing.T, r *phoneAccounts) *stage {
	t.Helper()
	return newStage(t, func(ua *sip.UserAgent) {
		ua.SetAdmission(func(transport.Source) sip.Admission { return sip.Admission{} })
		ua.OnInvite(func(in *sip.Incoming) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.calls = append(r.calls, in.PhoneID)
			in.Reject(486, 0)
		})
		ua.SetRegistrar(registrar.Config{
			Account: func(user string) (auth.Account, bool) {
				return auth.Account{ID: "phone-" + user, User: user, Password: "secret of " + user}, user == "1001" || user == "1002"
			},
			Presence: func(s transport.Source) registrar.Presence {
				r.mu.Lock()
				defer r.mu.Unlock()
				for _, list := range r.bound {
					for _, b := range list {
						if b.Source == s.Addr {
							return registrar.AtAddress
						}
					}
				}
				return registrar.Absent
			},
			Update: func(u *registrar.Update) {
				r.mu.Lock()
				defer r.mu.Unlock()
				after, code := u.Change.Apply(r.bound[u.AccountID], time.Now())
				if code != 0 {
					u.Refuse(code, 0)
					return
				}
				r.bound[u.AccountID] = after
				u.Accept(after)
			},
		})
	})
}

// phoneRequest is a REGISTER or INVITE of a phone.
type phoneRequest struct {
	method, user, contact, expires string
	cseq                           int
	algorithm                      string // digest algorithm; "": without credentials
	password, nonce, uri           string
	nc                             int
	from                           string // user in From; "": user
	callID                         string
}

func (a phoneRequest) text() string {
	if a.method == "" {
		a.method = "REGISTER"
	}
	if a.uri == "" {
		a.uri = "sip:127.0.0.1"
	}
	if a.from == "" {
		a.from = a.user
	}
	if a.callID == "" {
		a.callID = "reg-1"
	}
	lines := []string{
		a.method + " " + a.uri + " SIP/2.0", fmt.Sprintf("Via: SIP/2.0/UDP 10.0.0.7:5060;rport;branch=z9hG4bK%s%d%d", a.method, a.cseq, a.nc),
		"From: <sip:" + a.from + "@127.0.0.1>;tag=f1", "To: <sip:" + a.user + "@127.0.0.1>", "Call-ID: " + a.callID,
		fmt.Sprintf("CSeq: %d %s", a.cseq, a.method), "Max-Forwards: 70", "User-Agent: a phone that names itself at some length",
		"Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, REFER, NOTIFY, MESSAGE",
	}
	if a.contact != "" {
		lines = append(lines, "Contact: "+a.contact)
	}
	if a.expires != "" {
		lines = append(lines, "Expires: "+a.expires)
	}
	if a.algorithm != "" {
		lines = append(lines, "Authorization: "+a.digestResponse())
	}
	return strings.Join(append(lines, "Content-Length: 0", "", ""), "\r\n")
}

// digestResponse computes the digest response of the request, without the code under test.
func (a phoneRequest) digestResponse() string {
	h := func(s string) string {
		w := map[string]func() hash.Hash{"MD5": md5.New, "SHA-256": sha256.New}[a.algorithm]()
		_, _ = w.Write([]byte(s))
		return hex.EncodeToString(w.Sum(nil))
	}
	nc := fmt.Sprintf("%08x", a.nc)
	response := h(h(a.user+":callboard:"+a.password) + ":" + a.nonce + ":" + nc + ":abc:auth:" + h(a.method+":"+a.uri))
	return fmt.Sprintf(`Digest username="%s", realm="callboard", nonce="%s", uri="%s", response="%s", algorithm=%s, cnonce="abc", nc=%s, qop=auth`,
		a.user, a.nonce, a.uri, response, a.algorithm, nc)
}

var noncePattern = regexp.MustCompile(`nonce="([^"]*)"`)

// sendPhoneRequest sends a request and returns the response.
func (s *stage) sendPhoneRequest(a phoneRequest) msg {
	s.t.Helper()
	s.peer.send(a.text(), s.localAddr())
	return s.peer.expect("SIP/2.0")
}

// fetchNonce sends a request without credentials and returns the nonce of the challenge.
func (s *stage) fetchNonce(a phoneRequest) string {
	s.t.Helper()
	a.algorithm = ""
	m := s.sendPhoneRequest(a)
	require.Contains(s.t, m.line(), "401")
	return noncePattern.FindStringSubmatch(m.text)[1]
}

// registerPhone registers with correct credentials and returns the response.
func (s *stage) registerPhone(a phoneRequest) msg {
	s.t.Helper()
	a.nonce = s.fetchNonce(a)
	a.cseq++
	if a.algorithm == "" {
		a.algorithm = "SHA-256"
	}
	a.password, a.nc = "secret of "+a.user, 1
	return s.sendPhoneRequest(a)
}

func TestPhoneRegistersWithSHA256OrMD5(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPhoneAccounts()
		s := newPhoneStage(t, r)
		defer s.stop()
		for i, algorithm := range []string{"SHA-256", "MD5"} {
			m := s.registerPhone(phoneRequest{user: "1001", contact: "<sip:1001@10.0.0.7:5060>;expires=600", cseq: 10 * (i + 1), algorithm: algorithm})
			assert.Contains(t, m.line(), "200", algorithm)
			assert.Equal(t, "<sip:1001@10.0.0.7:5060>;expires=600;q=1", m.get("Contact"))
		}
		b := r.bound["phone-1001"][0]
		assert.Equal(t, peerAddr, b.Source.String(), "the binding has the source address, not the address behind the NAT")
		assert.Equal(t, resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp", Local: netip.MustParseAddrPort(localAddr)}, b.Contact().Target)
	})
}

func TestRegisterWithWrongPasswordOrUnknownUserIsRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPhoneStage(t, newPhoneAccounts())
		defer s.stop()
		shape := func(m msg) string {
			return regexp.MustCompile(`nonce="[^"]*"|tag=[0-9a-f]{16}|100\d|CSeq: \d+|branch=\w+`).ReplaceAllString(m.text, "")
		}
		var answers []string
		for _, user := range []string{"1001", "1009"} {
			a := phoneRequest{user: user, contact: "<sip:x@10.0.0.7>", cseq: 1, callID: "wrong"}
			a.nonce, a.algorithm, a.password, a.nc = s.fetchNonce(a), "SHA-256", "guessed", 1
			a.cseq++
			answers = append(answers, shape(s.sendPhoneRequest(a)))
		}
		assert.Equal(t, answers[0], answers[1])
		for i := range 8 {
			a := phoneRequest{user: "1001", contact: "<sip:x@10.0.0.7>", cseq: 100 + 2*i}
			a.nonce, a.algorithm, a.password, a.nc = s.fetchNonce(a), "MD5", "guess", 1
			a.cseq++
			require.Contains(t, s.sendPhoneRequest(a).line(), "401")
		}
		a := phoneRequest{user: "1001", contact: "<sip:x@10.0.0.7>", cseq: 200}
		a.nonce, a.algorithm, a.password, a.nc = s.fetchNonce(a), "MD5", "secret of 1001", 1
		s.peer.send(a.text(), s.localAddr())
		s.peer.expectNothing(time.Second)
		time.Sleep(10 * time.Second)
		a.cseq, a.nc = 201, 2
		assert.Contains(t, s.sendPhoneRequest(a).line(), "200", "the source may try again later")
	})
}

func TestDigestNonceAndCountAreSingleUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPhoneStage(t, newPhoneAccounts())
		defer s.stop()
		a := phoneRequest{user: "1001", contact: "<sip:1001@10.0.0.7>", cseq: 1, algorithm: "SHA-256", password: "secret of 1001"}
		a.nonce = s.fetchNonce(a)
		got := map[string]string{}
		try := func(name string, change func(*phoneRequest)) {
			a.cseq++
			b := a
			change(&b)
			m := s.sendPhoneRequest(b)
			got[name] = m.line()[8:11]
			if strings.Contains(m.text, "stale=true") {
				got[name] += " stale"
			}
		}
		try("first", func(a *phoneRequest) { a.nc = 1 })
		try("a count that was used", func(a *phoneRequest) { a.nc = 1 })
		try("a later one", func(a *phoneRequest) { a.nc = 5 })
		try("one that was overtaken", func(a *phoneRequest) { a.nc = 3 })
		try("that again", func(a *phoneRequest) { a.nc = 3 })
		try("far ahead", func(a *phoneRequest) { a.nc = 500 })
		try("far behind", func(a *phoneRequest) { a.nc = 4 })
		try("a nonce of somebody else", func(a *phoneRequest) { a.nc, a.nonce = 1, strings.Repeat("A", len(a.nonce)) })
		try("of another account", func(a *phoneRequest) { a.nc, a.user, a.password = 501, "1002", "secret of 1001" })
		time.Sleep(6 * time.Minute)
		try("too late", func(a *phoneRequest) { a.nc = 502 })
		assert.Equal(t, map[string]string{
			"first": "200", "a count that was used": "401 stale", "a later one": "200", "one that was overtaken": "200",
			"that again": "401 stale", "far ahead": "200", "far behind": "401 stale", "a nonce of somebody else": "401",
			"of another account": "401", "too late": "401 stale",
		}, got)
		other := &peer{t, s.net.open("127.0.0.2:5070")}
		b := phoneRequest{user: "1001", contact: "<sip:1001@10.0.0.7>", cseq: 900, algorithm: "SHA-256", password: "secret of 1001", nc: 1}
		b.nonce = s.fetchNonce(b)
		b.cseq++
		other.send(b.text(), s.localAddr())
		m := other.expect("SIP/2.0 401")
		assert.NotContains(t, m.text, "stale", "a nonce is bound to its source")
	})
}

func TestRegisterResponseToUnknownSourceIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPhoneStage(t, newPhoneAccounts())
		defer s.stop()
		full := phoneRequest{user: "1001", contact: "<sip:1001@10.0.0.7>", cseq: 1}.text()
		short := strings.Join([]string{
			"REGISTER sip:a SIP/2.0", "Via: SIP/2.0/UDP a;branch=z9hG4bK1", "From: <sip:a@a>;tag=1", "To: <sip:a@a>", "Call-ID: 1", "CSeq: 1 REGISTER", "", "",
		}, "\r\n")
		sent, heard := 0, 0
		for _, text := range []string{full, short, strings.Replace(full, "User-Agent: a phone that names itself at some length\r\n", "", 1)} {
			s.peer.send(text, s.localAddr())
			sent += len(text)
			synctest.Wait()
			select {
			case d := <-s.peer.port.in:
				assert.LessOrEqual(t, len(d.b), len(text)*3/2)
				heard += len(d.b)
			default:
			}
		}
		assert.Positive(t, heard)
		assert.LessOrEqual(t, float64(heard)/float64(sent), 1.5)
		for _, method := range []string{"INVITE", "OPTIONS", "SUBSCRIBE", "MESSAGE"} {
			s.peer.send(phoneRequest{method: method, user: "1001", contact: "<sip:1001@10.0.0.7>", cseq: 2}.text(), s.localAddr())
		}
		s.peer.expectNothing(time.Second)
		flood := 0
		for i := range 500 {
			s.peer.send(phoneRequest{user: "1001", contact: "<sip:1001@10.0.0.7>", cseq: 10 + i}.text(), s.localAddr())
		}
		synctest.Wait()
		for len(s.peer.port.in) > 0 {
			<-s.peer.port.in
			flood++
		}
		assert.LessOrEqual(t, flood, 40)
	})
}

func TestRegisterAddsAndRemovesContacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPhoneAccounts()
		s := newPhoneStage(t, r)
		defer s.stop()
		cseq := 0
		do := func(contact, expires, callID string, jump int) string {
			cseq += 10 + jump
			m := s.registerPhone(phoneRequest{user: "1001", contact: contact, expires: expires, cseq: cseq, callID: callID})
			var have []string
			for _, b := range registrar.UnexpiredBindings(r.bound["phone-1001"], time.Now()) {
				have = append(have, b.URI)
			}
			return m.line()[8:11] + " " + strings.Join(have, " ")
		}
		assert.Equal(t, "200 sip:a@10.0.0.7 sip:b@10.0.0.7", do("<sip:a@10.0.0.7>, <sip:b@10.0.0.7>;q=0.5", "600", "c1", 0))
		assert.Equal(t, "200 sip:a@10.0.0.7 sip:b@10.0.0.7", do("", "", "c1", 0), "a REGISTER without Contact")
		assert.Equal(t, "200 sip:b@10.0.0.7 sip:c@10.0.0.7", do("<sip:b@10.0.0.7>;q=0.9, <sip:a@10.0.0.7>;expires=0, <sip:c@10.0.0.7>;q=0.1", "600", "c1", 0))
		assert.Equal(t, "500 sip:b@10.0.0.7 sip:c@10.0.0.7", do("<sip:b@10.0.0.7>;expires=0", "", "c1", -25), "a REGISTER with a lower CSeq")
		assert.Equal(t, "423 sip:b@10.0.0.7 sip:c@10.0.0.7", do("<sip:d@10.0.0.7>", "30", "c2", 50))
		for _, bad := range []string{"<tel:1>", "<sip:a@b?x=y>", "<sip:a b@c>", "<sip:a@b>;q=7", "<sip:a@b>;expires=x", "*, <sip:a@b>", "nonsense"} {
			assert.Equal(t, "400 sip:b@10.0.0.7 sip:c@10.0.0.7", do(bad, "600", "c2", 0), bad)
		}
		assert.Equal(t, "400 sip:b@10.0.0.7 sip:c@10.0.0.7", do("*", "600", "c2", 0), "\"*\" with an interval other than 0")
		assert.Equal(t, "200 ", do("*", "0", "c2", 0))
		do("<sip:a@10.0.0.7>", "60", "c2", 0)
		time.Sleep(61 * time.Second)
		assert.Equal(t, "200 ", do("", "", "c2", 0), "the binding had expired")
		for i := range 12 {
			do(fmt.Sprintf("<sip:n%d@10.0.0.7>", i), "600", "c2", 0)
			time.Sleep(time.Second)
		}
		assert.Len(t, r.bound["phone-1001"], registrar.MaxBindings)
	})
}

func TestRetransmittedRegisterGetsSameResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPhoneAccounts()
		s := newPhoneStage(t, r)
		defer s.stop()
		a := phoneRequest{user: "1001", contact: "<sip:1001@10.0.0.7>", cseq: 1, algorithm: "SHA-256", password: "secret of 1001", nc: 1}
		a.nonce = s.fetchNonce(a)
		a.cseq++
		first := s.sendPhoneRequest(a)
		assert.Contains(t, first.line(), "200")
		assert.Equal(t, first.text, s.sendPhoneRequest(a).text)
		b := a
		b.user, b.from, b.cseq, b.nc = "1001", "1001", 5, 2
		text := strings.Replace(b.text(), "To: <sip:1001@", "To: <sip:1002@", 1)
		s.peer.send(text, s.localAddr())
		assert.Contains(t, s.peer.expect("SIP/2.0").line(), "403", "To of another account")
	})
}

func TestOnlyRegisteredPhoneMayCallAsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPhoneAccounts()
		s := newPhoneStage(t, r)
		defer s.stop()
		invite := phoneRequest{method: "INVITE", user: "200", from: "1001", contact: "<sip:1001@10.0.0.7>", cseq: 1, callID: "call", uri: "sip:200@127.0.0.1"}
		s.peer.send(invite.text(), s.localAddr())
		s.peer.expectNothing(time.Second)
		require.Contains(t, s.registerPhone(phoneRequest{user: "1001", contact: "<sip:1001@10.0.0.7>", cseq: 1}).line(), "200")
		m := s.sendPhoneRequest(invite)
		require.Contains(t, m.line(), "401")
		call := func(user, from string, cseq, nc int) string {
			a := phoneRequest{method: "INVITE", user: user, contact: "<sip:1001@10.0.0.7>", cseq: cseq, nc: nc, algorithm: "SHA-256", password: "secret of 1001", uri: "sip:200@127.0.0.1", callID: "call", from: from}
			a.nonce = noncePattern.FindStringSubmatch(m.text)[1]
			text := strings.Replace(a.text(), "To: <sip:"+user, "To: <sip:200", 1)
			s.peer.send(text, s.localAddr())
			got := s.peer.expect("SIP/2.0")
			if strings.Contains(got.line(), "100") {
				got = s.peer.expect("SIP/2.0")
			}
			return got.line()[8:11]
		}
		assert.Equal(t, "403", call("1001", "1002", 2, 1), "From of another account")
		assert.Equal(t, "401", call("1001", "1001", 3, 1), "credentials that were used")
		assert.Equal(t, "486", call("1001", "1001", 4, 2))
		assert.Equal(t, []string{"phone-1001"}, r.calls)
		assert.Equal(t, "401", call("1001", "1001", 5, 2), "retransmission with used credentials")
		traced := s.traces.lines()
		assert.Equal(t, []string{"in udp INVITE", "out udp 401"}, traced[len(traced)-2:], "the trace of the call shows the response too")
	})
}

func TestPhoneWithoutSHA256IsChallengedWithMD5Only(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPhoneStage(t, newPhoneAccounts())
		defer s.stop()
		offered := func(m msg) []string {
			var out []string
			for _, f := range regexp.MustCompile(`algorithm=([^,]*)`).FindAllStringSubmatch(m.text, -1) {
				out = append(out, f[1])
			}
			return out
		}
		a := phoneRequest{user: "1001", contact: "<sip:1001@10.0.0.7>", cseq: 1}
		assert.Contains(t, offered(s.sendPhoneRequest(a)), "SHA-256")
		assert.Contains(t, offered(s.sendPhoneRequest(a)), "SHA-256", "a retransmission")
		a.cseq = 2
		m := s.sendPhoneRequest(a)
		assert.Equal(t, []string{"MD5"}, offered(m))
		a.cseq, a.algorithm, a.password, a.nc, a.nonce = 3, "MD5", "secret of 1001", 1, noncePattern.FindStringSubmatch(m.text)[1]
		assert.Contains(t, s.sendPhoneRequest(a).line(), "200")
		time.Sleep(10 * time.Minute)
		a.cseq, a.nc = 4, 2
		m = s.sendPhoneRequest(a)
		assert.Contains(t, m.text, "stale=true")
		assert.Equal(t, []string{"MD5"}, offered(m), "also if the nonce is stale")
	})
}

func TestPhoneWithSHA256IsNotDowngradedToMD5(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPhoneStage(t, newPhoneAccounts())
		defer s.stop()
		a := phoneRequest{user: "1001", contact: "<sip:1001@10.0.0.7>", cseq: 1}
		a.nonce = s.fetchNonce(a)
		a.cseq, a.algorithm, a.password, a.nc = 2, "SHA-256", "secret of 1001", 1
		assert.Contains(t, s.sendPhoneRequest(a).line(), "200")
		for cseq := range 4 { // forged requests with the phone's address
			s.sendPhoneRequest(phoneRequest{user: "1001", contact: "<sip:1001@10.0.0.7>", cseq: cseq + 10, callID: "forged"})
		}
		a.cseq, a.algorithm = 20, ""
		assert.Contains(t, s.sendPhoneRequest(a).text, "algorithm=SHA-256")
	})
}

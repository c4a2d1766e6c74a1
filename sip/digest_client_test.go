package sip_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/icholy/digest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/outcome"
)

func setCredentials(in *sip.Invite) {
	in.Credentials = &auth.Credentials{Username: "ann", Password: "secret", Realm: "carrier"}
}

// verifiesDigest reports whether the response of an Authorization header is correct.
func verifiesDigest(t *testing.T, m msg, header, uri string) bool {
	t.Helper()
	c, err := digest.ParseCredentials(m.get(header))
	require.NoError(t, err, m.text)
	chal := &digest.Challenge{Realm: c.Realm, Nonce: c.Nonce, Algorithm: c.Algorithm, Opaque: c.Opaque, QOP: []string{c.QOP}}
	if c.QOP == "" {
		chal.QOP = nil
	}
	want, err := digest.Digest(chal, digest.Options{Method: m.method(), URI: uri, Username: "ann", Password: "secret", Cnonce: c.Cnonce, Count: c.Nc})
	require.NoError(t, err)
	return want.Response == c.Response && c.URI == uri
}

func TestDigestChallengeIsAnsweredWithStrongestAlgorithm(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(setCredentials)
		first := s.peer.expect("INVITE")
		s.peer.send(first.reply(401, "p0", `WWW-Authenticate: Digest realm="carrier", nonce="n1", algorithm=MD5, qop="auth"`,
			`WWW-Authenticate: Digest realm="carrier", nonce="n2", algorithm=SHA-256, qop="auth"`), s.localAddr())
		s.peer.expect("ACK")
		second := s.peer.expect("INVITE")
		assert.Equal(t, "2 INVITE", second.get("CSeq"))
		assert.Equal(t, first.get("Call-ID"), second.get("Call-ID"))
		assert.Equal(t, first.get("From"), second.get("From"))
		assert.NotEqual(t, first.get("Via"), second.get("Via"))
		assert.Contains(t, second.get("Authorization"), "SHA-256")
		assert.True(t, verifiesDigest(t, second, "Authorization", "sip:+15550001@127.0.0.1:5070"))
		s.peer.send(first.reply(401, "p0"), s.localAddr()) // retransmission: gets another ACK and no third INVITE
		s.peer.expect("ACK")
		s.peer.send(second.reply(200, "p1", contact, sdp), s.localAddr())
		assert.Equal(t, second.get("Authorization"), s.peer.expect("ACK").get("Authorization"))
		next[sip.Answered](t, s.events)
	})
}

func TestSecondDigestRefusalIsReported(t *testing.T) {
	for name, c := range map[string]struct {
		second  string
		invites int
	}{
		"wrong password": {`Proxy-Authenticate: Digest realm="carrier", nonce="n2"`, 2},
		"always stale":   {`Proxy-Authenticate: Digest realm="carrier", nonce="n2", stale=true`, 3},
		"other realm":    {`Proxy-Authenticate: Digest realm="elsewhere", nonce="n2", stale=true`, 2},
	} {
		t.Log(name)
		bubble(t, func(t *testing.T, s *stage) {
			s.invite(setCredentials)
			challenge := `Proxy-Authenticate: Digest realm="carrier", nonce="n1"`
			for n := range c.invites {
				inv := s.peer.expect("INVITE")
				assert.Equal(t, fmt.Sprintf("%d INVITE", n+1), inv.get("CSeq"))
				s.peer.send(inv.reply(407, "p0", challenge), s.localAddr())
				s.peer.expect("ACK")
				challenge = c.second
			}
			f := next[sip.Refused](t, s.events).Final
			assert.True(t, f.Authenticated)
			v := outcome.Classify(f)
			assert.True(t, v.Alert)
			assert.EqualValues(t, "trunk_rejected", v.Reason)
			s.peer.expectNothing(time.Minute)
		})
	}
}

func TestDigestChallengeOfUnknownRealmIsNotAnswered(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(setCredentials)
		inv := s.peer.expect("INVITE")
		s.peer.send(inv.reply(407, "p0", `Proxy-Authenticate: Digest realm="evil", nonce="n1"`), s.localAddr())
		s.peer.expect("ACK")
		assert.False(t, next[sip.Refused](t, s.events).Final.Authenticated)
	})
}

func setCredentialsForAnyRealm(in *sip.Invite) {
	in.Credentials = &auth.Credentials{Username: "ann", Password: "secret"}
}

// realmsOf returns the realms of the credentials in a request, in order.
func realmsOf(t *testing.T, m msg, header string) (realms []string) {
	t.Helper()
	for line := range strings.SplitSeq(m.text, "\r\n") {
		if value, found := strings.CutPrefix(line, header+": "); found {
			c, err := digest.ParseCredentials(value)
			require.NoError(t, err)
			realms = append(realms, c.Realm)
		}
	}
	return realms
}

func TestDigestChallengeOfSeveralRealmsIsAnswered(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d := s.invite(setCredentialsForAnyRealm)
		inv := s.peer.expect("INVITE")
		s.peer.send(inv.reply(407, "p0", `Proxy-Authenticate: Digest realm="east", nonce="n1", algorithm=MD5`,
			`Proxy-Authenticate: Digest realm="west", nonce="n2", algorithm=MD5`, `Proxy-Authenticate: Digest realm="east", nonce="n3", algorithm=SHA-256`), s.localAddr())
		s.peer.expect("ACK")
		inv = s.peer.expect("INVITE")
		assert.Equal(t, []string{"east", "west"}, realmsOf(t, inv, "Proxy-Authorization"))
		assert.Contains(t, inv.text, `nonce="n3"`)
		assert.NotContains(t, inv.text, `nonce="n1"`)
		s.peer.send(inv.reply(401, "p0", `WWW-Authenticate: Digest realm="callee", nonce="n4"`), s.localAddr())
		s.peer.expect("ACK")
		inv = s.peer.expect("INVITE")
		assert.Equal(t, []string{"east", "west"}, realmsOf(t, inv, "Proxy-Authorization"))
		assert.Equal(t, []string{"callee"}, realmsOf(t, inv, "Authorization"))
		assert.True(t, verifiesDigest(t, inv, "Authorization", "sip:+15550001@127.0.0.1:5070"))
		s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
		ack := s.peer.expect("ACK")
		assert.Len(t, append(realmsOf(t, ack, "Proxy-Authorization"), realmsOf(t, ack, "Authorization")...), 3)
		next[sip.Answered](t, s.events)

		d.Bye(16, "")
		bye := s.peer.expect("BYE")
		s.peer.send(bye.reply(407, "", `Proxy-Authenticate: Digest realm="east", nonce="n5"`), s.localAddr())
		bye = s.peer.expect("BYE")
		s.peer.send(bye.reply(407, "", `Proxy-Authenticate: Digest realm="west", nonce="n6"`), s.localAddr())
		bye = s.peer.expect("BYE")
		assert.Contains(t, bye.text, `nonce="n5"`)
		assert.Contains(t, bye.text, `nonce="n6"`)
		s.peer.send(bye.reply(200, ""), s.localAddr())
		assert.False(t, next[sip.Ended](t, s.events).Fault)
	})
}

func TestEndlessDigestChallengesAreNotAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		challenge string // with the number of the INVITE
		invites   int
	}{
		"always another realm":           {`WWW-Authenticate: Digest realm="r%d", nonce="n"`, 5},
		"one realm that stays refused":   {`WWW-Authenticate: Digest realm="r", nonce="n%d"`, 2},
		"one realm that is always stale": {`WWW-Authenticate: Digest realm="r", nonce="n%d", stale=true`, 3},
	} {
		t.Log(name)
		bubble(t, func(t *testing.T, s *stage) {
			s.invite(setCredentialsForAnyRealm)
			for n := range c.invites {
				inv := s.peer.expect("INVITE")
				s.peer.send(inv.reply(401, "p0", fmt.Sprintf(c.challenge, n)), s.localAddr())
				s.peer.expect("ACK")
			}
			assert.True(t, next[sip.Refused](t, s.events).Final.Authenticated)
			s.peer.expectNothing(time.Minute)
		})
	}
}

func TestChallengedByeIsSentAgainWithCredentials(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d := s.invite(setCredentials)
		inv := s.peer.expect("INVITE")
		s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
		s.peer.expect("ACK")
		next[sip.Answered](t, s.events)
		d.Bye(16, "")
		bye := s.peer.expect("BYE")
		s.peer.send(bye.reply(401, "", `WWW-Authenticate: Digest realm="carrier", nonce="n1", qop="auth"`), s.localAddr())
		again := s.peer.expect("BYE")
		assert.True(t, verifiesDigest(t, again, "Authorization", "sip:peer@127.0.0.1:5070"))
		s.peer.send(again.reply(200, ""), s.localAddr())
		assert.False(t, next[sip.Ended](t, s.events).Fault)
	})
}

package sip_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/siptest"
	"github.com/callboard/callboard/sip/transport"
)

// torturePeer is a host that has a socket on each port to which responses to torture messages may go.
const torturePeer = "127.0.0.2"

// A registrar must challenge every REGISTER among the torture messages, and create no binding.
func TestTortureMessagesCreateNoBinding(t *testing.T) {
	want, got, all := map[string]string{}, map[string]string{}, siptest.TortureMessages(t)
	for _, row := range tortureTable() {
		if row.udp == "405" && bytes.HasPrefix(all[row.name], []byte("REGISTER ")) {
			want[row.name] = "401"
		}
	}
	require.Len(t, want, 11)
	for name := range want {
		got[name] = udpReaction(t, all[name], func(ua *sip.UserAgent) {
			ua.SetRegistrar(registrar.Config{
				Account: func(user string) (auth.Account, bool) {
					return auth.Account{ID: "phone", User: user, Password: "secret"}, true
				},
				Presence: func(transport.Source) registrar.Presence { return registrar.Absent },
				Update: func(u *registrar.Update) {
					t.Errorf("%s: a binding for %s, who proved nothing", name, u.AccountID)
					u.Refuse(500, 0)
				},
			})
		})
	}
	assert.Equal(t, want, got)
}

// TestUnreadableRequestsAreAnsweredOnce: the response to a request that cannot be parsed is an error with the Call-ID of
// the request. Other unreadable messages get no response.
func TestUnreadableRequestsAreAnsweredOnce(t *testing.T) {
	for name, b := range siptest.TortureMessages(t) {
		answer := sip.ParseErrorResponse(b)
		if answer == nil {
			continue
		}
		require.True(t, strings.HasPrefix(string(answer), "SIP/2.0 4"), name)
		for line := range strings.SplitSeq(string(answer), "\r\n") {
			if value, found := strings.CutPrefix(line, "Call-ID: "); found {
				assert.Contains(t, string(b), value, name)
			}
		}
	}
	for _, b := range []string{
		strings.Replace(inboundInvite(), "INVITE", "ACK", 2), "SIP/2.0 200 OK\r\n" + inboundInvite(), "GET / HTTP/1.1\r\nVia: x\r\n\r\n",
		inboundInvite("+Call-ID: in-2"), "INVITE sip:a@b SIP/2.0\r\nFrom: a\r\nTo: b\r\nCSeq: 1 INVITE\r\n\r\n",
	} {
		assert.Nil(t, sip.ParseErrorResponse([]byte(b)), b)
	}
}

func FuzzUnreadable(f *testing.F) {
	for _, b := range siptest.TortureMessages(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		answer := sip.ParseErrorResponse(b)
		if answer == nil {
			return
		}
		head, _, found := bytes.Cut(answer, []byte("\r\n\r\n"))
		if !found || bytes.ContainsRune(bytes.ReplaceAll(head, []byte("\\\x00"), nil), 0) || bytes.Count(head, []byte("\r")) != bytes.Count(head, []byte("\r\n")) {
			t.Fatalf("%q", answer)
		}
	})
}

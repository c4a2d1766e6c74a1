package sip_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/transport"
)

// hostileMessages are invalid messages that the parser accepts, with the response that each must get. An empty response
// means that the message must get none.
func hostileMessages() map[string]struct {
	text string
	want string
} {
	type row = struct {
		text string
		want string
	}
	ask := func(method string) string {
		return strings.Replace(strings.Replace(inboundInvite("no body"), "INVITE", method, 1), "10 INVITE", "10 "+method, 1)
	}
	rows := map[string]row{
		"version":                   {inboundInvite("INVITE sip:+15551000@127.0.0.1 SIP/3.0"), "SIP/2.0 505"},
		"repeated header":           {inboundInvite("+Call-ID: in-2"), "SIP/2.0 400"},
		"repeated compact header":   {inboundInvite("+i: in-2"), "SIP/2.0 400"},
		"repeated CSeq":             {inboundInvite("+CSeq: 11 INVITE"), "SIP/2.0 400"},
		"CSeq of another method":    {inboundInvite("CSeq: 10 BYE"), "SIP/2.0 400"},
		"From without tag":          {inboundInvite("From: <sip:a@b>"), "SIP/2.0 400"},
		"oversized name":            {inboundInvite("Call-ID: " + strings.Repeat("x", 300)), "SIP/2.0 400"},
		"method unknown":            {ask("JUMP"), "SIP/2.0 501"},
		"method not served":         {ask("PUBLISH"), "SIP/2.0 405"},
		"scheme":                    {inboundInvite("INVITE mailto:a SIP/2.0"), "SIP/2.0 416"},
		"no hops left":              {strings.Replace(ask("OPTIONS"), "Max-Forwards: 70", "Max-Forwards: 0", 1), "SIP/2.0 200"},
		"extension required":        {inboundInvite("Require: 100rel, x-foo"), "SIP/2.0 420"},
		"contact missing":           {inboundInvite("Contact: nothing"), "SIP/2.0 400"},
		"answer not accepted":       {inboundInvite("Accept: text/plain"), "SIP/2.0 406"},
		"scheme that is no URI's":   {inboundInvite("INVITE soap.beep://192.0.2.103:3002 SIP/2.0"), "SIP/2.0 416"},
		"content encoded":           {inboundInvite("Content-Encoding: gzip"), "SIP/2.0 415"},
		"content type":              {inboundInvite("Content-Type: text/plain"), "SIP/2.0 415"},
		"part not understood":       {inviteWithParts("x", sdpPart, requiredPart), "SIP/2.0 415"},
		"unknown dialog":            {inboundInvite("To: <sip:a@b>;tag=nobody"), "SIP/2.0 481"},
		"BYE to nothing":            {followUpRequest("BYE", "nobody", 3), "SIP/2.0 481"},
		"CANCEL of nothing":         {followUpRequest("CANCEL", "", 10), "SIP/2.0 481"},
		"ACK to nothing":            {followUpRequest("ACK", "nobody", 10), ""},
		"BYE without a dialog":      {followUpRequest("BYE", "", 3), "SIP/2.0 481"},
		"OPTIONS":                   {ask("OPTIONS"), "SIP/2.0 200"},
		"method case":               {strings.Replace(strings.Replace(inboundInvite(), "INVITE", "invite", 1), "10 INVITE", "10 invite", 1), "SIP/2.0 501"},
		"a method of 43 letters":    {ask(strings.Repeat("JUMPS", 8) + "JUM"), "SIP/2.0 501"},
		"a method of 65 letters":    {ask(strings.Repeat("JUMPS", 13)), ""},
		"NUL in a quoted pair":      {inboundInvite("From: \"a\\\x00b\" <sip:a@b>", "INVITE mailto:a SIP/2.0"), "SIP/2.0 400"},
		"bare LF in a value":        {inboundInvite("Subject: a\nX-Evil: b"), ""},
		"bare CR in a value":        {inboundInvite("Subject: a\rX-Evil: b"), ""},
		"NUL":                       {inboundInvite("Subject: a\x00b"), ""},
		"no end of headers":         {"INVITE sip:a@b SIP/2.0\r\nVia: x\r\n", ""},
		"too many lines":            {inboundInvite(manyLines()...), ""},
		"no Via":                    {strings.Replace(inboundInvite(), "Via:", "Vib:", 1), ""},
		"no From":                   {strings.Replace(inboundInvite(), "From:", "Fram:", 1), "SIP/2.0 400"},
		"no Call-ID":                {strings.Replace(inboundInvite(), "Call-ID:", "Call-IX:", 1), "SIP/2.0 400"},
		"body shorter than told":    {strings.Replace(inboundInvite(), fmt.Sprintf("Length: %d", len(sdp)), "Length: 9999", 1), "SIP/2.0 400"},
		"not SIP":                   {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", ""},
		"junk":                      {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", ""},
		"keep-alive":                {"\r\n\r\n", ""},
		"answer to nothing":         {msg{text: inboundInvite()}.reply(200, "x", sdp), ""},
		"answer with a wild status": {"SIP/2.0 999 X\r\n" + inboundInvite()[strings.Index(inboundInvite(), "Via"):], ""},
	}
	return rows
}

func manyLines() []string {
	lines := make([]string, 200)
	for i := range lines {
		lines[i] = fmt.Sprintf("+X-%d: y", i)
	}
	return lines
}

func TestValidationOfHostileMessages(t *testing.T) {
	rows := hostileMessages()
	for name, code := range sip.ValidationRules() {
		require.Contains(t, rows, name, "a rule without a row")
		got, rule := sip.ValidateBytes([]byte(rows[name].text))
		assert.Equal(t, name, rule)
		assert.Equal(t, code, got)
	}
	for name, row := range rows {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, func(ua *sip.UserAgent) { ua.OnInvite(func(i *sip.Incoming) { i.Reject(200, 0) }) })
			s.peer.send(row.text, s.localAddr())
			if row.want == "" {
				s.peer.expectNothing(time.Minute)
			} else {
				got := s.peer.expect("SIP/2.0")
				assert.True(t, strings.HasPrefix(got.text, row.want), "%s: %s", name, got.line())
				if row.want == "SIP/2.0 420" {
					assert.Equal(t, "x-foo", got.get("Unsupported"))
				}
				s.peer.expectNothing(time.Minute)
			}
			assert.Zero(t, s.ua.Counters().Panics, name)
			assert.Zero(t, s.ua.Counters().Dialogs, name)
			s.stop()
		})
	}
}

func TestViaWithWhiteSpaceIsParsed(t *testing.T) {
	host, port, _ := strings.Cut(peerAddr, ":")
	for _, sentBy := range []string{
		"SIP/2.0/UDP " + host + " : " + port + " ;", "SIP / 2.0 / UDP " + peerAddr + ";", "SIP/2.0/UDP \t" + host + "\t:" + port + "\t;",
		"SIP/2.0/UDP [::1] : 5060 ;", "SIP/2.0/UDP  [::1]:5060;", "SIP/2.0/UDP ::1;", "SIP  / 2.0\r\n /UDP\r\n " + host + ";",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, nil)
			s.peer.send(strings.Replace(optionsRequest("OPTIONS"), "SIP/2.0/UDP "+peerAddr+";", sentBy, 1), s.localAddr())
			got := s.peer.expect("SIP/2.0")
			assert.True(t, strings.HasPrefix(got.text, "SIP/2.0 200"), "%q: %s", sentBy, got.line())
			assert.Contains(t, got.get("Via"), ";branch=z9hG4bKin1", sentBy)
			s.stop()
		})
	}
}

func TestCSeqWithSeveralSpacesIsParsed(t *testing.T) {
	for _, cseq := range []string{"CSeq:   10    OPTIONS", "CSeq: 10 \tOPTIONS ", "CSeq: 10\r\n   OPTIONS"} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, nil)
			request := strings.Replace(optionsRequest("OPTIONS"), "CSeq: 10 OPTIONS", cseq, 1)
			require.Contains(t, request, cseq)
			s.peer.send(request, s.localAddr())
			assert.True(t, strings.HasPrefix(s.peer.expect("SIP/2.0").text, "SIP/2.0 200"), "%q", cseq)
			s.stop()
		})
	}
}

func TestInvalidMessagesStoreNoSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		allowed := netip.MustParsePrefix("10.0.0.0/8")
		s := newStage(t, func(ua *sip.UserAgent) {
			ua.SetAdmission(func(src transport.Source) sip.Admission {
				return sip.Admission{Allow: allowed.Contains(src.Addr.Addr())}
			})
		})
		send := func(first byte, n int, text string) {
			for i := range n {
				from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{first, byte(i >> 16), byte(i >> 8), byte(i)}), uint16(1024+i%60000))
				s.net.ports[s.localAddr()].in <- datagram{[]byte(text), from}
			}
		}
		send(11, 20000, inboundInvite())
		send(10, 20000, strings.Replace(strings.Replace(inboundInvite(), "INVITE", "OPTIONS", 1), "10 INVITE", "10 OPTIONS", 1))
		synctest.Wait()
		sources, peers, pool := s.ua.StoredSources()
		assert.LessOrEqual(t, sources, 2*4096)
		assert.Zero(t, peers)
		assert.LessOrEqual(t, pool, 3)
		c := s.ua.Counters()
		assert.EqualValues(t, 20000, c.DroppedUnknown)
		assert.EqualValues(t, 20000, c.Sent)
		assert.Zero(t, c.Dialogs)
		s.stop()
	})
}

func TestIngressFilterLimitsRatePerSource(t *testing.T) {
	now := time.Unix(1000, 0)
	assert.Equal(t, 200, sip.SpendTokens(100, 1000, netip.MustParseAddr("10.0.0.1"), now))
	assert.Equal(t, 200, sip.SpendTokens(100, 1000, netip.MustParseAddr("2001:db8::1"), now))
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		from := netip.MustParseAddrPort(peerAddr)
		assert.False(t, s.ua.AdmitsDatagram(make([]byte, 20000), from))
		assert.True(t, s.ua.AdmitsDatagram([]byte(inboundInvite()), from))
		assert.EqualValues(t, 1, s.ua.Counters().DroppedSize)
		s.stop()
	})
}

func FuzzValidation(f *testing.F) {
	for _, row := range hostileMessages() {
		f.Add([]byte(row.text))
	}
	f.Add([]byte(inboundInvite()))
	f.Fuzz(func(t *testing.T, b []byte) {
		code, name := sip.ValidateBytes(b)
		if code != 0 && (code < 400 || code > 599) {
			t.Fatalf("%d %s", code, name)
		}
	})
}

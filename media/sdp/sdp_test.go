package sdp_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	pion "github.com/pion/sdp/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/sdp"
	"github.com/callboard/callboard/media/srtp"
)

// ours returns the terms of a local party with PCMU and PCMA. offered says that the peer's SDP is an offer.
func ours(offered bool) sdp.Terms {
	return sdp.Terms{Codecs: []sdp.Format{{Name: "PCMU", Clock: 8000}, {Name: "PCMA", Clock: 8000}}, Events: true, Offered: offered}
}

// lines joins the lines of an SDP.
func lines(l ...string) []byte { return []byte(strings.Join(l, "\r\n") + "\r\n") }

// with returns a typical SDP offer with additional attribute lines.
func with(attributes ...string) []byte {
	return lines(append([]string{
		"v=0", "o=carrier 1 1 IN IP4 192.0.2.9", "s=call", "c=IN IP4 192.0.2.9", "t=0 0",
		"m=audio 4000 RTP/AVP 18 8 0 96", "a=rtpmap:96 telephone-event/8000", "a=fmtp:96 0-15",
	}, attributes...)...)
}

func agree(t *testing.T, b []byte, offered bool) sdp.Agreed {
	t.Helper()
	s, err := sdp.Parse(b)
	require.NoError(t, err)
	a, err := sdp.Agree(s, ours(offered))
	require.NoError(t, err)
	return a
}

func TestParseReadsSDPOfCarriers(t *testing.T) {
	want := netip.MustParseAddrPort("192.0.2.9:4000")
	for name, b := range map[string][]byte{
		"usual":            with(),
		"no final newline": []byte(strings.TrimRight(string(with()), "\r\n")),
		"bare LF":          []byte(strings.ReplaceAll(string(with()), "\r\n", "\n")),
		"no s= and no t=":  lines("v=0", "o=- 1 1 IN IP4 1.1.1.1", "c=IN IP4 192.0.2.9", "m=audio 4000 RTP/AVP 8"),
		"c= after t=":      lines("v=0", "o=- 1 1 IN IP4 1.1.1.1", "s=-", "t=0 0", "c=IN IP4 192.0.2.9", "m=audio 4000 RTP/AVP 8"),
		"c= of the stream": lines("v=0", "c=IN IP4 198.51.100.1", "m=audio 4000 RTP/AVP 8", "c=IN IP4 192.0.2.9/127"),
		"nothing but m=":   lines("v=0", "m=audio 4000 RTP/AVP 8", "c=IN IP4 192.0.2.9"),
		"spaces":           lines("v=0 ", "c= IN  IP4 192.0.2.9 ", "m=audio 4000/2 rtp/avp  8 ", "", "a= ptime: 20"),
		"unknown lines":    lines("v=0", "x=?", "k=clear:1", "c=IN IP4 192.0.2.9", "b=AS:80", "m=audio 4000 RTP/AVP 8", "a=ssrc:1 x", "a"+"=candidate"),
		"mapped address":   lines("v=0", "c=IN IP6 ::ffff:192.0.2.9", "m=audio 4000 RTP/AVP 8"),
		"video first":      lines("v=0", "c=IN IP4 192.0.2.9", "m=video 6000 RTP/AVP 99", "m=audio 4000 RTP/AVP 8"),
	} {
		assert.Equal(t, want, agree(t, b, true).Remote, name)
	}
}

func TestParseRefusesInvalidSDP(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty": nil, "text": []byte("hello\r\n"), "version": lines("v=1"), "no version": lines("o=-", "m=audio 1 RTP/AVP 0"), "twice": lines("v=0", "v=0"),
	} {
		_, err := sdp.Parse(b)
		require.ErrorIs(t, err, sdp.ErrSyntax, name)
	}
	for name, b := range map[string][]byte{
		"bytes":   append(with(), make([]byte, 20000)...),
		"lines":   with(strings.Split(strings.Repeat("a=x,", 600), ",")...),
		"a line":  with("a=" + strings.Repeat("x", 3000)),
		"streams": with(strings.Split(strings.Repeat("m=audio 1 RTP/AVP 0,", 9), ",")...),
		"formats": with("m=audio 1 RTP/AVP" + strings.Repeat(" 0", 70)),
	} {
		_, err := sdp.Parse(b)
		require.ErrorIs(t, err, sdp.ErrTooLarge, name)
	}
	for name, b := range map[string][]byte{
		"no m=": lines("v=0"), "refused": lines("v=0", "m=audio 0 RTP/AVP 0"), "encrypted": lines("v=0", "m=audio 5 RTP/SAVP 0"),
		"other codecs": lines("v=0", "c=IN IP4 1.1.1.1", "m=audio 5 RTP/AVP 18 101", "a=rtpmap:101 telephone-event/8000"),
		"other clock":  lines("v=0", "c=IN IP4 1.1.1.1", "m=audio 5 RTP/AVP 97", "a=rtpmap:97 PCMU/16000"),
		"stereo":       lines("v=0", "c=IN IP4 1.1.1.1", "m=audio 5 RTP/AVP 97", "a=rtpmap:97 PCMU/8000/2"),
	} {
		s, err := sdp.Parse(b)
		require.NoError(t, err, name)
		_, err = sdp.Agree(s, ours(true))
		require.ErrorIs(t, err, sdp.ErrNoAudio, name)
	}
}

// The parser must ignore unusable lines and list them. Only errors in the chosen stream may make the SDP unacceptable.
func TestParseListsUnusableLinesAsIgnored(t *testing.T) {
	video := []string{"m=video 3227 RTP/AVP 31", "a=rtpmap:31 LPC"}
	for name, more := range map[string][]string{
		"a map without a clock, of a declined stream": video,
		"a map of a type not listed":                  {"a=rtpmap:97 X/8000"},
		"a map without a clock":                       {"a=rtpmap:97 X"},
		"a map without a type":                        {"a=rtpmap: PCMA/8000"},
		"a bare map":                                  {"a=rtpmap"},
		"a clock that is no number":                   {"a=rtpmap:96 telephone-event/8000.0"},
		"parameters without a type":                   {"a=fmtp:"},
		"no =":                                        {"garbage"},
		"a length that is none":                       {"a=maxptime:abc"},
		"a stream without a port":                     {"m=video x RTP/AVP 31"},
		"a stream of two words":                       {"m=video 1"},
		"a zone of another stream":                    {"m=video 1 RTP/AVP 31", "c=IN IP6 fe80::1%eth0"},
	} {
		s, err := sdp.Parse(with(more...))
		require.NoError(t, err, name)
		require.Len(t, s.Ignored, 1, name)
		assert.Equal(t, 8+len(more), s.Ignored[0].Line, name)
		assert.NotEmpty(t, s.Ignored[0].Reason, name)
		assert.Contains(t, s.Ignored[0].String(), s.Ignored[0].Text, name)
		a, err := sdp.Agree(s, ours(true))
		require.NoError(t, err, name)
		assert.Equal(t, netip.MustParseAddrPort("192.0.2.9:4000"), a.Remote, name)
		answer := string(sdp.Local{Addr: netip.MustParseAddr("198.51.100.7"), Port: 20000, Formats: []sdp.Format{a.Codec}}.Answer(s, a.Stream))
		assert.Equal(t, len(s.Media), strings.Count(answer, "m="), "each stream has its answer: %s", name)
	}
	many, err := sdp.Parse(with(strings.Split(strings.Repeat("garbage,", 50), ",")...))
	require.NoError(t, err)
	assert.Len(t, many.Ignored, 16)
	none, err := sdp.Parse(with("x=1", "a=unknown:1"))
	require.NoError(t, err)
	assert.Empty(t, none.Ignored, "unknown lines are no mistakes")
}

func TestHostNameInConnectionLineGivesNoAddress(t *testing.T) {
	for _, c := range []string{"IN IP4 carrier.example", "IN IP6 a_b-1.local"} {
		a := agree(t, lines("v=0", "c="+c, "m=audio 4000 RTP/AVP 0"), true)
		assert.Equal(t, c[len("IN IP4 "):], a.Host)
		assert.False(t, a.Remote.Addr().IsValid())
		assert.False(t, a.Held)
		assert.Equal(t, sdp.SendRecv, a.Ours)
	}
	own := agree(t, lines("v=0", "c=IN IP4 carrier.example", "m=audio 4000 RTP/AVP 0", "c=IN IP4 192.0.2.9"), true)
	assert.Equal(t, "192.0.2.9:4000", own.Remote.String())
	assert.Empty(t, own.Host)
	other := agree(t, lines("v=0", "c=IN IP4 192.0.2.9", "m=audio 4000 RTP/AVP 0", "c=IN IP4 carrier.example"), true)
	assert.Equal(t, "carrier.example", other.Host)
	for _, c := range []string{"IN IP4 1.2.3", "IN IP4 a b", "X IP4 1.1.1.1", "IN IP6 fe80::1%eth0", "IN IP4 car(rier"} {
		s, err := sdp.Parse(lines("v=0", "c="+c, "m=audio 4000 RTP/AVP 0"))
		require.NoError(t, err)
		require.Len(t, s.Ignored, 1, c)
		_, err = sdp.Agree(s, ours(true))
		require.ErrorIs(t, err, sdp.ErrSyntax, c)
	}
}

func TestAnswererUsesItsCodecOrderAndOffererTheAnswers(t *testing.T) {
	mu, a := sdp.Format{Type: 0, Name: "PCMU", Clock: 8000}, sdp.Format{Type: 8, Name: "PCMA", Clock: 8000}
	event := sdp.Format{Type: 96, Name: sdp.Event, Clock: 8000, Params: "0-15"}
	got := agree(t, with(), true)
	assert.Equal(t, mu, got.Codec)
	assert.Equal(t, []sdp.Format{mu}, got.Listen)
	assert.Equal(t, event, got.Event)
	got = agree(t, with(), false)
	assert.Equal(t, a, got.Codec)
	assert.Equal(t, []sdp.Format{a, mu}, got.Listen)
	got = agree(t, lines("v=0", "c=IN IP4 1.1.1.1", "m=audio 5 RTP/AVP 97", "a=rtpmap:97 pcma/8000/1"), true)
	assert.Equal(t, sdp.Format{Type: 97, Name: "PCMA", Clock: 8000}, got.Codec)
	assert.Empty(t, got.Event.Name)
}

func TestAgreeRecognizesEveryFormOfHold(t *testing.T) {
	type hold struct {
		held, silent bool
		ours         sdp.Direction
	}
	zero := func(attribute string) []byte {
		return []byte(strings.ReplaceAll(string(with(attribute)), "c=IN IP4 192.0.2.9", "c=IN IP4 0.0.0.0"))
	}
	early := lines("v=0", "c=IN IP4 1.1.1.1", "a=sendonly", "m=audio 5 RTP/AVP 0")
	for name, c := range map[string]struct {
		offer []byte
		want  hold
	}{
		"none":                {with(), hold{false, false, sdp.SendRecv}},
		"sendrecv":            {with("a=sendrecv"), hold{false, false, sdp.SendRecv}},
		"sendonly":            {with("a=sendonly"), hold{true, false, sdp.RecvOnly}},
		"recvonly":            {with("a=recvonly"), hold{false, true, sdp.SendOnly}},
		"inactive":            {with("a=inactive"), hold{true, true, sdp.Inactive}},
		"0.0.0.0":             {zero("a=sendrecv"), hold{true, false, sdp.RecvOnly}},
		"0.0.0.0 and nothing": {zero("a=inactive"), hold{true, true, sdp.Inactive}},
		"of the session":      {early, hold{true, false, sdp.RecvOnly}},
	} {
		a := agree(t, c.offer, true)
		assert.Equal(t, c.want, hold{a.Held, a.Silent, a.Ours}, name)
	}
}

func TestAgreeUsesRequestedPacketLengthIfSupported(t *testing.T) {
	for attributes, want := range map[string]int{
		"": 20, "a=ptime:10": 10, "a=ptime:20": 20, "a=ptime:30": 30, "a=ptime:40": 40, "a=ptime:60": 40, "a=ptime:5": 10, "a=ptime:20.0": 20,
		"a=ptime:x": 20, "a=ptime:40,a=maxptime:30": 30, "a=maxptime:10": 10, "a=ptime:-1": 20, "a=ptime:NaN": 20,
	} {
		assert.Equal(t, want, agree(t, with(strings.Split(attributes, ",")...), true).PTime, attributes)
	}
}

func TestAgreeReadsRTCPAddress(t *testing.T) {
	for attribute, want := range map[string]string{
		"a=sendrecv": "192.0.2.9:4001", "a=rtcp:5000": "192.0.2.9:5000", "a=rtcp:5000 IN IP4 192.0.2.7": "192.0.2.7:5000", "a=rtcp:x": "192.0.2.9:4001",
	} {
		assert.Equal(t, netip.MustParseAddrPort(want), agree(t, with(attribute), true).RTCP, attribute)
	}
}

func TestAnswerHasLineForEveryOfferedStream(t *testing.T) {
	offer, err := sdp.Parse(lines("v=0", "c=IN IP4 192.0.2.9", "m=audio 4002 RTP/SAVP 0", "m=audio 4000 RTP/AVPF 8 97 101", "a=rtpmap:101 telephone-event/8000",
		"m=video 6000 RTP/AVP 99", "m=message 7000 TCP/MSRP *"))
	require.NoError(t, err)
	a, err := sdp.Agree(offer, ours(true))
	require.NoError(t, err)
	got := sdp.Local{
		ID: 5, Version: 2, Addr: netip.MustParseAddr("198.51.100.7"), Port: 20000, Formats: []sdp.Format{a.Codec, a.Event}, Direction: a.Ours, PTime: 20,
	}.Answer(offer, a.Stream)
	assert.Equal(t, string(lines("v=0", "o=- 5 2 IN IP4 198.51.100.7", "s=-", "c=IN IP4 198.51.100.7", "t=0 0",
		"m=audio 0 RTP/SAVP 0",
		"m=audio 20000 RTP/AVPF 8 101", "a=rtpmap:8 PCMA/8000", "a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-15", "a=ptime:20", "a=sendrecv",
		"m=video 0 RTP/AVP 99", "m=message 0 TCP/MSRP *")), string(got))
}

func TestParseReadsWrittenSDP(t *testing.T) {
	for _, addr := range []string{"198.51.100.7", "2001:db8::1"} {
		l := sdp.Local{
			ID: 1, Version: 1, Addr: netip.MustParseAddr(addr), Port: 20000, Direction: sdp.SendRecv, PTime: 20,
			Formats: []sdp.Format{{Type: 0, Name: "PCMU", Clock: 8000}, {Type: 101, Name: sdp.Event, Clock: 8000, Params: "0-15"}},
		}
		a := agree(t, l.Offer(), true)
		assert.Equal(t, netip.AddrPortFrom(l.Addr, 20000), a.Remote)
		assert.Equal(t, []sdp.Format{a.Codec, a.Event}, l.Formats)
	}
}

// wanting returns terms that accept all features, changed by the function change.
func wanting(change func(*sdp.Terms)) sdp.Terms {
	w := sdp.Terms{
		Codecs: []sdp.Format{
			{Name: "G722", Clock: 8000}, {Name: "PCMU", Clock: 8000}, {Name: "PCMA", Clock: 8000}, {Name: sdp.Opus, Clock: 48000, Channels: 2},
		},
		Events: true, Noise: true, Offered: true,
	}
	change(&w)
	return w
}

func TestNegotiationFollowsLocalOrPeerCodecOrder(t *testing.T) {
	offer := lines("v=0", "c=IN IP4 192.0.2.9", "m=audio 4000 RTP/AVP 111 8 9 0 100 101 110 13", "a=rtpmap:111 opus/48000/2", "a=fmtp:111 useinbandfec=1",
		"a=rtpmap:100 telephone-event/16000", "a=rtpmap:101 telephone-event/8000", "a=rtpmap:110 telephone-event/48000", "a=ptime:30")
	type got struct {
		codec, event, noise sdp.Format
		ptime               int
	}
	opus := sdp.Format{Type: 111, Name: sdp.Opus, Clock: 48000, Channels: 2, Params: "useinbandfec=1"}
	event := func(kind uint8, clock int) sdp.Format {
		return sdp.Format{Type: kind, Name: sdp.Event, Clock: clock, Params: "0-15"}
	}
	for name, c := range map[string]struct {
		change func(*sdp.Terms)
		want   got
	}{
		"ours":                          {func(*sdp.Terms) {}, got{sdp.Format{Type: 9, Name: "G722", Clock: 8000}, event(101, 8000), sdp.Format{}, 30}},
		"theirs, and Opus has no 30 ms": {func(w *sdp.Terms) { w.TheirOrder = true }, got{opus, event(110, 48000), sdp.Format{}, 20}},
		"noise goes with G.711": {
			func(w *sdp.Terms) { w.Codecs = w.Codecs[1:3] },
			got{sdp.Format{Type: 0, Name: "PCMU", Clock: 8000}, event(101, 8000), sdp.Format{Type: 13, Name: sdp.Noise, Clock: 8000}, 30},
		},
		"nothing beside it": {
			func(w *sdp.Terms) { w.Codecs, w.Events, w.Noise, w.PTime = w.Codecs[2:3], false, false, 40 },
			got{sdp.Format{Type: 8, Name: "PCMA", Clock: 8000}, sdp.Format{}, sdp.Format{}, 30},
		},
	} {
		s, err := sdp.Parse(offer)
		require.NoError(t, err)
		a, err := sdp.Agree(s, wanting(c.change))
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got{a.Codec, a.Event, a.Noise, a.PTime}, name)
	}
	s, err := sdp.Parse(lines("v=0", "c=IN IP4 192.0.2.9", "m=audio 4000 RTP/AVP 0 96", "a=rtpmap:96 telephone-event/16000"))
	require.NoError(t, err)
	a, err := sdp.Agree(s, wanting(func(w *sdp.Terms) { w.PTime = 40 }))
	require.NoError(t, err)
	assert.Equal(t, event(96, 16000), a.Event, "another clock is better than none")
	assert.Equal(t, 40, a.PTime, "where they ask for nothing, ours")
}

func TestRTCPMuxIsNegotiated(t *testing.T) {
	s, err := sdp.Parse(with("a=rtcp-mux", "a=rtcp:5000"))
	require.NoError(t, err)
	a, err := sdp.Agree(s, ours(true))
	require.NoError(t, err)
	assert.True(t, a.Mux)
	assert.Equal(t, a.Remote, a.RTCP)
	a, err = sdp.Agree(s, ours(false))
	require.NoError(t, err)
	assert.False(t, a.Mux, "we did not offer it")
}

// crypto returns an a=crypto line whose key text repeats one letter.
func crypto(tag int, suite, letter string) string {
	return fmt.Sprintf("a=crypto:%d %s inline:%s", tag, suite, strings.Repeat(letter, 40))
}

func TestSRTPKeysAreNegotiatedByPrivacyOfBothSides(t *testing.T) {
	secure := func(proto string, attributes ...string) []byte {
		return lines(append([]string{"v=0", "c=IN IP4 192.0.2.9", "m=audio 4000 " + proto + " 0"}, attributes...)...)
	}
	cm, gcm := crypto(1, "AES_CM_128_HMAC_SHA1_80", "A"), crypto(2, "AES_CM_128_HMAC_SHA1_32", "B")
	two := lines("v=0", "c=IN IP4 192.0.2.9", "m=audio 4000 RTP/AVP 0", "m=audio 4002 RTP/SAVP 0", cm)
	plain, savp, both := secure("RTP/AVP"), secure("RTP/SAVP", gcm, cm), secure("RTP/AVP", cm)
	const plainly, encrypted, refused = "clear", "encrypted", "refused"
	for _, c := range []struct {
		name  string
		offer []byte
		want  [3]string // for Clear, Either, Private
	}{
		{"RTP/AVP", plain, [3]string{plainly, plainly, refused}},
		{"RTP/SAVP", savp, [3]string{refused, encrypted, encrypted}},
		{"RTP/SAVPF", secure("RTP/SAVPF", cm), [3]string{refused, encrypted, encrypted}},
		{"RTP/AVP with keys", both, [3]string{plainly, encrypted, encrypted}},
		{"a stream of each", two, [3]string{plainly, encrypted, encrypted}},
		{"RTP/SAVP without keys", secure("RTP/SAVP"), [3]string{refused, refused, refused}},
		{"keys not spoken", secure("RTP/SAVP", "a=crypto:1 F8_128_HMAC_SHA1_80 inline:x", cm+"|2^20|1:4"), [3]string{refused, refused, refused}},
		{"DTLS", secure("UDP/TLS/RTP/SAVP", "a=fingerprint:sha-1 00"), [3]string{refused, refused, refused}},
	} {
		for i, privacy := range []sdp.Privacy{sdp.Clear, sdp.Either, sdp.Private} {
			s, err := sdp.Parse(c.offer)
			require.NoError(t, err)
			w := ours(true)
			w.Privacy = privacy
			a, err := sdp.Agree(s, w)
			got := refused
			if err == nil {
				got = map[bool]string{false: plainly, true: encrypted}[a.Secure]
			}
			assert.Equal(t, c.want[i], got, "%s, %d", c.name, privacy)
			if a.Secure {
				assert.Equal(t, s.Media[a.Stream].Crypto[0], a.Key, "their first that we speak")
			}
		}
	}
}

func TestAnswerMustUseOfferedSRTPKey(t *testing.T) {
	one, err := srtp.ParseAttribute(crypto(1, "AES_CM_128_HMAC_SHA1_80", "C")[len("a=crypto:"):])
	require.NoError(t, err)
	w := ours(false)
	w.Privacy, w.Keys = sdp.Either, []srtp.Attribute{one}
	for name, c := range map[string]struct {
		line string
		want error
	}{
		"right":         {crypto(1, "AES_CM_128_HMAC_SHA1_80", "A"), nil},
		"another tag":   {crypto(2, "AES_CM_128_HMAC_SHA1_80", "A"), sdp.ErrNoKeys},
		"another suite": {crypto(1, "AES_CM_128_HMAC_SHA1_32", "A"), sdp.ErrNoKeys},
	} {
		for _, proto := range []string{"RTP/AVP", "RTP/SAVP"} {
			s, errParse := sdp.Parse(lines("v=0", "c=IN IP4 192.0.2.9", "m=audio 4000 "+proto+" 0", c.line))
			require.NoError(t, errParse)
			a, errAgree := sdp.Agree(s, w)
			require.ErrorIs(t, errAgree, c.want, name)
			assert.Equal(t, c.want == nil, a.Secure)
		}
	}
	s, err := sdp.Parse(with())
	require.NoError(t, err)
	a, err := sdp.Agree(s, w)
	require.NoError(t, err, "whoever does not know a=crypto answers in the clear")
	assert.False(t, a.Secure)
}

func TestWrittenSDPHasKeysAndChannels(t *testing.T) {
	k := srtp.Attribute{Tag: 2, Key: srtp.NewKey(srtp.AESGCM128)}
	l := sdp.Local{
		ID: 1, Version: 1, Addr: netip.MustParseAddr("198.51.100.7"), Port: 20000, Direction: sdp.SendOnly, PTime: 40, Crypto: []srtp.Attribute{k}, Secure: true,
		Formats: []sdp.Format{{Type: 107, Name: sdp.Opus, Clock: 48000, Channels: 2, Params: "useinbandfec=1"}, {Type: 9, Name: "G722", Clock: 8000}, {Type: 13, Name: sdp.Noise, Clock: 8000}},
	}
	want := lines("v=0", "o=- 1 1 IN IP4 198.51.100.7", "s=-", "c=IN IP4 198.51.100.7", "t=0 0", "m=audio 20000 RTP/SAVP 107 9 13",
		"a=rtpmap:107 opus/48000/2", "a=fmtp:107 useinbandfec=1", "a=rtpmap:9 G722/8000", "a=rtpmap:13 CN/8000", "a=ptime:40", "a=crypto:"+k.Line(), "a=sendonly")
	assert.Equal(t, string(want), string(l.Offer()))
	s, err := sdp.Parse(l.Offer())
	require.NoError(t, err)
	assert.Equal(t, []srtp.Attribute{k}, s.Media[0].Crypto)
	l.Mux, l.Crypto, l.Secure = true, nil, false
	assert.Contains(t, string(l.Offer()), "m=audio 20000 RTP/AVP 107 9 13\r\n")
	assert.Contains(t, string(l.Offer()), "a=rtcp-mux\r\n")
}

// cross asserts that our parser agrees with pion/sdp on an SDP that both accept.
func cross(t *testing.T, b []byte) {
	t.Helper()
	var theirs pion.SessionDescription
	ours, err := sdp.Parse(b)
	if theirs.Unmarshal(b) != nil || err != nil {
		return
	}
	require.Len(t, ours.Media, len(theirs.MediaDescriptions))
	for i, m := range theirs.MediaDescriptions {
		assert.True(t, strings.EqualFold(m.MediaName.Media, ours.Media[i].Kind))
		assert.Equal(t, m.MediaName.Port.Value, ours.Media[i].Port)
		assert.Len(t, ours.Media[i].Raw, len(m.MediaName.Formats))
		if c := m.ConnectionInformation; c != nil && c.Address != nil {
			host, _, _ := strings.Cut(c.Address.Address, "/")
			if addr, errAddr := netip.ParseAddr(host); errAddr == nil {
				assert.Equal(t, addr.Unmap(), ours.Media[i].Addr)
			}
		}
	}
}

func TestParseMatchesPionSDP(t *testing.T) {
	for _, b := range [][]byte{
		with(), with("a=sendonly", "a=rtcp:5000 IN IP4 192.0.2.7", "a=ptime:20"),
		lines("v=0", "o=- 1 1 IN IP4 192.0.2.9", "s=-", "c=IN IP4 192.0.2.9", "t=0 0", "m=audio 4002 RTP/SAVP 0", "m=audio 4000 RTP/AVPF 8 97", "c=IN IP4 198.51.100.1",
			"m=video 6000/2 RTP/AVP 99"),
	} {
		var theirs pion.SessionDescription
		require.NoError(t, theirs.Unmarshal(b))
		cross(t, b)
	}
	for _, addr := range []string{"198.51.100.7", "2001:db8::1"} {
		l := sdp.Local{
			ID: 1 << 50, Version: 3, Addr: netip.MustParseAddr(addr), Port: 20000, PTime: 20, Mux: true, Crypto: []srtp.Attribute{{Tag: 1, Key: srtp.NewKey(srtp.AESCM128SHA80)}},
			Formats: []sdp.Format{{Type: 0, Name: "PCMU", Clock: 8000}, {Type: 107, Name: sdp.Opus, Clock: 48000, Channels: 2}, {Type: 101, Name: sdp.Event, Clock: 8000, Params: "0-15"}},
		}
		var theirs pion.SessionDescription
		require.NoError(t, theirs.Unmarshal(l.Offer()), "what we write is strict")
		cross(t, l.Offer())
		codec, err := theirs.GetCodecForPayloadType(107)
		require.NoError(t, err)
		assert.Equal(t, "opus", codec.Name)
		assert.Equal(t, "2", codec.EncodingParameters)
		key, ok := theirs.MediaDescriptions[0].Attribute("crypto")
		assert.True(t, ok)
		assert.Equal(t, l.Crypto[0].Line(), key)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(with("a=sendonly", "a=rtcp:5000 IN IP4 192.0.2.7", "a=ptime:20"))
	f.Add(lines("v=0", "c=IN IP6 ::1", "m=audio 4000/2 RTP/AVP 0 * 300"))
	f.Fuzz(func(t *testing.T, b []byte) {
		cross(t, b)
		s, err := sdp.Parse(b)
		if err != nil {
			return
		}
		a, err := sdp.Agree(s, wanting(func(w *sdp.Terms) { w.Privacy = sdp.Either }))
		if err != nil {
			return
		}
		answer := sdp.Local{Addr: netip.IPv6Loopback(), Port: 2, Formats: []sdp.Format{a.Codec}}.Answer(s, a.Stream)
		again, err := sdp.Parse(answer)
		require.NoError(t, err, "what strangers say stays within its line")
		assert.Len(t, again.Media, len(s.Media))
	})
}

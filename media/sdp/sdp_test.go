package sdp_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/sdp"
)

// ours is what we want, as answerer or offerer.
func ours(offered bool) sdp.Terms {
	return sdp.Terms{Codecs: []sdp.Format{{Name: "PCMU", Clock: 8000}, {Name: "PCMA", Clock: 8000}}, Events: true, Offered: offered}
}

// lines joins lines as a description has them.
func lines(l ...string) []byte { return []byte(strings.Join(l, "\r\n") + "\r\n") }

// with is a usual offer with its attributes.
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

func TestWhatCarriersSendIsRead(t *testing.T) {
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

func TestWhatIsNoDescriptionIsRefused(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty": nil, "text": []byte("hello\r\n"), "version": lines("v=1"), "no version": lines("o=-", "m=audio 1 RTP/AVP 0"), "twice": lines("v=0", "v=0"),
		"host name": lines("v=0", "c=IN IP4 carrier.example"), "port": lines("v=0", "m=audio 99999 RTP/AVP 0"), "short m=": lines("v=0", "m=audio 1"),
		"rtpmap": lines("v=0", "m=audio 1 RTP/AVP 9", "a=rtpmap:9"), "zone": lines("v=0", "c=IN IP6 fe80::1%eth0"),
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

func TestAsAnswererOurOrderDecidesAsOffererTheirs(t *testing.T) {
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

func TestHoldIsUnderstoodInAllItsSpellings(t *testing.T) {
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

func TestPacketLengthsThatWeCanSendAreHonoured(t *testing.T) {
	for attributes, want := range map[string]int{
		"": 20, "a=ptime:10": 10, "a=ptime:20": 20, "a=ptime:30": 30, "a=ptime:40": 40, "a=ptime:60": 40, "a=ptime:5": 10, "a=ptime:20.0": 20,
		"a=ptime:x": 20, "a=ptime:40,a=maxptime:30": 30, "a=maxptime:10": 10, "a=ptime:-1": 20, "a=ptime:NaN": 20,
	} {
		assert.Equal(t, want, agree(t, with(strings.Split(attributes, ",")...), true).PTime, attributes)
	}
}

func TestReportsGoWhereTheyAreWanted(t *testing.T) {
	for attribute, want := range map[string]string{
		"a=sendrecv": "192.0.2.9:4001", "a=rtcp:5000": "192.0.2.9:5000", "a=rtcp:5000 IN IP4 192.0.2.7": "192.0.2.7:5000", "a=rtcp:x": "192.0.2.9:4001",
	} {
		assert.Equal(t, netip.MustParseAddrPort(want), agree(t, with(attribute), true).RTCP, attribute)
	}
}

func TestAnAnswerAnswersEveryStream(t *testing.T) {
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

func TestWhatWeWriteWeRead(t *testing.T) {
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

func FuzzParse(f *testing.F) {
	f.Add(with("a=sendonly", "a=rtcp:5000 IN IP4 192.0.2.7", "a=ptime:20"))
	f.Add(lines("v=0", "c=IN IP6 ::1", "m=audio 4000/2 RTP/AVP 0 * 300"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := sdp.Parse(b)
		if err != nil {
			return
		}
		a, err := sdp.Agree(s, ours(true))
		if err != nil {
			return
		}
		answer := sdp.Local{Addr: netip.IPv6Loopback(), Port: 2, Formats: []sdp.Format{a.Codec}}.Answer(s, a.Stream)
		again, err := sdp.Parse(answer)
		require.NoError(t, err, "what strangers say stays within its line")
		assert.Len(t, again.Media, len(s.Media))
	})
}

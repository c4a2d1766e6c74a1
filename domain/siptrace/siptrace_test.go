package siptrace_test

import (
	"encoding/binary"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/siptrace"
)

const invite = "INVITE sip:+12025550123@10.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 10.0.0.9:5060;branch=z9hG4bK1\r\n" +
	"From: <sip:a@10.0.0.9>;tag=1\r\nTo: <sip:b@10.0.0.1>\r\nCall-ID: one\r\nCSeq: 1 INVITE\r\n" +
	"Content-Type: application/sdp\r\nContent-Length: 5\r\n\r\nv=0\r\n"

const okay = "SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP 10.0.0.9:5060;branch=z9hG4bK1\r\n" +
	"From: <sip:a@10.0.0.9>;tag=1\r\nTo: <sip:b@10.0.0.1>;tag=2\r\nCall-ID: one\r\nCSeq: 1 INVITE\r\nContent-Length: 0\r\n\r\n"

func newTrace() *domain.CallTrace {
	at := time.Date(2030, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	return &domain.CallTrace{CallID: "call_1", Messages: []domain.SIPMessage{
		{At: at, Out: true, Network: "udp", Local: "10.0.0.9:5060", Remote: "10.0.0.1:5060", SIPCallID: "one", Data: []byte(invite)},
		{At: at.Add(40 * time.Millisecond), Network: "udp", Local: "10.0.0.9:5060", Remote: "10.0.0.1:5060", SIPCallID: "one", Data: []byte(okay)},
		{At: at.Add(2 * time.Second), Out: true, Network: "tls", Local: "[2001:db8::9]:5061", Remote: "[2001:db8::1]:5061", SIPCallID: "two", Data: []byte(strings.ReplaceAll(invite, "one", "two"))},
	}, Dropped: 2}
}

func TestLadderShowsSenderAndReceiver(t *testing.T) {
	t.Parallel()
	want := `call_1: 3 messages, 2 dialogs, 2 not kept

                  us                     10.0.0.1:5060                [2001:db8::1]:5061
03:04:05.678 #1    |--------- INVITE +SDP --------->|
03:04:05.718 #1    |<-------- 200 OK (INVITE) -------|
          +2.0 s
03:04:07.678 #2    |-------------------------- INVITE +SDP -------------------------->|
`
	got := siptrace.FormatLadder(newTrace())
	assert.Equal(t, squeezeRuns(want), squeezeRuns(got), got)
}

// squeezeRuns replaces each run of dashes or spaces with a single one, so that column widths do not matter.
func squeezeRuns(s string) string {
	for _, c := range []string{"-", " "} {
		for strings.Contains(s, c+c) {
			s = strings.ReplaceAll(s, c+c, c)
		}
	}
	return s
}

func TestLadderHandlesMalformedMessages(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "\r\n", "\x00\xff\xfe", strings.Repeat("A", 5000), "SIP/2.0 ", "SIP/2.0 200 " + strings.Repeat("ü", 200) + "\r\nCSeq:\r\n"} {
		m := domain.SIPMessage{Remote: "x", Data: []byte(data)}
		out := siptrace.FormatLadder(&domain.CallTrace{Messages: []domain.SIPMessage{m}})
		assert.NotContains(t, out, "\x00")
		assert.Less(t, len(out), 1000)
	}
}

// packet is a decoded packet of a capture.
type packet struct {
	at       time.Time
	from, to netip.AddrPort
	data     string
}

// parse decodes a capture file according to the specifications of pcap, IP and UDP.
func parse(t *testing.T, b []byte) []packet {
	t.Helper()
	require.GreaterOrEqual(t, len(b), 24)
	require.Equal(t, uint32(0xa1b2c3d4), binary.LittleEndian.Uint32(b))
	require.Equal(t, uint16(2), binary.LittleEndian.Uint16(b[4:]))
	require.Equal(t, uint32(101), binary.LittleEndian.Uint32(b[20:]))
	var out []packet
	for b = b[24:]; len(b) > 0; {
		size := binary.LittleEndian.Uint32(b[8:])
		require.Equal(t, size, binary.LittleEndian.Uint32(b[12:]))
		p := packet{at: time.Unix(int64(binary.LittleEndian.Uint32(b)), int64(binary.LittleEndian.Uint32(b[4:]))*1000).UTC()}
		ip := b[16 : 16+size]
		b = b[16+size:]
		var pseudo []byte
		udp := ip[40:]
		if ip[0]>>4 == 4 {
			require.Zero(t, checksum(ip[:20]), "the header's checksum")
			require.Equal(t, int(size), int(binary.BigEndian.Uint16(ip[2:])))
			udp, pseudo = ip[20:], ip[12:20]
		} else {
			require.Equal(t, len(udp), int(binary.BigEndian.Uint16(ip[4:])))
			pseudo = ip[8:40]
		}
		half := len(pseudo) / 2
		source, _ := netip.AddrFromSlice(pseudo[:half])
		target, _ := netip.AddrFromSlice(pseudo[half:])
		p.from = netip.AddrPortFrom(source, binary.BigEndian.Uint16(udp))
		p.to = netip.AddrPortFrom(target, binary.BigEndian.Uint16(udp[2:]))
		require.Equal(t, len(udp), int(binary.BigEndian.Uint16(udp[4:])))
		whole := append(append([]byte{}, pseudo...), 0, 17, udp[4], udp[5])
		require.Zero(t, checksum(append(whole, udp...)), "the datagram's checksum")
		p.data = string(udp[8:])
		out = append(out, p)
	}
	return out
}

func checksum(b []byte) uint16 {
	total := 0
	for i, c := range b {
		if i%2 == 0 {
			total += int(c) << 8
		} else {
			total += int(c)
		}
	}
	for total > 0xffff {
		total = total>>16 + total&0xffff
	}
	return ^uint16(total)
}

func TestCaptureContainsMessagesWithAddresses(t *testing.T) {
	t.Parallel()
	trace := newTrace()
	trace.Messages = append(trace.Messages,
		domain.SIPMessage{Local: "nowhere", Remote: "10.0.0.1:1", Data: []byte("x")},
		domain.SIPMessage{At: trace.Messages[0].At, Local: "0.0.0.0:5060", Remote: "[2001:db8::1]:5060", Data: []byte("odd")},
	)
	got := parse(t, siptrace.EncodePcap(trace))
	at := trace.Messages[0].At
	us, them := netip.MustParseAddrPort("10.0.0.9:5060"), netip.MustParseAddrPort("10.0.0.1:5060")
	assert.Equal(t, []packet{
		{at, us, them, invite},
		{at.Add(40 * time.Millisecond), them, us, okay},
		{at.Add(2 * time.Second), netip.MustParseAddrPort("[2001:db8::9]:5061"), netip.MustParseAddrPort("[2001:db8::1]:5061"), strings.ReplaceAll(invite, "one", "two")},
		{at, netip.MustParseAddrPort("[2001:db8::1]:5060"), netip.MustParseAddrPort("[::ffff:0.0.0.0]:5060"), "odd"},
	}, got)
}

func TestOversizedMessageIsTruncated(t *testing.T) {
	t.Parallel()
	m := domain.SIPMessage{At: time.Unix(1, 0), Local: "10.0.0.9:5060", Remote: "10.0.0.1:5060", Data: make([]byte, 1<<17)}
	got := parse(t, siptrace.EncodePcap(&domain.CallTrace{Messages: []domain.SIPMessage{m}}))
	require.Len(t, got, 1)
	assert.Len(t, got[0].data, siptrace.MaxPayload)
}

func TestCaptureIsReadableByTshark(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "call.pcap")
	require.NoError(t, os.WriteFile(file, siptrace.EncodePcap(newTrace()), 0o600))
	out, err := exec.Command("tshark", "-r", file, "-T", "fields", "-e", "sip.Method", "-e", "sip.Status-Code", "-e", "sip.Call-ID").Output()
	require.NoError(t, err, "tshark must be installed: make tools")
	assert.Equal(t, "INVITE\t\tone\n\t200\tone\nINVITE\t\ttwo\n", string(out))
}

func FuzzLadder(f *testing.F) {
	f.Add([]byte(invite), true)
	f.Add([]byte("SIP/2.0 \xff\r\ncseq:"), false)
	f.Fuzz(func(t *testing.T, data []byte, out bool) {
		m := domain.SIPMessage{At: time.Unix(1, 0), Out: out, Local: "10.0.0.9:5060", Remote: "10.0.0.1:5060", Data: data}
		trace := &domain.CallTrace{Messages: []domain.SIPMessage{m, m}}
		siptrace.FormatLadder(trace)
		for _, p := range parse(t, siptrace.EncodePcap(trace)) {
			assert.Equal(t, string(data), p.data)
		}
	})
}

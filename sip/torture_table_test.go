package sip_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/mediatest"
	mediasdp "github.com/callboard/callboard/media/sdp"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/siptest"
	"github.com/callboard/callboard/sip/transport"
)

// updateTable is the test flag that rewrites the table of torture messages in docs/interoperability.md.
var updateTable = flag.Bool("update", false, "write the table of torture messages into docs/interoperability.md") //nolint:gochecknoglobals // a flag

// tortureRow is a message of RFC 4475 or RFC 5118. expectation is the reaction that the RFC expects. udp and tcp are the
// status codes that Callboard sends, "" for no response. audio is the audio of a call accepted over TCP.
type tortureRow struct{ name, section, expectation, udp, tcp, audio string }

// tortureTable returns all messages of both RFCs with the reactions of a user agent that accepts calls.
func tortureTable() []tortureRow {
	return []tortureRow{
		{"wsinv", "3.1.1.1", "Valid: white space, folded and compact headers. Its To has a tag, so it belongs to a dialog.", "481", "481", ""},
		{"intmeth", "3.1.1.2", "Valid: an unknown method in unusual characters gets 501, or 405.", "501", "501", ""},
		{"esc01", "3.1.1.3", "Valid: escaped characters in the Request-URI are compared unescaped. The call is accepted.", "100 200", "100 200", "both ways"},
		{"escnull", "3.1.1.4", "Valid: escaped NUL in URIs of a REGISTER.", "405", "405", ""},
		{"esc02", "3.1.1.5", "Valid: a method with % in it is an unknown method and no escaped REGISTER.", "501", "501", ""},
		{"lwsdisp", "3.1.1.6", "Valid: no space between display name and <.", "200", "200", ""},
		{"longreq", "3.1.1.7", "Valid: long header values. The call is accepted.", "100 200", "100 200", "both ways"},
		{"dblreq", "3.1.1.8", "Valid in UDP: bytes behind the body are ignored.", "405", "405 400", ""},
		{"semiuri", "3.1.1.9", "Valid: parameters in the user part of an OPTIONS.", "200", "200", ""},
		{"transports", "3.1.1.10", "Valid: unknown transports in Via.", "200", "200", ""},
		{"mpart01", "3.1.1.11", "Valid: a MESSAGE with a multipart body. 405 where messages are not accepted.", "405", "405", ""},
		{"unreason", "3.1.1.12", "Valid: a response with an unusual reason phrase. It answers no request, so it is ignored.", "", "", ""},
		{"noreason", "3.1.1.13", "Valid: a response without a reason phrase. Ignored likewise.", "", "", ""},
		{"badinv01", "3.1.2.1", "Invalid: extra separators. 400.", "400", "400", ""},
		{"clerr", "3.1.2.2", "Invalid in UDP: Content-Length is larger than the message. 400; over TCP the rest is waited for.", "400", "", ""},
		{"ncl", "3.1.2.3", "Invalid: negative Content-Length. 400, or the connection is closed.", "400", "", ""},
		{"scalar02", "3.1.2.4", "Invalid: numbers beyond their range. 400.", "400", "400", ""},
		{"scalarlg", "3.1.2.5", "Invalid response: ignored.", "", "", ""},
		{"quotbal", "3.1.2.6", "Invalid: unterminated quoted string. 400, or accepted where it can be repaired.", "400", "400", ""},
		{"ltgtruri", "3.1.2.7", "Invalid: <> around the Request-URI. 400.", "400", "400", ""},
		{"lwsruri", "3.1.2.8", "Invalid: white space within the Request-URI. 400.", "400", "400", ""},
		{"lwsstart", "3.1.2.9", "Invalid: several spaces in the request line. 400, or accepted.", "400", "400", ""},
		{"trws", "3.1.2.10", "Invalid: spaces at the end of the request line. 400, or accepted.", "400", "400", ""},
		{"escruri", "3.1.2.11", "Invalid: headers in the Request-URI. 400, or the headers are ignored.", "100 200", "100 200", "both ways"},
		{"baddate", "3.1.2.12", "Invalid time zone in Date. Elements that do not need Date accept the call.", "100 200", "100 200", "both ways"},
		{"regbadct", "3.1.2.13", "Invalid: a Contact with parameters without <>. 400, or accepted.", "405", "405", ""},
		{"badaspec", "3.1.2.14", "Invalid: spaces within an address. 400, or accepted.", "400", "400", ""},
		{"baddn", "3.1.2.15", "Invalid: a display name that is no token. 400, or accepted. In this copy the header section has no end.", "", "", ""},
		{"badvers", "3.1.2.16", "Unknown version: 505.", "505", "505", ""},
		{"mismatch01", "3.1.2.17", "The method of CSeq differs: 400.", "400", "400", ""},
		{"mismatch02", "3.1.2.18", "The method is unknown and that of CSeq differs: 501, or 400.", "400", "400", ""},
		{"bigcode", "3.1.2.19", "Invalid response: ignored.", "", "", ""},
		{"badbranch", "3.2.1", "A branch that is the magic cookie alone: a transaction all the same.", "200", "200", ""},
		{"insuf", "3.3.1", "Required headers are missing: 400 where a response can be made.", "400", "400", ""},
		{"unkscm", "3.3.2", "Unknown scheme in the Request-URI: 416.", "416", "416", ""},
		{"novelsc", "3.3.3", "A known scheme that is not SIP: 416.", "416", "416", ""},
		{"unksm2", "3.3.4", "Unknown schemes in other headers are accepted.", "405", "405", ""},
		{"bext01", "3.3.5", "Unknown options in Require: 420 with Unsupported.", "420", "420", ""},
		{"invut", "3.3.6", "Unknown Content-Type: 415 with Accept.", "415", "415", ""},
		{"regaut01", "3.3.7", "Unknown authorization scheme in a REGISTER: as without credentials.", "405", "405", ""},
		{"multi01", "3.3.8", "Several values in headers that have one: 400.", "400", "400", ""},
		{"mcl01", "3.3.9", "Several Content-Length: 400.", "400", "", ""},
		{"bcast", "3.3.10", "A response to another address: ignored.", "", "", ""},
		{"zeromf", "3.3.11", "Max-Forwards 0: a user agent processes the OPTIONS.", "200", "200", ""},
		{"cparam01", "3.3.12", "REGISTER with an unknown Contact parameter.", "405", "405", ""},
		{"cparam02", "3.3.13", "REGISTER with an unknown URI parameter.", "405", "405", ""},
		{"regescrt", "3.3.14", "REGISTER with an escaped header in a URI.", "405", "405", ""},
		{"sdp01", "3.3.15", "Accept without application/sdp: 406.", "406", "406", ""},
		{"inv2543", "3.4.1", "RFC 2543 syntax: From without a tag. Accepted, or 400.", "400", "400", ""},
		{"ipv6-good", "RFC 5118, 4.1", "Valid: an IPv6 reference in a REGISTER.", "405", "405", ""},
		{"ipv6-bad", "RFC 5118, 4.2", "Invalid: an IPv6 address without brackets. 400.", "400", "400", ""},
		{"port-ambiguous", "RFC 5118, 4.3", "Valid: the last group is part of the address.", "405", "405", ""},
		{"port-unambiguous", "RFC 5118, 4.4", "Valid: a port behind the brackets.", "405", "405", ""},
		{"via-received-param-with-delim", "RFC 5118, 4.5", "Valid in practice: brackets in received.", "481", "481", ""},
		{"via-received-param-no-delim", "RFC 5118, 4.5", "Valid: no brackets in received.", "200", "200", ""},
		{"ipv6-in-sdp", "RFC 5118, 4.6", "Valid SDP with IPv6 and G.726 alone; Content-Length is larger than the body here.", "400", "100 488", ""},
		{"mult-ip-in-header", "RFC 5118, 4.7", "Valid: IPv4 and IPv6 in Via. It belongs to a dialog.", "481", "481", ""},
		{"mult-ip-in-sdp", "RFC 5118, 4.8", "Valid: IPv4 and IPv6 in one SDP. The stream that can be reached is accepted.", "100 200", "100 200", "both ways"},
		{"ipv4-mapped-ipv6", "RFC 5118, 4.9", "Valid: IPv4-mapped addresses. The call is processed; 488, because G.726 is all it offers.", "100 488", "100 488", ""},
		{"ipv6-bug-abnf-3-colons", "RFC 5118, 4.10", "Valid in practice: three colons, as the grammar of RFC 3261 allows.", "200", "200", ""},
		{"ipv6-correct-abnf-2-colons", "RFC 5118, 4.10", "Valid: two colons.", "200", "200", ""},
	}
}

// acceptIfAgreed accepts a call whose SDP has a common codec.
func acceptIfAgreed(i *sip.Incoming) {
	terms := mediasdp.Terms{Codecs: []mediasdp.Format{{Type: 0, Name: "PCMU", Clock: 8000}, {Type: 8, Name: "PCMA", Clock: 8000}}, Events: true, Offered: true}
	local := mediasdp.Local{ID: 1, Version: 1, Addr: netip.MustParseAddr("127.0.0.1"), Port: 4000, Formats: terms.Codecs}
	if len(i.Body) == 0 {
		i.Answer(local.Offer(), func(sip.Event) {})
		return
	}
	theirs, err := mediasdp.Parse(i.Body)
	var agreed mediasdp.Agreed
	if err == nil {
		agreed, err = mediasdp.Agree(theirs, terms)
	}
	if err != nil {
		i.Reject(488, 0, sip.Warning(sip.WarnMiscellaneous, err.Error()))
		return
	}
	local.Formats = []mediasdp.Format{agreed.Codec}
	i.Answer(local.Answer(theirs, agreed.Stream), func(sip.Event) {})
}

// udpReaction sends a message from torturePeer over UDP. It returns the status codes of the responses, without
// retransmissions; "" if there is no response.
func udpReaction(t *testing.T, b []byte, more ...func(*sip.UserAgent)) string {
	t.Helper()
	var said []string
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, func(ua *sip.UserAgent) {
			ua.OnInvite(acceptIfAgreed)
			for _, f := range more {
				f(ua)
			}
		})
		from := netip.MustParseAddrPort(torturePeer + ":5060")
		var ports []*fakeSocket
		for _, n := range []int{5060, 5061, 6050, 19823, 9} {
			ports = append(ports, s.net.open(fmt.Sprintf("%s:%d", torturePeer, n)))
		}
		s.net.ports[s.localAddr()].in <- datagram{b, from}
		synctest.Wait()
		for _, p := range ports {
			for len(p.in) > 0 {
				m := msg{text: string((<-p.in).b)}
				said = append(said, strings.Fields(m.line())[1])
				assert.LessOrEqual(t, strings.Count(m.text, "\r\nFrom: "), 1, m.text)
			}
		}
		c := s.ua.Counters()
		assert.Zero(t, c.Panics)
		assert.EqualValues(t, len(said), c.Sent, "every response was received")
		time.Sleep(5 * time.Minute) // whatever the message started is over
		assert.Zero(t, s.ua.Counters().Dialogs)
		s.stop()
	})
	return strings.Join(said, " ")
}

// lastRequest is sent after the message under test. Its response shows that the user agent has handled that message.
const lastRequest = "OPTIONS sip:a@b SIP/2.0\r\nVia: SIP/2.0/TCP 127.0.0.1;branch=z9hG4bKlast\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:a@b>\r\n" +
	"Call-ID: the-last-word\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n"

// tcpReaction sends a message over TCP and returns the status codes of the responses; "" if there is no response.
func tcpReaction(address string, b []byte) (string, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if err = conn.SetDeadline(time.Now().Add(3 * time.Second)); err != nil { // for a message that gets no response
		return "", err
	}
	if _, err = conn.Write(append(bytes.Clone(b), lastRequest...)); err != nil {
		return "", err
	}
	var said []string
	lines := bufio.NewScanner(conn)
	last := ""
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "SIP/2.0 "):
			last = strings.Fields(line)[1]
		case line == "Call-ID: the-last-word":
			return strings.Join(said, " "), nil
		case line == "" && last != "":
			if len(said) == 0 || said[len(said)-1] != last { // skips retransmissions
				said = append(said, last)
			}
			last = ""
		}
	}
	return strings.Join(said, " "), nil
}

// audioAgent accepts each call with a media session, and passes the session to exchangeAudio.
type audioAgent struct {
	engine *media.Engine
	call   chan *media.Session
}

// loopbackMedia returns a media engine that sends only to loopback.
func loopbackMedia(t *testing.T) *media.Engine {
	t.Helper()
	low := siptest.MediaPorts400(t)
	engine, err := media.NewEngine(media.Config{
		BindIP: netip.IPv6Unspecified(), PortMin: low, PortMax: low + 199, MayReach: func(a netip.AddrPort) bool { return a.Addr().IsLoopback() },
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	return engine
}

func (a *audioAgent) accept(i *sip.Incoming) {
	s, err := a.engine.Open(media.Options{SignallingAddress: netip.MustParseAddr("127.0.0.1")})
	if err != nil {
		i.Reject(503, 0)
		return
	}
	body := s.Offer()
	if len(i.Body) > 0 {
		body, err = s.Answer(i.Body)
	}
	if err != nil {
		s.Close()
		i.Reject(488, 0, sip.Warning(sip.WarnMiscellaneous, err.Error()))
		return
	}
	i.Answer(body, func(sip.Event) {})
	s.Begin()
	a.call <- s
}

// exchangeAudio sends audio to the accepted call from an address other than the one in its SDP, like a phone behind NAT.
// It returns "both ways" if audio arrives in both directions; otherwise "".
func (a *audioAgent) exchangeAudio() (string, error) {
	s := <-a.call
	defer s.Close()
	conn, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: s.LocalPort()})
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	var heard rtp.Packet
	b := make([]byte, 1500)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for n := range uint16(150) {
		packet := make([]byte, mediatest.RTPHeaderLen+160)
		mediatest.PutRTPHeader(packet, rtp.Header{PayloadType: 0, SequenceNumber: n, Timestamp: uint32(n) * 160, SSRC: 1})
		if _, err = conn.Write(packet); err != nil {
			return "", err
		}
		<-tick.C
		if err = conn.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
			return "", err
		}
		if size, errRead := conn.Read(b); errRead == nil {
			if p, ok := mediatest.ParseRTP(b[:size]); ok && p.PayloadType == 0 {
				heard = p
			}
		}
		if heard.SSRC != 0 && s.Stats().PacketsReceived >= 10 {
			return "both ways", nil
		}
	}
	return "", nil
}

// tcpReactions sends each message over TCP to its own user agent. It returns the status codes of the responses, and the
// result of exchangeAudio for accepted calls.
func tcpReactions(t *testing.T, all map[string][]byte) (said, audio map[string]string) {
	t.Helper()
	engine := loopbackMedia(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	said, audio = make(map[string]string), make(map[string]string)
	for name, b := range all {
		address := fmt.Sprintf("127.0.0.1:%d", siptest.Port(t))
		agent := &audioAgent{engine, make(chan *media.Session, 1)}
		startUserAgent(t, func(cfg *sip.Config, ua *sip.UserAgent) {
			cfg.Listen = []transport.Listener{{Network: "tcp", Addr: address}}
			if ua != nil {
				ua.SetAdmission(func(transport.Source) sip.Admission { return sip.Admission{Allow: true, TrunkID: "trunk"} })
				ua.OnInvite(agent.accept)
			}
		})
		wg.Go(func() {
			codes, err := tcpReaction(address, b)
			heard := ""
			if err == nil && codes == "100 200" {
				heard, err = agent.exchangeAudio()
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				codes = err.Error()
			}
			said[name], audio[name] = codes, heard
		})
	}
	wg.Wait()
	return said, audio
}

func TestTortureMessageReactions(t *testing.T) {
	all := siptest.TortureMessages(t)
	byTCP, audio := tcpReactions(t, all)
	rows := tortureTable()
	require.Len(t, rows, len(all))
	var table strings.Builder
	table.WriteString("| message | section | what the RFC expects | UDP | TCP | audio |\n|---|---|---|---|---|---|\n")
	none := func(codes string) string {
		if codes == "" {
			return "–"
		}
		return codes
	}
	for _, row := range rows {
		got := row
		got.udp, got.tcp, got.audio = udpReaction(t, all[row.name]), byTCP[row.name], audio[row.name]
		assert.Equal(t, row, got)
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s | %s |\n", row.name, row.section, row.expectation, none(got.udp), none(got.tcp), none(got.audio))
	}
	t.Logf("RFC 4475 and RFC 5118:\n%s", table.String())
	right := bytes.Replace(all["ipv6-in-sdp"], []byte("Content-Length: 268"), []byte("Content-Length: 251"), 1)
	assert.Equal(t, "100 488", udpReaction(t, right), "with the right length; G.726 is not supported")
	const page, begin, end = "../docs/interoperability.md", "<!-- torture messages -->\n", "<!-- end of torture messages -->"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	require.True(t, found)
	old, after, found := strings.Cut(rest, end)
	require.True(t, found)
	if *updateTable {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+table.String()+end+after), 0o600))
		return
	}
	assert.Equal(t, table.String(), old, "%s: go test ./sip -run %s -update writes it anew", page, t.Name())
}

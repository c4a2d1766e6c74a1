package sdp

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/callboard/callboard/media/srtp"
)

// reader is the state of parsing an SDP line by line.
type reader struct {
	out       Session
	addr      netip.Addr // address in the c= line of the session
	host      string     // host name in the c= line of the session
	direction Direction
	version   bool
}

// Parse parses an SDP. It tolerates deviations that carriers send: no final newline, bare LF, no s= or t=, c= after t=,
// unknown lines. Unusable lines are ignored and listed in Session.Ignored. An error wraps ErrSyntax if the text is not
// SDP of version 0, or ErrTooLarge.
func Parse(b []byte) (*Session, error) {
	if len(b) > maxBytes {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, len(b))
	}
	var r reader
	n := 0
	for line := range strings.Lines(string(b)) {
		if n++; n > maxLines || len(line) > maxLine {
			return nil, fmt.Errorf("%w: line %d", ErrTooLarge, n)
		}
		line = strings.TrimRight(line, "\r\n \t")
		if line == "" {
			continue
		}
		if len(line) < 2 || line[1] != '=' {
			r.ignore(n, line, "no type=value")
			continue
		}
		if err := r.line(n, line[0], strings.TrimSpace(line[2:])); err != nil {
			return nil, err
		}
	}
	if !r.version {
		return nil, syntax(n, "no v=0")
	}
	for i := range r.out.Media {
		if m := &r.out.Media[i]; !m.Addr.IsValid() && m.Host == "" {
			m.Addr, m.Host = r.addr, r.host
		}
	}
	return &r.out, nil
}

func (r *reader) ignore(n int, line, why string) {
	const most = 80
	if len(r.out.Ignored) < maxIgnored {
		r.out.Ignored = append(r.out.Ignored, Ignored{n, strings.ToValidUTF8(line[:min(len(line), most)], "?"), why})
	}
}

func (r *reader) line(n int, kind byte, value string) error {
	if !r.version && kind != 'v' {
		return syntax(n, "v=0 must be first")
	}
	why := ""
	switch kind {
	case 'v':
		if value != "0" || r.version {
			return syntax(n, "version")
		}
		r.version = true
	case 'o':
		r.out.Origin = value
	case 'c':
		why = r.connection(value)
	case 'm':
		var err error
		if why, err = r.media(n, value); err != nil {
			return err
		}
	case 'a':
		why = r.attribute(value)
	}
	if why != "" {
		r.ignore(n, string(kind)+"="+value, why)
	}
	return nil
}

func (r *reader) current() *Media {
	if len(r.out.Media) == 0 {
		return nil
	}
	return &r.out.Media[len(r.out.Media)-1]
}

// connection parses "IN IP4 192.0.2.1[/ttl]", or a host name instead of the address.
func (r *reader) connection(value string) (why string) {
	f := strings.Fields(value)
	if len(f) != 3 || !strings.EqualFold(f[0], "IN") {
		return "not c=IN IP4|IP6 address"
	}
	text, _, _ := strings.Cut(f[2], "/")
	addr, err := netip.ParseAddr(text)
	host := ""
	switch {
	case err != nil && !isHostName(text):
		return "neither an address nor a host name"
	case err != nil:
		host = text
	case addr.Zone() != "":
		return "an address with a zone"
	}
	if m := r.current(); m != nil {
		m.Addr, m.Host = addr.Unmap(), host
	} else {
		r.addr, r.host = addr.Unmap(), host
	}
	return ""
}

// isHostName says whether text may be a DNS name that contains a letter.
func isHostName(text string) bool {
	letters := false
	for _, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		letters = letters || letter
		if !letter && c != '-' && c != '.' && c != '_' && (c < '0' || c > '9') {
			return false
		}
	}
	return letters && len(text) <= 253 //nolint:mnd // RFC 1035 section 2.3.4
}

// media parses the value of an m= line, "audio 49170[/2] RTP/AVP 0 8 101". It keeps an unreadable stream with port 0,
// because the answer must refuse the stream at its position (RFC 3264 §6).
func (r *reader) media(n int, value string) (why string, err error) {
	f := strings.Fields(value)
	if len(r.out.Media) == maxMedia || len(f)-3 > maxFormats {
		return "", fmt.Errorf("%w: line %d", ErrTooLarge, n)
	}
	m := Media{Kind: "audio", Proto: "RTP/AVP", Direction: r.direction}
	if len(f) > 0 {
		m.Kind = strings.ToLower(f[0])
	}
	if len(f) < 3 {
		r.out.Media = append(r.out.Media, m)
		return "not m=media port protocol formats", nil
	}
	number, _, _ := strings.Cut(f[1], "/")
	port, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		why = "the port is no number up to 65535"
	}
	m.Port, m.Proto, m.Raw = int(port), strings.ToUpper(f[2]), f[3:]
	if why != "" {
		m.Port = 0
	}
	for _, raw := range m.Raw {
		t, errType := strconv.ParseUint(raw, 10, 7)
		if errType != nil {
			continue
		}
		format := Format{Type: uint8(t)}
		if format.Name = static(format.Type); format.Name != "" {
			format.Clock = 8000
		}
		m.Formats = append(m.Formats, format)
	}
	r.out.Media = append(r.out.Media, m)
	return why, nil
}

// static returns the name of the supported codec with this static payload type (RFC 3551 §6), or "".
func static(payloadType uint8) string {
	switch payloadType {
	case 0:
		return "PCMU"
	case 8:
		return "PCMA"
	case 9:
		return "G722"
	case 13:
		return Noise
	}
	return ""
}

func (r *reader) attribute(value string) (why string) {
	name, arg, _ := strings.Cut(value, ":")
	m := r.current()
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "sendrecv", "sendonly", "recvonly", "inactive":
		d := Direction(slices.Index([]string{"sendrecv", "sendonly", "recvonly", "inactive"}, name)) //nolint:gosec // 0 to 3
		if m == nil {
			r.direction = d
		} else {
			m.Direction = d
		}
	}
	if m == nil {
		return ""
	}
	switch name {
	case "rtpmap":
		return m.rtpmap(arg)
	case "fmtp":
		kind, params, _ := strings.Cut(strings.TrimSpace(arg), " ")
		if !m.eachFormat(kind, func(f *Format) { f.Params = strings.TrimSpace(params) }) {
			return "m= does not list this payload type"
		}
	case "ptime":
		if m.PTime = millis(arg); m.PTime == 0 {
			return "no length from 1 to 1000 ms"
		}
	case "maxptime":
		if m.MaxPTime = millis(arg); m.MaxPTime == 0 {
			return "no length from 1 to 1000 ms"
		}
	case "rtcp":
		m.rtcp(arg)
	case "rtcp-mux":
		m.Mux = true
	case "crypto":
		m.crypto(arg)
	}
	return ""
}

// crypto parses the value of an a=crypto line (RFC 4568). It ignores a line with unsupported parameters.
func (m *Media) crypto(arg string) {
	m.Keyed = true
	if len(m.Crypto) == maxCrypto {
		return
	}
	if a, err := srtp.ParseAttribute(arg); err == nil {
		m.Crypto = append(m.Crypto, a)
	}
}

// rtpmap parses the value of an a=rtpmap line, "101 telephone-event/8000[/1]".
func (m *Media) rtpmap(arg string) (why string) {
	kind, encoding, ok := strings.Cut(strings.TrimSpace(arg), " ")
	part := strings.Split(strings.TrimSpace(encoding), "/")
	if !ok || len(part) < 2 {
		return "not a=rtpmap:type name/clock"
	}
	clock, err := strconv.ParseUint(strings.TrimSpace(part[1]), 10, 31)
	if err != nil || clock == 0 {
		return "the clock rate is no positive number"
	}
	named := m.eachFormat(kind, func(f *Format) {
		f.Name, f.Clock = strings.ToUpper(part[0]), int(clock) //nolint:gosec // 31 bits
		f.Channels = 0
		if len(part) > 2 {
			if channels, errChannels := strconv.ParseUint(strings.TrimSpace(part[2]), 10, 8); errChannels == nil && channels > 1 {
				f.Channels = int(channels)
			}
		}
	})
	if !named {
		return "m= does not list this payload type"
	}
	return ""
}

// eachFormat calls do for each format with the payload type kind. It returns false if the m= line does not list it.
func (m *Media) eachFormat(kind string, do func(*Format)) (found bool) {
	t, err := strconv.ParseUint(kind, 10, 7)
	if err != nil {
		return false
	}
	for i := range m.Formats {
		if m.Formats[i].Type == uint8(t) {
			do(&m.Formats[i])
			found = true
		}
	}
	return found
}

// rtcp parses the value of an a=rtcp line, "port [IN IP4 address]" (RFC 3605). It ignores an unreadable value.
func (m *Media) rtcp(arg string) {
	f := strings.Fields(arg)
	if len(f) == 0 {
		return
	}
	port, err := strconv.ParseUint(f[0], 10, 16)
	if err != nil {
		return
	}
	var addr netip.Addr
	if len(f) == 4 {
		if addr, err = netip.ParseAddr(f[3]); err != nil || addr.Zone() != "" {
			return
		}
	}
	m.RTCP = netip.AddrPortFrom(addr.Unmap(), uint16(port))
}

// millis parses a length in milliseconds. Some peers send fractions, which are rounded.
func millis(arg string) int {
	v, err := strconv.ParseFloat(strings.TrimSpace(arg), 64)
	if err != nil || !(v >= 1 && v <= 1000) {
		return 0
	}
	return int(v)
}

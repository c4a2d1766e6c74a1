package sdp

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/callboard/callboard/media/srtp"
)

// reader gathers a description line by line.
type reader struct {
	out       Session
	addr      netip.Addr // the session's c=
	direction Direction
	version   bool
}

// Parse reads a description. It takes what carriers send: no final newline, bare LF, no s= or t=, c= after t=, unknown lines.
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
			return nil, syntax(n, "no type")
		}
		if err := r.line(n, line[0], strings.TrimSpace(line[2:])); err != nil {
			return nil, err
		}
	}
	if !r.version {
		return nil, syntax(n, "no v=0")
	}
	for i := range r.out.Media {
		if m := &r.out.Media[i]; !m.Addr.IsValid() {
			m.Addr = r.addr
		}
	}
	return &r.out, nil
}

func (r *reader) line(n int, kind byte, value string) error {
	if !r.version && kind != 'v' {
		return syntax(n, "v=0 must be first")
	}
	switch kind {
	case 'v':
		if value != "0" || r.version {
			return syntax(n, "version")
		}
		r.version = true
	case 'o':
		r.out.Origin = value
	case 'c':
		return r.connection(n, value)
	case 'm':
		return r.media(n, value)
	case 'a':
		return r.attribute(n, value)
	}
	return nil
}

func (r *reader) current() *Media {
	if len(r.out.Media) == 0 {
		return nil
	}
	return &r.out.Media[len(r.out.Media)-1]
}

// connection reads "IN IP4 192.0.2.1[/ttl]".
func (r *reader) connection(n int, value string) error {
	f := strings.Fields(value)
	if len(f) != 3 || !strings.EqualFold(f[0], "IN") {
		return syntax(n, "c=")
	}
	host, _, _ := strings.Cut(f[2], "/")
	addr, err := netip.ParseAddr(host)
	if err != nil || addr.Zone() != "" {
		return syntax(n, "c= names no address")
	}
	addr = addr.Unmap()
	if m := r.current(); m != nil {
		m.Addr = addr
	} else {
		r.addr = addr
	}
	return nil
}

// media reads "audio 49170[/2] RTP/AVP 0 8 101".
func (r *reader) media(n int, value string) error {
	f := strings.Fields(value)
	if len(f) < 3 {
		return syntax(n, "m=")
	}
	if len(r.out.Media) == maxMedia || len(f)-3 > maxFormats {
		return fmt.Errorf("%w: line %d", ErrTooLarge, n)
	}
	number, _, _ := strings.Cut(f[1], "/")
	port, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return syntax(n, "m= port")
	}
	m := Media{Kind: strings.ToLower(f[0]), Port: int(port), Proto: strings.ToUpper(f[2]), Raw: f[3:], Direction: r.direction}
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
	return nil
}

// static is what a payload type means without a map (RFC 3551 section 6), as far as we speak it.
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

func (r *reader) attribute(n int, value string) error {
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
		return nil
	}
	switch name {
	case "rtpmap":
		return m.rtpmap(n, arg)
	case "fmtp":
		kind, params, _ := strings.Cut(strings.TrimSpace(arg), " ")
		m.each(kind, func(f *Format) { f.Params = strings.TrimSpace(params) })
	case "ptime":
		m.PTime = millis(arg)
	case "maxptime":
		m.MaxPTime = millis(arg)
	case "rtcp":
		m.rtcp(arg)
	case "rtcp-mux":
		m.Mux = true
	case "crypto":
		m.crypto(arg)
	}
	return nil
}

// crypto reads a key; what we do not understand is passed over, as RFC 4568 wants it.
func (m *Media) crypto(arg string) {
	m.Keyed = true
	if len(m.Crypto) == maxCrypto {
		return
	}
	if a, err := srtp.ParseAttribute(arg); err == nil {
		m.Crypto = append(m.Crypto, a)
	}
}

// rtpmap reads "101 telephone-event/8000[/1]".
func (m *Media) rtpmap(n int, arg string) error {
	kind, encoding, ok := strings.Cut(strings.TrimSpace(arg), " ")
	part := strings.Split(strings.TrimSpace(encoding), "/")
	if !ok || len(part) < 2 {
		return syntax(n, "a=rtpmap")
	}
	clock, err := strconv.ParseUint(strings.TrimSpace(part[1]), 10, 31)
	if err != nil || clock == 0 {
		return syntax(n, "a=rtpmap clock")
	}
	m.each(kind, func(f *Format) {
		f.Name, f.Clock = strings.ToUpper(part[0]), int(clock) //nolint:gosec // 31 bits
		f.Channels = 0
		if len(part) > 2 {
			if channels, errChannels := strconv.ParseUint(strings.TrimSpace(part[2]), 10, 8); errChannels == nil && channels > 1 {
				f.Channels = int(channels)
			}
		}
	})
	return nil
}

func (m *Media) each(kind string, do func(*Format)) {
	t, err := strconv.ParseUint(kind, 10, 7)
	if err != nil {
		return
	}
	for i := range m.Formats {
		if m.Formats[i].Type == uint8(t) {
			do(&m.Formats[i])
		}
	}
}

// rtcp reads "port [IN IP4 address]" (RFC 3605); what cannot be read is left out.
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

// millis reads a length in ms; some write fractions.
func millis(arg string) int {
	v, err := strconv.ParseFloat(strings.TrimSpace(arg), 64)
	if err != nil || !(v >= 1 && v <= 1000) {
		return 0
	}
	return int(v)
}

// Package sdp parses session descriptions tolerantly, as carriers send them, and writes them strictly (RFC 8866,
// RFC 3264). It supports telephone audio: codecs, telephone events, comfort noise, and SRTP keys. It opens no
// socket and resolves no host name.
package sdp

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/callboard/callboard/media/srtp"
)

// Limits on the SDP that a peer sends, because the peer is not trusted.
const (
	maxBytes   = 16 << 10
	maxLines   = 512
	maxLine    = 2048
	maxMedia   = 8
	maxFormats = 64
	maxCrypto  = 16 // parsed a=crypto lines
	maxIgnored = 16 // reported lines
)

// Errors of parsing and negotiation.
var (
	ErrSyntax   = errors.New("sdp: unreadable")
	ErrTooLarge = errors.New("sdp: too large")
	ErrNoAudio  = errors.New("sdp: no audio in common")
)

// Ignored is an unusable line of an SDP, which the parser ignores (RFC 8866 §5.13).
type Ignored struct {
	Line   int    // line number, from 1
	Text   string // text of the line, at most 80 bytes
	Reason string // why the line is unusable
}

// String returns a sentence that says which line is ignored and why.
func (i Ignored) String() string {
	return fmt.Sprintf("line %d (%s) is ignored: %s", i.Line, i.Text, i.Reason)
}

// Direction is the direction of a stream, from the view of the SDP's author.
type Direction uint8

// The directions of a stream (RFC 8866 §6.7). Default: SendRecv.
const (
	SendRecv Direction = iota
	SendOnly
	RecvOnly
	Inactive
)

// String returns the name of the SDP attribute for the direction.
func (d Direction) String() string {
	return [...]string{"sendrecv", "sendonly", "recvonly", "inactive"}[d&3]
}

// Sends says whether the author of the SDP sends audio.
func (d Direction) Sends() bool { return d == SendRecv || d == SendOnly }

// Receives says whether the author of the SDP receives audio.
func (d Direction) Receives() bool { return d == SendRecv || d == RecvOnly }

// Mirror returns the same direction from the view of the peer.
func (d Direction) Mirror() Direction {
	switch d {
	case SendOnly:
		return RecvOnly
	case RecvOnly:
		return SendOnly
	case SendRecv, Inactive:
	}
	return d
}

// Format is an RTP payload type with its codec.
type Format struct {
	Type     uint8
	Name     string // in upper case, for example "PCMU"; "" if the type has neither a=rtpmap nor a static meaning
	Clock    int
	Channels int    // 0 means 1
	Params   string // from a=fmtp
}

// Is says whether two formats are the same codec. Their payload types may differ.
func (f Format) Is(other Format) bool {
	return f.Name == other.Name && f.Clock == other.Clock && max(f.Channels, 1) == max(other.Channels, 1)
}

// Media is an m= line with its attributes.
type Media struct {
	Kind      string // "audio"
	Port      int
	Proto     string // "RTP/AVP"
	Raw       []string
	Formats   []Format   // parsed from Raw, if these are payload types
	Addr      netip.Addr // from its c= line or the session's; invalid if c= is missing or names a host
	Host      string     // host name in c=, which is never resolved because it is untrusted
	RTCP      netip.AddrPort
	Direction Direction
	PTime     int // milliseconds; 0: not given
	MaxPTime  int
	Mux       bool             // RTCP uses the RTP port (RFC 5761)
	Keyed     bool             // an a=crypto line exists, supported or not
	Crypto    []srtp.Attribute // the supported a=crypto lines, in order
}

// Session is a parsed SDP.
type Session struct {
	Origin  string // the value of o=
	Media   []Media
	Ignored []Ignored // unusable lines, at most 16
}

// allowsRTP says whether the stream may be unencrypted RTP. The method allowsSRTP says whether the stream may be SRTP.
// For RTP/AVP with a=crypto both are true, and the answerer chooses.
func (m *Media) allowsRTP() bool { return m.Proto == "RTP/AVP" || m.Proto == "RTP/AVPF" }

func (m *Media) allowsSRTP() bool {
	return len(m.Crypto) > 0 && (m.allowsRTP() || strings.HasPrefix(m.Proto, "RTP/SAVP"))
}

// Held says whether the SDP's author receives no audio: by the direction, or by c=0.0.0.0 as in RFC 2543.
func (m *Media) Held() bool {
	return !m.Direction.Receives() || m.Addr.IsValid() && m.Addr.IsUnspecified()
}

func syntax(line int, what string) error {
	return fmt.Errorf("%w: line %d: %s", ErrSyntax, line, what)
}

// refusal is the error for an SDP of which no audio stream is accepted. It wraps ErrNoAudio or ErrNoKeys.
type refusal struct {
	kind error
	text string
}

// Error returns the reason of the refusal as text for the user.
func (r *refusal) Error() string { return r.text }

// Unwrap returns ErrNoAudio or ErrNoKeys.
func (r *refusal) Unwrap() error { return r.kind }

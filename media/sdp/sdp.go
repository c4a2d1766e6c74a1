// Package sdp reads session descriptions as carriers really send them, and writes them strictly (RFC 8866, RFC 3264).
// It knows telephone sound only: codecs, telephone events, comfort noise, and the keys of SRTP. It opens no socket and asks
// no resolver.
package sdp

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/callboard/callboard/media/srtp"
)

// The limits on what a stranger may send.
const (
	maxBytes   = 16 << 10
	maxLines   = 512
	maxLine    = 2048
	maxMedia   = 8
	maxFormats = 64
	maxCrypto  = 16 // lines of a=crypto that are looked at
	maxIgnored = 16 // lines that are noted
)

// What reading and negotiating may fail with.
var (
	ErrSyntax   = errors.New("sdp: unreadable")
	ErrTooLarge = errors.New("sdp: too large")
	ErrNoAudio  = errors.New("sdp: no audio in common")
)

// Ignored is a line of a description that cannot be used (RFC 8866 section 5.13: such attributes are ignored).
type Ignored struct {
	Line   int    // from 1 on
	Text   string // of the line, 80 bytes at most
	Reason string // what is wrong with it
}

// String is one sentence.
func (i Ignored) String() string {
	return fmt.Sprintf("line %d (%s) is ignored: %s", i.Line, i.Text, i.Reason)
}

// Direction is who sends, seen from the description's author.
type Direction uint8

// The directions; without an attribute a stream is SendRecv.
const (
	SendRecv Direction = iota
	SendOnly
	RecvOnly
	Inactive
)

// String is the name of the attribute.
func (d Direction) String() string {
	return [...]string{"sendrecv", "sendonly", "recvonly", "inactive"}[d&3]
}

// Sends says whether the author sends.
func (d Direction) Sends() bool { return d == SendRecv || d == SendOnly }

// Receives says whether the author listens.
func (d Direction) Receives() bool { return d == SendRecv || d == RecvOnly }

// Mirror is the same stream seen from the other end.
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

// Format is a payload type and what it stands for.
type Format struct {
	Type     uint8
	Name     string // upper case, as "PCMU"; "" where the type has no map and no static meaning
	Clock    int
	Channels int    // 0 and 1 are the same
	Params   string // of fmtp
}

// Is says whether two formats stand for the same sound, whatever their payload types.
func (f Format) Is(other Format) bool {
	return f.Name == other.Name && f.Clock == other.Clock && max(f.Channels, 1) == max(other.Channels, 1)
}

// Media is one m-line with what belongs to it.
type Media struct {
	Kind      string // "audio"
	Port      int
	Proto     string // "RTP/AVP"
	Raw       []string
	Formats   []Format   // of Raw, where they are payload types
	Addr      netip.Addr // its own c= or the session's; invalid: none was given, or a name
	Host      string     // that c=, where it names a host: no name of a stranger is looked up
	RTCP      netip.AddrPort
	Direction Direction
	PTime     int // ms; 0: not said
	MaxPTime  int
	Mux       bool             // RTCP may come and go through the RTP port (RFC 5761)
	Keyed     bool             // there is a=crypto, whether or not we understand it
	Crypto    []srtp.Attribute // those we understand, in their order
}

// Session is a description as read.
type Session struct {
	Origin  string // the whole o= value
	Media   []Media
	Ignored []Ignored // lines that cannot be used, 16 at most
}

// plain says whether the stream may be RTP in the clear; secure, whether it may be SRTP with keys of the description.
// RTP/AVP with a=crypto is both: an offer that leaves the choice to the answerer.
func (m *Media) plain() bool { return m.Proto == "RTP/AVP" || m.Proto == "RTP/AVPF" }

func (m *Media) secure() bool {
	return len(m.Crypto) > 0 && (m.plain() || strings.HasPrefix(m.Proto, "RTP/SAVP"))
}

// Held says whether the author does not want to hear us: by direction, or by the old c=0.0.0.0.
func (m *Media) Held() bool {
	return !m.Direction.Receives() || m.Addr.IsValid() && m.Addr.IsUnspecified()
}

func syntax(line int, what string) error {
	return fmt.Errorf("%w: line %d: %s", ErrSyntax, line, what)
}

// refusal is why no stream is taken. Is tells ErrNoAudio and ErrNoKeys.
type refusal struct {
	kind error
	text string
}

// Error is what the two ends do not have in common.
func (r *refusal) Error() string { return r.text }

// Unwrap is the kind.
func (r *refusal) Unwrap() error { return r.kind }

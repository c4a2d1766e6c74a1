package sdp

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/callboard/callboard/media/srtp"
)

// Encoding names in Format.Name that need special treatment, in upper case.
const (
	Event = "TELEPHONE-EVENT" // RFC 4733
	Noise = "CN"              // RFC 3389
	Opus  = "OPUS"            // RFC 7587
)

// ErrNoKeys is returned if one party requires SRTP and the peer's SDP has no supported key.
var ErrNoKeys = errors.New("sdp: no keys in common")

// Privacy says whether SRTP may or must be used.
type Privacy uint8

// The privacy requirements of a session.
const (
	Clear   Privacy = iota // no SRTP
	Either                 // SRTP if the peer supports it
	Private                // SRTP only
)

// Terms holds what the local party accepts in a negotiation with the peer's SDP.
type Terms struct {
	Codecs     []Format // our codecs, in order of preference
	Events     bool     // telephone events are accepted
	Noise      bool     // comfort noise is accepted
	Offered    bool     // the peer's SDP is an offer; false: it is an answer
	TheirOrder bool     // in an answer, the peer's order of codecs counts instead of ours
	PTime      int      // packet length in ms if the peer gives none
	Privacy    Privacy
	Keys       []srtp.Attribute // keys of our offer, if the peer answers
}

// NoStream is the value of Agreed.Stream after the audio stream was removed.
const NoStream = -1

// Agreed is the result of a negotiation, from the view of the local party.
type Agreed struct {
	Stream  int            // index of the peer's m= line, or NoStream
	Codec   Format         // codec that we send, with the peer's payload type
	Listen  []Format       // all audio formats that the peer may send
	Event   Format         // telephone events; empty Name: not agreed
	Noise   Format         // comfort noise; empty Name: not agreed
	Remote  netip.AddrPort // peer's RTP address. Unspecified: send nothing. Zero: see Host
	Host    string         // host name in place of the peer's address
	RTCP    netip.AddrPort // peer's RTCP address; with Mux the same as Remote
	PTime   int            // packet length in ms: 10, 20, 30 or 40
	Held    bool           // the peer receives no audio
	Silent  bool           // the peer sends no audio
	Ours    Direction      // direction for our answer
	Offered bool           // the peer's SDP was an offer
	Mux     bool           // RTCP uses the RTP port
	Secure  bool           // SRTP; the peer encrypts with Key
	Key     srtp.Attribute // peer's key; our answer uses its tag and suite
}

// Agree negotiates the peer's SDP with our terms. If the peer's SDP is an offer, our order of codecs decides, or
// the peer's with TheirOrder. If it is an answer, we send with the first codec of the answer that we support.
func Agree(theirs *Session, want Terms) (Agreed, error) {
	failed := error(&refusal{ErrNoAudio, theirs.noStreamReason()})
	for _, secure := range [...]bool{true, false} {
		if secure && want.Privacy == Clear || !secure && want.Privacy == Private {
			continue
		}
		for i := range theirs.Media {
			m := &theirs.Media[i]
			if m.Kind != "audio" || m.Port == 0 || secure && want.Privacy == Either && m.allowsRTP() && !m.Keyed {
				continue
			}
			a, err := m.agree(want, secure)
			if err == nil {
				a.Stream = i
				return a, nil
			}
			failed = moreSpecific(failed, err)
		}
	}
	return Agreed{}, failed
}

// moreSpecific selects the error to report if no stream is accepted. A missing SRTP key precedes missing codecs, and
// both precede a missing audio stream.
func moreSpecific(before, now error) error {
	if errors.Is(before, ErrNoKeys) && errors.Is(now, ErrNoAudio) {
		return before
	}
	return now
}

// AudioDeclined reports whether every audio stream has port 0. Such an answer declines the audio, and such a re-INVITE
// removes it (RFC 3264 §6, §8.2).
func (s *Session) AudioDeclined() bool {
	audio := false
	for _, m := range s.Media {
		if m.Kind == "audio" && m.Port != 0 {
			return false
		}
		audio = audio || m.Kind == "audio"
	}
	return audio
}

// noStreamReason returns the reason why an SDP has no usable audio stream, as text for an error.
func (s *Session) noStreamReason() string {
	if s.AudioDeclined() {
		return "the audio stream is declined by port 0"
	}
	return "there is no m=audio line"
}

// agree negotiates one audio stream, as SRTP if secure is set, else as unencrypted RTP.
func (m *Media) agree(want Terms, secure bool) (Agreed, error) {
	a := Agreed{
		Held: m.Held(), Silent: !m.Direction.Sends(), PTime: m.ptime(want.PTime), Offered: want.Offered, Mux: m.Mux && want.Offered,
	}
	if err := a.protect(m, want, secure); err != nil {
		return Agreed{}, err
	}
	for _, f := range m.Formats {
		for _, c := range want.Codecs {
			if f.Is(c) {
				a.Listen = append(a.Listen, Format{Type: f.Type, Name: f.Name, Clock: f.Clock, Channels: f.Channels, Params: f.Params})
			}
		}
	}
	if len(a.Listen) == 0 {
		return Agreed{}, &refusal{ErrNoAudio, "the peer has " + formatNames(m.Formats) + "; allowed here are " + formatNames(want.Codecs)}
	}
	a.Codec = a.Listen[0]
	if want.Offered {
		if !want.TheirOrder {
			a.Codec = prefer(a.Listen, want.Codecs)
		}
		a.Listen = []Format{a.Codec}
	}
	if a.Codec.Name == Opus && a.PTime == 30 {
		a.PTime = 20 // Opus has no frames of 30 ms
	}
	if want.Events {
		a.Event = m.relatedFormat(Event, a.Codec.Clock)
		if a.Event.Name != "" {
			a.Event.Params = "0-15"
		}
	}
	if want.Noise && a.Codec.Clock == 8000 && a.Codec.Name != "G722" {
		a.Noise = m.relatedFormat(Noise, 8000)
		if a.Noise.Clock != 8000 {
			a.Noise = Format{}
		}
	}
	if !m.Addr.IsValid() && m.Host == "" {
		return Agreed{}, fmt.Errorf("%w: no c= line names an address for the audio stream", ErrSyntax)
	}
	a.addresses(m)
	a.Ours = m.Direction.Mirror()
	if m.Addr.IsValid() && m.Addr.IsUnspecified() && a.Ours.Sends() {
		a.Ours = map[Direction]Direction{SendRecv: RecvOnly, SendOnly: Inactive}[a.Ours]
	}
	return a, nil
}

// protect selects the SRTP key of the peer. It returns an error if the stream's encryption does not meet our terms.
func (a *Agreed) protect(m *Media, want Terms, secure bool) error {
	switch {
	case !secure && !m.allowsRTP():
		return &refusal{ErrNoAudio, "the peer uses " + m.Proto + "; SRTP is off here"}
	case !secure && !want.Offered && m.Keyed && len(want.Keys) > 0:
		return &refusal{ErrNoKeys, "the answer names an SRTP key that was not offered"} // the peer would send SRTP
	case !secure:
		return nil
	case !m.allowsSRTP():
		return &refusal{ErrNoKeys, "the SDP names no SRTP key (a=crypto) of a supported suite"}
	case want.Offered:
		a.Secure, a.Key = true, m.Crypto[0]
		return nil
	}
	for _, c := range m.Crypto {
		for _, ours := range want.Keys {
			if c.Tag == ours.Tag && c.Key.Suite == ours.Key.Suite {
				a.Secure, a.Key = true, c
				return nil
			}
		}
	}
	return &refusal{ErrNoKeys, "the answer names an SRTP key that was not offered"}
}

// formatNames lists the names of at most eight formats, as in a=rtpmap, for an error text.
func formatNames(formats []Format) string {
	const most = 8
	var b strings.Builder
	for i, f := range formats[:min(len(formats), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		if f.Name == "" {
			fmt.Fprintf(&b, "payload type %d%s", f.Type, staticCodec(f.Type))
			continue
		}
		fmt.Fprintf(&b, "%s/%d", usualName(f.Name), f.Clock)
	}
	if b.Len() == 0 {
		return "no payload types"
	}
	return b.String()
}

// staticCodec returns the name of an unsupported codec with a static payload type (RFC 3551 §6), for an error text.
func staticCodec(payloadType uint8) string {
	switch payloadType {
	case 3:
		return " (GSM)"
	case 4:
		return " (G723)"
	case 15:
		return " (G728)"
	case 18:
		return " (G729)"
	}
	return ""
}

// relatedFormat returns the peer's format of telephone events or comfort noise for use with a codec. It prefers a format
// with the codec's clock rate, because both share the timestamps of the stream.
func (m *Media) relatedFormat(name string, clock int) (found Format) {
	for _, f := range m.Formats {
		if f.Name == name && f.Channels <= 1 && (found.Name == "" || f.Clock == clock && found.Clock != clock) {
			found = Format{Type: f.Type, Name: name, Clock: f.Clock}
		}
	}
	return found
}

func (a *Agreed) addresses(m *Media) {
	a.Host = m.Host
	a.Remote = netip.AddrPortFrom(m.Addr, uint16(m.Port)) //nolint:gosec // 16 bits by the reader
	a.RTCP = netip.AddrPortFrom(m.Addr, uint16(min(m.Port+1, 0xFFFF)))
	if a.Mux {
		a.RTCP = a.Remote
		return
	}
	if m.RTCP.Port() > 0 {
		addr := m.RTCP.Addr()
		if !addr.IsValid() {
			addr = m.Addr
		}
		a.RTCP = netip.AddrPortFrom(addr, m.RTCP.Port())
	}
}

func prefer(common, ours []Format) Format {
	for _, c := range ours {
		for _, f := range common {
			if f.Is(c) {
				return f
			}
		}
	}
	return common[0]
}

// ptime returns the packet length in ms for the peer's request, or for otherwise without one: 10, 20, 30 or 40.
func (m *Media) ptime(otherwise int) int {
	want := m.PTime
	if want == 0 {
		want = otherwise
	}
	if want == 0 {
		want = 20
	}
	if m.MaxPTime > 0 {
		want = min(want, m.MaxPTime)
	}
	switch {
	case want >= 40:
		return 40
	case want >= 30:
		return 30
	case want < 20:
		return 10
	}
	return 20
}

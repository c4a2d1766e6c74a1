package sdp

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/callboard/callboard/media/srtp"
)

// Local holds the data of the local party from which Offer and Answer write an SDP.
type Local struct {
	ID, Version uint64
	Origin      netip.Addr // address in o=. Default: Addr
	Addr        netip.Addr
	Port        int
	Formats     []Format
	Direction   Direction
	PTime       int
	Mux         bool
	Crypto      []srtp.Attribute // our keys; an answer has only the chosen one
	Secure      bool             // the offer accepts SRTP only; false: keys let the answerer choose
}

// Offer returns an SDP offer with one audio stream.
func (l Local) Offer() []byte {
	proto := "RTP/AVP"
	if l.Secure {
		proto = "RTP/SAVP"
	}
	return l.write(func(b *strings.Builder) { l.audio(b, proto) })
}

// Answer returns the SDP answer to an offer. It accepts the stream with the index chosen and refuses every other stream.
// With NoStream it refuses all streams.
func (l Local) Answer(offer *Session, chosen int) []byte {
	return l.write(func(b *strings.Builder) {
		for i, m := range offer.Media {
			if i == chosen {
				l.audio(b, m.Proto)
				continue
			}
			formats := strings.Join(m.Raw, " ")
			if formats == "" {
				formats = "0"
			}
			fmt.Fprintf(b, "m=%s 0 %s %s\r\n", m.Kind, m.Proto, formats)
		}
	})
}

func (l Local) write(media func(*strings.Builder)) []byte {
	origin := l.Origin
	if !origin.IsValid() {
		origin = l.Addr
	}
	var b strings.Builder
	fmt.Fprintf(&b, "v=0\r\no=- %d %d IN %s %s\r\ns=-\r\nc=IN %s %s\r\nt=0 0\r\n", l.ID, l.Version, family(origin), origin, family(l.Addr), l.Addr)
	media(&b)
	return []byte(b.String())
}

func family(a netip.Addr) string {
	if a.Is6() {
		return "IP6"
	}
	return "IP4"
}

func (l Local) audio(b *strings.Builder, proto string) {
	fmt.Fprintf(b, "m=audio %d %s", l.Port, proto)
	for _, f := range l.Formats {
		fmt.Fprintf(b, " %d", f.Type)
	}
	b.WriteString("\r\n")
	for _, f := range l.Formats {
		fmt.Fprintf(b, "a=rtpmap:%d %s/%d", f.Type, usualName(f.Name), f.Clock)
		if f.Channels > 1 {
			fmt.Fprintf(b, "/%d", f.Channels)
		}
		b.WriteString("\r\n")
		if f.Params != "" {
			fmt.Fprintf(b, "a=fmtp:%d %s\r\n", f.Type, f.Params)
		}
	}
	if l.PTime > 0 {
		fmt.Fprintf(b, "a=ptime:%d\r\n", l.PTime)
	}
	for _, c := range l.Crypto {
		fmt.Fprintf(b, "a=crypto:%s\r\n", c.Line())
	}
	if l.Mux {
		b.WriteString("a=rtcp-mux\r\n")
	}
	fmt.Fprintf(b, "a=%s\r\n", l.Direction)
}

// usualName returns a format name in its usual case, because Format.Name is in upper case.
func usualName(name string) string {
	switch name {
	case Event, Opus:
		return strings.ToLower(name)
	}
	return name
}

package sip

import (
	"bufio"
	"bytes"
	"net"
	"net/netip"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/message"
)

// Refusal is the answer to a request that cannot be read.
func Refusal(b []byte) []byte { return message.BuildParseErrorResponse(b) }

// Hurry shortens the deadlines of connections; before Serve.
func (u *UserAgent) Hurry(header, greet time.Duration) { u.tcp.header, u.tcp.greet = header, greet }

// SentBy is what a far end is told of where we are.
func (u *UserAgent) SentBy(network string, far netip.AddrPort) string {
	return u.sentBy(flow{network: network, addr: far})
}

// Masked is a message as the trace shows it.
func Masked(b []byte) []byte { return message.MaskSecrets(b) }

// MaxStream bounds the head and the body of a message on a stream, each.
const MaxStream = maxStream

// stream is a connection whose far end has sent all it will ever send.
type stream struct {
	net.Conn
	r *bytes.Reader
}

func (s stream) Read(b []byte) (int, error)      { return s.r.Read(b) }
func (s stream) SetReadDeadline(time.Time) error { return nil }

// Frames are the messages that a stream is cut into, up to the first fault.
func Frames(b []byte) (all [][]byte) {
	s := stream{r: bytes.NewReader(b)}
	c := &tcpConn{Conn: s, pool: &tcpPool{header: time.Minute}, r: bufio.NewReaderSize(s, 4096), out: make(chan parcel, len(b)), gone: make(chan struct{})}
	for {
		frame, err := c.frame()
		if err != nil {
			return all
		}
		all = append(all, frame)
	}
}

// ReadDTMFRelay reads the body of an INFO.
func ReadDTMFRelay(body []byte) (key byte, duration int) { return dtmfRelay(body) }

// ReadReason reads a Reason header.
func ReadReason(s string) (q850 int, text string) { return message.ParseReason([]string{s}) }

// ReadFinal reads a refusal with headers, as name, value, name, value.
func ReadFinal(code int, phrase string, headers ...string) Final {
	m := &received{Message: message.Message{Code: code, Phrase: phrase}}
	for i := 0; i+1 < len(headers); i += 2 {
		m.Headers = append(m.Headers, sipmsg.NewHeader(headers[i], headers[i+1]))
	}
	return finalOf(m)
}

package sip

import (
	"net/netip"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/transport"
)

// ParseErrorResponse returns the response to a request that cannot be parsed.
func ParseErrorResponse(b []byte) []byte { return message.BuildParseErrorResponse(b) }

// SetTransportTimeouts shortens the time limits of connections. Call it before Serve.
func (u *UserAgent) SetTransportTimeouts(header, greet time.Duration) {
	u.transport.SetTimeouts(header, greet)
}

// SentBy returns the host:port that Via and Contact carry in messages to a peer.
func (u *UserAgent) SentBy(network string, far netip.AddrPort) string {
	return u.transport.SentBy(transport.Flow{Network: network, Addr: far})
}

// MaskSecrets returns a message as a trace shows it.
func MaskSecrets(b []byte) []byte { return message.MaskSecrets(b) }

// ReadDTMFRelay parses the application/dtmf-relay body of an INFO.
func ReadDTMFRelay(body []byte) (key byte, duration int) { return message.ParseDTMFRelay(body) }

// ReadReason parses a Reason header.
func ReadReason(s string) (q850 int, text string) { return message.ParseReason([]string{s}) }

// ReadFinal returns the Final of a response with headers, given as name, value, name, value.
func ReadFinal(code int, phrase string, headers ...string) outcome.Final {
	m := &received{Received: transport.Received{Message: message.Message{Code: code, Phrase: phrase}}}
	for i := 0; i+1 < len(headers); i += 2 {
		m.Headers = append(m.Headers, sipmsg.NewHeader(headers[i], headers[i+1]))
	}
	return outcome.ReadFinal(&m.Message)
}

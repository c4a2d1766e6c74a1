package sip

import (
	"net/netip"
	"time"
)

// Refusal is the answer to a request that cannot be read.
func Refusal(b []byte) []byte { return refusal(b) }

// Hurry shortens the deadlines of connections; before Serve.
func (u *UserAgent) Hurry(header, greet time.Duration) { u.tcp.header, u.tcp.greet = header, greet }

// SentBy is what a far end is told of where we are.
func (u *UserAgent) SentBy(network string, far netip.AddrPort) string {
	return u.sentBy(flow{network: network, addr: far})
}

// Masked is a message as the trace shows it.
func Masked(b []byte) []byte { return masked(b) }

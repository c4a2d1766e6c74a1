package sip_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
)

// What a stranger writes is never taken for the word of a node, and what may be
// passed on arrives readable, with one Via more and the body as it was.
func FuzzPassingOn(f *testing.F) {
	f.Add([]byte(callUs()))
	f.Add([]byte(callUs("Callboard-Relay: i udp 192.0.2.1:5060 - 5060 1 1 AAAAAAAAAAAAAAAAAAAAAA", "l: 3")))
	f.Add([]byte(callUs("Via: SIP/2.0/UDP a:1;branch=z9hG4bKa, SIP/2.0/UDP b;branch=z9hG4bKb;cb=AAAA")))
	f.Add([]byte(callUs("Callboard-Relay:\r\n i udp", "X: y\r\n z")))
	f.Add([]byte("SIP/2.0 200 OK\r\nv: SIP/2.0/UDP a;branch=z;cb=AAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n\r\n"))
	for _, b := range tortureMessages(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		assert.False(t, sip.Opened(b))
		on, again, ok := sip.PassOn(b)
		if !ok {
			return
		}
		require.NotEmpty(t, again, "%q", on)
		head, _, _ := bytes.Cut(on, []byte("\r\n\r\n"))
		assert.Equal(t, 1, strings.Count("\r\n"+strings.ToLower(string(head)), "\r\ncallboard-relay"), "%q", on)
		assert.Less(t, len(on), len(b)+512+2*bytes.Count(b, []byte(",")))
	})
}

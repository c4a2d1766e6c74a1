package transport_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/callboard/callboard/sip/siptest"
	"github.com/callboard/callboard/sip/transport"
)

const invite = "INVITE sip:+15551000@127.0.0.1:5060 SIP/2.0\r\n" +
	"Via: SIP/2.0/UDP 127.0.0.1:5070;rport;branch=z9hG4bKin1\r\n" +
	"From: \"Ann\" <sip:+15552000@127.0.0.1>;tag=caller\r\nTo: <sip:+15551000@127.0.0.1>\r\nCall-ID: in-1\r\n" +
	"CSeq: 10 INVITE\r\nMax-Forwards: 70\r\nContact: <sip:peer@127.0.0.1:5070>\r\nContent-Length: 0\r\n\r\n"

// FuzzStream: a stream is split into messages by the Content-Length of their headers. The messages and the keep-alives
// between them together are the whole stream.
func FuzzStream(f *testing.F) {
	for _, b := range siptest.TortureMessages(f) {
		f.Add(b)
	}
	for _, s := range []string{
		"\r\n\r\n" + invite + "\r\n" + invite, "A b SIP/2.0\r\nl: 3\r\n\r\nabcB c SIP/2.0\nContent-Length : 0\n\n", "A\r\nl: 1\r\nl: 1\r\n\r\nx",
		"A\r\nContent-Length: -1\r\n\r\n", "A\r\nContent-Length: 99999999999\r\n\r\n", "A\r\n\r\n", "A\r\nl: 2\r\n\r\nx", strings.Repeat("a: b\r\n", 300), "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		rest := b
		for _, frame := range transport.SplitStream(b) {
			rest = bytes.TrimLeft(rest, "\r\n")
			if len(frame) == 0 || !bytes.HasPrefix(rest, frame) {
				t.Fatalf("%q is not what comes next in %q", frame, rest)
			}
			if len(frame) > 2*transport.MaxStream {
				t.Fatalf("a message of %d bytes", len(frame))
			}
			rest = rest[len(frame):]
		}
	})
}

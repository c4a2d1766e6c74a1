package cluster_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/cluster"
	"github.com/callboard/callboard/sip/siptest"
)

const invite = "INVITE sip:+15551000@127.0.0.1:5060 SIP/2.0\r\n" +
	"Via: SIP/2.0/UDP 127.0.0.1:5070;rport;branch=z9hG4bKin1\r\n" +
	"From: \"Ann\" <sip:+15552000@127.0.0.1>;tag=caller\r\nTo: <sip:+15551000@127.0.0.1>\r\nCall-ID: in-1\r\n" +
	"CSeq: 10 INVITE\r\nMax-Forwards: 70\r\nContact: <sip:peer@127.0.0.1:5070>\r\n%sContent-Length: 0\r\n\r\n"

// FuzzRelay: no input is accepted as a message that another node has authenticated. A relayed request can be parsed,
// and has one more Via and the same body.
func FuzzRelay(f *testing.F) {
	f.Add([]byte(strings.Replace(invite, "%s", "", 1)))
	f.Add([]byte(strings.Replace(invite, "%s", "Callboard-Relay: i udp 192.0.2.1:5060 - 5060 1 1 AAAAAAAAAAAAAAAAAAAAAA"+"\r\n"+"l: 3"+"\r\n", 1)))
	f.Add([]byte(strings.Replace(invite, "%s", "Via: SIP/2.0/UDP a:1;branch=z9hG4bKa, SIP/2.0/UDP b;branch=z9hG4bKb;cb=AAAA"+"\r\n", 1)))
	f.Add([]byte(strings.Replace(invite, "%s", "Callboard-Relay:\r\n i udp"+"\r\n"+"X: y\r\n z"+"\r\n", 1)))
	f.Add([]byte("SIP/2.0 200 OK\r\nv: SIP/2.0/UDP a;branch=z;cb=AAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n\r\n"))
	for _, b := range siptest.TortureMessages(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		assert.False(t, cluster.AcceptsRelayInfo(b))
		on, again, ok := cluster.RelayThereAndBack(b)
		if !ok {
			return
		}
		require.NotEmpty(t, again, "%q", on)
		head, _, _ := bytes.Cut(on, []byte("\r\n\r\n"))
		assert.Equal(t, 1, strings.Count("\r\n"+strings.ToLower(string(head)), "\r\ncallboard-relay"), "%q", on)
		assert.Less(t, len(on), len(b)+512+2*bytes.Count(b, []byte(",")))
	})
}

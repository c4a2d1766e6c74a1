package mediatest

import "github.com/pion/rtp"

// RTPHeaderLen is the length of a header that PutRTPHeader writes, in bytes.
const RTPHeaderLen = 12

// PutRTPHeader writes an RTP header to b, for packets that tests send. It panics if b is too short.
func PutRTPHeader(b []byte, h rtp.Header) {
	h.Version = 2
	if _, err := h.MarshalTo(b); err != nil {
		panic(err)
	}
}

// ParseRTP decodes an RTP packet. ok is false if b is not a valid packet.
func ParseRTP(b []byte) (p rtp.Packet, ok bool) {
	err := p.Unmarshal(b)
	return p, err == nil && p.Version == 2
}

package mediatest

import "github.com/pion/rtp"

// RTPHeaderLen is the length of a header that PutRTPHeader writes, in bytes.
const RTPHeaderLen = 12

// PutRTPHeader writes the header of an RTP packet of a test. It panics if b is too short.
func PutRTPHeader(b []byte, h rtp.Header) {
	h.Version = 2
	if _, err := h.MarshalTo(b); err != nil {
		panic(err)
	}
}

// ParseRTP reads an RTP packet.
func ParseRTP(b []byte) (p rtp.Packet, ok bool) {
	err := p.Unmarshal(b)
	return p, err == nil && p.Version == 2
}

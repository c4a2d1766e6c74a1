// Package rtp reads and writes the header of an RTP packet (RFC 3550) in place, without allocation.
// It knows neither what the payload means nor who sent it.
package rtp

import "encoding/binary"

// HeaderLen is the length of the header that Put writes.
const HeaderLen = 12

// Packet is one packet as received; Payload lies within the bytes that were parsed.
type Packet struct {
	Marker    bool
	Type      uint8
	Seq       uint16
	Timestamp uint32
	SSRC      uint32
	Payload   []byte
}

// Parse reads a packet: version 2, contributing sources and extensions skipped, padding cut. False: this is no RTP.
func Parse(b []byte) (Packet, bool) {
	if len(b) < HeaderLen || b[0]>>6 != 2 {
		return Packet{}, false
	}
	p := Packet{
		Marker:    b[1]&0x80 != 0,
		Type:      b[1] & 0x7F,
		Seq:       binary.BigEndian.Uint16(b[2:]),
		Timestamp: binary.BigEndian.Uint32(b[4:]),
		SSRC:      binary.BigEndian.Uint32(b[8:]),
	}
	start, end := HeaderLen+4*int(b[0]&0x0F), len(b)
	if b[0]&0x10 != 0 {
		if start+4 > end {
			return Packet{}, false
		}
		start += 4 + 4*int(binary.BigEndian.Uint16(b[start+2:]))
	}
	if start > end {
		return Packet{}, false
	}
	if b[0]&0x20 != 0 {
		if start == end {
			return Packet{}, false
		}
		pad := int(b[end-1])
		if pad == 0 || start+pad > end {
			return Packet{}, false
		}
		end -= pad
	}
	p.Payload = b[start:end]
	return p, true
}

// PutHeader writes the header of p to the first HeaderLen bytes of b.
func PutHeader(b []byte, p Packet) {
	b[0] = 2 << 6
	b[1] = p.Type & 0x7F
	if p.Marker {
		b[1] |= 0x80
	}
	binary.BigEndian.PutUint16(b[2:], p.Seq)
	binary.BigEndian.PutUint32(b[4:], p.Timestamp)
	binary.BigEndian.PutUint32(b[8:], p.SSRC)
}

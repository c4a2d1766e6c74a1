package siptrace

import (
	"encoding/binary"
	"net/netip"

	"github.com/callboard/callboard/domain"
)

// Constants of the capture format (libpcap with microseconds) and of the IP packets in it.
const (
	pcapMagic   = 0xa1b2c3d4
	pcapSnap    = 65535
	pcapRawIP   = 101
	ipv4Len     = 20
	ipv6Len     = 40
	udpLen      = 8
	protocolUDP = 17
	hops        = 64
)

// MaxPayload is the maximum message length in one packet. Longer messages are truncated.
const MaxPayload = pcapSnap - ipv6Len - udpLen

// EncodePcap returns a trace as a capture file. Each message is one UDP packet between its real addresses, even if it
// was sent over TCP or TLS. Messages whose addresses cannot be parsed are omitted.
func EncodePcap(t *domain.CallTrace) []byte {
	b := binary.LittleEndian.AppendUint32(nil, pcapMagic)
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...) // time zone and accuracy
	b = binary.LittleEndian.AppendUint32(b, pcapSnap)
	b = binary.LittleEndian.AppendUint32(b, pcapRawIP)
	for i := range t.Messages {
		b = appendMessage(b, &t.Messages[i], uint16(i))
	}
	return b
}

func appendMessage(b []byte, m *domain.SIPMessage, id uint16) []byte {
	local, err := netip.ParseAddrPort(m.Local)
	if err != nil {
		return b
	}
	remote, err := netip.ParseAddrPort(m.Remote)
	if err != nil {
		return b
	}
	from, to := unmapAddress(remote), unmapAddress(local)
	if m.Out {
		from, to = to, from
	}
	if from.Addr().Is4() != to.Addr().Is4() { // one of them is the unspecified address of the other family
		from, to = toIPv6(from), toIPv6(to)
	}
	data := m.Data[:min(len(m.Data), MaxPayload)]
	head := ipv4Len
	if from.Addr().Is6() {
		head = ipv6Len
	}
	size := uint32(head + udpLen + len(data)) //nolint:gosec // bounded by MaxPayload
	at := m.At.UnixMicro()
	b = binary.LittleEndian.AppendUint32(b, uint32(at/1e6)) //nolint:gosec // until 2106
	b = binary.LittleEndian.AppendUint32(b, uint32(at%1e6))
	b = binary.LittleEndian.AppendUint32(b, size)
	b = binary.LittleEndian.AppendUint32(b, size)
	return appendPacket(b, from, to, data, id)
}

func unmapAddress(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

func toIPv6(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16(a.Addr().As16()), a.Port())
}

// appendPacket appends an IP packet that contains a UDP datagram, with checksums (RFC 791, RFC 8200, RFC 768).
func appendPacket(b []byte, from, to netip.AddrPort, data []byte, id uint16) []byte {
	start := len(b)
	length := uint16(udpLen + len(data)) //nolint:gosec // bounded by MaxPayload
	source, target := from.Addr().AsSlice(), to.Addr().AsSlice()
	if from.Addr().Is4() {
		b = append(b, 0x45, 0)
		b = binary.BigEndian.AppendUint16(b, ipv4Len+length)
		b = binary.BigEndian.AppendUint16(b, id)
		b = append(b, 0, 0, hops, protocolUDP, 0, 0)
		b = append(append(b, source...), target...)
		binary.BigEndian.PutUint16(b[start+10:], ^foldChecksum(addWords(0, b[start:])))
	} else {
		b = append(b, 0x60, 0, 0, 0)
		b = binary.BigEndian.AppendUint16(b, length)
		b = append(b, protocolUDP, hops)
		b = append(append(b, source...), target...)
	}
	udp := len(b)
	b = binary.BigEndian.AppendUint16(b, from.Port())
	b = binary.BigEndian.AppendUint16(b, to.Port())
	b = binary.BigEndian.AppendUint16(b, length)
	b = append(append(b, 0, 0), data...)
	check := ^foldChecksum(addWords(addWords(addWords(uint32(protocolUDP)+uint32(length), source), target), b[udp:]))
	if check == 0 {
		check = 0xffff
	}
	binary.BigEndian.PutUint16(b[udp+6:], check)
	return b
}

// addWords adds the 16-bit words of b to the sum of an Internet checksum (RFC 1071).
func addWords(total uint32, b []byte) uint32 {
	for ; len(b) > 1; b = b[2:] {
		total += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) == 1 {
		total += uint32(b[0]) << 8
	}
	return total
}

func foldChecksum(total uint32) uint16 {
	for total > 0xffff {
		total = total>>16 + total&0xffff
	}
	return uint16(total)
}

package cluster

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

const (
	sealLen  = 22               // characters of the MAC in the relay header
	sealAge  = 10 * time.Minute // maximum difference between the clocks of two nodes; bounds the replay of a seal
	tokenMAC = 10               // bytes of the MAC in a return token
)

// appendSeal appends the relay header, which names the peer of a relayed message. It leaves room for the MAC that
// completeSeal writes.
func appendSeal(b []byte, p *transport.RelayInfo, now time.Time) []byte {
	b = append(append(b, message.RelayHeader+": "...), byte(p.Direction), ' ')
	b = append(append(b, p.Peer.Network...), ' ')
	b = append(p.Peer.Addr.AppendTo(b), ' ')
	if p.Local.IsValid() {
		b = p.Local.AppendTo(b)
	} else {
		b = append(b, '-')
	}
	for _, n := range []int64{int64(p.NodePort), int64(p.Size), now.Unix()} {
		b = strconv.AppendInt(append(b, ' '), n, 10)
	}
	b = append(b, ' ')
	return append(append(b, make([]byte, sealLen)...), '\r', '\n')
}

// completeSeal writes the MAC into the relay header of a message. at is the end of that header. The MAC covers the whole
// message.
func (r *Relay) completeSeal(b []byte, at int) []byte {
	proof := b[at-2-sealLen : at-2]
	r.sealProof(proof, b[:at-2-sealLen], b[at-2:])
	return b
}

// sealProof writes the MAC of a relayed message to the slice to. head and tail are the parts of the message before and
// after the MAC.
func (r *Relay) sealProof(to, head, tail []byte) {
	m, _ := r.macs.Get().(*sealMAC)
	defer r.macs.Put(m)
	m.hash.Reset()
	_, _ = m.hash.Write([]byte("message"))
	_, _ = m.hash.Write(head)
	_, _ = m.hash.Write(tail)
	base64.RawURLEncoding.Encode(to, m.hash.Sum(m.sum[:0])[:sealLen*3/4])
}

// ReadRelayInfo reads the relay header of another node from the raw bytes of a message. It returns nil if there is no
// relay header or its MAC is wrong.
func (r *Relay) ReadRelayInfo(b []byte, now time.Time) *transport.RelayInfo {
	if r == nil {
		return nil
	}
	_, rest, _ := bytes.Cut(b, []byte("\r\n"))
	if bytes.HasPrefix(b, []byte("SIP/")) {
		return r.readReturnToken(rest)
	}
	line, found := bytes.CutPrefix(rest, []byte(message.RelayHeader+": "))
	if !found {
		return nil
	}
	end := bytes.Index(line, []byte("\r\n"))
	if end < sealLen+1 {
		r.counts.forged.Add(1)
		return nil
	}
	at := len(b) - len(line) + end // offset of the end of the line
	proof := make([]byte, sealLen)
	r.sealProof(proof, b[:at-sealLen], b[at:])
	p := readSeal(line[:end-sealLen-1], now)
	if p == nil || !hmac.Equal(proof, b[at-sealLen:at]) {
		r.counts.forged.Add(1)
		return nil
	}
	return p
}

func readSeal(text []byte, now time.Time) *transport.RelayInfo {
	f := bytes.Fields(text)
	if len(f) != 7 || len(f[0]) != 1 {
		return nil
	}
	p := &transport.RelayInfo{Direction: transport.RelayDirection(f[0][0])}
	p.Peer.Network = networkOf(string(f[1]))
	var err error
	if p.Peer.Addr, err = netip.ParseAddrPort(string(f[2])); err != nil {
		return nil
	}
	if text := string(f[3]); text != "-" {
		if p.Local, err = netip.ParseAddrPort(text); err != nil {
			return nil
		}
	}
	port, err := strconv.ParseUint(string(f[4]), 10, 16)
	if err != nil {
		return nil
	}
	size, err := strconv.ParseUint(string(f[5]), 10, 31)
	if err != nil {
		return nil
	}
	at, err := strconv.ParseInt(string(f[6]), 10, 64)
	if age := now.Sub(time.Unix(at, 0)); err != nil || age > sealAge || age < -sealAge {
		return nil
	}
	p.NodePort, p.Size = uint16(port), int(size)
	if p.Peer.Network == "" || p.Direction != transport.RelayIn && p.Direction != transport.RelayOut {
		return nil
	}
	return p
}

func networkOf(s string) string {
	if i := slices.Index(networks(), s); i >= 0 {
		return networks()[i]
	}
	return ""
}

func networks() []string { return []string{resolve.UDP, resolve.TCP, resolve.TLS} }

// returnToken returns the value of the Via parameter that carries the return path of a response, so that the relay
// stores nothing. A MAC over the return path and the branch of the Via authenticates the token.
func (r *Relay) returnToken(back transport.Flow, branch string) string {
	raw := make([]byte, 0, 4+16+tokenMAC)
	raw = append(raw, uint8(slices.Index(networks(), back.Network)&0xFF), r.socketIndex(back.Socket))
	raw = binary.BigEndian.AppendUint16(raw, back.Addr.Port())
	raw = append(raw, back.Addr.Addr().AsSlice()...)
	raw = append(raw, r.returnTokenProof(raw, branch)...)
	return base64.RawURLEncoding.EncodeToString(raw)
}

func (r *Relay) returnTokenProof(raw []byte, branch string) []byte {
	m, _ := r.macs.Get().(*sealMAC)
	defer r.macs.Put(m)
	m.hash.Reset()
	m.text = append(append(append(m.text[:0], "token"...), raw...), branch...)
	_, _ = m.hash.Write(m.text)
	var sum [sha256.Size]byte
	return m.hash.Sum(sum[:0])[:tokenMAC]
}

// socketIndex returns the index of a UDP socket among the listeners; 255 if the socket is no listener.
func (r *Relay) socketIndex(s *transport.UDPSocket) byte {
	if i := r.cfg.Transport.SocketIndex(s); i >= 0 && i < math.MaxUint8 {
		return byte(i)
	}
	return math.MaxUint8
}

// readReturnToken returns the return path from the token in the topmost Via of a response. It returns nil if there is
// no token or its MAC is wrong.
func (r *Relay) readReturnToken(head []byte) *transport.RelayInfo {
	via := topVia(head)
	text, branch := viaParam(via, ";cb="), viaParam(via, ";branch=")
	var raw [64]byte
	if len(text) == 0 || base64.RawURLEncoding.DecodedLen(len(text)) > len(raw) {
		return nil
	}
	n, err := base64.RawURLEncoding.Decode(raw[:], text)
	if err != nil || n < 4+4+tokenMAC {
		r.counts.forged.Add(1)
		return nil
	}
	body := raw[:n-tokenMAC]
	addr, ok := netip.AddrFromSlice(body[4:])
	if !ok || int(body[0]) >= len(networks()) || !hmac.Equal(raw[n-tokenMAC:n], r.returnTokenProof(body, string(branch))) {
		r.counts.forged.Add(1)
		return nil
	}
	p := &transport.RelayInfo{Direction: transport.RelayBack, Peer: transport.Source{
		Network: networks()[body[0]], Addr: netip.AddrPortFrom(addr, binary.BigEndian.Uint16(body[2:])),
	}}
	p.Socket = r.cfg.Transport.SocketByIndex(int(body[1]))
	return p
}

// topVia returns the first value of the first Via header in a header section.
func topVia(head []byte) []byte {
	for len(head) > 0 && !bytes.HasPrefix(head, []byte("\r\n")) {
		var line []byte
		line, head = message.CutHeader(head)
		name, value, _ := bytes.Cut(line, []byte(":"))
		if name = bytes.TrimSpace(name); message.EqualHeaderName(name, "via") || message.EqualHeaderName(name, "v") {
			value, _, _ = bytes.Cut(value, []byte(","))
			return value
		}
	}
	return nil
}

// viaParam returns a parameter of a Via that a relay wrote. name includes the semicolon and the equals sign.
func viaParam(via []byte, name string) []byte {
	_, value, found := bytes.Cut(via, []byte(name))
	if !found {
		return nil
	}
	if end := bytes.IndexAny(value, "; \t\r\n"); end >= 0 {
		value = value[:end]
	}
	return value
}

// sealMAC computes the MACs of relay headers and return tokens, one at a time, and reuses its buffers.
type sealMAC struct {
	hash hash.Hash
	text []byte
	sum  [sha256.Size]byte
}

// newSealMACs returns a pool of *sealMAC for a key.
func newSealMACs(key []byte) *sync.Pool {
	return &sync.Pool{New: func() any { return &sealMAC{hash: hmac.New(sha256.New, key)} }}
}

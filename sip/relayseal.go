package sip

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
)

const (
	sealLen  = 22               // letters of its proof
	sealAge  = 10 * time.Minute // the most between the clocks of two nodes: who has read one cannot use it for ever
	tokenMAC = 10               // bytes that prove where an answer goes back to
)

// passage is which way a message is passed on.
type passage byte

const (
	passedIn   passage = 'i' // a request, to the node that it belongs to
	passedOut  passage = 'o' // a request of that node, to a phone
	passedBack passage = 'b' // an answer, to who sent the request
)

// passed is what a node says, and has proved to say by the key of the install,
// of a message that it passes on.
type passed struct {
	way    passage
	peer   Source         // who sent the request, or who is to get the message
	local  netip.AddrPort // UDP: the socket of the node that passes it on; zero: its connection
	port   uint16         // in: at which that node listens for datagrams
	size   int            // in: of the request as it came
	socket *udpSocket     // back: to send from
}

// appendSeal writes the header, all but its proof, for which it leaves room.
func appendSeal(b []byte, p *passed, now time.Time) []byte {
	b = append(append(b, message.RelayHeader+": "...), byte(p.way), ' ')
	b = append(append(b, p.peer.Network...), ' ')
	b = append(p.peer.Addr.AppendTo(b), ' ')
	if p.local.IsValid() {
		b = p.local.AppendTo(b)
	} else {
		b = append(b, '-')
	}
	for _, n := range []int64{int64(p.port), int64(p.size), now.Unix()} {
		b = strconv.AppendInt(append(b, ' '), n, 10)
	}
	b = append(b, ' ')
	return append(append(b, make([]byte, sealLen)...), '\r', '\n')
}

// sealed proves a message whose seal ends before at; the proof covers all of it.
func (r *relay) sealed(b []byte, at int) []byte {
	proof := b[at-2-sealLen : at-2]
	r.sum(proof, b[:at-2-sealLen], b[at-2:])
	return b
}

// sum writes the proof of a message that lies in two pieces around it.
func (r *relay) sum(to, head, tail []byte) {
	m, _ := r.macs.Get().(*sealMAC)
	defer r.macs.Put(m)
	m.hash.Reset()
	_, _ = m.hash.Write([]byte("message"))
	_, _ = m.hash.Write(head)
	_, _ = m.hash.Write(tail)
	base64.RawURLEncoding.Encode(to, m.hash.Sum(m.sum[:0])[:sealLen*3/4])
}

// opened reads what a node says of a message; nil: nobody does, or it is not
// true. It looks at the raw bytes, before the gate judges the source.
func (r *relay) opened(b []byte, now time.Time) *passed {
	_, rest, _ := bytes.Cut(b, []byte("\r\n"))
	if bytes.HasPrefix(b, []byte("SIP/")) {
		return r.answered(rest)
	}
	line, found := bytes.CutPrefix(rest, []byte(message.RelayHeader+": "))
	if !found {
		return nil
	}
	end := bytes.Index(line, []byte("\r\n"))
	if end < sealLen+1 {
		r.u.stats.forged.Add(1)
		return nil
	}
	at := len(b) - len(line) + end // of the end of the line
	proof := make([]byte, sealLen)
	r.sum(proof, b[:at-sealLen], b[at:])
	p := readSeal(line[:end-sealLen-1], now)
	if p == nil || !hmac.Equal(proof, b[at-sealLen:at]) {
		r.u.stats.forged.Add(1)
		return nil
	}
	return p
}

func readSeal(text []byte, now time.Time) *passed {
	f := bytes.Fields(text)
	if len(f) != 7 || len(f[0]) != 1 {
		return nil
	}
	p := &passed{way: passage(f[0][0])}
	p.peer.Network = networkOf(string(f[1]))
	var err error
	if p.peer.Addr, err = netip.ParseAddrPort(string(f[2])); err != nil {
		return nil
	}
	if text := string(f[3]); text != "-" {
		if p.local, err = netip.ParseAddrPort(text); err != nil {
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
	p.port, p.size = uint16(port), int(size)
	if p.peer.Network == "" || p.way != passedIn && p.way != passedOut {
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

// token says in the Via of a request that is passed on where its answer goes
// back to, so that nothing is kept for it. Our branch is proved along with it.
func (r *relay) token(back flow, branch string) string {
	raw := make([]byte, 0, 4+16+tokenMAC)
	raw = append(raw, uint8(slices.Index(networks(), back.network)&0xFF), r.socketIndex(back.udp))
	raw = binary.BigEndian.AppendUint16(raw, back.addr.Port())
	raw = append(raw, back.addr.Addr().AsSlice()...)
	raw = append(raw, r.tokenSum(raw, branch)...)
	return base64.RawURLEncoding.EncodeToString(raw)
}

func (r *relay) tokenSum(raw []byte, branch string) []byte {
	m, _ := r.macs.Get().(*sealMAC)
	defer r.macs.Put(m)
	m.hash.Reset()
	m.text = append(append(append(m.text[:0], "token"...), raw...), branch...)
	_, _ = m.hash.Write(m.text)
	var sum [sha256.Size]byte
	return m.hash.Sum(sum[:0])[:tokenMAC]
}

func (r *relay) socketIndex(s *udpSocket) byte {
	if i := slices.Index(r.u.udp, s); i >= 0 && i < math.MaxUint8 {
		return byte(i)
	}
	return math.MaxUint8
}

// answered reads the token in the topmost Via of an answer.
func (r *relay) answered(head []byte) *passed {
	via := topVia(head)
	text, branch := viaParam(via, ";cb="), viaParam(via, ";branch=")
	var raw [64]byte
	if len(text) == 0 || base64.RawURLEncoding.DecodedLen(len(text)) > len(raw) {
		return nil
	}
	n, err := base64.RawURLEncoding.Decode(raw[:], text)
	if err != nil || n < 4+4+tokenMAC {
		r.u.stats.forged.Add(1)
		return nil
	}
	body := raw[:n-tokenMAC]
	addr, ok := netip.AddrFromSlice(body[4:])
	if !ok || int(body[0]) >= len(networks()) || !hmac.Equal(raw[n-tokenMAC:n], r.tokenSum(body, string(branch))) {
		r.u.stats.forged.Add(1)
		return nil
	}
	p := &passed{way: passedBack, peer: Source{
		Network: networks()[body[0]], Addr: netip.AddrPortFrom(addr, binary.BigEndian.Uint16(body[2:])),
	}}
	if i := int(body[1]); i < len(r.u.udp) {
		p.socket = r.u.udp[i]
	}
	return p
}

// topVia is the first value of the first Via.
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

// viaParam is a parameter of a Via that we wrote; name has its ";" and "=".
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

// sealMAC makes one proof at a time, with room for what goes in and out.
type sealMAC struct {
	hash hash.Hash
	text []byte
	sum  [sha256.Size]byte
}

// newSealMACs returns a pool of *sealMAC of a key.
func newSealMACs(key []byte) *sync.Pool {
	return &sync.Pool{New: func() any { return &sealMAC{hash: hmac.New(sha256.New, key)} }}
}

package cluster

import (
	"net/netip"
	"time"

	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

func relayWithKey() *Relay {
	t, err := transport.New(transport.Config{Listen: []transport.Listener{{Network: resolve.UDP}}})
	if err != nil {
		panic(err)
	}
	return New(Config{Key: []byte("never told"), Transport: t})
}

// AcceptsRelayInfo reports whether a relay with a key that the sender does not know accepts the relay header of a message.
func AcceptsRelayInfo(b []byte) bool { return relayWithKey().ReadRelayInfo(b, time.Now()) != nil }

// RelayThereAndBack returns a request as a node relays it to the owner. It also returns a response with the Via headers
// of that request, as the relaying node sends it back. ok is false if the bytes are not a request.
func RelayThereAndBack(b []byte) (there, back []byte, ok bool) {
	r := relayWithKey()
	in, err := r.cfg.Transport.Parse(b)
	if err != nil || !transport.IsWellFormed(b) {
		return nil, nil, false
	}
	m := new(transport.Received)
	if !m.Parse(in) || !m.IsRequest() {
		return nil, nil, false
	}
	m.Raw, m.Flow = b, transport.Flow{Network: resolve.UDP, Addr: netip.MustParseAddrPort("192.0.2.1:5060")}
	info := &transport.RelayInfo{Direction: transport.RelayIn, Peer: m.Source(), Size: len(b)}
	there = r.relayedRequest(m, transport.Flow{Network: resolve.UDP, Addr: netip.MustParseAddrPort("127.0.0.1:5060")}, info)
	if p := r.ReadRelayInfo(there, time.Now()); p == nil || p.Peer != info.Peer || p.Size != len(b) {
		return there, nil, true
	}
	if in, err = r.cfg.Transport.Parse(there); err != nil {
		return there, nil, true
	}
	if m = new(transport.Received); !m.Parse(in) {
		return there, nil, true
	}
	m.Raw = there
	return there, r.rewrite(m, &rewriting{}), true
}

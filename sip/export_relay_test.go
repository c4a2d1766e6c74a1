package sip

import (
	"net/netip"
	"time"

	"github.com/callboard/callboard/sip/resolve"
)

func relayOf() *UserAgent {
	u, err := New(Config{Listen: []Listener{{Network: resolve.UDP}}, RelayKey: []byte("never told")})
	if err != nil {
		panic(err)
	}
	return u
}

// Opened tells whether bytes are believed to be passed on by a node whose key
// they cannot know.
func Opened(b []byte) bool { return relayOf().relay.opened(b, time.Now()) != nil }

// PassOn is a request as a node passes it on, and then as its owner passes an
// answer back that repeats it; ok is false for what is no request.
func PassOn(b []byte) (on, again []byte, ok bool) {
	u := relayOf()
	in, err := u.parser.ParseSIP(b)
	if err != nil || !wellFormed(b) {
		return nil, nil, false
	}
	m := new(received)
	if !m.Parse(in) || !m.IsRequest() {
		return nil, nil, false
	}
	m.raw, m.flow = b, flow{network: resolve.UDP, addr: netip.MustParseAddrPort("192.0.2.1:5060")}
	seal := &passed{way: passedIn, peer: m.source(), size: len(b)}
	on = u.relay.request(m, flow{network: resolve.UDP, addr: netip.MustParseAddrPort("127.0.0.1:5060")}, seal)
	if p := u.relay.opened(on, time.Now()); p == nil || p.peer != seal.peer || p.size != len(b) {
		return on, nil, true
	}
	if in, err = u.parser.ParseSIP(on); err != nil {
		return on, nil, true
	}
	if m = new(received); !m.Parse(in) {
		return on, nil, true
	}
	m.raw = on
	return on, u.relay.rewrite(m, &rewriting{}), true
}

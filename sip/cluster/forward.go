package cluster

import (
	"net/netip"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// relayIn sends a request to the node that owns it.
func (r *Relay) relayIn(m *transport.Received, at netip.AddrPort) {
	t := r.cfg.Transport
	info := &transport.RelayInfo{Direction: transport.RelayIn, Peer: m.Source(), Size: len(m.Raw), NodePort: t.Addr(resolve.UDP).Port()}
	if m.Flow.Socket != nil {
		info.Local = m.Flow.Socket.Local()
	}
	to := transport.Flow{Network: resolve.UDP, Addr: at}
	if s := t.SocketTo(at); s != nil {
		info.NodePort = s.Local().Port()
	} else {
		to.Network = resolve.TCP
	}
	b := r.relayedRequest(m, to, info)
	if len(b) <= transport.MaxDatagramRequest || to.IsStream() || r.cfg.Resolver.FailedRecently(to.TCPTarget(), time.Now()) {
		r.sendRelayed(to, b, nil)
		return
	}
	datagram := b
	overTCP := transport.Flow{Network: resolve.TCP, Addr: at, ShortDial: true}
	r.sendRelayed(overTCP, r.relayedRequest(m, overTCP, info), func(error) {
		r.cfg.Resolver.MarkFailed(overTCP.TCPTarget())
		r.sendRelayed(to, datagram, nil)
	})
}

// RelayOut sends a request of another node to the phone that is connected to this node.
func (r *Relay) RelayOut(m *transport.Received) {
	info := m.Relay
	to := transport.Flow{Network: info.Peer.Network, Addr: info.Peer.Addr, Socket: r.cfg.Transport.SocketAt(info.Local), ReuseInbound: true}
	back := *m
	back.Raw = nil
	r.sendRelayed(to, r.relayedRequest(m, to, nil), func(error) {
		if back.Method != message.MethodAck {
			r.cfg.Reject(&back, 503)
		}
	})
}

// RelayBack sends a response of another node to the sender of the request. A node answers only sources that it knows,
// so this node treats the source as known from now on.
func (r *Relay) RelayBack(m *transport.Received) {
	info := m.Relay
	if len(m.Vias) < 2 || m.RepeatedHeader != "" || m.Version != "SIP/2.0" {
		r.counts.malformed.Add(1)
		return
	}
	if m.Code < 300 || m.CSeqMethod != message.MethodRegister {
		r.remote.add(info.Peer.Addr.Addr(), time.Now())
	}
	to := transport.Flow{Network: info.Peer.Network, Addr: info.Peer.Addr, Socket: info.Socket}
	if to.IsStream() {
		if to.Connection = r.cfg.Transport.InboundConnection(to); to.Connection == nil {
			r.counts.transportErrors.Add(1)
			return
		}
	}
	r.counts.returned.Add(1)
	if err := r.cfg.Transport.Send(to, transport.Outgoing{Bytes: r.rewrite(m, &rewriting{})}); err != nil {
		r.counts.transportErrors.Add(1)
	}
}

func (r *Relay) sendRelayed(to transport.Flow, b []byte, failed func(error)) {
	r.counts.relayed.Add(1)
	if err := r.cfg.Transport.Send(to, transport.Outgoing{Bytes: b, Failed: failed}); err != nil {
		r.counts.transportErrors.Add(1)
		if failed != nil {
			failed(err)
		}
	}
}

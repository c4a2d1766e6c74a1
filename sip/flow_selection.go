package sip

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

const lookupTimeout = 4 * time.Second

// flowBack returns the flow for requests of this side in an inbound dialog whose Contact cannot be used. The flow leads
// to the source of the INVITE. If that phone is connected to another node, the flow leads through that node.
func (u *UserAgent) flowBack(m *received) transport.Flow {
	if m.Relay == nil {
		return m.Flow
	}
	source := m.Source()
	if at := m.RelayNode(); at.IsValid() && m.phone != "" {
		return transport.Flow{Network: resolve.UDP, Addr: at, RemotePhone: &transport.RemotePhone{Source: source, Local: m.Relay.Local}}
	}
	return transport.Flow{Network: u.transport.Network(source.Network), Addr: source.Addr}
}

// flowTo returns the flow to a target. A phone that is connected to another node is reached through that node.
func (u *UserAgent) flowTo(t resolve.Target, phone bool) transport.Flow {
	f := transport.FlowTo(t)
	if t.Through.IsValid() && u.relay != nil {
		return transport.Flow{Network: resolve.UDP, Addr: t.Through, RemotePhone: &transport.RemotePhone{Source: transport.Source{Addr: f.Addr, Network: f.Network}, Local: t.Local}}
	}
	f.Socket, f.ReuseInbound = u.transport.SocketAt(t.Local), phone
	return f
}

// resolve looks up the addresses of a target. It waits and must not run on a goroutine that reads a socket.
func (u *UserAgent) resolve(t resolve.Target) []resolve.Target {
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	found, err := u.resolver.Resolve(ctx, t)
	if err != nil {
		return nil
	}
	return found
}

// flowBeforeLookup returns the flow to a target without a DNS lookup. If the host is a name, the flow has no address.
func flowBeforeLookup(t resolve.Target) transport.Flow {
	if ip, err := netip.ParseAddr(strings.Trim(t.Host, "[]")); err == nil {
		return transport.FlowTo(resolve.WithAddress(t, ip))
	}
	return transport.Flow{Network: t.Transport}
}

// proxyRoute returns the value of the Route header that sends a request through an outbound proxy.
func proxyRoute(proxy resolve.Target) string {
	return "sip:" + proxy.HostPort() + proxy.TransportParam() + ";lr"
}

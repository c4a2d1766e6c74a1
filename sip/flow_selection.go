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

// flowBack is the flow of our requests in an inbound dialog if the Contact cannot be used. It leads to the source of the
// INVITE, and to a phone behind another node through that node.
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

// flowTo is the flow to a target: to a phone behind another node through that.
func (u *UserAgent) flowTo(t resolve.Target, phone bool) transport.Flow {
	f := transport.FlowTo(t)
	if t.Through.IsValid() && u.relay != nil {
		return transport.Flow{Network: resolve.UDP, Addr: t.Through, RemotePhone: &transport.RemotePhone{Source: transport.Source{Addr: f.Addr, Network: f.Network}, Local: t.Local}}
	}
	f.Socket, f.ReuseInbound = u.transport.SocketAt(t.Local), phone
	return f
}

// resolve looks a target up. It waits, and must not run on a reader's goroutine.
func (u *UserAgent) resolve(t resolve.Target) []resolve.Target {
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	found, err := u.resolver.Resolve(ctx, t)
	if err != nil {
		return nil
	}
	return found
}

// flowBeforeLookup is the flow to a target as far as it is known without a look-up of its name.
func flowBeforeLookup(t resolve.Target) transport.Flow {
	if ip, err := netip.ParseAddr(strings.Trim(t.Host, "[]")); err == nil {
		return transport.FlowTo(resolve.WithAddress(t, ip))
	}
	return transport.Flow{Network: t.Transport}
}

// proxyRoute is the Route of an outbound proxy.
func proxyRoute(proxy resolve.Target) string {
	return "sip:" + proxy.HostPort() + proxy.TransportParam() + ";lr"
}

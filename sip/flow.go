package sip

import (
	"context"
	"time"

	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

const lookupTimeout = 4 * time.Second

// flowBack is where requests of ours go in a dialog that a request begins, if
// its Contact cannot be used: to its source, and to a phone behind another node
// by way of that.
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

// flowTo is the way to a target: to a phone behind another node by way of that.
func (u *UserAgent) flowTo(t resolve.Target, phone bool) transport.Flow {
	f := transport.FlowTo(t)
	if t.Through.IsValid() && u.relay != nil {
		return transport.Flow{Network: resolve.UDP, Addr: t.Through, RemotePhone: &transport.RemotePhone{Source: transport.Source{Addr: f.Addr, Network: f.Network}, Local: t.Local}}
	}
	f.Socket, f.ReuseInbound = u.transport.SocketAt(t.Local), phone
	return f
}

// resolve finds a target. It waits: never on a reader's goroutine.
func (u *UserAgent) resolve(t resolve.Target) []resolve.Target {
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	found, err := u.resolver.Resolve(ctx, t)
	if err != nil {
		return nil
	}
	return found
}

package sip

import (
	"context"
	"time"

	"github.com/callboard/callboard/sip/cluster"
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

// holdFlow lets packets through the gate of where the dialog's messages go.
func (d *Dialog) holdFlow() {
	d.hold(d.flow.Addr.Addr())
	if d.flow.RemotePhone != nil {
		d.hold(d.flow.RemotePhone.Addr.Addr())
	}
}

// contact is our Contact as a peer reaches it over a flow.
func (d *Dialog) contact(to transport.Flow) string {
	if to.RemotePhone != nil {
		to = transport.Flow{Network: d.ua.transport.Network(to.RemotePhone.Network), Addr: to.RemotePhone.Addr}
	}
	c := "<sip:" + d.contactUser + "@" + d.ua.transport.SentBy(to)
	if to.IsStream() {
		c += ";transport=" + to.Network
	}
	return cluster.Mark(d.ua.cfg.NodeMark).MarkContact(c) + ">"
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

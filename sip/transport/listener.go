package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/callboard/callboard/sip/resolve"
)

// Listener describes one socket to listen on, for example {Network: "udp", Addr: "127.0.0.1:5060"}.
type Listener struct {
	Network string // udp, tcp or tls
	Addr    string // host:port; port 0 selects a free port
	TLS     *TLS   // for a tls listener; nil: Config.TLS
}

// streamListener accepts TCP connections, and TLS connections if tls is set.
type streamListener struct {
	net.Listener
	network string
	local   netip.AddrPort
	tls     *tls.Config
}

func (t *Transport) openListener(ctx context.Context, l Listener) error {
	s := streamListener{network: l.Network}
	if l.Network == resolve.TLS {
		by := l.TLS
		if by == nil {
			by = t.cfg.TLS
		}
		var err error
		if s.tls, err = by.ServerConfig(); err != nil {
			return err
		}
	}
	lc := net.ListenConfig{Control: t.markSocket}
	var err error
	if s.Listener, err = lc.Listen(ctx, "tcp", l.Addr); err != nil {
		return fmt.Errorf("sip: listen on %s %s: %w", l.Network, l.Addr, err)
	}
	s.local = addrPortOf(s.Addr())
	t.listeners = append(t.listeners, s)
	return nil
}

// markSocket sets the DSCP of a socket before it is bound or connected.
func (t *Transport) markSocket(_, _ string, raw syscall.RawConn) error {
	return SetDSCP(t.cfg.DSCP, raw)
}

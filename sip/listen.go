package sip

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

func (u *UserAgent) open(ctx context.Context) error {
	for _, l := range u.cfg.Listen {
		if l.Network != resolve.UDP {
			if err := u.openStream(ctx, l); err != nil {
				return err
			}
			continue
		}
		conn, err := u.bind(ctx, l.Addr)
		if err != nil {
			return err
		}
		s := &udpSocket{
			packetConn: conn, u: u, name: endpoint("udp#" + conn.LocalAddr().String()), local: addrPort(conn.LocalAddr()), handled: true,
		}
		u.sources.Store(string(s.name), s)
		u.udp = append(u.udp, s)
	}
	return nil
}

// streamListener accepts TCP connections, and secures them if tls is set.
type streamListener struct {
	net.Listener
	network string
	local   netip.AddrPort
	tls     *tls.Config
}

func (u *UserAgent) openStream(ctx context.Context, l Listener) error {
	s := streamListener{network: l.Network}
	if l.Network == resolve.TLS {
		by := l.TLS
		if by == nil {
			by = u.cfg.TLS
		}
		var err error
		if s.tls, err = by.ServerConfig(); err != nil {
			return err
		}
	}
	lc := net.ListenConfig{Control: u.mark}
	var err error
	if s.Listener, err = lc.Listen(ctx, "tcp", l.Addr); err != nil {
		return fmt.Errorf("sip: listen on %s %s: %w", l.Network, l.Addr, err)
	}
	s.local = addrPort(s.Addr())
	u.streams = append(u.streams, s)
	return nil
}

// read serves one socket; a panic in the parser costs one message.
func (u *UserAgent) read(serve func() error) {
	for {
		func() {
			defer u.recovered("read", nil)
			if err := serve(); err != nil && !errors.Is(err, net.ErrClosed) {
				u.log.Error("sip_listener_failed", slog.Any("error", err))
			}
		}()
		select {
		case <-u.closed:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// mark sets the DSCP of a socket before it is bound or connected.
func (u *UserAgent) mark(_, _ string, raw syscall.RawConn) error {
	return transport.SetDSCP(u.cfg.DSCP, raw)
}

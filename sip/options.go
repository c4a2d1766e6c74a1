package sip

import (
	"bytes"
	"net/netip"
	"slices"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// A dispatcher is a load balancer in front of several nodes. It asks each node by OPTIONS whether the node accepts
// calls, and treats a node without an answer as down. Its address is a known source or is listed in Config.Probes.

// isDispatcher reports whether an address is listed in Config.Probes, so that its OPTIONS is answered although the
// source is unknown.
func (u *UserAgent) isDispatcher(a netip.Addr) bool {
	a = a.Unmap()
	return slices.ContainsFunc(u.cfg.Probes, func(p netip.Prefix) bool { return p.Contains(a) })
}

// isProbe reports whether the bytes from an unknown source are an OPTIONS of a dispatcher.
func (u *UserAgent) isProbe(b []byte, s transport.Source) bool {
	return bytes.HasPrefix(b, []byte(message.MethodOptions+" ")) && u.isDispatcher(s.Addr.Addr())
}

// isProbeRequest reports whether a parsed request is an OPTIONS of a dispatcher, outside of any dialog and not relayed.
// A source that another node knows counts as a dispatcher, so that each node answers it.
func (u *UserAgent) isProbeRequest(m *received) bool {
	return m.Method == message.MethodOptions && m.To.Tag == "" && m.Relay == nil &&
		(u.isDispatcher(m.Source().Addr.Addr()) || u.relay.KnowsSource(m.Source(), time.Now()))
}

// answerOptions answers 200 if calls are accepted here, and 503 while the node drains or is isolated.
func (u *UserAgent) answerOptions(m *received) {
	if u.calls.isDraining() || u.cfg.IsIsolated != nil && u.cfg.IsIsolated() {
		u.reject(m, 503)
		return
	}
	u.reply(&m.Received, 200, "", nil)
}

package sip

import (
	"bytes"
	"net/netip"
	"slices"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// A dispatcher in front of several nodes asks each of them by OPTIONS whether it accepts calls. Its address is a
// known source or is listed in Config.Probes. If a node does not answer, the dispatcher treats the node as down.

// isDispatcher reports whether OPTIONS from an address is answered although the source is unknown.
func (u *UserAgent) isDispatcher(a netip.Addr) bool {
	a = a.Unmap()
	return slices.ContainsFunc(u.cfg.Probes, func(p netip.Prefix) bool { return p.Contains(a) })
}

// isProbe reports whether the bytes from an unknown source are an OPTIONS of a dispatcher.
func (u *UserAgent) isProbe(b []byte, s transport.Source) bool {
	return bytes.HasPrefix(b, []byte(message.MethodOptions+" ")) && u.isDispatcher(s.Addr.Addr())
}

// isProbeRequest reports the same of a parsed request: it belongs to no dialog and no other node relayed it. Each
// node answers the sources that any node knows.
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

package sip

import (
	"bytes"
	"net/netip"
	"slices"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// A dispatcher in front of several nodes asks each of them by OPTIONS whether it takes calls. It is a known source, or
// listed in Config.Probes. Without a response it takes the node for dead.

// isDispatcher tells whether OPTIONS of an address is answered although the source is unknown.
func (u *UserAgent) isDispatcher(a netip.Addr) bool {
	a = a.Unmap()
	return slices.ContainsFunc(u.cfg.Probes, func(p netip.Prefix) bool { return p.Contains(a) })
}

// isProbe tells whether the bytes of an unknown source are such an OPTIONS.
func (u *UserAgent) isProbe(b []byte, s transport.Source) bool {
	return bytes.HasPrefix(b, []byte(message.MethodOptions+" ")) && u.isDispatcher(s.Addr.Addr())
}

// isProbeRequest tells the same of a parsed request: it is of no dialog and came from no other node. Each node answers the
// sources that any of the nodes knows.
func (u *UserAgent) isProbeRequest(m *received) bool {
	return m.Method == message.MethodOptions && m.To.Tag == "" && m.Relay == nil &&
		(u.isDispatcher(m.Source().Addr.Addr()) || u.relay.KnowsSource(m.Source(), time.Now()))
}

// answerOptions says whether calls are taken here, or relayed to nodes that are reached.
func (u *UserAgent) answerOptions(m *received) {
	if u.calls.isDraining() || u.cfg.IsIsolated != nil && u.cfg.IsIsolated() {
		u.reject(m, 503)
		return
	}
	u.reply(&m.Received, 200, "", nil)
}

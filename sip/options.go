package sip

import (
	"bytes"
	"net/netip"
	"slices"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// A dispatcher in front asks each of its nodes by OPTIONS whether that takes
// calls. It is a carrier of ours, a source that we know, or stands in
// Config.Probes: who gets no answer takes us for dead.

// dispatches tells whether OPTIONS of an address is answered though nobody knows it.
func (u *UserAgent) dispatches(a netip.Addr) bool {
	a = a.Unmap()
	return slices.ContainsFunc(u.cfg.Probes, func(p netip.Prefix) bool { return p.Contains(a) })
}

// isProbe tells whether the bytes of a stranger are such a question.
func (u *UserAgent) isProbe(b []byte, s transport.Source) bool {
	return bytes.HasPrefix(b, []byte(message.MethodOptions+" ")) && u.dispatches(s.Addr.Addr())
}

// probe tells the same of a request that was read: it begins nothing, is of no
// dialog and came from no other node. Of several nodes each answers whom any of
// them knows.
func (u *UserAgent) probe(m *received) bool {
	return m.Method == message.MethodOptions && m.To.Tag == "" && m.Relay == nil &&
		(u.dispatches(m.Source().Addr.Addr()) || u.relay.KnowsSource(m.Source(), time.Now()))
}

// asked answers OPTIONS: whether calls are taken here, or passed on to nodes that
// are reached.
func (u *UserAgent) asked(m *received) {
	if u.calls.isDraining() || u.cfg.CutOff != nil && u.cfg.CutOff() {
		u.reject(m, 503)
		return
	}
	u.reply(m, 200, "", nil)
}

package call

import (
	"log/slog"
	"slices"

	"github.com/callboard/callboard/domain/routing"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
)

// mostMoves bounds how often one call is sent on.
const mostMoves = 3

const transportTLS = "tls"

// detour is where a 3xx has sent the call, and what its sender has signed.
type detour struct {
	to       resolve.Target
	uri      string
	identity []string
}

// sentOn is the detour that a refused leg names, where its trunk allows one;
// nil: the redirection is not followed. What went over TLS stays there.
func (c *call) sentOn(f sip.Final) *detour {
	if c.cfg.Trunks == nil || c.moves >= mostMoves || f.RingTimeout || f.Cancelled {
		return nil
	}
	secure := c.slot.Target.Transport == transportTLS
	moved := slices.DeleteFunc(slices.Clone(f.Moved), func(m sip.Moved) bool { return secure && m.Transport != "" && m.Transport != transportTLS })
	places := make([]routing.Place, len(moved))
	for i, m := range moved {
		places[i] = routing.Place{User: m.User, Host: m.Host}
	}
	dialled, err := c.slot.Trunk().DialString(c.call.To)
	if err != nil {
		return nil
	}
	i, ok := routing.Follow(c.slot.Trunk(), dialled, places)
	if !ok {
		return nil
	}
	m := moved[i]
	if secure {
		m.Transport = transportTLS
	}
	c.moves++
	c.log.Info("call sent on", slog.String("host", m.Host), slog.Int("code", f.Code))
	return &detour{
		to:  resolve.Target{Host: m.Host, Port: m.Port, Transport: m.Transport, TrunkID: c.slot.Trunk().ID},
		uri: m.URI, identity: f.Identity,
	}
}

// takes leads an INVITE by way of the detour.
func (d *detour) takes(in *sip.Invite) {
	if d == nil {
		return
	}
	in.URI, in.Moved = d.uri, true
	for _, v := range d.identity {
		in.Headers = append(in.Headers, message.Header{Name: "Identity", Value: v})
	}
}

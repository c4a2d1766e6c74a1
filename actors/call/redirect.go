package call

import (
	"slices"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain/routing"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
)

// maxRedirects limits how many 3xx redirects one call follows.
const maxRedirects = 3

const transportTLS = "tls"

// redirect is the target of a 3xx response, with the Identity headers of the response.
type redirect struct {
	target   resolve.Target
	uri      string
	identity []string
}

// followRedirect selects a redirect target that the trunk allows from the response of a refused leg. It returns false if
// there is none. A call that used TLS stays on TLS.
func (f *failover) followRedirect(slot *trunk.Slot, to string, final outcome.Final) bool {
	f.redirect = nil
	if f.redirects >= maxRedirects || final.RingTimeout || final.Cancelled {
		return false
	}
	secure := slot.Target.Transport == transportTLS
	moved := slices.DeleteFunc(slices.Clone(final.Redirects), func(m outcome.RedirectTarget) bool { return secure && m.Transport != "" && m.Transport != transportTLS })
	places := make([]routing.RedirectTarget, len(moved))
	for i, m := range moved {
		places[i] = routing.RedirectTarget{User: m.User, Host: m.Host}
	}
	dialled, err := slot.Trunk().DialString(to)
	if err != nil {
		return false
	}
	i, ok := routing.SelectRedirect(slot.Trunk(), dialled, places)
	if !ok {
		return false
	}
	m := moved[i]
	if secure {
		m.Transport = transportTLS
	}
	f.redirects++
	f.redirect = &redirect{
		target: resolve.Target{Host: m.Host, Port: m.Port, Transport: m.Transport, TrunkID: slot.Trunk().ID},
		uri:    m.URI, identity: final.Identity,
	}
	return true
}

// applyTo changes an INVITE so that it goes to the redirect target. A nil redirect leaves the INVITE unchanged.
func (d *redirect) applyTo(in *sip.Invite) {
	if d == nil {
		return
	}
	in.URI, in.Redirected = d.uri, true
	for _, v := range d.identity {
		in.Headers = append(in.Headers, message.Header{Name: "Identity", Value: v})
	}
}

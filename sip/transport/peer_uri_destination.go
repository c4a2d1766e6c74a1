package transport

import (
	"net/netip"
	"strings"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
)

// NextHop is the destination to which a URI sends a request. If Lookup is set, its host name must be resolved first.
type NextHop struct {
	Flow
	Lookup *resolve.Target
}

// NextHop returns the destination of requests to a URI that a peer has named. If the URI cannot be used or must not be
// reached, it returns have, the current flow of the dialog.
func (t *Transport) NextHop(uri string, have Flow) NextHop {
	var parsed sipmsg.Uri
	if err := sipmsg.ParseUri(uri, &parsed); err != nil || parsed.Host == "" {
		return NextHop{Flow: have}
	}
	target := resolve.Target{Host: strings.Trim(parsed.Host, "[]"), Port: parsed.Port, Transport: have.Network}
	switch network := strings.ToLower(message.ParamValue(parsed.UriParams, "transport")); {
	case parsed.Scheme == "sips":
		target.Transport = resolve.TLS
	case parsed.Scheme != "sip":
		return NextHop{Flow: have}
	case network == resolve.UDP, network == resolve.TCP, network == resolve.TLS:
		target.Transport = network
	}
	if maddr := message.ParamValue(parsed.UriParams, "maddr"); maddr != "" {
		target.Host = strings.Trim(maddr, "[]")
	}
	if target.Port < 0 || target.Port > 65535 {
		target.Port = 0
	}
	if have.Network == resolve.TLS && target.Transport != resolve.TLS {
		return NextHop{Flow: have} // a secured dialog stays secured
	}
	ip, err := netip.ParseAddr(target.Host)
	if err != nil {
		target.Name = ""
		return NextHop{Flow: Flow{Network: target.Transport}, Lookup: &target}
	}
	target = resolve.WithAddress(target, ip)
	target.Name = have.Name // an IP address is verified by the name with which the dialog was called
	return NextHop{Flow: t.FlowOrKeep(target, have)}
}

// FlowOrKeep returns the flow to an address that a peer has named, or have if that address must not be reached.
func (t *Transport) FlowOrKeep(target resolve.Target, have Flow) Flow {
	to := FlowTo(target)
	sameStream := to.IsStream() && to.Network == have.Network && to.Addr.Addr() == have.Addr.Addr()
	if sameStream && (have.Connection == nil || !have.Connection.isClosed()) || to.Addr == have.Addr && to.Network == have.Network {
		return have
	}
	if to.Addr.Addr().IsUnspecified() || to.Addr.Addr().IsMulticast() || t.cfg.MayReach != nil && !t.cfg.MayReach(to.Addr) {
		return have
	}
	if !to.IsStream() && have.Socket != nil && canReach(have.Socket.local.Addr(), to.Addr.Addr()) {
		to.Socket = have.Socket
	}
	return to
}

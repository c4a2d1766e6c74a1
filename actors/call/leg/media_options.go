package leg

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/resolve"
)

// MediaAddresses returns the address at which the peer can reach this service for audio, and the address of the
// next hop. Both are zero if the next hop is a host name.
func MediaAddresses(ua UserAgent, slot trunk.Slot, contacts []registrar.Contact) (ours, peer netip.Addr) {
	next := slot.Target
	if p := slot.Trunk().OutboundProxy; p != nil {
		next = resolve.Target{Host: p.Host, Port: p.Port, Transport: p.Transport}
	}
	if len(contacts) > 0 {
		next = contacts[0].Target
	}
	ip, err := netip.ParseAddr(strings.Trim(next.Host, "[]"))
	if err != nil {
		return ours, peer
	}
	peer = ip.Unmap()
	return ua.Host(next.Transport, netip.AddrPortFrom(peer, uint16(next.Port&0xFFFF))), peer
}

// SetTrunkOptions applies the media settings of a trunk to session options. more lists additional networks from which
// audio is accepted.
func SetTrunkOptions(o *media.Options, slot trunk.Slot, more []string) {
	t := slot.Trunk()
	o.Codecs, o.Networks = ParseCodecs(t.Codecs), mediaNetworks(slot, more)
	o.KeysInClear, o.Confidential = t.KeysInClear, slot.Target.Transport == "tls"
	if t.OutboundProxy != nil {
		o.Confidential = t.OutboundProxy.Transport == "tls"
	}
	switch t.SRTP {
	case "optional":
		o.SRTP = media.SRTPOptional
	case "required":
		o.SRTP = media.SRTPRequired
	}
	switch t.NAT {
	case domain.NATOn:
		o.NAT = media.NATOn
	case domain.NATOff:
		o.NAT = media.NATOff
	}
	switch t.DTMF {
	case "rfc4733":
		o.DTMF = media.DTMFRFC4733
	case "info":
		o.DTMF = media.DTMFInfo
	case "inband":
		o.DTMF = media.DTMFInband
	}
}

// mediaNetworks returns the networks from which a trunk's audio is accepted: its media networks, the networks in more,
// its target and its proxies.
func mediaNetworks(slot trunk.Slot, more []string) []netip.Prefix {
	var out []netip.Prefix
	t := slot.Trunk()
	for _, text := range slices.Concat(t.MediaNetworks, more, []string{strings.Trim(slot.Target.Host, "[]")}) {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p.Masked())
		} else if a, err := netip.ParseAddr(text); err == nil {
			out = append(out, netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()))
		}
	}
	for _, p := range t.Proxies {
		if a, err := netip.ParseAddr(strings.Trim(p.Host, "[]")); err == nil {
			out = append(out, netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()))
		}
	}
	return out
}

// ParseCodecs returns the codecs with these names. It returns PCMU and PCMA if it knows none of the names.
func ParseCodecs(names []string) []media.Codec {
	var out []media.Codec
	for _, n := range names {
		switch strings.ToUpper(n) {
		case "PCMU":
			out = append(out, media.PCMU)
		case "PCMA":
			out = append(out, media.PCMA)
		case "G722":
			out = append(out, media.G722)
		case "OPUS":
			out = append(out, media.Opus)
		}
	}
	if len(out) == 0 {
		return []media.Codec{media.PCMU, media.PCMA}
	}
	return out
}

// OtherCodecs returns the codecs for a second SDP offer to a target that has refused the codecs c.
func OtherCodecs(c []media.Codec) []media.Codec {
	if len(c) == 1 && c[0] == media.PCMU {
		return []media.Codec{media.PCMA}
	}
	if len(c) == 1 {
		return []media.Codec{media.PCMU, media.PCMA}
	}
	other := slices.Clone(c)
	slices.Reverse(other)
	return other
}

// Package access decides whether a credential may do something from an address,
// and whether an address may be reached at all. It knows no store, no socket
// and no resolver: it is told, and it answers.
package access

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
)

// IsKnownPermission says whether p is one of the permissions of the specification.
func IsKnownPermission(p domain.Permission) bool {
	switch p {
	case domain.AllRead, domain.AllWrite, domain.CallsRead, domain.CallsWrite,
		domain.AgentsRead, domain.AgentsWrite, domain.AnalyticsRead:
		return true
	}
	return false
}

// Covers says whether the permissions held include the one needed, by meaning:
// "*:read" covers every reading one. Write does not imply read.
func Covers(have []domain.Permission, need domain.Permission) bool {
	needArea, needVerb, ok := strings.Cut(string(need), ":")
	if !ok || needArea == "" || needVerb == "" {
		return false
	}
	for _, h := range have {
		area, verb, ok := strings.Cut(string(h), ":")
		if ok && verb == needVerb && (area == "*" || area == needArea) {
			return true
		}
	}
	return false
}

// IsSubset says whether every permission of the child is covered by the parent.
func IsSubset(child, parent []domain.Permission) bool {
	for _, c := range child {
		if !Covers(parent, c) {
			return false
		}
	}
	return true
}

// CheckPermissions notes what is wrong with a list of permissions: it is
// empty, or an entry is unknown.
func CheckPermissions(param string, list []domain.Permission, p *domain.Problems) {
	if len(list) == 0 {
		p.Add(param, domain.CodeValidation, "at least one permission is needed")
	}
	for _, one := range list {
		if !IsKnownPermission(one) {
			p.Add(param, domain.CodeValidation, "%q is not a permission", clip(string(one)))
		}
	}
}

// MaxAllowedIPs bounds the address list of one key.
const MaxAllowedIPs = 100

// CheckAllowedIPs notes every entry that is neither an address nor a CIDR.
func CheckAllowedIPs(param string, list []string, p *domain.Problems) {
	if len(list) > MaxAllowedIPs {
		p.Add(param, domain.CodeValidation, "at most %d entries are allowed", MaxAllowedIPs)
		return
	}
	for _, entry := range list {
		if _, ok := parseNetwork(entry); !ok {
			p.Add(param, domain.CodeValidation, "%q is neither an IP address nor a CIDR", clip(entry))
		}
	}
}

// IsAllowedIP says whether a client's address is inside the list of a key: IPv4 or
// IPv6 addresses and CIDRs. An empty list allows every address; an entry that
// does not parse allows none.
func IsAllowedIP(list []string, client netip.Addr) bool {
	if len(list) == 0 {
		return true
	}
	client = client.Unmap().WithZone("")
	for _, entry := range list {
		if network, ok := parseNetwork(entry); ok && network.Contains(client) {
			return true
		}
	}
	return false
}

// AreAllowedIPsWithin says whether every address that the list child allows is allowed by
// the list parent, too. An empty list allows every address.
func AreAllowedIPsWithin(child, parent []string) bool {
	if len(parent) == 0 {
		return true
	}
	for _, entry := range child {
		network, ok := parseNetwork(entry)
		if !ok || !slices.ContainsFunc(parent, func(outer string) bool { return networkContains(outer, network) }) {
			return false
		}
	}
	return len(child) > 0
}

// networkContains says whether a network lies within the entry of a list.
func networkContains(entry string, network netip.Prefix) bool {
	outer, ok := parseNetwork(entry)
	return ok && outer.Bits() <= network.Bits() && outer.Contains(network.Addr())
}

// parseNetwork reads an address or a CIDR; IPv4 inside IPv6 becomes IPv4.
func parseNetwork(text string) (netip.Prefix, bool) {
	if !strings.Contains(text, "/") {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return netip.Prefix{}, false
		}
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	n, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	if n.Addr().Is4In6() && n.Bits() >= 96 {
		n = netip.PrefixFrom(n.Addr().Unmap(), n.Bits()-96)
	}
	return n.Masked(), true
}

// clip keeps strangers' text short in messages.
func clip(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

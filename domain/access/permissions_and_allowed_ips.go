// Package access decides which permissions and source addresses a credential has, and to which addresses the service may
// connect for a tenant. It also creates and verifies API keys, OAuth tokens and signed links. All functions are pure.
package access

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
)

// IsKnownPermission reports whether p is a permission that the API defines.
func IsKnownPermission(p domain.Permission) bool {
	switch p {
	case domain.AllRead, domain.AllWrite, domain.CallsRead, domain.CallsWrite,
		domain.AgentsRead, domain.AgentsWrite, domain.AnalyticsRead:
		return true
	}
	return false
}

// Covers reports whether the permissions in have include need. "*:read" covers every read permission. Write
// permissions do not include read permissions.
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

// IsSubset reports whether parent covers every permission of child.
func IsSubset(child, parent []domain.Permission) bool {
	for _, c := range child {
		if !Covers(parent, c) {
			return false
		}
	}
	return true
}

// CheckPermissions adds a problem to p for an empty list and for each unknown permission. param names the request field.
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

// MaxAllowedIPs is the maximum number of allowed source addresses of an API key.
const MaxAllowedIPs = 100

// CheckAllowedIPs adds a problem to p for each entry that is neither an IP address nor a CIDR network. param names the
// request field.
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

// IsAllowedIP reports whether a list of IPv4 and IPv6 addresses and CIDRs contains the address of a client. An
// empty list allows every address. An invalid entry allows none.
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

// AreAllowedIPsWithin reports whether the list parent allows every address that the list child allows. An empty
// list allows every address.
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

// networkContains reports whether the entry of a list contains a network.
func networkContains(entry string, network netip.Prefix) bool {
	outer, ok := parseNetwork(entry)
	return ok && outer.Bits() <= network.Bits() && outer.Contains(network.Addr())
}

// parseNetwork parses an address or a CIDR. IPv4 addresses in IPv6 form become IPv4.
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

// clip shortens untrusted text for messages.
func clip(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

package routing

import (
	"net/netip"
	"strings"

	"github.com/callboard/callboard/domain"
)

// RedirectTarget is one Contact in a 3xx response of a trunk.
type RedirectTarget struct {
	User string // without number parameters
	Host string
}

// SelectRedirect returns the index of the first Contact to which a call may be redirected. dialled is the number in
// the request. redirect_hosts of the trunk must list the host, and the number must be the same, because the
// do-not-call and destination rules checked no other number.
func SelectRedirect(t *domain.Trunk, dialled string, places []RedirectTarget) (index int, ok bool) {
	for i, p := range places {
		if isSameNumber(p.User, dialled) && isAllowedHost(t.RedirectHosts, p.Host) {
			return i, true
		}
	}
	return 0, false
}

// isSameNumber reports whether two numbers are equal except for a leading plus sign.
func isSameNumber(a, b string) bool {
	return a != "" && strings.TrimPrefix(a, "+") == strings.TrimPrefix(b, "+")
}

// isAllowedHost reports whether hosts lists a host by name, by address, or by a network that contains the address.
func isAllowedHost(hosts []string, host string) bool {
	host = strings.Trim(host, "[]")
	addr, err := netip.ParseAddr(host)
	for _, h := range hosts {
		h = strings.Trim(h, "[]")
		if err != nil {
			if strings.EqualFold(strings.TrimSuffix(h, "."), strings.TrimSuffix(host, ".")) {
				return true
			}
			continue
		}
		if p, bad := netip.ParsePrefix(h); bad == nil && p.Contains(addr.Unmap()) {
			return true
		}
		if a, bad := netip.ParseAddr(h); bad == nil && a.Unmap() == addr.Unmap() {
			return true
		}
	}
	return false
}

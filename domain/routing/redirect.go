package routing

import (
	"net/netip"
	"strings"

	"github.com/callboard/callboard/domain"
)

// RedirectTarget is a target in a 3xx response of a trunk.
type RedirectTarget struct {
	User string // without number parameters
	Host string
}

// SelectRedirect returns the index of the first target to which a call may be redirected. dialled is the number in
// the request. The host must be listed in redirect_hosts of the trunk, and the number must be the same, because no
// other number was checked.
func SelectRedirect(t *domain.Trunk, dialled string, places []RedirectTarget) (index int, ok bool) {
	for i, p := range places {
		if isSameNumber(p.User, dialled) && isAllowedHost(t.RedirectHosts, p.Host) {
			return i, true
		}
	}
	return 0, false
}

// isSameNumber compares numbers without a leading plus sign.
func isSameNumber(a, b string) bool {
	return a != "" && strings.TrimPrefix(a, "+") == strings.TrimPrefix(b, "+")
}

// isAllowedHost reports whether a host is listed by name or address, or lies in a listed network.
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

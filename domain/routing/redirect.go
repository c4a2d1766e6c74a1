package routing

import (
	"net/netip"
	"strings"

	"github.com/callboard/callboard/domain"
)

// RedirectTarget is where a trunk says by a 3xx that a call should go instead.
type RedirectTarget struct {
	User string // without the parameters of a number
	Host string
}

// SelectRedirect is the index of the first place to which a call to the number, which
// the trunk was asked for as dialled, may go on: one that the trunk's
// redirect_hosts name, for the same number. Another number was not allowed by
// anybody.
func SelectRedirect(t *domain.Trunk, dialled string, places []RedirectTarget) (index int, ok bool) {
	for i, p := range places {
		if isSameNumber(p.User, dialled) && isAllowedHost(t.RedirectHosts, p.Host) {
			return i, true
		}
	}
	return 0, false
}

// isSameNumber looks past the plus, which some leave out.
func isSameNumber(a, b string) bool {
	return a != "" && strings.TrimPrefix(a, "+") == strings.TrimPrefix(b, "+")
}

// isAllowedHost reports whether a host is one of those that are named, or an address of
// theirs; a name stands for itself alone.
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

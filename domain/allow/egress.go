package allow

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// ErrEgress says that the target may not be reached from here.
var ErrEgress = errors.New("this address may not be reached")

const httpsPort = 443

// Rule is one entry of the operator's list: a network, and a port or 0
// for any.
type Rule struct {
	Network netip.Prefix
	Port    uint16
}

// Egress says which addresses may be reached: public ones at port 443 and the
// extra Ports, and whatever the operator allows. Our own listeners and the
// store are always refused. The zero value allows the public ones only.
type Egress struct {
	Allow   []Rule
	Ports   []int            // besides 443
	AnyPort bool             // of public addresses: for SIP, not for HTTP
	Own     []netip.AddrPort // an unspecified address stands for loopback and Local
	Local   []netip.Addr     // addresses of this machine
}

// May is nil where the address may be reached; otherwise it wraps ErrEgress.
func (e Egress) May(to netip.AddrPort) error {
	addr := to.Addr().Unmap()
	switch {
	case !addr.IsValid() || addr.Zone() != "" || to.Port() == 0:
		return fmt.Errorf("%w: not an address and a port", ErrEgress)
	case addr.IsUnspecified() || addr.IsMulticast() || addr == broadcast:
		return fmt.Errorf("%w: not the address of one host", ErrEgress)
	case e.own(addr, to.Port()):
		return fmt.Errorf("%w: the service itself", ErrEgress)
	}
	for _, r := range e.Allow {
		if (r.Port == 0 || r.Port == to.Port()) && r.Network.Contains(addr) {
			return nil
		}
	}
	if !PublicAddress(addr) {
		return fmt.Errorf("%w: not a public address", ErrEgress)
	}
	if !e.AnyPort && !e.publicPort(to.Port()) {
		return fmt.Errorf("%w: port %d is not open", ErrEgress, to.Port())
	}
	return nil
}

// MayPort says whether any address at all could be reached at this port: the
// check that needs no name resolution.
func (e Egress) MayPort(port uint16) bool {
	return port != 0 && (e.AnyPort || e.publicPort(port) ||
		slices.ContainsFunc(e.Allow, func(r Rule) bool { return r.Port == 0 || r.Port == port }))
}

func (e Egress) publicPort(port uint16) bool {
	return port == httpsPort || slices.Contains(e.Ports, int(port))
}

func (e Egress) own(addr netip.Addr, port uint16) bool {
	for _, o := range e.Own {
		if o.Port() != port {
			continue
		}
		own := o.Addr().Unmap()
		if own == addr || own.IsUnspecified() && (addr.IsLoopback() || slices.Contains(e.Local, addr)) {
			return true
		}
	}
	return false
}

// ParseAllow reads the operator's list, separated by commas: "127.0.0.0/8",
// "10.0.0.5:8443", "10.0.0.0/24:8443", "fd00::/8", "[fd00::1]:8443".
func ParseAllow(text string) ([]Rule, error) {
	var rules []Rule
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		rule, ok := parseRule(entry)
		if !ok {
			return nil, fmt.Errorf("%q is not an address or network with an optional port (cidr[:port])", clip(entry))
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func parseRule(entry string) (Rule, bool) {
	network, port := entry, ""
	slash := strings.IndexByte(entry, '/')
	switch {
	case entry[0] == '[':
		end := strings.IndexByte(entry, ']')
		if end < 0 {
			return Rule{}, false
		}
		network, port = entry[1:end], entry[end+1:]
		if !strings.Contains(network, ":") {
			return Rule{}, false
		}
	case slash >= 0:
		if colon := strings.IndexByte(entry[slash:], ':'); colon >= 0 {
			network, port = entry[:slash+colon], entry[slash+colon:]
		}
	case strings.Count(entry, ":") == 1:
		colon := strings.IndexByte(entry, ':')
		network, port = entry[:colon], entry[colon:]
	}
	n, ok := parseNetwork(network)
	if !ok {
		return Rule{}, false
	}
	if port == "" {
		return Rule{Network: n}, true
	}
	digits, ok := strings.CutPrefix(port, ":")
	if !ok || digits == "" || digits[0] < '1' || digits[0] > '9' {
		return Rule{}, false
	}
	number, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return Rule{}, false
	}
	return Rule{Network: n, Port: uint16(number)}, true
}

// String spells the rule as ParseAllow reads it.
func (r Rule) String() string {
	switch {
	case r.Port == 0:
		return r.Network.String()
	case r.Network.Addr().Is4():
		return r.Network.String() + ":" + strconv.Itoa(int(r.Port))
	}
	return "[" + r.Network.String() + "]:" + strconv.Itoa(int(r.Port))
}

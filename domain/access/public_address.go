package access

import (
	"encoding/binary"
	"net/netip"
)

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// special4 lists the IPv4 networks without public hosts: the IANA special-purpose registry (RFC 6890 and updates),
// multicast, class E, and the internal service address of a cloud.
var special4 = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),        // this network
	netip.MustParsePrefix("10.0.0.0/8"),       // private
	netip.MustParsePrefix("100.64.0.0/10"),    // carrier-grade NAT
	netip.MustParsePrefix("127.0.0.0/8"),      // loopback
	netip.MustParsePrefix("168.63.129.16/32"), // internal service address of a cloud
	netip.MustParsePrefix("169.254.0.0/16"),   // link-local, metadata
	netip.MustParsePrefix("172.16.0.0/12"),    // private
	netip.MustParsePrefix("192.0.0.0/24"),     // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),     // documentation
	netip.MustParsePrefix("192.31.196.0/24"),  // AS112
	netip.MustParsePrefix("192.52.193.0/24"),  // AMT
	netip.MustParsePrefix("192.88.99.0/24"),   // 6to4 relays
	netip.MustParsePrefix("192.168.0.0/16"),   // private
	netip.MustParsePrefix("192.175.48.0/24"),  // AS112
	netip.MustParsePrefix("198.18.0.0/15"),    // benchmarking
	netip.MustParsePrefix("198.51.100.0/24"),  // documentation
	netip.MustParsePrefix("203.0.113.0/24"),   // documentation
	netip.MustParsePrefix("224.0.0.0/4"),      // multicast
	netip.MustParsePrefix("240.0.0.0/4"),      // reserved, broadcast
}

// global6 is the IPv6 range that contains public hosts. PublicAddress rejects all other IPv6 addresses, such as loopback,
// NAT64, unique local, link-local and multicast.
var global6 = netip.MustParsePrefix("2000::/3")

// special6 lists the networks within global6 without public hosts.
var special6 = []netip.Prefix{
	netip.MustParsePrefix("2001::/23"),         // protocol assignments: Teredo, ORCHID, benchmarking
	netip.MustParsePrefix("2001:db8::/32"),     // documentation
	netip.MustParsePrefix("2002::/16"),         // 6to4
	netip.MustParsePrefix("2620:4f:8000::/48"), // AS112
	netip.MustParsePrefix("3ffe::/16"),         // the former 6bone
	netip.MustParsePrefix("3fff::/20"),         // documentation
}

// isatap marks an interface ID that contains an IPv4 address in its last 32 bits (RFC 5214).
const isatap = 0x5efe

// PublicAddress reports whether an address belongs to a public host. It rejects all special-purpose ranges and all
// IPv6 addresses that embed an IPv4 address. IPv4-mapped addresses count as IPv4.
func PublicAddress(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if a.Is4() {
		return !containsAddress(special4, a)
	}
	if !global6.Contains(a) || containsAddress(special6, a) {
		return false
	}
	b := a.As16()
	id := binary.BigEndian.Uint32(b[8:12])
	return id != isatap && id != 0x02000000|isatap
}

func containsAddress(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

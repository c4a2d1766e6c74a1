package resolve

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/miekg/dns"
)

// readHosts returns the address records of a name from a file in the format of hosts(5).
func readHosts(path string, q dns.Question) []dns.RR {
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil
	}
	var records []dns.RR
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		ip, err := netip.ParseAddr(fields[0])
		if err != nil || ip.Unmap().Is4() != (q.Qtype == dns.TypeA) {
			continue
		}
		for _, name := range fields[1:] {
			if dns.CanonicalName(name) == q.Name {
				records = append(records, addressRecord(q, ip.Unmap()))
			}
		}
	}
	return records
}

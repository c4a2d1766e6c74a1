package configs

import (
	"log/slog"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Each parse function of this file gets the trimmed, non-empty value of a setting. It returns false if the value is
// invalid. Empty values are not parsed, because they stand for the default.

type (
	addrPort netip.AddrPort
	addr     netip.Addr
	prefixes []netip.Prefix
	seconds  time.Duration
	level    slog.Level
)

// setField returns a function that parses a value with parse and stores the result in a field of Config.
func setField[T any](field func(*Config) *T, parse func(string) (T, bool)) func(*Config, string) bool {
	return func(c *Config, s string) bool {
		v, ok := parse(s)
		if ok {
			*field(c) = v
		}
		return ok
	}
}

func parsePath(s string) (string, bool) { return s, !strings.ContainsRune(s, 0) }

func parseFile(s string) (string, bool) {
	info, err := os.Stat(s)
	return s, err == nil && info.Mode().IsRegular()
}

func parseHostPort(s string) (string, bool) {
	host, port, err := net.SplitHostPort(s)
	if _, ok := parsePort(port); err != nil || !ok || host == "" || strings.ContainsAny(host, " \r\n\t") {
		return "", false
	}
	return s, true
}

func parseMailAddress(s string) (string, bool) {
	at, err := mail.ParseAddress(s)
	return s, err == nil && at.Address == s
}

func parseUserName(s string) (string, bool) {
	return s, !strings.ContainsFunc(s, unicode.IsControl)
}

// parseFiles parses a comma-separated list of existing files. A single file may have a comma in its name.
func parseFiles(s string) (files []string, ok bool) {
	if one, is := parseFile(s); is {
		return []string{one}, true
	}
	files = splitList(s)
	for _, f := range files {
		if _, ok := parseFile(f); !ok {
			return nil, false
		}
	}
	return files, true
}

func parseBool(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "true", "1", "yes", "on":
		return true, true
	case "false", "0", "no", "off":
		return false, true
	}
	return false, false
}

func parseAddrPort(s string) (addrPort, bool) {
	if port, ok := strings.CutPrefix(s, "localhost:"); ok {
		s = "127.0.0.1:" + port
	}
	a, err := netip.ParseAddrPort(s)
	if err != nil || a.Addr().Zone() != "" || a.Addr().IsMulticast() {
		return addrPort{}, false
	}
	return addrPort(netip.AddrPortFrom(a.Addr().Unmap(), a.Port())), true
}

// parseSIPListeners parses a list of [NETWORK://]ADDRESS:PORT. It rejects two listeners on the same socket.
func parseSIPListeners(s string) ([]SIPListener, bool) {
	var out []SIPListener
	taken := make(map[string]bool)
	for _, item := range splitList(s) {
		network, address, named := strings.Cut(item, "://")
		if !named {
			network, address = "", item
		}
		a, ok := parseAddrPort(address)
		l := SIPListener{network, netip.AddrPort(a)}
		if !ok || named && !slices.Contains([]string{"udp", "tcp", "tls"}, network) {
			return nil, false
		}
		for _, n := range l.Networks() {
			socket := strings.Replace(n, "tls", "tcp", 1) + l.Addr.String()
			if taken[socket] && l.Addr.Port() != 0 {
				return nil, false
			}
			taken[socket] = true
		}
		out = append(out, l)
	}
	return out, len(out) > 0
}

func parseDSCP(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && n <= 63
}

func parseWebhookSends(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 8 && n <= 65536
}

func parseLoopback(s string) (addrPort, bool) {
	a, ok := parseAddrPort(s)
	return a, ok && netip.AddrPort(a).Addr().IsLoopback()
}

func parsePublicIP(s string) (addr, bool) {
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" || a.IsUnspecified() || a.IsMulticast() {
		return addr{}, false
	}
	return addr(a.Unmap()), true
}

func parsePortRange(s string) (PortRange, bool) {
	low, high, found := strings.Cut(s, "-")
	if !found {
		return PortRange{}, false
	}
	l, okLow := parsePort(strings.TrimSpace(low))
	h, okHigh := parsePort(strings.TrimSpace(high))
	if !okLow || !okHigh || l < 1024 || h <= l {
		return PortRange{}, false
	}
	return PortRange{Low: l, High: h}, true
}

func parsePort(s string) (uint16, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), err == nil && n > 0
}

func parsePorts(s string) ([]uint16, bool) {
	var ports []uint16
	for _, item := range splitList(s) {
		p, ok := parsePort(item)
		if !ok {
			return nil, false
		}
		if !slices.Contains(ports, p) {
			ports = append(ports, p)
		}
	}
	return ports, len(ports) > 0
}

func parseNetworks(s string) (prefixes, bool) {
	var out prefixes
	for _, item := range splitList(s) {
		p, ok := parsePrefix(item)
		if !ok || p.Bits() == 0 {
			return nil, false
		}
		out = append(out, p)
	}
	return out, len(out) > 0
}

// parsePrefix parses a network or a single address. IPv4-mapped IPv6 addresses become IPv4.
func parsePrefix(s string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(s); err == nil {
		if p.Addr().Is4In6() {
			return netip.Prefix{}, false // the prefix length of an IPv4-mapped network counts IPv6 bits
		}
		return p.Masked(), true
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, false
	}
	a = a.Unmap()
	return netip.PrefixFrom(a, a.BitLen()), true
}

func parseAllowedNetworks(s string) ([]AllowedNetwork, bool) {
	var out []AllowedNetwork
	for _, item := range splitList(s) {
		a, ok := parseAllowedNetwork(item)
		if !ok {
			return nil, false
		}
		out = append(out, a)
	}
	return out, len(out) > 0
}

// parseAllowedNetwork parses cidr[:port]. An IPv6 address before a port needs brackets, as in [fd00::]/8:443 and
// [fd00::1]:443. After a slash a colon can only begin a port.
func parseAllowedNetwork(s string) (AllowedNetwork, bool) {
	network, port := s, ""
	slash := strings.LastIndexByte(s, '/')
	colon := strings.LastIndexByte(s, ':')
	hasPort := colon > slash && (slash >= 0 || strings.Count(s, ":") == 1 || strings.HasSuffix(s[:colon], "]"))
	if colon >= 0 && hasPort {
		network, port = s[:colon], s[colon+1:]
	}
	if rest, ok := strings.CutPrefix(network, "["); ok {
		inside, after, closed := strings.Cut(rest, "]")
		if !closed || !strings.Contains(inside, ":") {
			return AllowedNetwork{}, false
		}
		network = inside + after
	}
	p, ok := parsePrefix(network)
	if !ok || !hasPort {
		return AllowedNetwork{Prefix: p}, ok
	}
	n, ok := parsePort(port)
	return AllowedNetwork{Prefix: p, Port: n}, ok
}

func parsePublicURL(s string) (string, bool) {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" ||
		u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(s, "#") {
		return "", false
	}
	return strings.TrimRight(u.String(), "/"), true
}

func parseFraction(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && f >= 0 && f <= 1
}

func parseRedisURL(s string) (Secret, bool) {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "redis" && u.Scheme != "rediss") || u.Hostname() == "" || u.Fragment != "" {
		return Secret{}, false
	}
	if db := strings.Trim(u.Path, "/"); db != "" {
		if n, err := strconv.Atoi(db); err != nil || n < 0 {
			return Secret{}, false
		}
	}
	return Secret{value: s}, true
}

func parseSeconds(s string) (seconds, bool) {
	n, err := strconv.Atoi(s)
	return seconds(time.Duration(n) * time.Second), err == nil && n >= 0 && n <= 3600
}

func parseLevel(s string) (level, bool) {
	switch strings.ToLower(s) {
	case "debug":
		return level(slog.LevelDebug), true
	case "info":
		return level(slog.LevelInfo), true
	case "warn", "warning":
		return level(slog.LevelWarn), true
	case "error":
		return level(slog.LevelError), true
	}
	return 0, false
}

func parseChoice(words ...string) func(string) (string, bool) {
	return func(s string) (string, bool) { return s, slices.Contains(words, s) }
}

func parseLimits(s string) (Limits, bool) {
	var l Limits
	fields := map[string]*int{
		"requests_per_minute": &l.RequestsPerMinute,
		"concurrent_inbound":  &l.ConcurrentInbound,
		"concurrent_outbound": &l.ConcurrentOutbound,
		"calls_per_minute":    &l.CallsPerMinute,
	}
	items := splitList(s)
	for _, item := range items {
		name, value, _ := strings.Cut(item, "=")
		field := fields[strings.TrimSpace(name)]
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if field == nil || *field != 0 || err != nil || n < 1 || n > 10_000_000 {
			return Limits{}, false
		}
		*field = n
	}
	return l, len(items) > 0
}

// splitList splits at commas and trims spaces. It keeps empty items, which the parser of the item then rejects.
func splitList(s string) []string {
	items := strings.Split(s, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}

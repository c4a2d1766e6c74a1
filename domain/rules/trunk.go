package rules

import (
	"net/netip"
	"regexp"
	"strings"

	"github.com/callboard/callboard/domain"
)

// Limits of a trunk.
const (
	maxProxies        = 20
	maxPrefixes       = 1000
	maxCallerIDs      = 10_000
	maxNetworks       = 100
	maxCallsPerSecond = 1000
	maxChannels       = 100_000
	maxCredential     = 256
)

var (
	hostname = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.?$`)
	prefix   = regexp.MustCompile(`^\+?\d{1,15}$`)
)

// TrunkDefaults fills in what was left out.
func TrunkDefaults(t *domain.Trunk) {
	for i := range t.Proxies {
		x := &t.Proxies[i]
		if x.Port == 0 {
			x.Port = 5060
		}
		if x.Transport == "" {
			x.Transport = "udp"
		}
		if x.Weight == 0 {
			x.Weight = 1
		}
	}
	if t.NumberFormat == "" {
		t.NumberFormat = "e164"
	}
	if len(t.Codecs) == 0 {
		t.Codecs = []string{"PCMU", "PCMA"}
	}
	if t.CallsPerSecond == 0 {
		t.CallsPerSecond = DefaultCallsPerSecond
	}
	t.Proxies = orEmpty(t.Proxies)
	t.Inbound.AllowedIPs = orEmpty(t.Inbound.AllowedIPs)
	t.MediaNetworks, t.Prefixes, t.CallerIDs = orEmpty(t.MediaNetworks), orEmpty(t.Prefixes), orEmpty(t.CallerIDs)
}

// DefaultCallsPerSecond is the pace of a trunk that names none.
const DefaultCallsPerSecond = 50

// Trunk finds everything that is wrong with a trunk whose defaults are filled
// in.
func Trunk(t *domain.Trunk) domain.Problems {
	var p domain.Problems
	Text(&p, "name", t.Name, true, MaxName)
	Metadata(&p, t.Metadata)
	if len(t.Proxies) == 0 {
		p.Add("proxies", domain.CodeValidation, "at least one proxy is required")
	}
	for i, x := range atMost(&p, "proxies", t.Proxies, maxProxies) {
		proxy(&p, at("proxies", i), x)
	}
	if a := t.Auth; a != nil {
		Text(&p, "auth.username", a.Username, true, maxCredential)
		Text(&p, "auth.password", a.Password, true, maxCredential)
		Text(&p, "auth.realm", a.Realm, false, maxCredential)
	}
	if t.FromDomain != "" && !validHost(t.FromDomain) {
		p.Add("from_domain", domain.CodeValidation, "%q is no host name", clip(t.FromDomain))
	}
	oneOf(&p, "number_format", t.NumberFormat, "e164", "digits")
	networks(&p, "inbound.allowed_ips", atMost(&p, "inbound.allowed_ips", t.Inbound.AllowedIPs, maxNetworks))
	networks(&p, "media_networks", atMost(&p, "media_networks", t.MediaNetworks, maxNetworks))
	for i, c := range atMost(&p, "codecs", t.Codecs, 2) {
		oneOf(&p, at("codecs", i), c, "PCMU", "PCMA")
	}
	if !(t.CallsPerSecond > 0 && t.CallsPerSecond <= maxCallsPerSecond) {
		p.Add("calls_per_second", domain.CodeValidation, "must be above 0 and at most %d", maxCallsPerSecond)
	}
	between(&p, "max_channels", t.MaxChannels, 0, maxChannels)
	for i, x := range atMost(&p, "prefixes", t.Prefixes, maxPrefixes) {
		if !prefix.MatchString(x) {
			p.Add(at("prefixes", i), domain.CodeValidation, "%q is no beginning of a number (e.g. +1202)", clip(x))
		}
	}
	for i, x := range atMost(&p, "caller_ids", t.CallerIDs, maxCallerIDs) {
		t.CallerIDs[i] = Phone(&p, at("caller_ids", i), x, "")
	}
	return p
}

func proxy(p *domain.Problems, param string, x domain.Proxy) {
	if !validHost(x.Host) {
		p.Add(param+".host", domain.CodeValidation, "%q is no host name and no address", clip(x.Host))
	}
	between(p, param+".port", x.Port, 1, 65535)
	oneOf(p, param+".transport", x.Transport, "udp", "tcp")
	between(p, param+".priority", x.Priority, 0, 65535)
	between(p, param+".weight", x.Weight, 0, 65535)
}

func validHost(h string) bool {
	if a, err := netip.ParseAddr(strings.Trim(h, "[]")); err == nil {
		return a.Zone() == ""
	}
	return len(h) <= 253 && hostname.MatchString(h)
}

// Number finds everything that is wrong with a phone number, and writes it as
// E.164. "*" catches the rest of its trunk, so it must name one.
func Number(n *domain.PhoneNumber, defaultCountry string) domain.Problems {
	var p domain.Problems
	Metadata(&p, n.Metadata)
	switch n.Number {
	case "":
		p.Add("number", domain.CodeValidation, "is required")
	case "*":
		if n.TrunkID == "" {
			p.Add("trunk_id", domain.CodeValidation, "is required for *")
		}
	default:
		n.Number = Phone(&p, "number", n.Number, defaultCountry)
	}
	if n.AgentID == "" {
		p.Add("agent_id", domain.CodeValidation, "is required")
	}
	n.AgentID = ID(&p, "agent_id", domain.PrefixAgent, n.AgentID)
	n.TrunkID = ID(&p, "trunk_id", domain.PrefixTrunk, n.TrunkID)
	return p
}

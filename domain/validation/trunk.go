package validation

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
)

// Limits of the fields of a trunk.
const (
	MaxProxies        = 20
	MaxPrefixes       = 1000
	MaxCallerIDs      = 10_000
	MaxNetworks       = 100
	MaxCallsPerSecond = 1000
	MaxChannels       = 100_000
	MaxCredential     = 256
	MaxCodecs         = 4
	MaxMatchName      = 64
	MaxMatchValue     = 128
)

var (
	hostname = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.?$`)
	dialled  = regexp.MustCompile(`^\+?[0-9*#]{0,20}$`)
	token    = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	prefix   = regexp.MustCompile(`^\+?\d{1,15}$`)
)

// TrunkDefaults sets the omitted fields of a trunk to their defaults.
func TrunkDefaults(t *domain.Trunk) {
	for i := range t.Proxies {
		setProxyDefaults(&t.Proxies[i])
	}
	if t.OutboundProxy != nil {
		setProxyDefaults(t.OutboundProxy)
	}
	for _, f := range []struct {
		into *string
		word string
	}{{&t.NumberFormat, domain.FormatE164}, {&t.DTMF, "auto"}, {&t.SRTP, "off"}, {&t.SMS, domain.SMSOff}, {&t.NAT, domain.NATAuto}} {
		if *f.into == "" {
			*f.into = f.word
		}
	}
	if len(t.Codecs) == 0 {
		t.Codecs = []string{"PCMU", "PCMA"}
	}
	if t.CallsPerSecond == 0 {
		t.CallsPerSecond = DefaultCallsPerSecond
	}
	if t.Alarms.ShortCallSeconds == 0 {
		t.Alarms.ShortCallSeconds = 6
	}
	if t.Alarms.MinCalls == 0 {
		t.Alarms.MinCalls = 20
	}
	t.Proxies, t.Costs = orEmpty(t.Proxies), orEmpty(t.Costs)
	t.Inbound.AllowedIPs, t.CallerIDHeaders = orEmpty(t.Inbound.AllowedIPs), orEmpty(t.CallerIDHeaders)
	t.MediaNetworks, t.RedirectHosts = orEmpty(t.MediaNetworks), orEmpty(t.RedirectHosts)
	t.Prefixes, t.CallerIDs = orEmpty(t.Prefixes), orEmpty(t.CallerIDs)
}

// setProxyDefaults sets the omitted port and transport of a proxy. For a host name without a port both stay empty,
// because DNS provides them.
func setProxyDefaults(x *domain.Proxy) {
	_, err := netip.ParseAddr(strings.Trim(x.Host, "[]"))
	address := err == nil
	if x.Transport == "" && (address || x.Port != 0) {
		x.Transport = "udp"
	}
	if x.Port == 0 && address {
		if x.Port = 5060; x.Transport == "tls" {
			x.Port = 5061
		}
	}
	if x.Weight == 0 {
		x.Weight = 1
	}
}

// DefaultCallsPerSecond is the default maximum rate of calls over a trunk.
const DefaultCallsPerSecond = 50

// Trunk returns all problems with a trunk whose defaults are set.
func Trunk(t *domain.Trunk) domain.Problems {
	var p domain.Problems
	Text(&p, "name", t.Name, true, MaxName)
	Metadata(&p, t.Metadata)
	if len(t.Proxies) == 0 {
		p.Add("proxies", domain.CodeValidation, "at least one proxy is required")
	}
	for i, x := range atMost(&p, "proxies", t.Proxies, MaxProxies) {
		checkProxy(&p, indexedParam("proxies", i), x)
	}
	if t.OutboundProxy != nil {
		checkProxy(&p, "outbound_proxy", *t.OutboundProxy)
	}
	checkCredentials(&p, "auth", t.Auth)
	if t.Register && t.Auth == nil {
		p.Add("register", domain.CodeValidation, "takes the credentials of auth")
	}
	if t.FromDomain != "" && !isValidHost(t.FromDomain) {
		p.Add("from_domain", domain.CodeValidation, "%q is not a host name", shorten(t.FromDomain))
	}
	checkNumberFormat(&p, t)
	checkInbound(&p, &t.Inbound)
	checkNetworks(&p, "media_networks", atMost(&p, "media_networks", t.MediaNetworks, MaxNetworks))
	for i, x := range atMost(&p, "redirect_hosts", t.RedirectHosts, MaxNetworks) {
		if _, err := netip.ParsePrefix(x); err != nil && !isValidHost(x) {
			p.Add(indexedParam("redirect_hosts", i), domain.CodeValidation, "%q is not a host name, address or network", shorten(x))
		}
	}
	checkMedia(&p, t)
	checkRate(&p, "calls_per_second", t.CallsPerSecond, false)
	checkBetween(&p, "max_channels", t.MaxChannels, 0, MaxChannels)
	checkTrunkChoice(&p, t)
	for i, x := range atMost(&p, "caller_ids", t.CallerIDs, MaxCallerIDs) {
		t.CallerIDs[i] = Phone(&p, indexedParam("caller_ids", i), x, "")
	}
	for i, x := range atMost(&p, "caller_id_headers", t.CallerIDHeaders, CallerIDHeaderKinds) {
		checkOneOf(&p, indexedParam("caller_id_headers", i), x, domain.HeaderAsserted, domain.HeaderRemote, domain.HeaderDiversion)
	}
	checkOneOf(&p, "sms", t.SMS, domain.SMSOff, domain.SMSPlain, domain.SMSIMDN)
	checkAlarms(&p, &t.Alarms)
	return p
}

func checkCredentials(p *domain.Problems, param string, a *domain.TrunkAuth) {
	if a == nil {
		return
	}
	Text(p, param+".username", a.Username, true, MaxCredential)
	Text(p, param+".password", a.Password, true, MaxCredential)
	Text(p, param+".realm", a.Realm, false, MaxCredential)
}

// checkNumberFormat validates the settings by which numbers are formatted for the trunk.
func checkNumberFormat(p *domain.Problems, t *domain.Trunk) {
	checkOneOf(p, "number_format", t.NumberFormat, domain.FormatE164, domain.FormatDigits, domain.FormatNational)
	switch {
	case t.NumberCountry != "":
		Country(p, "number_country", t.NumberCountry)
	case t.NumberFormat == domain.FormatNational:
		p.Add("number_country", domain.CodeValidation, "is required for national")
	}
	for _, f := range []struct{ param, text string }{{"number_strip", t.NumberStrip}, {"number_add", t.NumberAdd}} {
		if !dialled.MatchString(f.text) {
			p.Add(f.param, domain.CodeValidation, "may hold +, digits, * and #, 20 at most")
		}
	}
}

// checkInbound validates the allowed sources of inbound calls. A trunk that accepts calls from very large networks must
// require authentication.
func checkInbound(p *domain.Problems, in *domain.TrunkInbound) {
	checkNetworks(p, "inbound.allowed_ips", atMost(p, "inbound.allowed_ips", in.AllowedIPs, MaxNetworks))
	for i, n := range in.AllowedIPs {
		if net, err := netip.ParsePrefix(n); err == nil && in.Auth == nil && net.Bits() < map[bool]int{true: 8, false: 32}[net.Addr().Is4()] {
			p.Add(indexedParam("inbound.allowed_ips", i), domain.CodeValidation, "%q is too wide without inbound.auth: anyone could call", shorten(n))
		}
	}
	checkCredentials(p, "inbound.auth", in.Auth)
	checkMatch(p, in.Match)
	checkRate(p, "inbound.calls_per_second", in.CallsPerSecond, true)
}

// checkMatch validates the header match that distinguishes the calls of several trunks at one address.
func checkMatch(p *domain.Problems, m *domain.TrunkMatch) {
	const header, parameter, value = "inbound.match.header", "inbound.match.parameter", "inbound.match.value"
	if m == nil {
		return
	}
	switch {
	case len(m.Header) > MaxMatchName || !token.MatchString(m.Header) || !domain.IsMatchHeader(m.Header):
		p.Add(header, domain.CodeValidation, "%q cannot be compared: use Request-URI, From, To, Contact, P-Charge-Info or a name that begins with X-, %d characters at most",
			shorten(m.Header), MaxMatchName)
	case m.Parameter == "" && domain.MatchesByParameter(m.Header):
		p.Add(parameter, domain.CodeValidation, "is required for %s, whose whole value differs from call to call: name a parameter such as tgrp", m.Header)
	}
	if m.Parameter != "" && (len(m.Parameter) > MaxMatchName || !token.MatchString(m.Parameter)) {
		p.Add(parameter, domain.CodeValidation, "%q is not a parameter name: use letters, digits, - and _, %d at most", shorten(m.Parameter), MaxMatchName)
	}
	if strings.EqualFold(m.Parameter, "tag") {
		p.Add(parameter, domain.CodeValidation, "\"tag\" is different in each call: name a parameter that the carrier sets, such as tgrp")
	}
	Text(p, value, m.Value, true, MaxMatchValue)
	if m.Value != strings.TrimSpace(m.Value) {
		p.Add(value, domain.CodeValidation, "%q has spaces at an end, which are never sent: remove them", shorten(m.Value))
	}
}

func checkRate(p *domain.Problems, param string, r float64, zero bool) {
	if zero && r == 0 {
		return
	}
	if !(r > 0 && r <= MaxCallsPerSecond) {
		p.Add(param, domain.CodeValidation, "must be above 0 and at most %d", MaxCallsPerSecond)
	}
}

func checkMedia(p *domain.Problems, t *domain.Trunk) {
	checkMediaSettings(p, t)
	if t.SRTP == "required" && !t.KeysInClear && slices.ContainsFunc(t.Proxies, func(x domain.Proxy) bool { return x.Transport != "tls" }) {
		p.Add("srtp", domain.CodeValidation, "needs transport tls at every proxy, or srtp_keys_in_clear")
	}
}

// checkMediaSettings validates the media settings, which trunks and phones share.
func checkMediaSettings(p *domain.Problems, t *domain.Trunk) {
	for i, c := range atMost(p, "codecs", t.Codecs, MaxCodecs) {
		checkOneOf(p, indexedParam("codecs", i), c, "PCMU", "PCMA", "G722", "opus")
		if slices.Contains(t.Codecs[:i], c) {
			p.Add(indexedParam("codecs", i), domain.CodeValidation, "is listed twice")
		}
	}
	checkOneOf(p, "dtmf", t.DTMF, "auto", "rfc4733", "info", "inband")
	checkOneOf(p, "srtp", t.SRTP, "off", "optional", "required")
	checkOneOf(p, "nat", t.NAT, domain.NATAuto, domain.NATOn, domain.NATOff)
}

// checkTrunkChoice validates the fields by which routing chooses between trunks: prefixes, priority and costs.
func checkTrunkChoice(p *domain.Problems, t *domain.Trunk) {
	for i, x := range atMost(p, "prefixes", t.Prefixes, MaxPrefixes) {
		if !prefix.MatchString(x) {
			p.Add(indexedParam("prefixes", i), domain.CodeValidation, "%q is not the beginning of a number (e.g. +1202)", shorten(x))
		}
	}
	checkBetween(p, "priority", t.Priority, 0, 65535)
	for i, x := range atMost(p, "costs", t.Costs, MaxPrefixes) {
		if x.Prefix != "+" && !prefix.MatchString(x.Prefix) {
			p.Add(indexedParam("costs", i)+".prefix", domain.CodeValidation, "%q is not the beginning of a number (e.g. +1202)", shorten(x.Prefix))
		}
		if cost, err := domain.ParseAmount(x.Cost); err != nil || cost > domain.MaxPrice {
			p.Add(indexedParam("costs", i)+".cost", domain.CodeValidation, "%q must be dollars a minute from 0 to %s, with six decimals at most (e.g. 0.0045)",
				shorten(x.Cost), domain.Dollars(domain.MaxPrice).Amount)
		}
	}
}

func checkAlarms(p *domain.Problems, a *domain.TrunkAlarms) {
	for _, f := range []struct {
		param string
		value float64
		most  float64
	}{{"min_asr", a.MinASR, 1}, {"max_short_call_share", a.MaxShortCallShare, 1}, {"min_acd_seconds", a.MinACDSeconds, MaxACDSeconds}} {
		if !(f.value >= 0 && f.value <= f.most) {
			p.Add("alarms."+f.param, domain.CodeValidation, "must be between 0 and %g", f.most)
		}
	}
	checkBetween(p, "alarms.short_call_seconds", a.ShortCallSeconds, 1, MaxShortSeconds)
	checkBetween(p, "alarms.min_calls", a.MinCalls, 1, MaxTrunkCalls)
}

func checkProxy(p *domain.Problems, param string, x domain.Proxy) {
	if !isValidHost(x.Host) {
		p.Add(param+".host", domain.CodeValidation, "%q is neither a host name nor an address", shorten(x.Host))
	}
	checkBetween(p, param+".port", x.Port, 0, 65535)
	if x.Transport != "" {
		checkOneOf(p, param+".transport", x.Transport, "udp", "tcp", "tls")
	}
	checkBetween(p, param+".priority", x.Priority, 0, 65535)
	checkBetween(p, param+".weight", x.Weight, 0, 65535)
}

func isValidHost(h string) bool {
	if a, err := netip.ParseAddr(strings.Trim(h, "[]")); err == nil {
		return a.Zone() == ""
	}
	return len(h) <= 253 && hostname.MatchString(h)
}

// Number returns all problems with a phone number and converts the number to E.164. The number "*" stands for all other
// numbers of a trunk and therefore requires a trunk.
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
		if n.SMSEnabled {
			p.Add("sms_enabled", domain.CodeValidation, "is for a number: no message comes from *")
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

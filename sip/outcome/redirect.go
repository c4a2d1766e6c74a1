package outcome

import (
	"cmp"
	"slices"
	"strings"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/resolve"
)

// RedirectTarget is a target that the Contact of a 3xx response names.
type RedirectTarget struct {
	URI       string // in the form of a Request-URI
	User      string // without the parameters of a number
	Host      string
	Port      int    // 0: not named
	Transport string // udp, tcp or tls; "": not named
}

// Limits on the Contacts and Identity headers that are read from a 3xx response.
const (
	maxRedirectTargets = 5
	maxIdentities      = 4
	MaxIdentitySize    = 4096 // bytes of one Identity header
)

// redirectTargets returns the targets of a 3xx in descending order of preference (RFC 3261 §8.1.3.4). Contacts that
// cannot be a Request-URI are skipped.
func redirectTargets(m *message.Message) []RedirectTarget {
	type ranked struct {
		target RedirectTarget
		q      float64
	}
	var found []ranked
	for _, v := range message.SplitList(strings.Join(m.HeaderValues("contact"), ",")) {
		a, code := registrar.ParseContact(v, 0, false)
		var u sipmsg.Uri
		if len(found) == maxRedirectTargets {
			break
		}
		if code == 400 || sipmsg.ParseUri(a.URI, &u) != nil || u.User == "" {
			continue
		}
		p := RedirectTarget{URI: a.URI, User: message.TextBefore(u.User, ";"), Host: u.Host, Port: u.Port}
		p.Transport, _ = u.UriParams.Get("transport")
		if p.Transport = strings.ToLower(p.Transport); u.IsEncrypted() {
			p.Transport = resolve.TLS
		}
		if p.Transport == "" || p.Transport == resolve.UDP || p.Transport == resolve.TCP || p.Transport == resolve.TLS {
			found = append(found, ranked{p, a.Q})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return cmp.Compare(b.q, a.q) })
	out := make([]RedirectTarget, 0, len(found))
	for _, p := range found {
		out = append(out, p.target)
	}
	return out
}

// identities returns the Identity headers (RFC 8224) that a redirecting server has added to its 3xx response.
func identities(m *message.Message) []string {
	var out []string
	for _, v := range m.HeaderValues("Identity") {
		if len(out) < maxIdentities && len(v) <= MaxIdentitySize && message.IsSingleLine(v) {
			out = append(out, v)
		}
	}
	return out
}

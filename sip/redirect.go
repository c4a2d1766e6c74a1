package sip

import (
	"cmp"
	"slices"
	"strings"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/resolve"
)

// Moved is a place that a 3xx names to call instead.
type Moved struct {
	URI       string // as a request line takes it
	User      string // without the parameters of a number
	Host      string
	Port      int    // 0: not named
	Transport string // udp, tcp or tls; "": not named
}

// What of a redirection is looked at.
const (
	mostMoved    = 5
	mostIdentity = 4
	identityMost = 4 * maxValue
)

// movedOf are the places of a 3xx, the one wanted most first (RFC 3261
// 8.1.3.4). What cannot stand in a request line is left out.
func movedOf(m *received) []Moved {
	type place struct {
		moved Moved
		q     float64
	}
	var places []place
	for _, v := range message.SplitList(strings.Join(m.HeaderValues("contact"), ",")) {
		a, code := registrar.ParseContact(v, 0, false)
		var u sipmsg.Uri
		if len(places) == mostMoved {
			break
		}
		if code == 400 || sipmsg.ParseUri(a.URI, &u) != nil || u.User == "" {
			continue
		}
		p := Moved{URI: a.URI, User: textBefore(u.User, ";"), Host: u.Host, Port: u.Port}
		p.Transport, _ = u.UriParams.Get("transport")
		if p.Transport = strings.ToLower(p.Transport); u.IsEncrypted() {
			p.Transport = resolve.TLS
		}
		if p.Transport == "" || p.Transport == resolve.UDP || p.Transport == resolve.TCP || p.Transport == resolve.TLS {
			places = append(places, place{p, a.Q})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(b.q, a.q) })
	out := make([]Moved, 0, len(places))
	for _, p := range places {
		out = append(out, p.moved)
	}
	return out
}

// identities are what a redirecting server has signed (RFC 8224).
func identities(m *received) []string {
	var out []string
	for _, v := range m.HeaderValues("Identity") {
		if len(out) < mostIdentity && len(v) <= identityMost && message.IsSingleLine(v) {
			out = append(out, v)
		}
	}
	return out
}

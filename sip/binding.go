package sip

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
)

// Limits of what one phone may register.
const (
	MaxBindings     = 10 // contacts of one account; another one takes the place of the oldest
	leastExpires    = 60 * time.Second
	mostExpires     = time.Hour
	maxContactURI   = 256
	maxAskedAtOnce  = 8
	maxUserAgent    = 128
	priorityOnlyOne = 1.0
)

// Binding is one contact of an account: where one of its phones is.
type Binding struct {
	URI       string         `json:"uri"`              // as the phone wrote it; the Request-URI of calls to it
	Source    netip.AddrPort `json:"source"`           // where its REGISTER came from, and where calls go (RFC 3581)
	Network   string         `json:"network"`          // udp, tcp or tls; a stream is used again while it lives
	Local     netip.AddrPort `json:"local,omitzero"`   // our UDP socket that it came to, or that of the node it came through
	Through   netip.AddrPort `json:"through,omitzero"` // the node that passed it on, by which calls reach the phone (RFC 3327)
	Q         float64        `json:"q"`
	CallID    string         `json:"call_id"`
	CSeq      uint32         `json:"cseq"`
	UserAgent string         `json:"user_agent,omitempty"`
	Expires   time.Time      `json:"expires"`
	Since     time.Time      `json:"since"` // the first REGISTER of this contact
}

// Contact is where a call to the binding goes.
func (b *Binding) Contact() Contact {
	return Contact{
		URI: b.URI, Q: b.Q,
		Target: resolve.Target{Host: b.Source.Addr().String(), Port: int(b.Source.Port()), Transport: b.Network, Local: b.Local, Through: b.Through},
	}
}

// Contact is one place at which somebody can be called.
type Contact struct {
	URI    string // the Request-URI
	Q      float64
	Target resolve.Target // where its messages go, whatever the URI says
}

// Change is what one REGISTER asks (RFC 3261 10.2).
type Change struct {
	All       bool // "*": every contact goes
	Contacts  []Asked
	CallID    string
	CSeq      uint32
	Source    netip.AddrPort
	Network   string
	Local     netip.AddrPort
	Through   netip.AddrPort
	UserAgent string
}

// Asked is one contact of a REGISTER.
type Asked struct {
	URI string
	Q   float64
	For time.Duration // 0: it goes
}

// Apply makes the bindings that follow from a REGISTER (RFC 3261 10.3), or
// tells with which code it has to be refused; then nothing changes.
func (c *Change) Apply(have []Binding, now time.Time) (after []Binding, code int) {
	after = Current(have, now)
	if c.All {
		for i := range after {
			if c.behind(&after[i]) {
				return after, 500
			}
		}
		return nil, 0
	}
	kept := slices.Clone(after)
	for _, a := range c.Contacts {
		i := slices.IndexFunc(kept, func(b Binding) bool { return uriKey(b.URI) == uriKey(a.URI) })
		if i >= 0 && c.behind(&kept[i]) {
			return after, 500
		}
		fresh := Binding{
			URI: a.URI, Source: c.Source, Network: c.Network, Local: c.Local, Through: c.Through, Q: a.Q, CallID: c.CallID, CSeq: c.CSeq,
			UserAgent: c.UserAgent, Expires: now.Add(a.For), Since: now,
		}
		switch {
		case i >= 0 && a.For == 0:
			kept = slices.Delete(kept, i, i+1)
		case i >= 0:
			fresh.Since = kept[i].Since
			kept[i] = fresh
		case a.For > 0:
			kept = append(kept, fresh)
		}
	}
	if len(kept) > MaxBindings {
		slices.SortStableFunc(kept, func(a, b Binding) int { return cmp.Compare(b.Expires.UnixNano(), a.Expires.UnixNano()) })
		kept = kept[:MaxBindings]
	}
	slices.SortStableFunc(kept, func(a, b Binding) int { return cmp.Compare(b.Q, a.Q) })
	return kept, 0
}

// behind tells that the phone sent this REGISTER before the one that made the
// binding: they have overtaken each other.
func (c *Change) behind(b *Binding) bool { return b.CallID == c.CallID && c.CSeq <= b.CSeq }

// Current are the bindings whose time is not over; a copy.
func Current(have []Binding, now time.Time) []Binding {
	out := make([]Binding, 0, len(have))
	for _, b := range have {
		if b.Expires.After(now) {
			out = append(out, b)
		}
	}
	return out
}

// uriKey is the same for equal URIs (RFC 3261 19.1.4), as far as phones differ.
func uriKey(s string) string {
	var u sipmsg.Uri
	if err := sipmsg.ParseUri(s, &u); err != nil {
		return s
	}
	params := make([]string, 0, len(u.UriParams))
	for _, p := range u.UriParams {
		params = append(params, strings.ToLower(p.K+"="+p.V))
	}
	slices.Sort(params)
	return strings.ToLower(u.Scheme) + ":" + u.User + "@" + strings.ToLower(u.Host) + ":" + strconv.Itoa(u.Port) + ";" + strings.Join(params, ";")
}

// readChange reads the contacts of a REGISTER. A code other than 0 refuses it:
// 400 for what makes no sense, 423 for too short a time.
func readChange(m *received) (c Change, code int) {
	c = Change{
		CallID: m.CallID, CSeq: m.CSeq, Source: m.source().Addr, Network: m.source().Network, Through: m.through(),
		UserAgent: strings.Map(message.KeepPrintable, m.HeaderValue("User-Agent")),
	}
	switch {
	case m.passed != nil:
		c.Local = m.passed.local
	case m.flow.udp != nil:
		c.Local = m.flow.udp.local
	}
	c.UserAgent = c.UserAgent[:min(len(c.UserAgent), maxUserAgent)]
	values := message.SplitList(strings.Join(m.HeaderValues("contact"), ","))
	said, given, ok := deltaSeconds(m.HeaderValue("Expires"))
	if !ok || len(values) > maxAskedAtOnce {
		return c, 400
	}
	if len(values) == 1 && values[0] == "*" {
		c.All = true
		if !given || said != 0 {
			return c, 400
		}
		return c, 0
	}
	for _, v := range values {
		a, code := readContact(v, said, given)
		if code != 0 {
			return c, code
		}
		c.Contacts = append(c.Contacts, a)
	}
	return c, 0
}

func readContact(v string, said time.Duration, given bool) (a Asked, code int) {
	a = Asked{URI: message.ReadURI(v), Q: priorityOnlyOne, For: mostExpires}
	if !isContactURI(a.URI) {
		return a, 400
	}
	if given {
		a.For = said
	}
	if text, found := message.ContactParam(v, "expires"); found {
		own, _, ok := deltaSeconds(text)
		if !ok {
			return a, 400
		}
		a.For = own
	}
	if text, found := message.ContactParam(v, "q"); found {
		q, err := strconv.ParseFloat(text, 64)
		if err != nil || !(q >= 0 && q <= 1) || len(text) > 5 {
			return a, 400
		}
		a.Q = q
	}
	if a.For > 0 && a.For < leastExpires {
		return a, 423
	}
	a.For = min(a.For, mostExpires)
	return a, 0
}

// isContactURI tells whether a URI can stand in a request line of ours.
func isContactURI(s string) bool {
	var u sipmsg.Uri
	return message.IsSIPURI(s) && len(s) <= maxContactURI && message.IsSingleLine(s) && !strings.ContainsAny(s, "<>\" \t") &&
		sipmsg.ParseUri(s, &u) == nil && u.Host != "" && len(u.Headers) == 0
}

// deltaSeconds reads delta-seconds (RFC 3261 25.1); given is false for "".
func deltaSeconds(text string) (d time.Duration, given, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, false, true
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, true, false
	}
	return time.Duration(n) * time.Second, true, true
}

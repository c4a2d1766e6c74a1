// Package registrar is the registrar of phones (RFC 3261 §10.3). Server handles REGISTERs and authenticates phones.
//
// Change.Apply is a pure function: it computes the new bindings of an account from its bindings and the time.
package registrar

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
	MaxBindings  = 10 // contacts of one account; above this number the contacts that expire first are removed
	MinExpires   = 60 * time.Second
	maxExpires   = time.Hour
	maxContacts  = 8
	maxUserAgent = 128
	defaultQ     = 1.0
)

// Binding is one contact of an account: the location of a phone.
type Binding struct {
	URI       string         `json:"uri"`              // as the phone wrote it; the Request-URI of calls to the phone
	Source    netip.AddrPort `json:"source"`           // source of the REGISTER, and the target of calls (RFC 3581)
	Network   string         `json:"network"`          // udp, tcp or tls; a connection is reused while it is open
	Local     netip.AddrPort `json:"local,omitzero"`   // the UDP socket that received the REGISTER, on this node or on the node in Through
	Through   netip.AddrPort `json:"through,omitzero"` // the node that relayed the REGISTER, through which calls reach the phone (RFC 3327)
	Q         float64        `json:"q"`
	CallID    string         `json:"call_id"`
	CSeq      uint32         `json:"cseq"`
	UserAgent string         `json:"user_agent,omitempty"`
	Expires   time.Time      `json:"expires"`
	Since     time.Time      `json:"since"` // time of the first REGISTER of this contact
}

// Contact returns the address to call in order to reach the phone of the binding.
func (b *Binding) Contact() Contact {
	return Contact{
		URI: b.URI, Q: b.Q,
		Target: resolve.Target{Host: b.Source.Addr().String(), Port: int(b.Source.Port()), Transport: b.Network, Local: b.Local, Through: b.Through},
	}
}

// Contact is one address of a phone.
type Contact struct {
	URI    string // the Request-URI
	Q      float64
	Target resolve.Target // destination of its messages, whatever the URI says
}

// Change is the change of bindings that one REGISTER requests (RFC 3261 §10.2).
type Change struct {
	All       bool // "*": all contacts are removed
	Contacts  []RequestedContact
	CallID    string
	CSeq      uint32
	Source    netip.AddrPort
	Network   string
	Local     netip.AddrPort
	Through   netip.AddrPort
	UserAgent string
}

// RequestedContact is one contact in a REGISTER.
type RequestedContact struct {
	URI     string
	Q       float64
	Expires time.Duration // 0: the contact is removed
}

// Apply returns the bindings of an account after a REGISTER (RFC 3261 §10.3). If code is not 0, it is the status code
// that refuses the REGISTER, and the bindings stay as they are.
func (c *Change) Apply(have []Binding, now time.Time) (after []Binding, code int) {
	after = UnexpiredBindings(have, now)
	if c.All {
		for i := range after {
			if c.isOlderThan(&after[i]) {
				return after, 500
			}
		}
		return nil, 0
	}
	bindings := slices.Clone(after)
	for _, a := range c.Contacts {
		i := slices.IndexFunc(bindings, func(b Binding) bool { return uriKey(b.URI) == uriKey(a.URI) })
		if i >= 0 && c.isOlderThan(&bindings[i]) {
			return after, 500
		}
		fresh := Binding{
			URI: a.URI, Source: c.Source, Network: c.Network, Local: c.Local, Through: c.Through, Q: a.Q, CallID: c.CallID, CSeq: c.CSeq,
			UserAgent: c.UserAgent, Expires: now.Add(a.Expires), Since: now,
		}
		switch {
		case i >= 0 && a.Expires == 0:
			bindings = slices.Delete(bindings, i, i+1)
		case i >= 0:
			fresh.Since = bindings[i].Since
			bindings[i] = fresh
		case a.Expires > 0:
			bindings = append(bindings, fresh)
		}
	}
	if len(bindings) > MaxBindings {
		slices.SortStableFunc(bindings, func(a, b Binding) int { return cmp.Compare(b.Expires.UnixNano(), a.Expires.UnixNano()) })
		bindings = bindings[:MaxBindings]
	}
	slices.SortStableFunc(bindings, func(a, b Binding) int { return cmp.Compare(b.Q, a.Q) })
	return bindings, 0
}

// isOlderThan reports whether the phone sent this REGISTER not later than the one that created the binding.
func (c *Change) isOlderThan(b *Binding) bool { return b.CallID == c.CallID && c.CSeq <= b.CSeq }

// UnexpiredBindings returns a copy of the bindings that have not expired.
func UnexpiredBindings(have []Binding, now time.Time) []Binding {
	out := make([]Binding, 0, len(have))
	for _, b := range have {
		if b.Expires.After(now) {
			out = append(out, b)
		}
	}
	return out
}

// uriKey returns a key that is the same for equal URIs. It compares the parts of RFC 3261 §19.1.4 in which the Contacts
// of phones differ.
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

// ParseRegister reads the contacts of a REGISTER. The caller adds the source of the REGISTER. If code is not 0, it is the
// status code that refuses the REGISTER: 400 if it is malformed, 423 if an interval is too short.
func ParseRegister(m *message.Message) (c Change, code int) {
	c = Change{CallID: m.CallID, CSeq: m.CSeq, UserAgent: strings.Map(message.ReplaceControlChar, m.HeaderValue("User-Agent"))}
	c.UserAgent = c.UserAgent[:min(len(c.UserAgent), maxUserAgent)]
	values := message.SplitList(strings.Join(m.HeaderValues("contact"), ","))
	headerExpires, hasHeader, ok := deltaSeconds(m.HeaderValue("Expires"))
	if !ok || len(values) > maxContacts {
		return c, 400
	}
	if len(values) == 1 && values[0] == "*" {
		c.All = true
		if !hasHeader || headerExpires != 0 {
			return c, 400
		}
		return c, 0
	}
	for _, v := range values {
		a, code := ParseContact(v, headerExpires, hasHeader)
		if code != 0 {
			return c, code
		}
		c.Contacts = append(c.Contacts, a)
	}
	return c, 0
}

// ParseContact reads a contact of a REGISTER or a 3xx. headerExpires is the value of the message's Expires header, and
// hasHeader is false if the message has none. code is as in ParseRegister.
func ParseContact(v string, headerExpires time.Duration, hasHeader bool) (a RequestedContact, code int) {
	a = RequestedContact{URI: message.ReadURI(v), Q: defaultQ, Expires: maxExpires}
	if !message.IsContactURI(a.URI) {
		return a, 400
	}
	if hasHeader {
		a.Expires = headerExpires
	}
	if text, found := message.ContactParam(v, "expires"); found {
		own, _, ok := deltaSeconds(text)
		if !ok {
			return a, 400
		}
		a.Expires = own
	}
	if text, found := message.ContactParam(v, "q"); found {
		q, err := strconv.ParseFloat(text, 64)
		if err != nil || !(q >= 0 && q <= 1) || len(text) > 5 {
			return a, 400
		}
		a.Q = q
	}
	if a.Expires > 0 && a.Expires < MinExpires {
		return a, 423
	}
	a.Expires = min(a.Expires, maxExpires)
	return a, 0
}

// deltaSeconds parses delta-seconds (RFC 3261 §25.1). hasHeader is false if text is empty.
func deltaSeconds(text string) (d time.Duration, hasHeader, ok bool) {
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

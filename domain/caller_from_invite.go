package domain

import (
	"slices"
	"strings"
)

// Limits for the caller information in an INVITE: maxSteps entries of Diversion and of History-Info, maxStepText bytes
// of each entry, maxCallName bytes of a name and maxIdentity bytes of the Identity header.
const (
	maxSteps    = 10
	maxStepText = 256
	maxCallName = 128
	maxIdentity = 4096
)

// CallingParty holds the fields of an INVITE from a trunk that identify the caller.
type CallingParty struct {
	From, Name string            // user and display name of the From header
	Verstat    string            // verstat parameter of the number
	Header     map[string]string // header values by canonical name; repeated headers are joined with commas
}

// ReadCaller returns the caller ID of an inbound call and the other information about the caller. shown is a number
// in E.164 if possible, Anonymous if the number is withheld, or else the user part of the From header. Asserted
// identities are used only from headers that the trunk lists in caller_id_headers. National numbers are numbers of
// country.
func (p CallingParty) ReadCaller(t *Trunk, country string) (shown string, c *Caller) {
	c = &Caller{
		Name: sanitizeText(p.Name, maxCallName), Verstat: p.Verstat, Identity: sanitizeText(p.Header["Identity"], maxIdentity),
		Diversions: parseDiversions(p.Header["Diversion"], country),
	}
	for _, entry := range splitHeader(p.Header["History-Info"]) {
		if len(c.History) < maxSteps {
			c.History = append(c.History, sanitizeText(entry, maxStepText))
		}
	}
	believed := func(h string) bool { return slices.Contains(t.CallerIDHeaders, h) }
	asserted := ""
	switch {
	case believed(HeaderAsserted) && p.Header[HeaderAsserted] != "":
		asserted = uriUser(p.Header[HeaderAsserted])
	case believed(HeaderRemote) && p.Header["Remote-Party-Id"] != "":
		asserted = uriUser(p.Header["Remote-Party-Id"])
		c.Withheld = strings.Contains(strings.ToLower(p.Header["Remote-Party-Id"]), "privacy=full")
	default:
		c.Verstat = "" // no trusted header asserts the number
	}
	c.Withheld = c.Withheld || isPrivate(p.Header["Privacy"]) || isAnonymous(p.From)
	if c.Withheld {
		c.Name = ""
		return Anonymous, c
	}
	shown = displayNumber(p.From, country)
	if asserted != "" && !isAnonymous(asserted) {
		c.Asserted = displayNumber(asserted, country)
		shown = c.Asserted
	}
	return shown, c
}

// IsEmpty reports whether the call has no information about the caller except the number.
func (c *Caller) IsEmpty() bool {
	return c.Name == "" && !c.Withheld && c.Asserted == "" && c.Verstat == "" && c.Identity == "" && len(c.Diversions) == 0 && len(c.History) == 0
}

func isPrivate(header string) bool {
	for w := range strings.FieldsFuncSeq(strings.ToLower(header), func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
		if w == "id" || w == "user" || w == "header" {
			return true
		}
	}
	return false
}

func isAnonymous(user string) bool {
	switch strings.ToLower(user) {
	case "", Anonymous, "restricted", "unavailable", "unknown", "withheld", "private":
		return true
	}
	return false
}

// displayNumber returns the user part in E.164 if it is a telephone number, and otherwise the user part as text.
func displayNumber(user, country string) string {
	if e164, err := E164(user, country); err == nil {
		return e164
	}
	return sanitizeText(user, maxCallName)
}

// parseDiversions returns the redirections in Diversion headers. The most recent redirection comes first (RFC 5806).
func parseDiversions(header, country string) []Diverted {
	var out []Diverted
	for _, entry := range splitHeader(header) {
		user := uriUser(entry)
		if user == "" || len(out) == maxSteps {
			continue
		}
		d := Diverted{From: displayNumber(user, country)}
		if _, rest, ok := strings.Cut(strings.ToLower(entry), ";reason="); ok {
			d.Reason, _, _ = strings.Cut(strings.Trim(rest, `"`), ";")
			d.Reason = sanitizeText(strings.Trim(d.Reason, `" `), 64)
		}
		if isAnonymous(user) {
			d.From = Anonymous
		}
		out = append(out, d)
	}
	return out
}

// splitHeader splits a header at its commas, except within quotes and angle brackets.
func splitHeader(header string) []string {
	var out []string
	quoted, depth, from := false, 0, 0
	for i := 0; i < len(header); i++ {
		switch c := header[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '<':
			depth++
		case c == '>':
			depth--
		case c == ',' && depth <= 0:
			out, from = append(out, strings.TrimSpace(header[from:i])), i+1
		}
	}
	if last := strings.TrimSpace(header[from:]); last != "" {
		out = append(out, last)
	}
	return out
}

// uriUser returns the user part or the number of the first URI in a header value.
func uriUser(header string) string {
	first := splitHeader(header)
	if len(first) == 0 {
		return ""
	}
	uri := first[0]
	if _, rest, ok := strings.Cut(uri, "<"); ok {
		uri, _, _ = strings.Cut(rest, ">")
	}
	scheme, rest, ok := strings.Cut(strings.TrimSpace(uri), ":")
	if !ok {
		return ""
	}
	user := rest
	switch strings.ToLower(scheme) {
	case "sip", "sips":
		if user, _, ok = strings.Cut(rest, "@"); !ok {
			return ""
		}
	case "tel":
	default:
		return ""
	}
	user, _, _ = strings.Cut(user, ";")
	return user
}

// sanitizeText removes control characters and limits the length in bytes.
func sanitizeText(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return s
}

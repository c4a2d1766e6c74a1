package message

import (
	"strings"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/domain"
)

const (
	maxMatchFields = 16
	maxMatchValue  = 256 // in bytes; longer values match nothing
)

// MatchFields returns the parts of a request that domain.TrunkMatch compares, by header name in lower case. They are
// the parameters of Request-URI, From, To and Contact, without user and host, and the values of P-Charge-Info and of
// extension headers (X-…). A header that occurs twice or is too long gets an empty value, which matches no rule.
func (m *Message) MatchFields() map[string]string {
	var fields map[string]string
	put := func(name, value string) {
		if value == "" || len(fields) >= maxMatchFields {
			return
		}
		if fields == nil {
			fields = make(map[string]string)
		}
		if _, twice := fields[name]; twice || len(value) > maxMatchValue {
			value = ""
		}
		fields[name] = value
	}
	put("request-uri", uriParameters(uriText(m.URI)))
	put("from", partyParameters(m.From))
	put("to", partyParameters(m.To))
	put("contact", uriParameters(m.Contact))
	for _, h := range m.Headers {
		name := strings.ToLower(h.Name())
		if domain.IsMatchHeader(name) && !domain.MatchesByParameter(name) {
			put(name, strings.TrimSpace(h.Value()))
		}
	}
	return fields
}

func uriText(u sipmsg.Uri) string {
	if u.Scheme == "tel" {
		return "tel:" + u.Raw()
	}
	return u.String()
}

// partyParameters returns the parameters of a From or To header and of the URI in it, without the tag.
func partyParameters(p *Party) string {
	if p == nil {
		return ""
	}
	parts := []string{uriParameters(uriText(p.URI))}
	_, rest, _ := strings.Cut(p.Value[strings.LastIndexByte(p.Value, '>')+1:], ";")
	for one := range strings.SplitSeq(rest, ";") {
		if name, _, _ := strings.Cut(one, "="); strings.TrimSpace(one) != "" && !strings.EqualFold(strings.TrimSpace(name), "tag") {
			parts = append(parts, strings.TrimSpace(one))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return strings.Join(parts, ";")
}

// uriParameters returns the parameters of the user part (RFC 4904) and of the URI, each after a semicolon.
func uriParameters(uri string) string {
	uri, _, _ = strings.Cut(uri, "?")
	user, host := "", uri
	if i := strings.LastIndexByte(uri, '@'); i >= 0 {
		user, host = uri[:i], uri[i+1:]
	}
	_, ofUser, userHas := strings.Cut(user, ";")
	_, ofURI, uriHas := strings.Cut(host, ";")
	switch {
	case userHas && uriHas:
		return ";" + ofUser + ";" + ofURI
	case userHas:
		return ";" + ofUser
	case uriHas:
		return ";" + ofURI
	}
	return ""
}

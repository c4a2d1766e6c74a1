package trunk

import (
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
)

// Caller is the caller identity that the callee sees.
type Caller struct {
	Number    string // E.164, or domain.Anonymous to withhold the number; "": Slot.From
	Name      string
	Diversion string // number that was called first, if the call is forwarded; "": none
	// Identity contains the caller's signatures (RFC 8224). They are forwarded unchanged, together with a Diversion
	// header. Several signatures are joined with ", ".
	Identity string
}

// FillInvite fills in the parts of an INVITE that depend on the trunk: target, credentials, number formats and caller
// ID. to is the called number in E.164. FillInvite is the last check of this number: after an error the caller must
// not send the INVITE.
func (s *Slot) FillInvite(in *sip.Invite, to string, c Caller) error {
	t := s.Trunk()
	dialled := to
	if s.Via != nil {
		var err error
		if dialled, err = t.DialString(to); err != nil {
			return err
		}
	}
	in.Target, in.To, in.FromDomain = s.Target, dialled, t.FromDomain
	if p := t.OutboundProxy; p != nil {
		in.Proxy = &resolve.Target{Host: p.Host, Port: p.Port, Transport: p.Transport, TrunkID: t.ID}
	}
	if a := t.Auth; a != nil {
		in.Credentials = &auth.Credentials{Username: a.Username, Password: a.Password, Realm: a.Realm}
	}
	shown, withheld := c.Number, c.Number == domain.Anonymous
	if shown == "" || withheld {
		shown = s.From
	}
	if domain.IsTestCarrierNumber(shown) && s.Via != nil && !t.Simulator {
		return &domain.Error{Code: domain.CodeCallerIDNotAllowed, Param: "from", Message: shown + " is a number of the test environment, which no trunk shows"}
	}
	in.From, in.FromName = t.FormatNumber(shown), c.Name
	if withheld {
		in.From, in.FromName, in.FromDomain = domain.Anonymous, "Anonymous", "anonymous.invalid"
	}
	in.Headers = append(in.Headers, callerHeaders(t, in, shown, withheld, c)...)
	return nil
}

// callerHeaders returns the headers with the caller's identity that the trunk accepts (RFC 3323, RFC 3325, RFC
// 5806).
func callerHeaders(t *domain.Trunk, in *sip.Invite, shown string, withheld bool, c Caller) []message.Header {
	var out []message.Header
	if withheld {
		out = append(out, message.Header{Name: "Privacy", Value: "id"})
	}
	host := t.FromDomain
	if host == "" {
		host = hostOf(in.Target)
	}
	address := func(number string) string { return "<sip:" + t.FormatNumber(number) + "@" + host + ">" }
	for _, h := range t.CallerIDHeaders {
		switch {
		case h == domain.HeaderAsserted && shown != "":
			out = append(out, message.Header{Name: h, Value: address(shown)})
		case h == domain.HeaderRemote && shown != "":
			privacy := "off"
			if withheld {
				privacy = "full"
			}
			out = append(out, message.Header{Name: h, Value: address(shown) + ";party=calling;screen=yes;privacy=" + privacy})
		case h == domain.HeaderDiversion && c.Diversion != "" && c.Diversion != domain.Anonymous:
			out = append(out, message.Header{Name: h, Value: address(c.Diversion) + ";reason=unconditional"})
			for one := range strings.SplitSeq(c.Identity, ", ") { // a signature contains the number, so none is sent if the number is withheld
				if one != "" && !withheld { // a signature names the number, so it is dropped with a withheld number
					out = append(out, message.Header{Name: "Identity", Value: one})
				}
			}
		}
	}
	return out
}

// hostOf returns the host of a target in the form of a URI.
func hostOf(t resolve.Target) string {
	host := t.Host
	if t.Name != "" {
		host = t.Name
	}
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return "[" + host + "]"
	}
	return host
}

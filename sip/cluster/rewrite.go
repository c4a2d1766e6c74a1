package cluster

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// rewriting describes the changes to the header section of a message that is relayed.
type rewriting struct {
	seal *transport.RelayInfo
	via  []string // Via of this node, to be added on top
	top  string   // replaces the first value of Via; "": that value is removed
}

// relayedRequest returns a request with the Via of this node on top. The branch of the Via is computed from the
// parts that an INVITE, its CANCEL and its ACK share, so it does not depend on the relaying node.
func (r *Relay) relayedRequest(m *transport.Received, to transport.Flow, info *transport.RelayInfo) []byte {
	from := m.Vias[0]
	branch := message.BranchCookie + r.id.MAC(24, "relay", message.ParamValue(from.Params, "branch"), from.Host, strconv.Itoa(from.Port), m.CallID, m.From.Tag, strconv.FormatUint(uint64(m.CSeq), 10))
	return r.rewrite(m, &rewriting{
		seal: info, top: m.ViaWithReceived(),
		via: []string{"SIP/2.0/", strings.ToUpper(to.Network), " ", r.cfg.Transport.SentBy(to), ";rport;branch=", branch, ";cb=", r.returnToken(m.ResponseFlow(), branch)},
	})
}

// rewrite returns a copy of a message with the changes that a proxy makes (RFC 3261 §16.6), as w describes them.
func (r *Relay) rewrite(m *transport.Received, w *rewriting) []byte {
	raw := m.Raw
	head, _, found := bytes.Cut(raw, []byte("\r\n\r\n"))
	first := bytes.Index(raw, []byte("\r\n"))
	if !found || first < 0 {
		return nil
	}
	b := make([]byte, 0, len(raw)+512)
	b = append(b, raw[:first+2]...)
	seal := 0
	if w.seal != nil {
		b = appendSeal(b, w.seal, time.Now())
		seal = len(b)
	}
	if w.via != nil {
		b = appendHeader(b, "Via", w.via...)
	}
	topped := false
	for rest := head[min(first+2, len(head)):]; len(rest) > 0; {
		var line []byte
		line, rest = message.CutHeader(rest)
		name, value, _ := bytes.Cut(line, []byte(":"))
		name = bytes.TrimSpace(name)
		switch {
		case !topped && (message.EqualHeaderName(name, "via") || message.EqualHeaderName(name, "v")):
			topped = true
			b = appendVias(b, w.top, value)
		case message.EqualHeaderName(name, "content-length"), message.EqualHeaderName(name, "l"), message.EqualHeaderName(name, message.RelayHeaderLower):
		default:
			b = append(append(b, line...), '\r', '\n')
		}
	}
	b = appendHeader(b, "Content-Length", strconv.Itoa(len(m.Body)))
	b = append(append(b, '\r', '\n'), m.Body...)
	if seal > 0 {
		b = r.completeSeal(b, seal)
	}
	return b
}

// appendVias appends the Via header with the values in value, but with top instead of the first value. If top is "",
// the first value is omitted.
func appendVias(b []byte, top string, value []byte) []byte {
	if top != "" {
		b = appendHeader(b, "Via", top)
	}
	if bytes.IndexByte(value, ',') < 0 {
		return b
	}
	for _, one := range message.SplitList(strings.ReplaceAll(string(value), "\r\n", ""))[1:] {
		b = appendHeader(b, "Via", one)
	}
	return b
}

func appendHeader(b []byte, name string, value ...string) []byte {
	b = append(append(b, name...), ':', ' ')
	for _, v := range value {
		b = append(b, v...)
	}
	return append(b, '\r', '\n')
}

// SealForRemote adds the relay header with a MAC to a request of this node for a phone that is connected to another
// node. That node accepts only authenticated relay headers.
func (r *Relay) SealForRemote(b []byte, to *transport.RemotePhone) []byte {
	first := bytes.Index(b, []byte("\r\n"))
	if first < 0 {
		return b
	}
	out := make([]byte, 0, len(b)+160)
	out = appendSeal(append(out, b[:first+2]...), &transport.RelayInfo{Direction: transport.RelayOut, Peer: to.Source, Local: to.Local}, time.Now())
	at := len(out)
	return r.completeSeal(append(out, b[first+2:]...), at)
}

package sip

import (
	"bytes"
	"cmp"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
)

const (
	maxTexts   = 10000 // MESSAGEs that are known at a time, answered ones for timer J
	acceptText = message.ContentText + ", " + message.ContentCPIM
)

// IncomingText is a MESSAGE that came in outside of any dialog (RFC 3428). Its
// owner answers it once, when the message is safe: one that is never answered
// comes again.
type IncomingText struct {
	From, To, CallID, TrunkID string
	Proved                    bool // the trunk has proved by digest to be TrunkID
	Source                    netip.AddrPort
	Network                   string
	MatchFields               map[string]string // for domain.TrunkMatch
	ContentType               string            // with its parameters
	Body                      []byte
	Key                       string // the same for whatever repeats it

	u     *UserAgent
	m     *received
	s     *serverText
	prove auth.Verifier
	size  int
	once  sync.Once
}

// serverText is the transaction of a MESSAGE (RFC 3261 17.2.2).
type serverText struct {
	mu   sync.Mutex
	last []byte // nil: not answered yet
}

// texts are the transactions by branch, sent-by and Call-ID.
type texts struct {
	mu sync.Mutex
	of map[string]*serverText
}

// OnText sets who takes MESSAGEs; before Serve. It must not block. Without it
// they are 405.
func (u *UserAgent) OnText(f func(*IncomingText)) { u.onText = f }

// texted takes a MESSAGE outside of any dialog: of a trunk, never of a phone.
func (u *UserAgent) texted(m *received, phone bool, a Admission) {
	switch {
	case u.onText == nil, phone:
		u.stats.rejected.Add(1)
		u.reject(m, 405)
		return
	case u.isOverloaded(m):
		u.stats.rejected.Add(1)
		u.reject(m, 503)
		return
	case len(m.Body) == 0 || m.Encoding != "" && m.Encoding != "identity":
		u.stats.rejected.Add(1)
		u.reply(m, 415, "", []message.Header{{Name: "Accept", Value: acceptText}})
		return
	}
	s, fresh := u.texts.begin(m)
	if s == nil {
		u.stats.full.Add(1)
		u.reject(m, 503)
		return
	}
	if !fresh {
		u.stats.retransmitted.Add(1)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.last != nil {
			u.respond(m, s.last)
		}
		return
	}
	if !u.authenticateTrunk(m, a) {
		u.texts.forget(m)
		return
	}
	t := &IncomingText{
		From: message.URIUser(m.From.URI), To: message.URIUser(m.URI), CallID: m.CallID, TrunkID: m.trunk, Proved: m.proved, Source: m.Source().Addr, Network: m.Source().Network,
		ContentType: cmp.Or(m.PartType, m.HeaderValue("Content-Type")), Body: bytes.Clone(m.Body), Key: m.CallID + " " + m.From.Tag + " " + strconv.FormatUint(uint64(m.CSeq), 10),
		MatchFields: m.MatchFields(), u: u, m: m, s: s, prove: u.trunks.WithAccounts(a.Realm, a.Account), size: m.MaxResponseSize(),
	}
	m.Body = nil
	defer u.recovered("on_text", func() { t.Reply(500, 0) })
	u.onText(t)
}

func textKey(m *received) string {
	via := m.SenderVia()
	return strings.Join([]string{m.Branch(), via.Host, strconv.Itoa(via.Port), m.CallID, strconv.FormatUint(uint64(m.CSeq), 10), m.Source().Addr.Addr().String()}, "\x00")
}

// begin is the transaction of a MESSAGE; nil: there is no room for one.
func (t *texts) begin(m *received) (s *serverText, fresh bool) {
	key := textKey(m)
	t.mu.Lock()
	defer t.mu.Unlock()
	if s = t.of[key]; s != nil {
		return s, false
	}
	if len(t.of) >= maxTexts {
		return nil, false
	}
	s = &serverText{}
	t.of[key] = s
	time.AfterFunc(transactionTimeout, func() { t.drop(key, s) })
	return s, true
}

func (t *texts) forget(m *received) { t.drop(textKey(m), nil) }

// drop ends a transaction; s nil: whichever it is.
func (t *texts) drop(key string, s *serverText) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s == nil || t.of[key] == s {
		delete(t.of, key)
	}
}

// Reply answers the MESSAGE, once. retryAfter is rounded to seconds; 0 leaves
// it out.
func (t *IncomingText) Reply(code int, retryAfter time.Duration) {
	extra := retryHeader(retryAfter)
	if code == 415 {
		extra = append(extra, message.Header{Name: "Accept", Value: acceptText})
	}
	t.answer(max(200, min(code, 699)), extra)
}

func (t *IncomingText) answer(code int, extra []message.Header) {
	t.once.Do(func() {
		if code >= 300 {
			t.u.stats.rejected.Add(1)
		}
		b, err := t.u.answer(t.m, code, t.u.id.ToTag(t.m.CallID, t.m.From.Tag+strings.ToLower(t.m.Branch())), extra, nil)
		if err != nil {
			return
		}
		t.s.mu.Lock()
		t.s.last = b
		t.s.mu.Unlock()
		t.u.respond(t.m, b)
	})
}

// Challenge asks for a proof of which trunk the message comes over. It is 403
// where no trunk at its source can prove anything, or where the sender has.
func (t *IncomingText) Challenge() {
	if !t.prove.HasAccounts() || t.Proved {
		t.Reply(403, 0)
		return
	}
	for _, some := range t.prove.ChallengeFallbacks(&t.m.Message, t.m.Source().Addr.Addr(), false, time.Now()) {
		b, err := t.u.answer(t.m, 401, "", some, nil)
		if err == nil && (t.m.Flow.IsStream() || len(b)+tagRoom <= t.size) {
			t.answer(401, some)
			return
		}
	}
	t.Reply(403, 0)
}

// tagRoom is what a To-tag of ours takes in an answer.
const tagRoom = len(";tag=") + 16

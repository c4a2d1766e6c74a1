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
	maxMessages      = 10000 // concurrent transactions; answered ones are kept for timer J
	acceptedMessages = message.ContentText + ", " + message.ContentCPIM
)

// IncomingMessage is an inbound MESSAGE outside of any dialog (RFC 3428). Its owner answers it once, after the
// message is stored. Without an answer the sender repeats the MESSAGE.
type IncomingMessage struct {
	From, To, CallID, TrunkID string
	IsAuthenticated           bool // the trunk has authenticated by digest as TrunkID
	Source                    netip.AddrPort
	Network                   string
	MatchFields               map[string]string // for domain.TrunkMatch
	ContentType               string            // with its parameters
	Body                      []byte
	Key                       string // the same for each retransmission

	ua              *UserAgent
	request         *received
	transaction     *messageTransaction
	verifier        auth.Verifier
	maxResponseSize int
	once            sync.Once
}

// messageTransaction is the server transaction of a MESSAGE (RFC 3261 §17.2.2).
type messageTransaction struct {
	mu   sync.Mutex
	last []byte // the response; nil: not answered yet
}

// messageTransactions are the transactions by branch, sent-by and Call-ID.
type messageTransactions struct {
	mu    sync.Mutex
	byKey map[string]*messageTransaction
}

// OnMessage sets the owner of inbound MESSAGEs. Call it before Serve. f must not block. Without an owner a MESSAGE
// gets 405.
func (u *UserAgent) OnMessage(f func(*IncomingMessage)) { u.onMessage = f }

// handleMessage handles a MESSAGE outside of any dialog. Only trunks may send one.
func (u *UserAgent) handleMessage(m *received, phone bool, a Admission) {
	switch {
	case u.onMessage == nil, phone:
		u.stats.rejected.Add(1)
		u.reject(m, 405)
		return
	case u.isOverloaded(m):
		u.stats.rejected.Add(1)
		u.reject(m, 503)
		return
	case len(m.Body) == 0 || m.Encoding != "" && m.Encoding != "identity":
		u.stats.rejected.Add(1)
		u.reply(&m.Received, 415, "", []message.Header{{Name: "Accept", Value: acceptedMessages}})
		return
	}
	s, fresh := u.messages.start(m)
	if s == nil {
		u.stats.refusedFull.Add(1)
		u.reject(m, 503)
		return
	}
	if !fresh {
		u.stats.retransmitted.Add(1)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.last != nil {
			u.respond(&m.Received, s.last)
		}
		return
	}
	if !u.authenticateTrunk(m, a) {
		u.messages.remove(m)
		return
	}
	t := &IncomingMessage{
		From: message.URIUser(m.From.URI), To: message.URIUser(m.URI), CallID: m.CallID, TrunkID: m.trunk, IsAuthenticated: m.isAuthenticated, Source: m.Source().Addr, Network: m.Source().Network,
		ContentType: cmp.Or(m.PartType, m.HeaderValue("Content-Type")), Body: bytes.Clone(m.Body), Key: m.CallID + " " + m.From.Tag + " " + strconv.FormatUint(uint64(m.CSeq), 10),
		MatchFields: m.MatchFields(), ua: u, request: m, transaction: s, verifier: u.trunks.WithAccounts(a.Realm, a.Account), maxResponseSize: m.MaxResponseSize(),
	}
	m.Body = nil
	defer u.recovered("on_text", func() { t.Reply(500, 0) })
	u.onMessage(t)
}

func messageKey(m *received) string {
	via := m.SenderVia()
	return strings.Join([]string{m.Branch(), via.Host, strconv.Itoa(via.Port), m.CallID, strconv.FormatUint(uint64(m.CSeq), 10), m.Source().Addr.Addr().String()}, "\x00")
}

// start returns the transaction of a MESSAGE. fresh is true if start has created it. s is nil if too many transactions
// exist.
func (t *messageTransactions) start(m *received) (s *messageTransaction, fresh bool) {
	key := messageKey(m)
	t.mu.Lock()
	defer t.mu.Unlock()
	if s = t.byKey[key]; s != nil {
		return s, false
	}
	if len(t.byKey) >= maxMessages {
		return nil, false
	}
	s = &messageTransaction{}
	t.byKey[key] = s
	time.AfterFunc(transactionTimeout, func() { t.expire(key, s) })
	return s, true
}

func (t *messageTransactions) remove(m *received) { t.expire(messageKey(m), nil) }

// expire removes the transaction s with this key. If s is nil, it removes any transaction with this key.
func (t *messageTransactions) expire(key string, s *messageTransaction) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s == nil || t.byKey[key] == s {
		delete(t.byKey, key)
	}
}

// Reply answers the MESSAGE. Only the first answer is sent. retryAfter is rounded to seconds; with 0 the response has
// no Retry-After.
func (t *IncomingMessage) Reply(code int, retryAfter time.Duration) {
	extra := retryHeader(retryAfter)
	if code == 415 {
		extra = append(extra, message.Header{Name: "Accept", Value: acceptedMessages})
	}
	t.answer(max(200, min(code, 699)), extra)
}

func (t *IncomingMessage) answer(code int, extra []message.Header) {
	t.once.Do(func() {
		if code >= 300 {
			t.ua.stats.rejected.Add(1)
		}
		b, err := t.ua.buildResponse(&t.request.Received, code, t.ua.id.ToTag(t.request.CallID, t.request.From.Tag+strings.ToLower(t.request.Branch())), extra, nil)
		if err != nil {
			return
		}
		t.transaction.mu.Lock()
		t.transaction.last = b
		t.transaction.mu.Unlock()
		t.ua.respond(&t.request.Received, b)
	})
}

// Challenge asks for credentials that authenticate a trunk. It answers 403 if no trunk at the source has
// credentials, or if the sender has authenticated already.
func (t *IncomingMessage) Challenge() {
	if !t.verifier.HasAccounts() || t.IsAuthenticated {
		t.Reply(403, 0)
		return
	}
	for _, some := range t.verifier.ChallengeFallbacks(&t.request.Message, t.request.Source().Addr.Addr(), false, time.Now()) {
		b, err := t.ua.buildResponse(&t.request.Received, 401, "", some, nil)
		if err == nil && (t.request.Flow.IsStream() || len(b)+tagRoom <= t.maxResponseSize) {
			t.answer(401, some)
			return
		}
	}
	t.Reply(403, 0)
}

// tagRoom is the number of bytes that the tag parameter adds to the To header of a response.
const tagRoom = len(";tag=") + 16

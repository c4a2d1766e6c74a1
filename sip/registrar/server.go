package registrar

import (
	"math"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/ratelimit"
	"github.com/callboard/callboard/sip/transport"
)

const (
	unknownRate      = 10 // messages per second of one unknown source
	unknownBurst     = 30
	unknownTotalRate = 1000 // messages per second of all unknown sources
	maxAnswers       = 4096 // responses stored for retransmitted REGISTERs
)

// Presence reports whether a phone is registered at the address of a source.
type Presence uint8

// The values of Presence.
const (
	Absent    Presence = iota
	AtHost             // at another port of the same host
	AtAddress          // at this address and port
)

// Config describes the accounts of phones. Its functions are also called for messages of unknown sources. Therefore they
// must answer from memory, without waiting.
type Config struct {
	Realm     string      // realm of the challenges. Default: callboard
	HasPhones func() bool // whether any account exists; without one unknown sources get no answer. nil: always
	Account   func(user string) (auth.Account, bool)
	Presence  func(transport.Source) Presence
	Update    func(*Update) // Accept or Refuse answers it, from any goroutine
}

// Responder writes and sends the responses of a Server.
type Responder interface {
	// BuildResponse writes a response. tag is the local tag.
	BuildResponse(m *transport.Received, code int, tag string, extra []message.Header) ([]byte, error)
	SendResponse(m *transport.Received, b []byte)
	// Reply sends a response whose To tag is derived from the request, and returns the response. It returns nil if the
	// response cannot be written.
	Reply(m *transport.Received, code int, extra []message.Header) []byte
	// Recover is called by defer. It recovers a panic in the handling of one message and calls then.
	Recover(where string, then func())
}

// Server handles the REGISTERs of phones and authenticates their calls. A nil Server has no phones.
type Server struct {
	cfg          Config
	responder    Responder
	id           message.Identifiers
	auth         *auth.Verifier
	unknown      *ratelimit.Limiter // rate of each unknown source
	unknownTotal *ratelimit.Limiter // rate of all unknown sources together

	retransmitted, rejected, rateExceeded, tooLarge, malformed atomic.Uint64

	mu      sync.Mutex
	answers map[registerKey][]byte // nil: not answered yet
	order   []registerKey          // oldest first
}

// NewServer returns a server. secret is the key of its nonces, and id derives the To tags of its responses.
func NewServer(cfg Config, secret []byte, id message.Identifiers, r Responder) *Server {
	return &Server{
		cfg: cfg, responder: r, id: id, auth: auth.NewVerifier(cfg.Realm, secret, cfg.Account),
		unknown: ratelimit.NewLimiter(unknownRate, unknownBurst), unknownTotal: ratelimit.NewLimiter(unknownTotalRate, unknownTotalRate),
		answers: make(map[registerKey][]byte),
	}
}

// Totals are the numbers of REGISTERs since the start that were retransmitted, rejected or dropped.
type Totals struct{ Retransmitted, Rejected, RateExceeded, TooLarge, Malformed uint64 }

// Totals returns the numbers of retransmitted, rejected and dropped REGISTERs since the start.
func (r *Server) Totals() Totals {
	if r == nil {
		return Totals{}
	}
	return Totals{
		Retransmitted: r.retransmitted.Load(), Rejected: r.rejected.Load(), RateExceeded: r.rateExceeded.Load(),
		TooLarge: r.tooLarge.Load(), Malformed: r.malformed.Load(),
	}
}

// registerKey identifies one REGISTER transaction.
type registerKey struct {
	branch, callID string
	cseq           uint32
	source         netip.AddrPort
}

// Admit reports whether a message is parsed: a REGISTER from anywhere, within the rate of unknown sources, or any
// message of a source with a registered phone.
func (r *Server) Admit(b []byte, s transport.Source, now time.Time) bool {
	if !r.hasPhones() {
		return false
	}
	if r.Presence(s) != Absent {
		return true
	}
	return len(b) > 9 && string(b[:9]) == "REGISTER " && r.unknown.Spend(s.Addr.Addr(), 1, now) && r.unknownTotal.Spend(netip.Addr{}, 1, now)
}

func (r *Server) hasPhones() bool { return r != nil && (r.cfg.HasPhones == nil || r.cfg.HasPhones()) }

// AdmitConnection reports whether an unknown source may connect. Phones may connect over TCP and TLS from anywhere.
func (r *Server) AdmitConnection(s transport.Source, now time.Time) bool {
	return r.hasPhones() && (r.Presence(s) != Absent || r.unknown.Spend(s.Addr.Addr(), 1, now))
}

// Presence returns whether a phone is registered at the address of a source.
func (r *Server) Presence(s transport.Source) (p Presence) {
	if r == nil {
		return Absent
	}
	defer r.responder.Recover("presence", func() { p = Absent })
	return r.cfg.Presence(s)
}

// IsPhone reports whether a request comes from a phone. If a phone is registered at another port of the same host, the
// request counts as the phone's, unless a trunk has this host.
func (r *Server) IsPhone(s transport.Source, trunk bool) bool {
	switch r.Presence(s) {
	case AtAddress:
		return true
	case AtHost:
		return !trunk
	case Absent:
	}
	return false
}

// Update is a REGISTER of an authenticated account, which Accept or Refuse answers.
type Update struct {
	AccountID string
	Change    Change

	r   *Server
	m   *transport.Received
	key registerKey
}

// Register handles a REGISTER. unknown is true if the source is unknown; the size of the response is then limited.
func (r *Server) Register(m *transport.Received, unknown bool) {
	key := registerKey{m.Branch(), m.CallID, m.CSeq, m.Source().Addr}
	if answer, known := r.storedAnswer(key); known {
		if answer != nil {
			r.retransmitted.Add(1)
			r.responder.SendResponse(m, answer)
		}
		return
	}
	now := time.Now()
	account, v := r.auth.CheckRequest(&m.Message, m.Source().Addr.Addr(), now)
	switch v {
	case auth.TooManyFailures:
		r.rateExceeded.Add(1)
		return
	case auth.NoCredentials, auth.WrongCredentials:
		r.challenge(m, false, unknown, now)
		return
	case auth.StaleNonce:
		r.challenge(m, true, unknown, now)
		return
	case auth.Authenticated:
	}
	if message.URIUser(m.To.URI) != account.User || !account.AllowsNetwork(m.Source().Network) {
		r.refuse(m, 403)
		return
	}
	change, code := ParseRegister(&m.Message)
	if code != 0 {
		r.refuse(m, code)
		return
	}
	change.Source, change.Network, change.Through = m.Source().Addr, m.Source().Network, m.RelayNode()
	switch {
	case m.Relay != nil:
		change.Local = m.Relay.Local
	case m.Flow.Socket != nil:
		change.Local = m.Flow.Socket.Local()
	}
	r.reserveAnswer(key)
	update := &Update{AccountID: account.ID, Change: change, r: r, m: m, key: key}
	defer r.responder.Recover("register", func() { update.Refuse(500, 0) })
	r.cfg.Update(update)
}

func (r *Server) refuse(m *transport.Received, code int) {
	var extra []message.Header
	if code == 423 {
		extra = []message.Header{{Name: "Min-Expires", Value: strconv.Itoa(int(MinExpires / time.Second))}}
	}
	r.rejected.Add(1)
	r.responder.Reply(m, code, extra)
}

// challenge asks for credentials. An unknown source gets at most one response of one and a half times the size of its
// request. The limit is low, so that an attacker with a forged source gains little, but suffices for a short REGISTER.
func (r *Server) challenge(m *transport.Received, stale, unknown bool, now time.Time) {
	r.rejected.Add(1)
	tag := r.id.ToTag(m.CallID, m.From.Tag+m.Branch())
	most := math.MaxInt
	if unknown && !m.Flow.IsStream() {
		most = m.MaxResponseSize() * 3 / 2
	}
	for _, some := range r.auth.ChallengeFallbacks(&m.Message, m.Source().Addr.Addr(), stale, now) {
		b, err := r.responder.BuildResponse(m, 401, tag, some)
		if err != nil {
			r.malformed.Add(1)
			return
		}
		if len(b) <= most {
			r.responder.SendResponse(m, b)
			return
		}
	}
	r.tooLarge.Add(1)
}

// Authenticate authenticates the INVITE of a phone. ok is false if the phone was challenged or refused, so that the
// caller drops the request.
func (r *Server) Authenticate(m *transport.Received) (accountID string, ok bool) {
	now := time.Now()
	account, v := r.auth.CheckRequest(&m.Message, m.Source().Addr.Addr(), now)
	switch v {
	case auth.TooManyFailures:
		r.rateExceeded.Add(1)
		return "", false
	case auth.NoCredentials, auth.WrongCredentials:
		r.challenge(m, false, false, now)
		return "", false
	case auth.StaleNonce:
		r.challenge(m, true, false, now)
		return "", false
	case auth.Authenticated:
	}
	if message.URIUser(m.From.URI) != account.User || !account.AllowsNetwork(m.Source().Network) {
		r.refuse(m, 403)
		return "", false
	}
	return account.ID, true
}

// Accept answers 200 with the contacts that are bound to the account now.
func (u *Update) Accept(now []Binding) {
	at := time.Now()
	extra := make([]message.Header, 0, len(now)+1)
	for _, b := range now {
		left := int(b.Expires.Sub(at).Round(time.Second) / time.Second)
		extra = append(extra, message.Header{
			Name: "Contact", Value: "<" + b.URI + ">;expires=" + strconv.Itoa(max(left, 1)) + ";q=" + strconv.FormatFloat(b.Q, 'f', -1, 64),
		})
	}
	extra = append(extra, message.Header{Name: "Date", Value: at.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")})
	u.answer(200, extra)
}

// Refuse answers with a status code. retryAfter is rounded to seconds; with 0 the response has no Retry-After.
func (u *Update) Refuse(code int, retryAfter time.Duration) {
	var extra []message.Header
	if retryAfter > 0 {
		extra = []message.Header{{Name: "Retry-After", Value: strconv.Itoa(int(retryAfter.Round(time.Second).Seconds()))}}
	}
	u.r.rejected.Add(1)
	u.answer(max(300, min(code, 699)), extra)
}

func (u *Update) answer(code int, extra []message.Header) {
	b := u.r.responder.Reply(u.m, code, extra)
	if b == nil && code < 300 {
		b = u.r.responder.Reply(u.m, 500, nil)
	}
	u.r.mu.Lock()
	defer u.r.mu.Unlock()
	if _, known := u.r.answers[u.key]; known {
		u.r.answers[u.key] = b
	}
}

func (r *Server) storedAnswer(k registerKey) (b []byte, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, known = r.answers[k]
	return b, known
}

// reserveAnswer stores that the REGISTER with this key is in progress. If too many responses are stored, it removes the
// oldest one.
func (r *Server) reserveAnswer(k registerKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.order) >= maxAnswers {
		delete(r.answers, r.order[0])
		r.order = r.order[1:]
	}
	r.order = append(r.order, k)
	r.answers[k] = nil
}

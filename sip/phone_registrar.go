package sip

import (
	"math"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/ratelimit"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/transport"
)

const (
	strangerRate  = 10 // messages a second of one source that nobody knows
	strangerBurst = 30
	strangersRate = 1000 // of all of them together
	remembered    = 4096 // REGISTERs answered lately, for their repetitions
)

// Presence says whether a phone is registered at a source.
type Presence uint8

// The presences.
const (
	Absent  Presence = iota
	AtHost           // at another port of the same host
	Exactly          // at this address and port
)

// Registrar opens the user agent to phones: who they are, where they are
// registered, and what happens to their REGISTERs. Its functions are called
// for strangers' messages: they must answer from memory.
type Registrar struct {
	Realm   string      // of the challenges; "": callboard
	Open    func() bool // whether there is any phone; nil: there is. Without one strangers are not heard
	Account func(user string) (auth.Account, bool)
	At      func(transport.Source) Presence
	Update  func(*Update) // Accept or Refuse answers it, from any goroutine
}

// Registrar sets who may register; before Serve. Without it a REGISTER gets
// 405, from strangers nothing.
func (u *UserAgent) Registrar(r Registrar) {
	u.phones = &phoneRegistrar{
		Registrar: r, u: u, auth: auth.NewVerifier(r.Realm, u.cfg.Secret, r.Account),
		each: ratelimit.NewLimiter(strangerRate, strangerBurst), all: ratelimit.NewLimiter(strangersRate, strangersRate),
		answers: make(map[registerKey][]byte),
	}
}

// phoneRegistrar is the server side of phones.
type phoneRegistrar struct {
	Registrar
	u    *UserAgent
	auth *auth.Verifier
	each *ratelimit.Limiter // strangers, by source
	all  *ratelimit.Limiter // and together

	mu      sync.Mutex
	answers map[registerKey][]byte // nil: not answered yet
	order   []registerKey          // oldest first
}

// registerKey names one REGISTER transaction.
type registerKey struct {
	branch, callID string
	cseq           uint32
	source         netip.AddrPort
}

// welcome lets the first messages of phones pass: REGISTER from anywhere, as
// often as strangers may, and what comes from where a phone is registered.
func (r *phoneRegistrar) welcome(b []byte, s transport.Source, now time.Time) bool {
	if !r.open() {
		return false
	}
	if r.presence(s) != Absent {
		return true
	}
	return len(b) > 9 && string(b[:9]) == "REGISTER " && r.each.Spend(s.Addr.Addr(), 1, now) && r.all.Spend(netip.Addr{}, 1, now)
}

func (r *phoneRegistrar) open() bool { return r != nil && (r.Open == nil || r.Open()) }

// callable lets a stranger connect: phones may come over TCP and TLS from
// anywhere.
func (r *phoneRegistrar) callable(s transport.Source, now time.Time) bool {
	return r.open() && (r.presence(s) != Absent || r.each.Spend(s.Addr.Addr(), 1, now))
}

func (r *phoneRegistrar) presence(s transport.Source) (p Presence) {
	if r == nil {
		return Absent
	}
	defer r.u.recovered("presence", func() { p = Absent })
	return r.At(s)
}

// isPhone tells whether a request comes from a phone: from where one is
// registered, unless a trunk sends from the same host.
func (r *phoneRegistrar) isPhone(s transport.Source, trunk bool) bool {
	switch r.presence(s) {
	case Exactly:
		return true
	case AtHost:
		return !trunk
	case Absent:
	}
	return false
}

// Update is a REGISTER that has proved who sent it.
type Update struct {
	AccountID string
	Change    registrar.Change

	r   *phoneRegistrar
	m   *received
	key registerKey
}

// register takes a REGISTER. stranger: nobody knows the source, which bounds the
// size of the answer.
func (r *phoneRegistrar) register(m *received, stranger bool) {
	key := registerKey{m.Branch(), m.CallID, m.CSeq, m.Source().Addr}
	if answer, known := r.answered(key); known {
		if answer != nil {
			r.u.stats.retransmitted.Add(1)
			r.u.respond(m, answer)
		}
		return
	}
	now := time.Now()
	account, v := r.auth.CheckRequest(&m.Message, m.Source().Addr.Addr(), now)
	switch v {
	case auth.TooManyFailures:
		r.u.stats.rate.Add(1)
		return
	case auth.NoCredentials, auth.WrongCredentials:
		r.challenge(m, false, stranger, now)
		return
	case auth.StaleNonce:
		r.challenge(m, true, stranger, now)
		return
	case auth.Proven:
	}
	if message.URIUser(m.To.URI) != account.User || !account.AllowsNetwork(m.Source().Network) {
		r.refuse(m, 403)
		return
	}
	change, code := registrar.ParseRegister(&m.Message)
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
	r.pending(key)
	update := &Update{AccountID: account.ID, Change: change, r: r, m: m, key: key}
	defer r.u.recovered("register", func() { update.Refuse(500, 0) })
	r.Update(update)
}

func (r *phoneRegistrar) refuse(m *received, code int) {
	var extra []message.Header
	if code == 423 {
		extra = []message.Header{{Name: "Min-Expires", Value: strconv.Itoa(int(registrar.MinExpires / time.Second))}}
	}
	r.u.stats.rejected.Add(1)
	r.u.reply(m, code, "", extra)
}

// challenge asks for a proof. To a source that nobody knows goes at most one
// answer, and at most half as many bytes again as it has sent: a forged source
// address gains an attacker little, and a short REGISTER still fits.
func (r *phoneRegistrar) challenge(m *received, stale, stranger bool, now time.Time) {
	r.u.stats.rejected.Add(1)
	offers := r.auth.Challenges(&m.Message, m.Source().Addr.Addr(), stale, now)
	tag := r.u.id.ToTag(m.CallID, m.From.Tag+m.Branch())
	most := math.MaxInt
	if stranger && !m.Flow.IsStream() {
		most = m.MaxResponseSize() * 3 / 2
	}
	for some := offers; len(some) > 0; some = fewer(offers, some) {
		b, err := r.u.answer(m, 401, tag, some, nil)
		if err != nil {
			r.u.stats.malformed.Add(1)
			return
		}
		if len(b) <= most {
			r.u.respond(m, b)
			return
		}
	}
	r.u.stats.size.Add(1)
}

// fewer is the next smaller choice of challenges: the better one, then MD5.
func fewer(all, some []message.Header) []message.Header {
	switch {
	case len(some) > 1:
		return all[:1]
	case len(all) > 1 && &some[0] == &all[0]:
		return all[1:]
	}
	return nil
}

// invite lets a phone call, once it has proved which one it is; ok is false
// when the request was answered.
func (r *phoneRegistrar) invite(m *received) (accountID string, ok bool) {
	now := time.Now()
	account, v := r.auth.CheckRequest(&m.Message, m.Source().Addr.Addr(), now)
	switch v {
	case auth.TooManyFailures:
		r.u.stats.rate.Add(1)
		return "", false
	case auth.NoCredentials, auth.WrongCredentials:
		r.challenge(m, false, false, now)
		return "", false
	case auth.StaleNonce:
		r.challenge(m, true, false, now)
		return "", false
	case auth.Proven:
	}
	if message.URIUser(m.From.URI) != account.User || !account.AllowsNetwork(m.Source().Network) {
		r.refuse(m, 403)
		return "", false
	}
	return account.ID, true
}

// Accept answers 200 with the account's contacts.
func (u *Update) Accept(now []registrar.Binding) {
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

// Refuse answers with an error. retryAfter is rounded to seconds; 0 leaves it
// out.
func (u *Update) Refuse(code int, retryAfter time.Duration) {
	var extra []message.Header
	if retryAfter > 0 {
		extra = []message.Header{{Name: "Retry-After", Value: strconv.Itoa(int(retryAfter.Round(time.Second).Seconds()))}}
	}
	u.r.u.stats.rejected.Add(1)
	u.answer(max(300, min(code, 699)), extra)
}

func (u *Update) answer(code int, extra []message.Header) {
	b := u.r.u.reply(u.m, code, "", extra)
	if b == nil && code < 300 {
		b = u.r.u.reply(u.m, 500, "", nil)
	}
	u.r.mu.Lock()
	defer u.r.mu.Unlock()
	if _, known := u.r.answers[u.key]; known {
		u.r.answers[u.key] = b
	}
}

func (r *phoneRegistrar) answered(k registerKey) (b []byte, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, known = r.answers[k]
	return b, known
}

// pending keeps a place for the answer; the oldest one makes room.
func (r *phoneRegistrar) pending(k registerKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.order) >= remembered {
		delete(r.answers, r.order[0])
		r.order = r.order[1:]
	}
	r.order = append(r.order, k)
	r.answers[k] = nil
}

package sip

import (
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

const (
	registerFor     = time.Hour        // asked of a registrar unless said
	shortestRefresh = 10 * time.Second // however little a registrar grants
	longestGrant    = 24 * time.Hour
	registerWait    = 10 * time.Second // for an answer
	firstBackoff    = 2 * time.Second
	longestBackoff  = 5 * time.Minute
	longestRetry    = time.Hour // that a Retry-After may ask
	unregisterWait  = 4 * time.Second
)

// RegisterTo is a registration of ours at a carrier (RFC 3261 10.2).
type RegisterTo struct {
	Environment domain.Environment // as in Invite
	Target      resolve.Target     // the registrar, or the proxy before it
	Domain      string             // of the address of record; "": the target's host
	User        string             // of the address of record
	ContactUser string             // at which calls shall reach us; "": User
	Credentials *auth.Credentials  // nil: none are asked for
	Expires     time.Duration      // asked; 0 is an hour
	// Notify hears each change, in order, never concurrently; it must not block.
	Notify func(RegistrationState)
}

// RegistrationStatus is where a registration of ours stands.
type RegistrationStatus string

// The states of a registration.
const (
	RegistrationTrying  RegistrationStatus = "trying"     // asked, not answered yet
	RegistrationActive  RegistrationStatus = "registered" // calls can reach us
	RegistrationFailed  RegistrationStatus = "failed"     // will be tried again
	RegistrationRemoved RegistrationStatus = "removed"    // we gave it up
)

// RegistrationState is what a Registration tells its owner.
type RegistrationState struct {
	Status  RegistrationStatus
	Code    int       // of the last answer; 0: none came
	Reason  string    // its phrase, or what kept an answer away
	Expires time.Time // registered: when the registrar would forget us
	RetryAt time.Time // when the next REGISTER goes out
}

// Registration keeps a registrar informed where we are: it refreshes with
// jitter, takes a longer interval where one is demanded (423), backs off after
// failures, and registers anew when its connection breaks.
type Registration struct {
	d       *Dialog // carries the transactions; never a call
	to      RegisterTo
	expires time.Duration
	addrs   []resolve.Target // of the registrar, tried in turn
	signer  *auth.Signer
	fails   int
	raised  bool // a longer interval was taken in this round
	learned bool // a challenge was taken in this round
	busy    bool // a round is under way
	ended   bool
	done    func()
	timer   *time.Timer
	stopped chan struct{}
	watched *transport.Connection
	told    RegistrationStatus
}

// Register begins a registration. Bad input is refused at once; everything
// else is told by Notify, and tried again until Stop.
func (u *UserAgent) Register(to RegisterTo) (*Registration, error) {
	if !u.isReady() {
		return nil, errNotReady
	}
	user, err := aorUser(to.User)
	if err != nil {
		return nil, err
	}
	contact := user
	if to.ContactUser != "" {
		if contact, err = aorUser(to.ContactUser); err != nil {
			return nil, err
		}
	}
	if err := u.checkTarget(&to.Target); err != nil {
		return nil, err
	}
	if err := u.checkEnvironment(to.Environment, to.Target); err != nil {
		return nil, err
	}
	if to.Domain == "" {
		to.Domain = to.Target.Host
	}
	if !message.IsHost(to.Domain) {
		return nil, fmt.Errorf("sip: %q is no domain", to.Domain)
	}
	if to.Expires <= 0 {
		to.Expires = registerFor
	}
	callID := u.id.StandaloneCallID(rand.Text())
	aor := "sip:" + user + "@" + uriHost(to.Domain)
	r := &Registration{to: to, expires: min(to.Expires, longestGrant), stopped: make(chan struct{})}
	r.d = &Dialog{
		ua: u, untold: true, key: dialogKey{callID, u.id.FromTag(callID)}, flow: transport.Flow{Network: to.Target.Transport}, remoteCSeq: -1,
		localURI: aor, localParty: "<" + aor + ">", remoteURI: aor, contactUser: contact, target: to.Target, environment: to.Environment,
	}
	r.d.notify = func(e Event) {
		if s, ok := e.(registrationEvent); ok && to.Notify != nil {
			to.Notify(RegistrationState(s))
		}
	}
	if !u.dialogs.add(r.d) {
		return nil, errors.New("sip: a registration of this name is on the wire already")
	}
	r.d.do(func() {
		r.timer = r.d.after(time.Hour, r.round)
		r.round()
	})
	return r, nil
}

// registrationEvent carries a state through the queue of the dialog.
type registrationEvent RegistrationState

func (registrationEvent) sipEvent() {}

// aorUser takes what user names of carriers hold, beyond telephone numbers.
func aorUser(s string) (string, error) {
	for i := range len(s) {
		if !message.IsAlnum(s[i]) && !strings.ContainsRune("+-_.!~*'()&=$,", rune(s[i])) {
			return "", fmt.Errorf("sip: %q is no user", s)
		}
	}
	if s == "" || len(s) > 128 {
		return "", fmt.Errorf("sip: %q is no user", s)
	}
	return s, nil
}

func uriHost(host string) string {
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return "[" + host + "]"
	}
	return host
}

// checkTarget refuses what cannot be reached from our listeners and fills in
// defaults.
func (u *UserAgent) checkTarget(t *resolve.Target) error {
	if _, err := netip.ParseAddr(strings.Trim(t.Host, "[]")); t.Transport == "" && (t.Port != 0 || err == nil) {
		t.Transport = resolve.UDP
	}
	switch {
	case !message.IsHost(t.Host) || t.Port < 0 || t.Port > 65535:
		return fmt.Errorf("sip: %q port %d is no target", t.Host, t.Port)
	case !slices.Contains([]string{"", resolve.UDP, resolve.TCP, resolve.TLS}, t.Transport):
		return fmt.Errorf("sip: no transport %q", t.Transport)
	case t.Transport == resolve.UDP && !u.transport.HasUDP():
		return transport.ErrNoListener
	case t.Name != "" && !message.IsHost(t.Name):
		return fmt.Errorf("sip: %q is no name", t.Name)
	}
	return nil
}

// Stop takes our contact back. done, if given, is called once: when the
// registrar has answered, or after 4 s.
func (r *Registration) Stop(done func()) {
	r.d.do(func() {
		if r.ended {
			if done != nil {
				r.d.queue = append(r.d.queue, told{func(Event) { done() }, nil})
			}
			return
		}
		r.ended, r.done = true, done
		close(r.stopped)
		if r.told != RegistrationActive && !r.busy {
			r.removed()
			return
		}
		for _, tx := range append([]*clientTx(nil), r.d.txs...) {
			tx.heard = nil // its answer counts no more
			r.d.drop(tx)
		}
		r.learned = false
		r.d.after(unregisterWait, r.removed)
		r.send(0)
	})
}

func (r *Registration) removed() {
	if r.told == RegistrationRemoved {
		return
	}
	r.tell(RegistrationState{Status: RegistrationRemoved})
	if done := r.done; done != nil {
		r.d.queue = append(r.d.queue, told{func(Event) { done() }, nil})
	}
	r.d.retire(r.d.ua.cfg.Linger)
}

func (r *Registration) tell(s RegistrationState) {
	r.told = s.Status
	r.d.emit(registrationEvent(s))
}

// round begins a REGISTER with its tries, unless one is under way.
func (r *Registration) round() {
	if r.busy || r.ended {
		return
	}
	r.busy, r.raised, r.learned = true, false, false
	if r.told == "" {
		r.tell(RegistrationState{Status: RegistrationTrying})
	}
	go func() {
		u, t := r.d.ua, r.to.Target
		defer u.recovered("register", nil)
		found := u.resolve(t)
		r.d.do(func() {
			if r.ended {
				return
			}
			r.addrs = u.reachable(found)
			if len(r.addrs) == 0 {
				reason := "no address for the registrar"
				if len(found) == 0 {
					reason = "the registrar's name cannot be resolved"
				}
				r.failed(0, reason, 0)
				return
			}
			r.next()
		})
	}()
}

// reachable are the addresses of a target that we may go to, whoever has named
// it and however.
func (u *UserAgent) reachable(found []resolve.Target) []resolve.Target {
	var out []resolve.Target
	for _, one := range found {
		f := transport.FlowTo(one)
		if !f.IsStream() && u.transport.SocketTo(f.Addr) == nil {
			continue
		}
		if u.cfg.MayReach == nil || u.cfg.MayReach(f.Addr) {
			out = append(out, one)
		}
	}
	return out
}

// next tries the next address of the registrar.
func (r *Registration) next() {
	to := transport.FlowTo(r.addrs[0])
	r.addrs = r.addrs[1:]
	if r.d.flow.Addr != to.Addr || r.d.flow.Network != to.Network {
		r.d.flow, r.signer = to, nil
	}
	if r.signer == nil && r.to.Credentials != nil {
		r.signer = auth.NewSigner(r.to.Credentials, to.Addr.Addr())
	}
	r.d.hold(to.Addr.Addr())
	r.send(r.expires)
}

func (r *Registration) send(expires time.Duration) {
	d := r.d
	d.localCSeq++
	uri := "sip:" + uriHost(r.to.Domain)
	seconds := strconv.Itoa(int(expires / time.Second))
	extra := []message.Header{{Name: "Contact", Value: d.contact(d.flow) + ";expires=" + seconds}, {Name: "Expires", Value: seconds}, {Name: "Allow", Value: message.AllowedMethods}}
	extra = append(extra, r.signer.SignRequest(message.MethodRegister, uri, nil)...)
	d.start(&clientTx{
		method: message.MethodRegister, cseq: d.localCSeq, far: remote{target: uri}, to: d.flow, extra: extra, patience: registerWait,
	}, func(_ *clientTx, m *received, err error) { r.heard(m, err, expires) })
}

func (r *Registration) heard(m *received, err error, asked time.Duration) {
	switch {
	case m != nil && m.Code < 200:
		return
	case r.ended:
		if m != nil && r.challenged(m) {
			r.send(0)
			return
		}
		r.removed()
	case m == nil && len(r.addrs) > 0:
		r.next()
	case m == nil:
		reason := "no answer"
		if !errors.Is(err, errTimeout) {
			reason = "the registrar cannot be reached"
		}
		r.failed(0, reason, 0)
	case m.Code < 300:
		r.registered(m, asked)
	case r.challenged(m):
		r.send(asked)
	case m.Code == 423 && !r.raised && r.longer(m):
		r.raised = true
		r.send(r.expires)
	default:
		wait, _ := strconv.Atoi(strings.TrimSpace(message.TextBefore(message.TextBefore(m.HeaderValue("Retry-After"), ";"), "(")))
		r.failed(m.Code, m.Phrase, time.Duration(max(wait, 0))*time.Second)
	}
}

// challenged takes the challenge of an answer and tells whether the REGISTER can be sent again.
func (r *Registration) challenged(m *received) bool {
	if !m.IsChallenge() || !r.signer.LearnChallenges(&m.Message, m.Flow.Addr.Addr(), !r.learned) {
		return false
	}
	r.learned = true
	return true
}

// longer takes the interval that the registrar demands (RFC 3261 10.2.8).
func (r *Registration) longer(m *received) bool {
	least, err := strconv.Atoi(strings.TrimSpace(m.HeaderValue("Min-Expires")))
	asked := time.Duration(least) * time.Second
	if err != nil || asked <= r.expires || asked > longestGrant {
		return false
	}
	r.expires = asked
	return true
}

func (r *Registration) registered(m *received, asked time.Duration) {
	r.busy, r.fails = false, 0
	r.signer.RenewNonce(&m.Message, m.Flow.Addr.Addr())
	granted := r.granted(m, asked)
	// Refreshed between 70 and 90 % of the time, so that a crowd that was
	// registered in one moment does not come back in one moment.
	wait := max(time.Duration(float64(granted)*(0.7+0.2*mathrand.Float64())), shortestRefresh) //nolint:gosec // jitter is no secret
	now := time.Now()
	r.timer.Reset(wait)
	r.tell(RegistrationState{
		Status: RegistrationActive, Code: m.Code, Reason: m.Phrase, Expires: now.Add(granted), RetryAt: now.Add(wait),
	})
	r.watch(m.Flow.Connection)
}

// granted is how long the registrar keeps our contact: as it says at the
// contact, else for all of them, else what we asked.
func (r *Registration) granted(m *received, asked time.Duration) time.Duration {
	ours := message.ReadURI(r.d.contact(r.d.flow))
	for _, one := range message.SplitList(strings.Join(m.HeaderValues("contact"), ",")) {
		if !strings.EqualFold(message.ReadURI(one), ours) {
			continue
		}
		if text, found := message.ContactParam(one, "expires"); found {
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				return min(time.Duration(n)*time.Second, longestGrant)
			}
		}
	}
	if n, err := strconv.Atoi(strings.TrimSpace(m.HeaderValue("Expires"))); err == nil && n > 0 {
		return min(time.Duration(n)*time.Second, longestGrant)
	}
	return asked
}

// watch registers anew once the connection that carries our registration is
// gone: calls could not reach us on it any more.
func (r *Registration) watch(c *transport.Connection) {
	if c == nil || c == r.watched {
		return
	}
	r.watched = c
	go func() {
		select {
		case <-r.stopped:
		case <-c.Closed():
			r.d.do(func() {
				if r.watched == c && !r.ended && !r.busy {
					r.failed(0, "the connection was lost", 0)
				}
			})
		}
	}()
}

// failed waits longer after each failure; a registrar that says how long to
// wait is believed.
func (r *Registration) failed(code int, reason string, asked time.Duration) {
	r.busy = false
	wait := min(firstBackoff<<min(r.fails, 10), longestBackoff)
	r.fails++
	wait = max(wait/2+time.Duration(mathrand.Int64N(int64(wait/2)+1)), min(asked, longestRetry)) //nolint:gosec // jitter is no secret
	r.timer.Reset(wait)
	r.tell(RegistrationState{Status: RegistrationFailed, Code: code, Reason: reason, RetryAt: time.Now().Add(wait)})
}

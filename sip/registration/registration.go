// Package registration keeps Callboard registered at a carrier's registrar, so that the carrier's calls reach it
// (RFC 3261 §10.2).
package registration

import (
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

const (
	defaultExpires    = time.Hour
	minRefresh        = 10 * time.Second // minimum, however short the granted interval is
	maxGrantedExpires = 24 * time.Hour
	responseTimeout   = 10 * time.Second
	firstBackoff      = 2 * time.Second
	maxBackoff        = 5 * time.Minute
	maxRetryAfter     = time.Hour // maximum that a Retry-After may request
	removalTimeout    = 4 * time.Second
)

// Agent creates clients for requests outside of any dialog.
type Agent interface {
	NewStandaloneClient(c sip.StandaloneConfig) (*sip.StandaloneClient, error)
}

// Config describes a registration at a carrier's registrar.
type Config struct {
	Environment domain.Environment // as in sip.Invite
	Target      resolve.Target     // the registrar, or the proxy before it
	Domain      string             // of the address of record; "": the target's host
	User        string             // of the address of record
	ContactUser string             // user of the Contact, to which calls are sent; "": User
	Credentials *auth.Credentials  // nil: challenges are not answered
	Expires     time.Duration      // requested interval. Default: one hour
	Notify      func(State)        // receives each change, in order, never concurrently; must not block
}

// Status is the status of a registration.
type Status string

// The values of Status.
const (
	Trying     Status = "trying"     // the first REGISTER has no response yet
	Registered Status = "registered" // calls can reach this user agent
	Failed     Status = "failed"     // will be tried again
	Removed    Status = "removed"    // by Stop
)

// State is the new state that Config.Notify receives after each change of a registration.
type State struct {
	Status  Status
	Code    int       // status code of the last response; 0: none arrived
	Reason  string    // phrase of the response, or why none arrived
	Expires time.Time // with Registered: when the registrar removes the Contact
	RetryAt time.Time // when the next REGISTER is sent
}

// Registration keeps one Contact registered. It refreshes the Contact at random times, accepts the longer interval that
// a registrar demands (423), waits longer after each failure, and registers again when its connection is lost.
type Registration struct {
	requests          *sip.StandaloneClient // its lock guards all fields
	cfg               Config
	uri               string           // Request-URI of REGISTERs
	expires           time.Duration    // requested interval
	addresses         []resolve.Target // addresses of the registrar, not tried yet
	signer            *auth.Signer     // nil: Config has no credentials
	failures          int              // failures in a row
	raisedExpires     bool             // this round has raised the interval once
	answeredChallenge bool             // this round has answered a challenge
	busy              bool             // a round is under way
	stopped           bool
	onRemoved         func()
	timer             *time.Timer // starts the next round
	closed            chan struct{}
	watched           *transport.Connection
	status            Status
}

// Start starts a registration. It returns an error for invalid input. All later failures are reported by Config.Notify,
// and the registration is retried until Stop.
func Start(agent Agent, c Config) (*Registration, error) {
	user, err := checkUser(c.User)
	if err != nil {
		return nil, err
	}
	contact := user
	if c.ContactUser != "" {
		if contact, err = checkUser(c.ContactUser); err != nil {
			return nil, err
		}
	}
	if c.Domain == "" {
		c.Domain = c.Target.Host
	}
	if !message.IsHost(c.Domain) {
		return nil, fmt.Errorf("sip: %q is not a valid domain", c.Domain)
	}
	if c.Expires <= 0 {
		c.Expires = defaultExpires
	}
	host := uriHost(c.Domain)
	r := &Registration{cfg: c, uri: "sip:" + host, expires: min(c.Expires, maxGrantedExpires), closed: make(chan struct{})}
	r.requests, err = agent.NewStandaloneClient(sip.StandaloneConfig{
		Name: rand.Text(), FromUser: user, FromDomain: host, To: "sip:" + user + "@" + host, ContactUser: contact, Environment: c.Environment, Target: c.Target,
	})
	if err != nil {
		return nil, err
	}
	r.requests.Do(func() {
		r.timer = r.requests.After(time.Hour, r.startRound)
		r.startRound()
	})
	return r, nil
}

// checkUser returns an error if a user name has characters that a SIP URI does not allow. It accepts the user names that
// carriers assign, which need not be telephone numbers.
func checkUser(s string) (string, error) {
	for i := range len(s) {
		if !message.IsAlnum(s[i]) && !strings.ContainsRune("+-_.!~*'()&=$,", rune(s[i])) {
			return "", fmt.Errorf("sip: %q is not a valid user", s)
		}
	}
	if s == "" || len(s) > 128 {
		return "", fmt.Errorf("sip: %q is not a valid user", s)
	}
	return s, nil
}

func uriHost(host string) string {
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return "[" + host + "]"
	}
	return host
}

// Stop removes the Contact from the registrar. done may be nil; it is called once, after the response or after 4 s.
func (r *Registration) Stop(done func()) {
	r.requests.Do(func() {
		if r.stopped {
			if done != nil {
				r.requests.Notify(done)
			}
			return
		}
		r.stopped, r.onRemoved = true, done
		close(r.closed)
		if r.status != Registered && !r.busy {
			r.remove()
			return
		}
		r.requests.Abort()
		r.answeredChallenge = false
		r.requests.After(removalTimeout, r.remove)
		r.sendRegister(0)
	})
}

// remove ends the registration and reports Removed, once. It sends nothing.
func (r *Registration) remove() {
	if r.status == Removed {
		return
	}
	r.report(State{Status: Removed})
	if r.onRemoved != nil {
		r.requests.Notify(r.onRemoved)
	}
	r.requests.Retire()
}

func (r *Registration) report(s State) {
	r.status = s.Status
	if notify := r.cfg.Notify; notify != nil {
		r.requests.Notify(func() { notify(s) })
	}
}

// startRound looks up the registrar and starts a REGISTER with its retries, if no such round is in progress.
func (r *Registration) startRound() {
	if r.busy || r.stopped {
		return
	}
	r.busy, r.raisedExpires, r.answeredChallenge = true, false, false
	if r.status == "" {
		r.report(State{Status: Trying})
	}
	r.requests.FindAddresses(func(addresses []resolve.Target, resolved bool) {
		switch {
		case r.stopped:
		case !resolved:
			r.fail(0, "the registrar's name cannot be resolved", 0)
		case len(addresses) == 0:
			r.fail(0, "no address for the registrar", 0)
		default:
			r.addresses = addresses
			r.tryNextAddress()
		}
	})
}

func (r *Registration) tryNextAddress() {
	to := r.addresses[0]
	r.addresses = r.addresses[1:]
	changed := r.requests.UseAddress(to)
	if r.cfg.Credentials != nil && (changed || r.signer == nil) {
		r.signer = auth.NewSigner(r.cfg.Credentials, r.requests.Address().Addr())
	}
	r.sendRegister(r.expires)
}

// sendRegister sends a REGISTER that requests the interval expires. An interval of 0 removes the Contact.
func (r *Registration) sendRegister(expires time.Duration) {
	seconds := strconv.Itoa(int(expires / time.Second))
	headers := []message.Header{
		{Name: "Contact", Value: r.requests.Contact() + ";expires=" + seconds}, {Name: "Expires", Value: seconds}, {Name: "Allow", Value: message.AllowedMethods},
	}
	headers = append(headers, r.signer.SignRequest(message.MethodRegister, r.uri, nil)...)
	r.requests.Send(sip.StandaloneRequest{Method: message.MethodRegister, URI: r.uri, Headers: headers, Timeout: responseTimeout},
		func(m *transport.Received, err error) { r.handleResponse(m, err, expires) })
}

// handleResponse handles the final response to a REGISTER. m is nil if none arrived. asked is the requested interval.
func (r *Registration) handleResponse(m *transport.Received, err error, asked time.Duration) {
	switch {
	case r.stopped:
		if m != nil && r.learnChallenge(m) {
			r.sendRegister(0)
			return
		}
		r.remove()
	case m == nil && len(r.addresses) > 0:
		r.tryNextAddress()
	case m == nil:
		reason := "no answer"
		if !errors.Is(err, sip.ErrTimeout) {
			reason = "the registrar cannot be reached"
		}
		r.fail(0, reason, 0)
	case m.Code < 300:
		r.succeed(m, asked)
	case r.learnChallenge(m):
		r.sendRegister(asked)
	case m.Code == 423 && !r.raisedExpires && r.raiseExpires(m):
		r.raisedExpires = true
		r.sendRegister(r.expires)
	default:
		wait, _ := strconv.Atoi(strings.TrimSpace(message.TextBefore(message.TextBefore(m.HeaderValue("Retry-After"), ";"), "(")))
		r.fail(m.Code, m.Phrase, time.Duration(max(wait, 0))*time.Second)
	}
}

// learnChallenge stores the challenge of a response. It returns whether the REGISTER can be sent again with credentials.
func (r *Registration) learnChallenge(m *transport.Received) bool {
	if !m.IsChallenge() || !r.signer.LearnChallenges(&m.Message, m.Flow.Addr.Addr(), !r.answeredChallenge) {
		return false
	}
	r.answeredChallenge = true
	return true
}

// raiseExpires raises the interval to the one that the registrar demands in a 423 (RFC 3261 §10.2.8). It returns false
// if the registrar demands no longer interval or one that is too long.
func (r *Registration) raiseExpires(m *transport.Received) bool {
	least, err := strconv.Atoi(strings.TrimSpace(m.HeaderValue("Min-Expires")))
	demanded := time.Duration(least) * time.Second
	if err != nil || demanded <= r.expires || demanded > maxGrantedExpires {
		return false
	}
	r.expires = demanded
	return true
}

func (r *Registration) succeed(m *transport.Received, asked time.Duration) {
	r.busy, r.failures = false, 0
	r.signer.RenewNonce(&m.Message, m.Flow.Addr.Addr())
	granted := grantedExpires(&m.Message, r.requests.Contact(), asked)
	// The refresh comes after 70 to 90 % of the interval. Thus registrations that began at the same time are spread.
	wait := max(time.Duration(float64(granted)*(0.7+0.2*mathrand.Float64())), minRefresh) //nolint:gosec // jitter is no secret
	now := time.Now()
	r.timer.Reset(wait)
	r.report(State{Status: Registered, Code: m.Code, Reason: m.Phrase, Expires: now.Add(granted), RetryAt: now.Add(wait)})
	r.watchConnection(m.Flow.Connection)
}

// grantedExpires returns how long the registrar stores the Contact. It takes the time from the expires parameter of the
// Contact, otherwise from the Expires header, and otherwise returns asked, the requested interval.
func grantedExpires(m *message.Message, contact string, asked time.Duration) time.Duration {
	ours := message.ReadURI(contact)
	for _, c := range message.SplitList(strings.Join(m.HeaderValues("contact"), ",")) {
		if !strings.EqualFold(message.ReadURI(c), ours) {
			continue
		}
		if text, found := message.ContactParam(c, "expires"); found {
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				return min(time.Duration(n)*time.Second, maxGrantedExpires)
			}
		}
	}
	if n, err := strconv.Atoi(strings.TrimSpace(m.HeaderValue("Expires"))); err == nil && n > 0 {
		return min(time.Duration(n)*time.Second, maxGrantedExpires)
	}
	return asked
}

// watchConnection starts a new registration when the connection c is closed, because the carrier's calls arrive on that
// connection.
func (r *Registration) watchConnection(c *transport.Connection) {
	if c == nil || c == r.watched {
		return
	}
	r.watched = c
	go func() {
		select {
		case <-r.closed:
		case <-c.Closed():
			r.requests.Do(func() {
				if r.watched == c && !r.stopped && !r.busy {
					r.fail(0, "the connection was lost", 0)
				}
			})
		}
	}()
}

// fail reports a failure and schedules the next REGISTER. The delay grows with each failure in a row, and is at least
// asked, the time that the registrar demands.
func (r *Registration) fail(code int, reason string, asked time.Duration) {
	r.busy = false
	wait := min(firstBackoff<<min(r.failures, 10), maxBackoff)
	r.failures++
	wait = max(wait/2+time.Duration(mathrand.Int64N(int64(wait/2)+1)), min(asked, maxRetryAfter)) //nolint:gosec // jitter is no secret
	r.timer.Reset(wait)
	r.report(State{Status: Failed, Code: code, Reason: reason, RetryAt: time.Now().Add(wait)})
}

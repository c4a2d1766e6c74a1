package sip_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/registration"
	"github.com/callboard/callboard/sip/resolve"
)

// registrationStates is a channel with the states that a registration reports.
type registrationStates chan registration.State

func (s registrationStates) next(t *testing.T) registration.State {
	t.Helper()
	select {
	case got := <-s:
		return got
	case <-time.After(10 * time.Minute):
		require.Fail(t, "no state was reported")
	}
	panic("unreachable")
}

func (s *stage) register(change func(*registration.Config)) (*registration.Registration, registrationStates) {
	s.t.Helper()
	told := make(registrationStates, 64)
	to := registration.Config{
		Target: resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp"}, Domain: "carrier.example", User: "acme",
		Credentials: &auth.Credentials{Username: "acme", Password: "secret"},
		Notify:      func(st registration.State) { told <- st },
	}
	if change != nil {
		change(&to)
	}
	r, err := registration.Start(s.ua, to)
	require.NoError(s.t, err)
	assert.Equal(s.t, registration.Trying, told.next(s.t).Status)
	return r, told
}

func challengeOf(nonce, algorithm string, more ...string) string {
	c := `WWW-Authenticate: Digest realm="carrier.example", nonce="` + nonce + `", algorithm=` + algorithm + `, qop="auth"`
	return strings.Join(append([]string{c}, more...), ", ")
}

func TestRegistrationAuthenticatesRefreshesAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		defer s.stop()
		r, told := s.register(nil)
		first := s.peer.expect("REGISTER sip:carrier.example SIP/2.0")
		assert.Contains(t, first.get("From"), "<sip:acme@carrier.example>")
		assert.Equal(t, "<sip:acme@127.0.0.1:5060>;expires=3600", first.get("Contact"))
		assert.Empty(t, first.get("Authorization"))
		s.peer.send(first.reply(401, "r", challengeOf("n1", "MD5"), challengeOf("n1", "SHA-256")), s.localAddr())
		proved := s.peer.expect("REGISTER")
		assert.Contains(t, proved.get("Authorization"), "SHA-256")
		assert.Contains(t, proved.get("Authorization"), `nonce="n1"`)
		s.peer.send(proved.reply(200, "r", "Contact: <sip:other@127.0.0.9>;expires=77, "+first.get("Contact")[:strings.Index(first.get("Contact"), ";")]+";expires=100",
			`Authentication-Info: nextnonce="n2"`), s.localAddr())
		up := told.next(t)
		assert.Equal(t, registration.Registered, up.Status)
		assert.Equal(t, 100*time.Second, time.Until(up.Expires).Round(time.Second))
		start := time.Now()
		again := s.peer.expect("REGISTER")
		assert.InDelta(t, 80, time.Since(start).Seconds(), 10.1, "refreshed in time, with jitter")
		assert.Equal(t, first.get("Call-ID"), again.get("Call-ID"))
		assert.Contains(t, again.get("Authorization"), `nonce="n2"`, "the known nonce is used without a challenge")
		s.peer.send(again.reply(401, "r", challengeOf("n3", "SHA-256", "stale=true")), s.localAddr())
		s.peer.send(s.peer.expect("REGISTER").reply(200, "r"), s.localAddr())
		assert.Equal(t, registration.Registered, told.next(t).Status)
		gone := make(chan struct{})
		r.Stop(func() { close(gone) })
		last := s.peer.expect("REGISTER")
		assert.Contains(t, last.get("Contact"), ";expires=0")
		s.peer.send(last.reply(200, "r"), s.localAddr())
		<-gone
		assert.Equal(t, registration.Removed, told.next(t).Status)
		s.peer.expectNothing(2 * time.Hour)
	})
}

func TestRegistrationRaisesIntervalAfter423(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		defer s.stop()
		_, told := s.register(func(to *registration.Config) { to.Expires, to.Credentials = time.Minute, nil })
		s.peer.send(s.peer.expect("REGISTER").reply(423, "r", "Min-Expires: 900"), s.localAddr())
		second := s.peer.expect("REGISTER")
		assert.Equal(t, "900", second.get("Expires"))
		s.peer.send(second.reply(423, "r", "Min-Expires: 1800"), s.localAddr())
		assert.Equal(t, 423, told.next(t).Code, "422 or 423 is followed once")
	})
}

func TestRegistrationBacksOffAfterFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		defer s.stop()
		_, told := s.register(func(to *registration.Config) { to.Credentials = nil })
		var waits []string
		for i := range 12 {
			s.peer.send(s.peer.expectWithinHour("REGISTER").reply(503, "r"), s.localAddr())
			failed := told.next(t)
			require.Equal(t, registration.Failed, failed.Status)
			most := min(2*time.Second<<i, 5*time.Minute)
			wait := time.Until(failed.RetryAt)
			waits = append(waits, strconv.FormatBool(wait <= most && wait >= most/2-time.Millisecond))
		}
		assert.Equal(t, strings.Repeat("true ", 11)+"true", strings.Join(waits, " "))
		s.peer.send(s.peer.expectWithinHour("REGISTER").reply(503, "r", "Retry-After: 1200"), s.localAddr())
		assert.Equal(t, 20*time.Minute, time.Until(told.next(t).RetryAt).Round(time.Second))
		s.peer.send(s.peer.expectWithinHour("REGISTER").reply(200, "r", "Expires: 600"), s.localAddr())
		assert.Equal(t, registration.Registered, told.next(t).Status)
	})
}

func TestRegistrationWithWrongPasswordSendsTwoRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		defer s.stop()
		_, told := s.register(nil)
		s.peer.send(s.peer.expect("REGISTER").reply(401, "r", challengeOf("n1", "MD5")), s.localAddr())
		s.peer.send(s.peer.expect("REGISTER").reply(401, "r", challengeOf("n2", "MD5", "stale=true")), s.localAddr())
		s.peer.send(s.peer.expect("REGISTER").reply(401, "r", challengeOf("n3", "MD5", "stale=true")), s.localAddr())
		assert.Equal(t, 401, told.next(t).Code)
		s.peer.expectNothing(900 * time.Millisecond)
	})
}

func TestRegistrationFailsWithoutResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		defer s.stop()
		_, told := s.register(nil)
		start := time.Now()
		assert.Equal(t, "no answer", told.next(t).Reason)
		assert.Equal(t, 10*time.Second, time.Since(start).Round(time.Second))
	})
}

func TestCredentialsAreSentToCalledHostOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		defer s.stop()
		d := s.invite(func(in *sip.Invite) { in.Credentials = &auth.Credentials{Username: "u", Password: "secret"} })
		inv := s.peer.expect("INVITE")
		s.peer.send(inv.reply(407, "p", strings.Replace(challengeOf("n1", "SHA-256"), "WWW-Authenticate", "Proxy-Authenticate", 1)), s.localAddr())
		s.peer.expect("ACK")
		inv = s.peer.expect("INVITE")
		require.Contains(t, inv.get("Proxy-Authorization"), "n1")
		thief := &peer{t, s.net.open("127.0.0.6:5070")}
		s.peer.send(inv.reply(200, "p1", "Contact: <sip:thief@127.0.0.6:5070>", sdp), s.localAddr())
		thief.expect("ACK")
		next[sip.Answered](t, s.events)
		d.Bye(16, "")
		bye := thief.expect("BYE")
		thief.send(bye.reply(407, "p1", strings.Replace(challengeOf("chosen", "MD5"), "WWW-Authenticate", "Proxy-Authenticate", 1)), s.localAddr())
		next[sip.Ended](t, s.events)
		thief.expectNothing(time.Second)
	})
}

func TestAnsweredCallAnswersNoNewRealm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		defer s.stop()
		d := s.invite(func(in *sip.Invite) { in.Credentials = &auth.Credentials{Username: "u", Password: "secret"} })
		s.peer.send(s.peer.expect("INVITE").reply(401, "p", challengeOf("n1", "MD5")), s.localAddr())
		s.peer.expect("ACK")
		inv := s.peer.expect("INVITE")
		s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
		s.peer.expect("ACK")
		next[sip.Answered](t, s.events)
		d.Bye(16, "")
		bye := s.peer.expect("BYE")
		s.peer.send(bye.reply(401, "p1", strings.Replace(challengeOf("n2", "MD5"), "carrier.example", "elsewhere", 1)), s.localAddr())
		next[sip.Ended](t, s.events)
		s.peer.expectNothing(time.Second)
	})
}

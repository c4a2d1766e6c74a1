package sip_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/registration"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

func TestRegisterFromSIPp(t *testing.T) { //nolint:tparallel // beside its own cases only: SIPp counts in real time
	for _, scenario := range []string{"uac-register", "uac-register-brief"} {
		for _, network := range []string{"udp", "tcp"} {
			t.Run(scenario+" "+network, func(t *testing.T) {
				t.Parallel()
				kept := make(chan []registrar.Binding, 1)
				ua := startUserAgent(t, func(_ *sip.Config, ua *sip.UserAgent) {
					if ua == nil {
						return
					}
					ua.SetAdmission(func(transport.Source) sip.Admission { return sip.Admission{} })
					ua.SetRegistrar(registrar.Config{
						Account: func(user string) (auth.Account, bool) {
							return auth.Account{ID: user, User: user, Password: "correct-horse-battery"}, user == "1001"
						},
						Presence: func(transport.Source) registrar.Presence { return registrar.Absent },
						Update: func(u *registrar.Update) {
							after, _ := u.Change.Apply(nil, time.Now())
							kept <- after
							go u.Accept(after)
						},
					})
				})
				phone := runSIPp(t, scenario, network, "-s", "1001", "-m", "1", ua.Addr(network).String())
				select {
				case err := <-phone.done:
					require.NoError(t, err, phone.out.String())
				case <-time.After(time.Minute):
					require.Fail(t, "the phone did not end")
				}
				if scenario == "uac-register" {
					b := (<-kept)[0]
					assert.Equal(t, network, b.Network)
					assert.Equal(t, "127.0.0.1", b.Source.Addr().String())
				}
				assert.Empty(t, kept)
			})
		}
	}
}

func TestRegistrationAtSIPp(t *testing.T) {
	t.Parallel()
	there := runSIPp(t, "uas-registrar", "udp", "-m", "1")
	there.waitUntilListening(t, "udp")
	told := make(registrationStates, 16)
	_, err := registration.Start(startUserAgent(t, nil), registration.Config{
		Target: resolve.Target{Host: "127.0.0.1", Port: there.port, Transport: "udp"}, User: "acme",
		Credentials: &auth.Credentials{Username: "callboard", Password: "secret", Realm: "callboard"},
		Notify:      func(s registration.State) { told <- s },
	})
	require.NoError(t, err)
	assert.Equal(t, registration.Trying, told.next(t).Status)
	up := told.next(t)
	assert.Equal(t, registration.Registered, up.Status, up.Reason)
	assert.InDelta(t, 7200, time.Until(up.Expires).Seconds(), 5)
	require.NoError(t, <-there.done, there.out.String())
	assert.Equal(t, []string{"REGISTER", "acme"}, there.readLog(t)[:2])
}

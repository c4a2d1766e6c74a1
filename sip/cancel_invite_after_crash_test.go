package sip_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// initialInvites returns changes to an INVITE, one per case in which the process is killed before it gets a response.
func initialInvites() map[string]func(*sip.Invite) {
	return map[string]func(*sip.Invite){
		"direct": func(*sip.Invite) {},
		"through a proxy": func(in *sip.Invite) {
			in.Proxy = &resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp"}
			in.Target = resolve.Target{Host: "carrier.example", Port: 5060, Transport: "udp"}
		},
		"with a display name": func(in *sip.Invite) { in.FromDomain, in.FromName = "clinic.example", "Clinic" },
	}
}

// The state that is stored before an INVITE is sent lets another node cancel the INVITE. Otherwise the phone would
// ring and the callee would hear silence.
func TestInitialStateLetsAnotherNodeCancelInvite(t *testing.T) {
	for name, set := range initialInvites() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				old := newStage(t, nil)
				in := sip.Invite{
					Attempt: "att_1", Leg: 1, Target: resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp"},
					To: "+15550001", From: "+15559999", Body: []byte(sdp), Notify: old.events.add,
				}
				set(&in)
				state := storedState(t, old.ua.InitialState(in))
				d, err := old.ua.Invite(in)
				require.NoError(t, err)
				inv := old.peer.expect("INVITE")
				now := d.State()
				assert.Equal(t, []any{now.CallID, now.LocalURI, now.RemoteURI, now.SentBy, now.Route}, []any{state.CallID, state.LocalURI, state.RemoteURI, state.SentBy, state.Route})
				s := old.restart()
				done := make(chan bool, 2)
				begun := time.Now()
				s.ua.EndAbandoned(state, func(answered bool) { done <- answered })
				cancel := s.peer.expect("CANCEL ")
				uri, _, _ := splitRequestURI(inv.text)
				got, _, _ := splitRequestURI(cancel.text)
				assert.Equal(t, uri, got)
				assert.Equal(t, []string{inv.get("Via"), inv.get("Route"), inv.get("Call-ID"), "1 CANCEL"}, []string{cancel.get("Via"), cancel.get("Route"), cancel.get("Call-ID"), cancel.get("CSeq")})
				s.peer.send(cancel.reply(200, ""), s.localAddr())
				s.peer.expectNothing(time.Minute)
				assert.False(t, <-done, "it is unknown whether the call rings")
				assert.Less(t, time.Since(begun), 2*time.Minute)
				s.stop()
			})
		})
	}
}

// A target that requires authentication has received a second INVITE. The new process must cancel both INVITEs.
func TestInitialStateCancelsBothInvitesOfChallengedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := newStage(t, nil)
		in := sip.Invite{
			Attempt: "att_1", Leg: 1, Target: resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp"},
			To: "+15550001", From: "+15559999", Body: []byte(sdp), Notify: old.events.add, Credentials: &auth.Credentials{Username: "ann", Password: "secret"},
		}
		state := storedState(t, old.ua.InitialState(in))
		_, err := old.ua.Invite(in)
		require.NoError(t, err)
		first := old.peer.expect("INVITE")
		old.peer.send(first.reply(401, "p0", `WWW-Authenticate: Digest realm="carrier", nonce="n1", algorithm=MD5, qop="auth"`), old.localAddr())
		old.peer.expect("ACK")
		second := old.peer.expect("INVITE")
		s := old.restart()
		done := make(chan bool, 2)
		s.ua.EndAbandoned(state, func(answered bool) { done <- answered })
		via := map[string]string{first.get("Via"): "1 CANCEL", second.get("Via"): "2 CANCEL"}
		for range 2 {
			cancel := s.peer.expect("CANCEL")
			assert.Equal(t, via[cancel.get("Via")], cancel.get("CSeq"))
			delete(via, cancel.get("Via"))
			s.peer.send(cancel.reply(map[bool]int{true: 481, false: 200}[cancel.get("CSeq") == "1 CANCEL"], ""), s.localAddr())
		}
		assert.Empty(t, via)
		// The final response to the INVITE arrives at the restarted process, which must acknowledge it.
		s.peer.send(second.reply(487, "p1"), s.localAddr())
		s.peer.expect("ACK")
		assert.True(t, <-done)
		s.stop()
	})
}

// A phone that starts to ring after the CANCEL is cancelled again. For a target with a host name the state has only
// Call-ID and target, because the address of the INVITE is not known yet.
func TestInitialStateCancelsLateRingingAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := newStage(t, nil)
		in := sip.Invite{
			Attempt: "att_1", Leg: 1, Target: resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp"},
			To: "+15550001", From: "+15559999", Body: []byte(sdp), Notify: old.events.add,
		}
		state := storedState(t, old.ua.InitialState(in))
		named := in
		named.Target.Host = "carrier.example"
		moved := in
		moved.URI = "sip:ann@192.0.2.7"
		for _, other := range []sip.Invite{named, moved, {Attempt: "att_1", Leg: 1, Target: in.Target, To: "not a number\r\n"}} {
			assert.Equal(t, sip.DialogState{CallID: state.CallID, Target: other.Target}, old.ua.InitialState(other))
		}
		_, err := old.ua.Invite(in)
		require.NoError(t, err)
		inv := old.peer.expect("INVITE")
		s := old.restart()
		done := make(chan bool, 2)
		s.ua.EndAbandoned(state, func(answered bool) { done <- answered })
		cancel := s.peer.expect("CANCEL")
		s.peer.send(cancel.reply(481, ""), s.localAddr())
		s.peer.send(inv.reply(180, "p1", contact), s.localAddr())
		s.peer.expect("CANCEL")
		s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
		s.peer.expect("ACK sip:peer@")
		bye := s.peer.expectIgnoring("BYE sip:peer@", "CANCEL")
		s.peer.send(bye.reply(200, ""), s.localAddr())
		assert.True(t, <-done)
		s.stop()
	})
}

// splitRequestURI returns the Request-URI and the rest of a request.
func splitRequestURI(text string) (uri, rest string, found bool) {
	_, after, _ := strings.Cut(text, " ")
	return strings.Cut(after, " ")
}

// BenchmarkInitialState measures the time of InitialState per call and the size of the state.
func BenchmarkInitialState(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: "127.0.0.1:0"}}, Secret: []byte("secret")})
	require.NoError(b, err)
	ended := make(chan struct{})
	go func() { _ = ua.Serve(ctx); close(ended) }()
	<-ua.Ready()
	in := sip.Invite{Attempt: "call_01ARZ3NDEKTSV4RRFFQ69G5FAV", Leg: 1, Target: resolve.Target{Host: "203.0.113.10", Port: 5060, Transport: "udp", TrunkID: "trunk_01ARZ3NDEKTSV4RRFFQ69G5FAV"}, To: "+12025550123", From: "+12025550100"}
	before := sip.DialogState{CallID: ua.CallID(in.Attempt, 1), Target: in.Target}
	old, err := domain.AppendRow(nil, &before)
	require.NoError(b, err)
	row := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		s := ua.InitialState(in)
		row, err = domain.AppendRow(row[:0], &s)
	}
	require.NoError(b, err)
	b.ReportMetric(float64(len(row)-len(old)), "B/row")
	cancel()
	<-ended
}

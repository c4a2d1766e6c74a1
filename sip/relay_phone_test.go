package sip_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/cluster"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/transport"
)

// registerPhonesAtOwner lets phones register at the owner node, whichever node receives the REGISTER.
func registerPhonesAtOwner(r *phoneAccounts) func(*nodePair, string, *sip.Config, *sip.UserAgent) {
	return func(_ *nodePair, name string, _ *sip.Config, ua *sip.UserAgent) {
		if name != "owner" || ua == nil {
			return
		}
		ua.SetAdmission(func(transport.Source) sip.Admission { return sip.Admission{} })
		ua.SetRegistrar(registrar.Config{
			Account: func(user string) (auth.Account, bool) {
				return auth.Account{ID: "phone-" + user, User: user, Password: "secret of " + user}, user == "1001"
			},
			Presence: func(s transport.Source) registrar.Presence {
				r.mu.Lock()
				defer r.mu.Unlock()
				for _, b := range r.bound["phone-1001"] {
					if b.Source == s.Addr {
						return registrar.AtAddress
					}
				}
				return registrar.Absent
			},
			Update: func(u *registrar.Update) {
				r.mu.Lock()
				defer r.mu.Unlock()
				after, code := u.Change.Apply(r.bound[u.AccountID], time.Now())
				if code != 0 {
					u.Refuse(code, 0)
					return
				}
				r.bound[u.AccountID] = after
				u.Accept(after)
			},
		})
	}
}

func newPhoneRequest() phoneRequest {
	return phoneRequest{user: "1001", contact: "<sip:1001@10.0.0.7:5060>", expires: "600", cseq: 1}
}

func TestRelayOfCallToPhoneOfAnotherNode(t *testing.T) {
	r := newPhoneAccounts()
	bubbleWithTwoNodes(t, registerPhonesAtOwner(r), func(n *nodePair) {
		require.Contains(t, n.registerPhone(newPhoneRequest()).line(), "200")
		b := r.bound["phone-1001"][0]
		assert.Equal(t, []string{peerAddr, "udp", localAddr, localAddr}, []string{b.Source.String(), b.Network, b.Local.String(), b.Through.String()})
		w, _ := n.queries.Load("REGISTER")
		assert.Equal(t, "1001", w.(cluster.OwnerQuery).To)
		d, err := n.owner.Invite(sip.Invite{
			Attempt: "a", Leg: 1, URI: b.URI, Target: b.Contact().Target, To: "1001", From: "+15559999", Body: []byte(sdp), Notify: n.events.add,
		})
		require.NoError(t, err)
		inv := n.peer.expect("INVITE sip:1001@10.0.0.7:5060 SIP/2.0")
		assert.Equal(t, localAddr, inv.from.String(), "the phone's NAT admits only this node")
		assert.Equal(t, "<sip:+15559999@127.0.0.3:5060;node=owner>", inv.get("Contact"))
		assert.Empty(t, inv.get("Callboard-Relay"))
		assert.Equal(t, "70", inv.get("Max-Forwards"))
		vias := strings.Join(viasOf(inv), ", ")
		answer := func(m msg, code int, more ...string) {
			n.peer.send(strings.Replace(m.reply(code, "p1", more...), "Via: "+m.get("Via"), "Via: "+strings.Join(viasOf(m), ", "), 1), m.from)
		}
		answer(inv, 180)
		next[sip.Trying](t, n.events)
		next[sip.Ringing](t, n.events)
		answer(inv, 200, "Contact: <sip:1001@10.0.0.7:5060>", sdp)
		ack := n.peer.expect("ACK sip:1001@10.0.0.7:5060 SIP/2.0")
		assert.Equal(t, localAddr, ack.from.String())
		next[sip.Answered](t, n.events)
		d.Bye(16, "")
		bye := n.peer.expect("BYE")
		assert.Equal(t, localAddr, bye.from.String())
		assert.NotEqual(t, vias, strings.Join(viasOf(bye), ", "))
		answer(bye, 200)
		assert.False(t, next[sip.Ended](t, n.events).Fault)
		n.peer.expectNothing(time.Minute)
	})
}

func viasOf(m msg) (all []string) {
	for line := range strings.SplitSeq(m.text, "\r\n") {
		if via, found := strings.CutPrefix(line, "Via: "); found {
			all = append(all, via)
		}
	}
	return all
}

func TestRelayOfCallFromPhoneOfAnotherNode(t *testing.T) {
	r := newPhoneAccounts()
	bubbleWithTwoNodes(t, registerPhonesAtOwner(r), func(n *nodePair) {
		n.registerPhone(newPhoneRequest())
		a := phoneRequest{method: "INVITE", user: "1001", uri: "sip:1002@127.0.0.1", contact: "<sip:1001@10.0.0.7:5060>", cseq: 5, callID: "out-1"}
		a.nonce = n.fetchNonce(a)
		a.cseq, a.nc, a.algorithm, a.password = 6, 1, "SHA-256", "secret of 1001"
		n.peer.send(a.text(), n.localAddr())
		n.peer.expect("SIP/2.0 100")
		i := <-n.calls
		assert.Equal(t, "phone-1001", i.PhoneID)
		d := i.Answer([]byte(sdp), n.events.add)
		ok := n.peer.expect("SIP/2.0 200")
		ack := strings.NewReplacer("in-1", "out-1", "tag=caller", "tag=f1").Replace(followUpRequest("ACK", toTagOf(ok), 6))
		n.peer.send(ack, n.ownerAddrPort())
		synctest.Wait()
		d.Bye(16, "")
		bye := n.peer.expect("BYE sip:1001@10.0.0.7:5060 SIP/2.0")
		assert.Equal(t, localAddr, bye.from.String(), "from the address that its NAT admits")
	})
}

// An unknown source gets at most one response to a REGISTER, of at most one and a half times the size of its
// request.
func TestRelayOfRegisterBoundsResponses(t *testing.T) {
	bubbleWithTwoNodes(t, registerPhonesAtOwner(newPhoneAccounts()), func(n *nodePair) {
		a := newPhoneRequest()
		n.peer.send(a.text(), n.localAddr())
		answer := n.peer.expect("SIP/2.0 401")
		assert.LessOrEqual(t, len(answer.text), len(a.text())*3/2)
		n.peer.expectNothing(time.Minute)
		for k := range 200 {
			a.cseq = 100 + k
			n.peer.send(a.text(), n.localAddr())
		}
		synctest.Wait()
		assert.LessOrEqual(t, n.lookups.Load(), int64(32), "after a refused REGISTER the source stays unknown")
	})
}

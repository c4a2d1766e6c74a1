package call_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
)

// An INVITE with Replaces is accepted only from the same workspace. Otherwise an attacker who knows the tags of a dialog
// could take over a call through another workspace's trunk.
func TestReplacesIsAcceptedOnlyFromTheWorkspace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ours bool
		code int // 0: answered
	}{"a stranger": {false, 403}, "from the workspace": {true, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, fixtureOptions{trunkInWorkspace: func(env domain.Environment, in *sip.Incoming) (string, bool) {
				return "trunk_theirs", c.ours && env == domain.Live && in.To == "+15550002222"
			}})
			script := domain.Script{Pathway: waitingPathway(), Inbound: domain.AgentInbound{Answer: "direct"}, Transfer: domain.AgentTransfer{AcceptRefer: true}}
			ids := make(chan string, 1)
			service := newUserAgent(t, func(in *sip.Incoming) { ids <- h.startInbound(in, script) })
			sound := newPeer(t).engine // not the engine under test
			call := func(who string, replaces *message.DialogID) (*sip.Dialog, chan sip.Event) {
				s, err := sound.Open(media.Options{})
				require.NoError(t, err)
				t.Cleanup(func() { s.Close() })
				heard := make(chan sip.Event, 16)
				d, err := h.ua.Invite(sip.Invite{
					Attempt: who, Leg: 1, Target: targetOf(service), To: "+15550002222", From: "+15550001111", Body: s.Offer(), Replaces: replaces,
					Notify: func(e sip.Event) {
						switch e.(type) {
						case sip.Answered, sip.Refused, sip.Ended:
							heard <- e
						}
					},
				})
				require.NoError(t, err)
				return d, heard
			}
			first, heard := call("first", nil)
			require.IsType(t, sip.Answered{}, receive(t, heard))
			id := first.ID()
			second, then := call("second", &id)
			if e := receive(t, then); c.code > 0 {
				require.IsType(t, sip.Refused{}, e)
				assert.Equal(t, c.code, e.(sip.Refused).Final.Code)
				assert.Empty(t, heard, "the call goes on")
				first.Bye(16, "")
			} else {
				require.IsType(t, sip.Answered{}, e)
				require.IsType(t, sip.Ended{}, receive(t, heard))
				assert.Equal(t, "trunk_theirs", h.store.readCall(receive(t, ids)).Legs[1].TrunkID)
				second.Bye(16, "")
			}
		})
	}
}

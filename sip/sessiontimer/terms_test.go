package sessiontimer_test

import (
	"strings"
	"testing"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/sessiontimer"
)

// parse returns a parsed message with the given start line and headers.
func parse(t *testing.T, start string, headers ...string) *message.Message {
	t.Helper()
	lines := append([]string{
		start, "Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1", "From: <sip:a@192.0.2.1>;tag=a", "To: <sip:b@192.0.2.2>", "Call-ID: c", "CSeq: 1 UPDATE", "Content-Length: 0",
	}, headers...)
	in, err := sipmsg.NewParser().ParseSIP([]byte(strings.Join(lines, "\r\n") + "\r\n\r\n"))
	require.NoError(t, err)
	m := new(message.Message)
	require.True(t, m.Parse(in))
	return m
}

func text(headers []message.Header) string {
	var parts []string
	for _, h := range headers {
		parts = append(parts, h.Name+": "+h.Value)
	}
	return strings.Join(parts, ", ")
}

func TestTermsGrantedToARequest(t *testing.T) {
	const request = "UPDATE sip:b@192.0.2.2 SIP/2.0"
	for _, c := range []struct {
		name    string
		before  sessiontimer.Terms
		wanted  time.Duration
		headers []string
		granted string
		after   sessiontimer.Terms
		changed bool
	}{
		{
			name: "the peer asks and refreshes", headers: []string{"Supported: timer", "Session-Expires: 600;refresher=uac"},
			granted: "Session-Expires: 600;refresher=uac, Require: timer", after: sessiontimer.Terms{Interval: 10 * time.Minute}, changed: true,
		},
		{
			name: "the peer asks us to refresh", headers: []string{"Supported: timer", "Session-Expires: 600;refresher=uas"},
			granted: "Session-Expires: 600;refresher=uas, Require: timer", after: sessiontimer.Terms{Interval: 10 * time.Minute, WeRefresh: true}, changed: true,
		},
		{
			name: "a proxy asks for a peer without support", headers: []string{"Session-Expires: 600"},
			granted: "Session-Expires: 600;refresher=uas", after: sessiontimer.Terms{Interval: 10 * time.Minute, WeRefresh: true}, changed: true,
		},
		{name: "too short for a peer without support", headers: []string{"Session-Expires: 60"}, changed: true},
		{name: "not asked, without support", wanted: time.Hour, changed: true},
		{name: "not asked, not wanted", headers: []string{"Supported: timer"}},
		{
			name: "not asked, but wanted", wanted: 5 * time.Minute, headers: []string{"Supported: timer", "Min-SE: 600"},
			granted: "Session-Expires: 600;refresher=uac, Require: timer", after: sessiontimer.Terms{Interval: 10 * time.Minute}, changed: true,
		},
		{
			name: "an agreed interval stays", before: sessiontimer.Terms{Interval: 10 * time.Minute}, headers: []string{"Supported: timer"},
			granted: "Session-Expires: 600;refresher=uac, Require: timer", after: sessiontimer.Terms{Interval: 10 * time.Minute}, changed: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			terms := c.before
			headers, changed := terms.Grant(parse(t, request, c.headers...), sessiontimer.Limits{Least: sessiontimer.MinInterval, Wanted: c.wanted})
			assert.Equal(t, c.granted, text(headers))
			assert.Equal(t, c.changed, changed)
			assert.Equal(t, c.after, terms)
		})
	}
}

func TestTermsFollowAtMostFour422Responses(t *testing.T) {
	const tooSmall = "SIP/2.0 422 Session Interval Too Small"
	var terms sessiontimer.Terms
	assert.False(t, terms.Raise(parse(t, tooSmall)), "no Min-SE")
	assert.False(t, terms.Raise(parse(t, tooSmall, "Min-SE: 90000")), "above the maximum interval")
	for _, least := range []string{"100", "200", "300", "400"} {
		assert.True(t, terms.Raise(parse(t, tooSmall, "Min-SE: "+least)))
		assert.False(t, terms.Raise(parse(t, tooSmall, "Min-SE: "+least)), "not above the current interval")
	}
	assert.False(t, terms.Raise(parse(t, tooSmall, "Min-SE: 500")))
	assert.Equal(t, "Session-Expires: 400, Min-SE: 400", text(terms.RefreshHeaders()))
	assert.Equal(t, "Session-Expires: 900, Min-SE: 400", text(terms.InviteHeaders(15*time.Minute)))
}

func TestTermsAgreedByAResponse(t *testing.T) {
	limits := sessiontimer.Limits{Least: sessiontimer.MinInterval}
	var terms sessiontimer.Terms
	terms.Agree(parse(t, "SIP/2.0 200 OK", "Session-Expires: 1800;refresher=uac"), limits)
	wake, end := terms.Schedule()
	assert.Equal(t, []time.Duration{15 * time.Minute, 30*time.Minute - 32*time.Second}, []time.Duration{wake, end})
	assert.Equal(t, "Session-Expires: 1800;refresher=uac", text(terms.RefreshHeaders()))
	terms.Agree(parse(t, "SIP/2.0 200 OK", "Session-Expires: 90;refresher=uas"), limits)
	wake, end = terms.Schedule()
	assert.Equal(t, []time.Duration{time.Minute, time.Minute}, []time.Duration{wake, end}, "the peer refreshes: the call ends a third of the interval early")
	assert.Equal(t, "Session-Expires: 90;refresher=uas", text(terms.RefreshHeaders()))
	terms.Agree(parse(t, "SIP/2.0 200 OK"), limits)
	assert.Zero(t, terms)
}

func TestLimitsRefuseShortIntervalsOfPeersThatSupportSessionTimers(t *testing.T) {
	limits := sessiontimer.Limits{Least: sessiontimer.MinInterval}
	assert.True(t, limits.IsTooShort(parse(t, "INVITE sip:b@192.0.2.2 SIP/2.0", "Supported: timer", "Session-Expires: 89")))
	assert.False(t, limits.IsTooShort(parse(t, "INVITE sip:b@192.0.2.2 SIP/2.0", "Session-Expires: 89")))
	assert.False(t, limits.IsTooShort(parse(t, "INVITE sip:b@192.0.2.2 SIP/2.0", "Supported: timer", "Session-Expires: 90")))
	assert.Equal(t, "90", limits.MinSE().Value)
}

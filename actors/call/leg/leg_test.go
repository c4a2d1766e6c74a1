package leg_test

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/resolve"
)

// fakeDialog records how a test ends it. It answers re-INVITE offers with reofferResult.
type fakeDialog struct {
	leg.Dialog
	ends          chan string
	reofferResult sip.OfferResult
}

func newDialog() *fakeDialog { return &fakeDialog{ends: make(chan string, 2)} }

func (d *fakeDialog) Bye(_ int, text string)                           { d.ends <- "BYE " + text }
func (d *fakeDialog) Abandon()                                         { d.ends <- "nothing" }
func (d *fakeDialog) Reoffer(_ []byte, answered func(sip.OfferResult)) { answered(d.reofferResult) }

// fakeSession is a media session that records accepted SDP and counts the calls of its methods.
type fakeSession struct {
	leg.Session
	accepted []string
	rekeyed  int
	closed   int
	err      error // returned by Accept and Answer
}

func (*fakeSession) Offer() []byte { return []byte("offer") }
func (s *fakeSession) Accept(answer []byte) error {
	s.accepted = append(s.accepted, string(answer))
	return s.err
}
func (s *fakeSession) Answer([]byte) ([]byte, error) { return []byte("answer"), s.err }
func (s *fakeSession) Rekey()                        { s.rekeyed++ }
func (s *fakeSession) Close() (media.Stats, <-chan media.Recording) {
	s.closed++
	return media.Stats{}, nil
}

func TestReleasedResourcesEndTheirDialogAndSession(t *testing.T) {
	t.Parallel()
	r, s, d := leg.NewResources(nil), &fakeSession{}, newDialog()
	require.True(t, r.SetSession(1, s))
	r.SetDialog(1, d)
	assert.Equal(t, []any{s, d}, []any{r.Session(), r.Dialog()})
	_, had := r.Release()
	assert.True(t, had)
	assert.Equal(t, "BYE abandoned", <-d.ends)
	_, had = r.Release()
	assert.False(t, had, "again")
	assert.Equal(t, 1, s.closed)
	assert.False(t, r.SetSession(2, &fakeSession{}), "the caller closes it")
	late := newDialog()
	r.SetDialog(2, late)
	assert.Equal(t, "BYE abandoned", <-late.ends, "the INVITE returned after the release")
	assert.False(t, r.SetResumedDialog(1, newDialog()))
}

func TestDialogOfAnEndedLegGetsABye(t *testing.T) {
	t.Parallel()
	r, first, second := leg.NewResources(nil), newDialog(), newDialog()
	r.SetSession(1, &fakeSession{})
	_, had := r.Close()
	require.True(t, had)
	r.SetSession(2, &fakeSession{})
	r.SetDialog(1, first)
	assert.Equal(t, "BYE abandoned", <-first.ends)
	r.SetDialog(2, second)
	assert.Equal(t, leg.Dialog(second), r.Dialog())
	assert.Equal(t, leg.Dialog(second), r.ReplaceDialog(3, first))
	r.CancelInvite()
	assert.False(t, r.SetSession(4, &fakeSession{}), "no INVITE may be sent any more")
}

func TestReleaseSilentlySendsNoBye(t *testing.T) {
	t.Parallel()
	r, d, late := leg.NewResources(nil), newDialog(), newDialog()
	s := &fakeSession{}
	r.SetSession(1, s)
	r.SetDialog(1, d)
	r.ReleaseSilently()
	r.SetDialog(1, late)
	assert.Equal(t, []string{"nothing", "nothing"}, []string{<-d.ends, <-late.ends})
	assert.Equal(t, 1, s.closed)
}

func TestAnswerWithoutSDPConfirmsTheEarlySDP(t *testing.T) {
	t.Parallel()
	s := &fakeSession{}
	require.NoError(t, leg.AcceptAnswer(s, sip.Answered{State: sip.DialogState{RemoteTag: "a"}}, "a"))
	assert.Empty(t, s.accepted)
	require.NoError(t, leg.AcceptAnswer(s, sip.Answered{State: sip.DialogState{RemoteTag: "b"}, Body: []byte("sdp")}, "a"))
	require.NoError(t, leg.AcceptAnswer(s, sip.Answered{State: sip.DialogState{RemoteTag: "b"}}, "a"))
	assert.Equal(t, []string{"sdp", ""}, s.accepted, "another fork answered")
}

func TestReofferIsAnsweredOrRefused(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	for name, c := range map[string]struct {
		session leg.Session
		offer   string
		code    int
		body    string
		warning bool
	}{
		"an offer":        {&fakeSession{}, "sdp", 200, "answer", false},
		"no offer":        {&fakeSession{}, "", 200, "offer", false},
		"no codec":        {&fakeSession{err: media.ErrNoCodec}, "sdp", 488, "", true},
		"another problem": {&fakeSession{err: errors.New("no port")}, "sdp", 488, "", false},
		"no session":      {nil, "sdp", 500, "", false},
	} {
		_ = leg.AnswerReoffer(log, c.session, sip.Reoffer{Body: []byte(c.offer), Reply: func(code int, answer []byte, extra ...message.Header) {
			assert.Equal(t, []any{c.code, c.body, c.warning}, []any{code, string(answer), len(extra) > 0}, name)
		}})
	}
}

func TestRenewedKeyIsUsedOnlyIfThePeerAccepts(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	s, d := &fakeSession{}, newDialog()
	d.reofferResult = sip.OfferResult{Code: 488}
	leg.RenewKey(log, s, d)
	assert.Empty(t, s.accepted)
	d.reofferResult = sip.OfferResult{Code: 200, Body: []byte("sdp")}
	leg.RenewKey(log, s, d)
	assert.Equal(t, []any{[]string{"sdp"}, 2}, []any{s.accepted, s.rekeyed})
	leg.RenewKey(log, nil, d)
}

func TestListedOrUncheckableNumberIsNotCalled(t *testing.T) {
	t.Parallel()
	check := func(on bool, err error) error {
		return leg.CheckDoNotCall(t.Context(), func(context.Context, dnc.ScrubRules, string) (bool, error) { return on, err }, dnc.ScrubRules{}, "+12025550101")
	}
	require.NoError(t, check(false, nil))
	require.NoError(t, leg.CheckDoNotCall(t.Context(), nil, dnc.ScrubRules{}, "+12025550101"))
	assert.Equal(t, string(domain.CodeDNCBlocked), leg.FailureReason(check(true, nil)))
	assert.Equal(t, string(domain.CodeUnavailable), leg.FailureReason(check(false, errors.New("no store"))))
	assert.Equal(t, string(domain.ReasonNotSent), leg.FailureReason(errors.New("no port")))
}

func TestTrunkSettingsDefineTheMediaOptions(t *testing.T) {
	t.Parallel()
	slot := trunk.Slot{Target: resolve.Target{Host: "192.0.2.1", Transport: "tls"}, Via: &domain.Trunk{
		Codecs: []string{"opus", "unknown", "PCMA"}, SRTP: "required", NAT: domain.NATOn, DTMF: "info", MediaNetworks: []string{"198.51.100.7/24"}, Proxies: []domain.Proxy{{Host: "[2001:db8::1]"}, {Host: "carrier.example"}},
	}}
	var o media.Options
	leg.SetTrunkOptions(&o, slot, []string{"203.0.113.9"})
	assert.Equal(t, []any{[]media.Codec{media.Opus, media.PCMA}, media.SRTPRequired, media.NATOn, media.DTMFInfo, true}, []any{o.Codecs, o.SRTP, o.NAT, o.DTMF, o.Confidential})
	var networks []string
	for _, n := range o.Networks {
		networks = append(networks, n.String())
	}
	assert.Equal(t, []string{"198.51.100.0/24", "203.0.113.9/32", "192.0.2.1/32", "2001:db8::1/128"}, networks)
	slot.Via.OutboundProxy = &domain.Proxy{Host: "192.0.2.9", Port: 5070, Transport: "udp"}
	leg.SetTrunkOptions(&o, slot, nil)
	assert.False(t, o.Confidential, "keys pass the outbound proxy in clear text")

	ua := fixedHostUserAgent{}
	ours, peer := leg.MediaAddresses(ua, slot, nil)
	assert.Equal(t, []string{"10.0.0.1", "192.0.2.9"}, []string{ours.String(), peer.String()}, "by way of the outbound proxy")
	_, peer = leg.MediaAddresses(ua, slot, []registrar.Contact{{Target: resolve.Target{Host: "[2001:db8::2]"}}})
	assert.Equal(t, "2001:db8::2", peer.String())
	_, peer = leg.MediaAddresses(ua, trunk.Slot{Target: resolve.Target{Host: "carrier.example"}}, nil)
	assert.False(t, peer.IsValid())
}

// fixedHostUserAgent is a user agent that reports the same own address for every peer.
type fixedHostUserAgent struct{ leg.UserAgent }

func (fixedHostUserAgent) Host(string, netip.AddrPort) netip.Addr {
	return netip.MustParseAddr("10.0.0.1")
}

func TestSecondOfferHasOtherCodecs(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []media.Codec{media.PCMA}, leg.OtherCodecs([]media.Codec{media.PCMU}))
	assert.Equal(t, []media.Codec{media.PCMU, media.PCMA}, leg.OtherCodecs([]media.Codec{media.G722}))
	assert.Equal(t, []media.Codec{media.PCMA, media.G722}, leg.OtherCodecs([]media.Codec{media.G722, media.PCMA}))
	assert.Equal(t, []media.Codec{media.PCMU, media.PCMA}, leg.ParseCodecs(nil))
}

package server

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/callboard/callboard/actors/call/siptrace"
	"github.com/callboard/callboard/actors/lines"
	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/wav"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/testcarrier"
)

// telephony is the SIP user agent, the media engine and the test carrier of a process.
type telephony struct {
	sip           *sip.UserAgent
	media         *media.Engine
	mediaCapacity *lines.PortCapacity  // number of calls that the RTP ports have room for
	testCarrier   *testcarrier.Carrier // nil: not enabled
	traces        *siptrace.Buffer
	listening     bool
}

// listen opens the SIP listeners unless they are open. When they end, it sends the error to ended.
func (t *telephony) listen(run context.Context, ended chan<- error) (err error) {
	if t.listening {
		return nil
	}
	served := make(chan error, 1)
	go func() { served <- t.sip.Serve(run) }()
	select {
	case err = <-served:
		return fmt.Errorf("sip_addr: %w", err)
	case <-t.sip.Ready():
	case <-time.After(5 * time.Second):
		return errors.New("sip_addr: the SIP listeners did not open in time")
	}
	go func() { ended <- <-served }()
	t.listening = true
	return nil
}

// close closes the SIP user agent and the media engine. It may be called with a nil receiver.
func (t *telephony) close() {
	if t == nil {
		return
	}
	if t.sip != nil {
		_ = t.sip.Close()
	}
	if t.media != nil {
		_ = t.media.Close()
	}
}

// recordingFormat returns the WAV format of the setting recording_format.
func recordingFormat(name string) wav.Format {
	if name == "pcm" {
		return wav.PCM16
	}
	return wav.MuLaw
}

// openTelephony opens the SIP user agent, the media engine and the test carrier. root is the root key of the store, from
// which secrets of the user agent are derived.
func (s *Service) openTelephony(root []byte) (t *telephony, err error) {
	cfg, opened := s.cfg, &telephony{traces: siptrace.NewBuffer()}
	defer func() {
		if err != nil {
			opened.close()
		}
	}()
	public := cfg.PublicIP
	if !public.IsValid() {
		public = cfg.SIP.Addr.Addr()
	}
	carrier := &testCarrierAddrs{}
	sipEgress := s.egress()
	sipEgress.AnyPort = true
	opened.media, err = media.NewEngine(media.Config{
		BindIP: mediaAddr(cfg), PublicIP: public,
		PortMin: int(cfg.Media.Ports.Low), PortMax: int(cfg.Media.Ports.High), Recording: recordingFormat(cfg.Media.RecordingFormat),
		MayReach: func(to netip.AddrPort) bool { return carrier.isMedia(to) || sipEgress.CheckAddress(to) == nil }, Log: s.log,
	})
	if err != nil {
		return nil, err
	}
	opened.mediaCapacity = actornode.NewMediaCapacity(opened.media)
	secured, err := sipTLS(cfg, s.log)
	if err != nil {
		return nil, err
	}
	agent := sip.Config{
		Listen: sipListeners(cfg), TLS: secured, Private: cfg.SIP.PrivateNetworks, Probes: slices.Concat(cfg.SIP.ProbeNetworks, cfg.SIP.PrivateNetworks), DSCP: cfg.SIP.DSCP,
		PublicIP: cfg.PublicIP, UserAgent: "Callboard/" + s.options.Version, Trace: opened.traces.Add, Linger: dialogLinger(), OverloadAfter: overloadAfter(), Secret: datafolder.DeriveKey(root, "callboard sip"),
		MayReach: func(to netip.AddrPort) bool { return carrier.isSIP(to) || sipEgress.CheckAddress(to) == nil }, TestCarrier: carrier.address, Silent: s.quarantined, Log: s.log,
	}
	if s.node != nil {
		s.node.shareSIP(&agent)
	}
	opened.sip, err = sip.New(agent)
	if err != nil {
		return nil, err
	}
	s.router.Attach(opened.sip)
	if !cfg.Simulator {
		return opened, nil
	}
	synthesizer, err := speech.NewSynthesizerChain(speech.Config{PromptDir: s.folder("prompts")}) // the test carrier's phones do not use the operator's engines
	if err != nil {
		return nil, err
	}
	opened.testCarrier, err = testcarrier.New(testcarrier.Config{Speaker: synthesizer, Peers: ownAddrs(cfg), PortMin: testCarrierPortMin, PortMax: testCarrierPortMax, Log: s.log})
	if err != nil {
		return nil, err
	}
	carrier.carrier = opened.testCarrier
	go func() { s.ended <- opened.testCarrier.Serve(s.processCtx) }()
	return opened, nil
}

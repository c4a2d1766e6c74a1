package server

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/actors/call/siptrace"
	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/wav"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/testcarrier"
)

// listen lets SIP in.
func (s *Service) listen() (err error) {
	if s.listens {
		return nil
	}
	served := make(chan error, 1)
	go func() { served <- s.sip.Serve(s.run) }()
	select {
	case err = <-served:
		return fmt.Errorf("sip_addr: %w", err)
	case <-s.sip.Ready():
	case <-time.After(5 * time.Second):
		return errors.New("sip_addr: SIP did not start to listen in time")
	}
	go func() { s.ended <- <-served }()
	s.listens = true
	return nil
}

func recordingFormat(name string) wav.Format {
	if name == "pcm" {
		return wav.PCM16
	}
	return wav.MuLaw
}

// telephony opens SIP, sound and the built-in carrier.
func (s *Service) telephony(root []byte) (err error) {
	cfg := s.cfg
	public := cfg.PublicIP
	if !public.IsValid() {
		public = cfg.SIPAddr.Addr()
	}
	carrier := &testCarrierAddrs{}
	sipEgress := s.egress()
	sipEgress.AnyPort = true
	s.media, err = media.NewEngine(media.Config{
		BindIP: mediaAddr(cfg), PublicIP: public,
		PortMin: int(cfg.MediaPorts.Low), PortMax: int(cfg.MediaPorts.High), Recording: recordingFormat(cfg.RecordingFormat),
		MayReach: func(to netip.AddrPort) bool { return carrier.isMedia(to) || sipEgress.May(to) == nil }, Log: s.log,
	})
	if err != nil {
		return err
	}
	s.mediaCapacity = actors.PlacesOf(s.media)
	secured, err := sipTLS(cfg, s.log)
	if err != nil {
		return err
	}
	s.traces = siptrace.NewBuffer()
	agent := sip.Config{
		Listen: sipListeners(cfg), TLS: secured, Private: cfg.SIPPrivate, Probes: slices.Concat(cfg.SIPProbes, cfg.SIPPrivate), DSCP: cfg.SIPDSCP,
		PublicIP: cfg.PublicIP, UserAgent: "Callboard/" + s.options.Version, Trace: s.traces.Add, Linger: dialogLinger(), OverloadAfter: overloadAfter(), Secret: datafolder.DeriveKey(root, "callboard sip"),
		MayReach: func(to netip.AddrPort) bool { return carrier.isSIP(to) || sipEgress.May(to) == nil }, TestCarrier: carrier.address, Silent: s.quarantined, Log: s.log,
	}
	if s.node != nil {
		s.node.shareSIP(&agent)
	}
	s.sip, err = sip.New(agent)
	if err != nil {
		return err
	}
	s.router.Serve(s.sip)
	if !cfg.Simulator {
		return nil
	}
	speaker, err := s.newSynthesizer(nil)
	if err != nil {
		return err
	}
	s.testCarrier, err = testcarrier.New(testcarrier.Config{Speaker: speaker, Peers: ownAddrs(cfg), PortMin: testCarrierPortMin, PortMax: testCarrierPortMax, Log: s.log})
	if err != nil {
		return err
	}
	carrier.of = s.testCarrier
	go func() { s.ended <- s.testCarrier.Serve(s.run) }()
	return nil
}

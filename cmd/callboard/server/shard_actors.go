package server

import (
	"context"
	"net/netip"
	"os"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/store"
	"github.com/callboard/callboard/engines/pdf"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/testcarrier"
)

// newActors grows the actors.
func (t *shard) newActors(ctx context.Context) error {
	blobs, err := t.openBlobs(ctx, t.roots)
	if err != nil {
		return err
	}
	target := func() (resolve.Target, bool) { return resolve.Target{}, false }
	var calledBy func() netip.AddrPort
	var testCall func(context.Context, testcarrier.Order) error
	var talk actors.Talk
	if t.telephony.testCarrier != nil {
		target = func() (resolve.Target, bool) { return t.telephony.testCarrier.Target(), true }
		calledBy = t.telephony.testCarrier.Addr
		testCall, talk = t.telephony.testCall, t.telephony.talk
	}
	trunks := t.egress()
	trunks.AnyPort = true
	answers, hurry := webhookTiming()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	t.actors = actors.New(actors.Config{
		Store: t.meters.Store(t.spans.Store(t.reportFenced(store.WithFailpoints(t.store.Records)))), May: t.ownsLease(), Survive: t.cfg.Node.SurviveCalls, Quarantined: t.quarantined, Released: t.restart, TookUp: t.resumed.add, Mine: t.ownsWorkspace(), Board: &t.router, Keys: t.store.Keys, Blobs: blobs, SIP: t.telephony.sip, Media: t.telephony.media, Places: t.telephony.mediaCapacity,
		Speaker: t.engines.Synthesizer, Ears: t.engines.Recognizer, Models: t.engines.Models, Lives: t.engines.NewRealtime(), Papers: pdf.New(program, "read-pdf"),
		Simulator: target, Carrier: calledBy, TestCall: testCall, Talk: talk, Egress: t.egress(), RootCAs: t.roots, WebhookSends: t.cfg.WebhookSends, WebhookTimeout: answers, WebhookHurry: hurry,
		MayReach: func(to netip.AddrPort) bool { return trunks.May(to) == nil }, SIPURI: sipURI(t.cfg),
		PublicURL: t.cfg.BaseURL(t.Front), SpoolDir: t.folder(datafolder.SpoolDir), TraceContexts: t.spans.Contexts(), Traces: t.telephony.traces, Log: t.log, Mail: t.mail, Rest: t.queryOtherShards,
	})
	return nil
}

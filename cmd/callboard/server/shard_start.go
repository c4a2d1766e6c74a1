package server

import (
	"context"
	"net/netip"
	"os"

	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/services"
	"github.com/callboard/callboard/cmd/callboard/store"
	"github.com/callboard/callboard/engines/pdf"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/testcarrier"
)

// browserCallFunc lets a browser call the service as a phone of the test carrier. audio receives the audio of the call,
// notify its progress.
type browserCallFunc = func(ctx context.Context, o testcarrier.CallRequest, audio func(frame []byte), notify func(testcarrier.Event)) (*testcarrier.Handset, error)

// buildServices builds the actors and services of the shard. startActors starts them.
func (t *shard) buildServices(ctx context.Context) error {
	blobs, err := t.openBlobs(ctx, t.roots)
	if err != nil {
		return err
	}
	carrierTarget := func() (resolve.Target, bool) { return resolve.Target{}, false }
	var carrierAddr func() netip.AddrPort
	var testCall func(context.Context, testcarrier.CallRequest) error
	var browserCall browserCallFunc
	if t.telephony.testCarrier != nil {
		carrierTarget = func() (resolve.Target, bool) { return t.telephony.testCarrier.Target(), true }
		carrierAddr = t.telephony.testCarrier.Addr
		testCall, browserCall = t.telephony.testCall, t.telephony.connectBrowser
	}
	trunkEgress := t.egress()
	trunkEgress.AnyPort = true
	webhookTimeout, retryDivisor := webhookTiming()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	t.services = services.New(&services.Config{
		Store: t.metrics.WatchStore(t.spans.Store(t.reportFenced(store.WithFailpoints(t.store.Records)))), Keys: t.store.Keys,
		PDF: pdf.New(program, "read-pdf"), TestCall: testCall, BrowserCall: browserCall,
		MayReach: func(to netip.AddrPort) bool { return trunkEgress.CheckAddress(to) == nil }, SIPURI: sipURI(t.cfg),
		ReadOtherShards: t.queryOtherShards, Restart: t.restart,
		Node: actornode.Config{
			OwnsShard: t.ownsLease(), OwnsWorkspace: t.ownsWorkspace(), SurviveCalls: t.cfg.Node.SurviveCalls, ResumptionDone: t.resumptions.add, Quarantined: t.quarantined, Router: &t.router,
			Blobs: blobs, SIP: t.telephony.sip, Media: t.telephony.media, MediaCapacity: t.telephony.mediaCapacity, SIPTraces: t.telephony.traces,
			Speaker: t.engines.Synthesizer, Recognizer: t.engines.Recognizer, Models: t.engines.Models, Realtime: t.engines.NewRealtime(),
			TestCarrierTarget: carrierTarget, TestCarrierAddr: carrierAddr, Egress: t.egress(), RootCAs: t.roots, MaxWebhookRequests: t.cfg.WebhookSends, WebhookTimeout: webhookTimeout, WebhookRetryDivisor: retryDivisor,
			PublicURL: t.cfg.BaseURL(t.HTTPAddr), SpoolDir: t.folder(datafolder.SpoolDir), TraceContexts: t.spans.Contexts(), Log: t.log, Mail: t.mail,
		},
	})
	t.actors = t.services.Node
	return nil
}

// startActors starts the actors of the shard's workspaces. In a cluster the shard then begins to accept the requests
// that nodes forward.
func (t *shard) startActors() error {
	err := t.actors.Start(t.life)
	if err == nil && t.token != "" {
		t.serveHTTP()
	}
	return err
}

package actors

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/callboard/callboard/service/operator"

	alertsservice "github.com/callboard/callboard/service/alerts"
	"github.com/callboard/callboard/sip/textmessage"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/ledger"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/agentruntime"
	"github.com/callboard/callboard/service/agents"
	"github.com/callboard/callboard/service/analysis"
	"github.com/callboard/callboard/service/appointments"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/campaigns"
	"github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/datarequests"
	"github.com/callboard/callboard/service/decisions"
	dncservice "github.com/callboard/callboard/service/dnc"
	"github.com/callboard/callboard/service/events"
	"github.com/callboard/callboard/service/exports"
	"github.com/callboard/callboard/service/knowledge"
	"github.com/callboard/callboard/service/numbers"
	"github.com/callboard/callboard/service/pathways"
	"github.com/callboard/callboard/service/phones"
	"github.com/callboard/callboard/service/quarantine"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
	"github.com/callboard/callboard/service/recordings"
	"github.com/callboard/callboard/service/retention"
	"github.com/callboard/callboard/service/simulation"
	"github.com/callboard/callboard/service/sms"
	servicetools "github.com/callboard/callboard/service/tools"
	"github.com/callboard/callboard/service/trunks"
	"github.com/callboard/callboard/service/usage"
	"github.com/callboard/callboard/service/webhooks"
	"github.com/callboard/callboard/service/workspaces"

	"github.com/callboard/callboard/actors/storecache"
)

// connectServices builds the services and connects them with the actors.
func (n *Node) connectServices(store *storecache.Store) {
	cfg := &n.cfg
	n.desk.workspaceService = workspaces.New(workspaces.Config{
		Store: store, Workspaces: n, Outbox: n, Actors: n, Settings: n, Node: n, Background: n, Keys: cfg.Keys, Jobs: n.desk.jobs, Blobs: cfg.Blobs, DNC: n.dnc,
		Credentials: []workspaces.CredentialCache{cfg.Keys, n.desk.clients, n.desk.users}, SpoolDir: cfg.SpoolDir, Log: cfg.Log,
		Forget: []func(workspaceID string){
			n.desk.auditService.ForgetWorkspace,
			func(id string) { n.desk.knowledgeService.ForgetWorkspace(id) },
			func(id string) { n.desk.eventService.ForgetWorkspace(id) },
		},
		TestCarrier: func() bool { _, listens := cfg.Simulator(); return listens },
	})
	references := record.NewReferences(store)
	n.desk.agentsService = agents.New(agents.Config{Store: store, References: references, Campaigns: n, Outbox: n, URLs: n})
	n.desk.pathwaysService = pathways.New(store, references, n)
	n.desk.toolsService = servicetools.New(store, references, n)
	n.desk.scripts = agentruntime.NewScripts(agentruntime.ScriptsConfig{
		Store: store, Agents: n.desk, Pathways: n.desk, Speaker: cfg.Speaker, Recogniser: cfg.Ears, Realtime: cfg.Lives, Engines: n.engines,
	})
	n.desk.dncService = dncservice.New(store, n.dnc, n)
	n.desk.list = contactlist.New(store)
	n.desk.contactService = contacts.New(contacts.Config{
		Store: store, Workspaces: n, Campaigns: n.desk, Actors: n, System: n.sys, DNC: n.desk, Script: n.desk.Script, OnCalls: n.desk.onCalls, Log: cfg.Log,
	})
	n.connectAgentServices(store, references)
	n.Connect(&Services{
		Scripts: n.desk.scripts, Agents: n.desk.agentruntimeService, Engines: n.desk.agentruntimeService, Messages: n.desk.smsService, Phones: n.desk.phonesService, DNC: n.desk.dncService, OptOuts: dncservice.NewOptOuts(n.dnc, n, n, cfg.Log),
		Analysis: n.desk.analysisService, Alerts: n.desk.alertService, Retention: n.retention(store), Lifecycle: lifecycle{n.desk},
	})
}

func (n *Node) connectAgentServices(store *storecache.Store, references *record.References) {
	cfg := &n.cfg
	n.desk.numbersService = numbers.New(store, n, cfg.Log)
	n.desk.phonesService = phones.New(phones.Config{Store: store, Count: n.phones.Count, Registrar: n})
	n.desk.knowledgeService = knowledge.New(knowledge.Config{
		Store: store, References: references, URLs: n, Web: n.sender, PDF: cfg.Papers, Models: n.models, Embedding: cfg.Models.Embedding, Context: n.Context, Log: cfg.Log,
	})
	n.desk.callService = calls.New(calls.Config{
		Store: store, Workspaces: n, System: n.sys, Actors: n, Permits: n, Admission: n, Opener: n, TransferTargets: n, Campaigns: n.desk,
		Agents: n.desk.agentsService, Scripts: n.desk.scripts, Phones: n.desk.phonesService, CallerIDs: n.desk.numbersService, DNC: n.desk.dncService,
		Recordings: cfg.Blobs, Traces: cfg.Traces, SIP: cfg.SIP, Zones: n.desk.zones, TestCalls: n.TestCalls(), TestCall: cfg.TestCall, BrowserCall: cfg.Talk,
		Log: cfg.Log,
	})
	n.desk.smsService = sms.New(sms.Config{
		Store: store, Workspaces: n, Outbox: n, URLs: n, Numbers: n.desk.numbersService, Spending: n, Background: n, SIP: textmessage.NewClient(cfg.SIP), DNC: n.dnc, Zones: n.desk.zones,
		Gateways:      webhook.NewClient(webhook.ClientConfig{Egress: cfg.Egress, RootCAs: cfg.RootCAs, May: cfg.May, Quarantined: cfg.Quarantined}),
		Redactor:      n.redactor,
		CheckCallerID: n.desk.CheckCallerID,
		Script:        n.desk.Script,
		Mind: func(p domain.Principal, c domain.Call, from string) conversation.Mind {
			return n.desk.ForMessages(p, c, from)
		},
		Log: cfg.Log,
	})
	n.desk.appointmentsService = appointments.New(appointments.Config{
		Store: store, Outbox: n, Script: n.desk.Script, SendSMS: n.desk.QueueMessage, Log: cfg.Log,
		PlaceCall: func(ctx context.Context, p domain.Principal, o domain.NewCall, id string, more func(*commit.Change, *domain.Call)) (*domain.Call, error) {
			return n.desk.Place(ctx, p, calls.Placement{Order: o, CallID: id, More: more})
		},
	})
	n.desk.analysisService = analysis.New(analysis.Config{Store: store, Outbox: n, Models: cfg.Models, Client: n.models, Log: cfg.Log})
	n.desk.agentruntimeService = agentruntime.New(agentruntime.Config{
		Store: store, Models: cfg.Models, Client: n.models, Realtime: cfg.Lives, Speaker: cfg.Speaker, Recognizer: cfg.Ears, Tools: n.toolbox, HTTP: n.toolbox.HTTP,
		Appointments: n.desk.appointmentsService, Changes: n.desk.appointmentsService, TraceContexts: cfg.TraceContexts, Log: cfg.Log,
		Engines: n.engines, Script: n.desk.Script, Retrieve: n.desk.Retrieve, SendSMS: n.desk.SendMessage, Watch: n.testCalls.Watcher,
	})
	n.desk.usageService = usage.New(store, n.desk)
	n.desk.eventService = events.New(events.Config{Store: store, Call: n.desk.Call})
	n.desk.webhookService = webhooks.New(webhooks.Config{
		Store: store, Settings: n, Actors: n, System: n.sys, URLs: n, Agents: n.desk, Campaigns: n.desk, Events: n.desk, QuarantineError: n.QuarantineError,
	})
	n.desk.quarantineService = quarantine.New(quarantine.Config{Store: store, Restart: cfg.Released, Log: cfg.Log})
	n.desk.operatorService = operator.New(operator.Config{Workspaces: n, Actors: n, System: n.sys, Activity: store, Node: n, DialStop: n.dialStop, Drain: n.drain})
	n.desk.alertService = n.alertRules(store)
	n.desk.recordingService = recordings.New(recordings.Config{Store: store, Workspaces: n, System: n.sys, Actors: n, Blobs: cfg.Blobs})
	n.desk.bulkService = bulk.New(bulk.Config{
		Store: store, Workspaces: n, Node: n, System: n.sys, Permits: n, Jobs: n.desk.jobs, Campaigns: n.desk, Contacts: n.desk.contactService,
		DNC: n.desk.dncService, SMS: n.desk.smsService, Scripts: n.desk.scripts, Zones: n.desk.zones,
		PlaceCall: func(ctx context.Context, p domain.Principal, placement bulk.Placement) (*domain.Call, error) {
			return n.desk.Place(ctx, p, calls.Placement(placement))
		},
		ImportDNC: func(ctx context.Context, p domain.Principal, listID string, rows iter.Seq2[domain.RawNumber, error]) error {
			_, err := n.desk.ImportDNC(ctx, p, listID, rows)
			return err
		},
	})
	n.desk.exportService = exports.New(exports.Config{
		Store: store, Blobs: cfg.Blobs, Jobs: n.desk.jobs, Sources: n.desk, Usage: n.desk.Usage, OffsetBefore: n.desk.OffsetBefore,
		Background: n.Context, OnCalls: n.desk.onCalls, PublicURL: cfg.PublicURL, Log: cfg.Log,
	})
	n.desk.dataRequestService = datarequests.New(datarequests.Config{
		Store: store, Blobs: cfg.Blobs, Lists: n.dnc, Keys: cfg.Keys, Jobs: n.desk.jobs, Campaigns: n.desk, Contacts: n.desk, Calls: n.desk,
		Appointments: n.desk, Decisions: n.desk, Exports: n.desk, Bulk: n.desk, OptOutKey: sms.OptOutKey, Country: n.desk.Country, Background: n.Context,
		Quarantined: n.Quarantined, OnCalls: n.desk.onCalls,
	})
	n.desk.trunksService = trunks.New(trunks.Config{
		Store: store, Workspaces: n, Router: n, SIP: cfg.SIP, SIPURI: cfg.SIPURI, MayReach: cfg.MayReach, TestCarrier: cfg.Simulator, Log: cfg.Log,
	})
	n.desk.campaignService = campaigns.New(campaigns.Config{
		Store: store, Workspaces: n, Outbox: n, URLs: n, System: n.sys, Actors: n, Webhooks: n, Background: n, Contacts: n.desk, DNC: n.desk,
		Calls: n.desk, Bulk: n.desk, Blobs: cfg.Blobs, Script: n.desk.Script, CallerIDs: n.desk.CallerIDs, Log: cfg.Log,
	})
	n.desk.decisionService = decisions.New(decisions.Config{Store: store, Campaigns: n.desk, Country: n.desk.Country, ChainKey: cfg.Keys.DecisionLogKey})
	n.desk.simulationService = simulation.New(simulation.Config{Store: store, Campaigns: n.desk, Contacts: n.desk, DNC: n.desk, Workspace: n.desk.Workspace, Counters: func(ctx context.Context, workspaceID string, from, to time.Time) ([]*domain.Usage, error) {
		return ledger.Counters(ctx, store, workspaceID, from, to)
	}})
}

// retention builds the service that deletes expired rows.
func (n *Node) retention(store *storecache.Store) *retention.Service {
	d := n.desk
	ignoreTime := func(sweep func(context.Context, string) error) func(context.Context, string, time.Time) error {
		return func(ctx context.Context, workspaceID string, _ time.Time) error { return sweep(ctx, workspaceID) }
	}
	return retention.New(retention.Config{
		Store: store, Workspaces: n, Blobs: n.cfg.Blobs, Calls: d, Appointments: d, Events: d, DecisionKey: n.cfg.Keys.DecisionLogKey, Log: n.cfg.Log,
		Steps: []retention.Step{
			{What: "names of messages", Sweep: d.DeleteSeenMessages},
			{What: "counts of attempts", Sweep: ignoreTime(n.stored.deleteOldRings)},
			{What: "revocations of tokens", Sweep: func(ctx context.Context, workspaceID string, now time.Time) error {
				return errors.Join(d.SweepOAuth(ctx, workspaceID, now), d.SweepSessions(ctx, workspaceID, now))
			}},
			{What: "bulk jobs", Sweep: ignoreTime(d.SweepBulks)},
			{What: "exports", Sweep: d.SweepExports},
			{What: "data requests", Sweep: d.SweepDataRequests},
			{What: "idempotency keys", Sweep: ignoreTime(d.SweepReplies)},
		},
	})
}

// alertRules builds the service of alert rules.
func (n *Node) alertRules(store *storecache.Store) *alertsservice.Service {
	cfg := alertsservice.Config{
		Store: store, Workspaces: n, Shards: n, Outbox: n, System: n.sys, Node: n, Mail: n.cfg.Mail, RulesChanged: n.AlertRulesChanged, Log: n.cfg.Log,
	}
	if !n.alone() {
		cfg.ReadOtherShards = n.cfg.Rest
	}
	return alertsservice.New(cfg)
}

package services

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/ledger"
	"github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/agentruntime"
	"github.com/callboard/callboard/service/agents"
	"github.com/callboard/callboard/service/alerts"
	"github.com/callboard/callboard/service/analysis"
	"github.com/callboard/callboard/service/appointments"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/campaigns"
	"github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/datarequests"
	"github.com/callboard/callboard/service/decisions"
	"github.com/callboard/callboard/service/dnc"
	"github.com/callboard/callboard/service/events"
	"github.com/callboard/callboard/service/exports"
	"github.com/callboard/callboard/service/forecast"
	"github.com/callboard/callboard/service/knowledge"
	"github.com/callboard/callboard/service/numbers"
	"github.com/callboard/callboard/service/operator"
	"github.com/callboard/callboard/service/pathways"
	"github.com/callboard/callboard/service/phones"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/recordings"
	"github.com/callboard/callboard/service/restorequarantine"
	"github.com/callboard/callboard/service/retention"
	"github.com/callboard/callboard/service/sms"
	"github.com/callboard/callboard/service/tools"
	"github.com/callboard/callboard/service/trunks"
	"github.com/callboard/callboard/service/usage"
	"github.com/callboard/callboard/service/webhooks"
	"github.com/callboard/callboard/service/workspaces"
	"github.com/callboard/callboard/sip/textmessage"
)

// connect creates the services of a shard and connects them with its actor node.
func (s *Services) connect(cfg *Config) {
	n, store := s.Node, s.Node.Store()
	s.Workspaces = workspaces.New(workspaces.Config{
		Store: store, Workspaces: n, Outbox: n, Actors: n, Settings: n, Node: n, Background: n, Keys: cfg.Keys, Jobs: s.jobs, Blobs: n.Blobs(), DNC: n.DNC(),
		Credentials: []workspaces.CredentialCache{cfg.Keys, s.clients, s.users}, SpoolDir: cfg.Node.SpoolDir, Log: cfg.Node.Log,
		Forget: []func(workspaceID string){
			s.Audit.ForgetWorkspace,
			func(id string) { s.Knowledge.ForgetWorkspace(id) },
			func(id string) { s.Events.ForgetWorkspace(id) },
		},
		TestCarrier: func() bool { _, listens := cfg.Node.TestCarrierTarget(); return listens },
	})
	references, campaignReader := record.NewReferences(store), record.NewCampaignReader(store)
	s.Agents = agents.New(agents.Config{Store: store, References: references, Campaigns: n, Outbox: n, URLs: n})
	s.Pathways = pathways.New(store, references, n)
	s.Tools = tools.New(store, references, n)
	s.Scripts = agentruntime.NewScripts(agentruntime.ScriptsConfig{
		Store: store, Agents: s.Agents, Pathways: s.Pathways, Speaker: cfg.Node.Speaker, Recognizer: cfg.Node.Recognizer, Realtime: cfg.Node.Realtime, Engines: n.Engines,
	})
	s.DNC = dnc.New(store, n.DNC(), n)
	s.Contacts = contacts.New(contacts.Config{
		Store: store, Workspaces: n, Campaigns: campaignReader, Actors: n, System: n.System(), DNC: s.DNC, Script: s.Scripts.Script, OnCalls: s.hasLiveCalls, Log: cfg.Node.Log,
	})
	s.connectCalls(cfg, references, campaignReader)
	s.connectReports(cfg, campaignReader)
	n.Connect(&node.Services{
		Scripts: s.Scripts, Agents: s.AgentRuntime, Engines: s.AgentRuntime, OptOuts: dnc.NewOptOuts(n.DNC(), n, n, cfg.Node.Log), Messages: s.SMS, Phones: s.Phones, DNC: s.DNC,
		Analysis: s.Analysis, Alerts: s.Alerts, Retention: s.retention(cfg), Lifecycle: lifecycle{s},
	})
}

// connectCalls creates the services for calls and messages.
func (s *Services) connectCalls(cfg *Config, references *record.References, campaignReader record.CampaignReader) {
	n, store := s.Node, s.Node.Store()
	s.Numbers = numbers.New(store, n, cfg.Node.Log)
	s.Phones = phones.New(phones.Config{Store: store, Count: n.PhoneCount, Registrar: n})
	s.Knowledge = knowledge.New(knowledge.Config{
		Store: store, References: references, URLs: n, Web: n.WebhookClient(), PDF: cfg.PDF, Models: n.ModelClient(), Embedding: cfg.Node.Models.Embedding, Context: n.Context, Log: cfg.Node.Log,
	})
	s.Calls = calls.New(calls.Config{
		Store: store, Workspaces: n, System: n.System(), Actors: n, Permits: n, Admission: n, Opener: n, TransferTargets: n, Campaigns: campaignReader,
		Agents: s.Agents, Scripts: s.Scripts, Phones: s.Phones, CallerIDs: s.Numbers, DNC: s.DNC,
		Recordings: n.Blobs(), Traces: cfg.Node.SIPTraces, SIP: cfg.Node.SIP, Zones: n.Zones(), TestCalls: n.TestCalls(), TestCall: cfg.TestCall, BrowserCall: cfg.BrowserCall,
		Log: cfg.Node.Log,
	})
	s.SMS = sms.New(sms.Config{
		Store: store, Workspaces: n, Outbox: n, URLs: n, Numbers: s.Numbers, Spending: n, Background: n, SIP: textmessage.NewClient(cfg.Node.SIP), DNC: n.DNC(), Zones: n.Zones(),
		Gateways:      webhook.NewClient(webhook.ClientConfig{Egress: cfg.Node.Egress, RootCAs: cfg.Node.RootCAs, MaySend: n.OwnsShard, Quarantined: cfg.Node.Quarantined}),
		Redactor:      n.Redactor,
		CheckCallerID: s.Numbers.CheckCallerID,
		Script:        s.Scripts.Script,
		AgentRuntime: func(p domain.Principal, c domain.Call, from string) conversation.AgentRuntime {
			return s.AgentRuntime.ForMessages(p, c, from)
		},
		Log: cfg.Node.Log,
	})
	s.Appointments = appointments.New(appointments.Config{
		Store: store, Outbox: n, Script: s.Scripts.Script, SendSMS: s.SMS.QueueMessage, Log: cfg.Node.Log,
		PlaceCall: func(ctx context.Context, p domain.Principal, o domain.NewCall, id string, more func(*commit.Change, *domain.Call)) (*domain.Call, error) {
			return s.Calls.Place(ctx, p, calls.Placement{Order: o, CallID: id, More: more})
		},
	})
	s.Analysis = analysis.New(analysis.Config{Store: store, Outbox: n, Models: cfg.Node.Models, Client: n.ModelClient(), Log: cfg.Node.Log})
	s.AgentRuntime = agentruntime.New(agentruntime.Config{
		Store: store, Models: cfg.Node.Models, Client: n.ModelClient(), Realtime: cfg.Node.Realtime, Speaker: cfg.Node.Speaker, Recognizer: cfg.Node.Recognizer, Tools: s.toolClient, HTTP: s.toolClient.HTTP,
		Appointments: s.Appointments, Changes: s.Appointments, TraceContexts: cfg.Node.TraceContexts, Log: cfg.Node.Log,
		Engines: n.Engines, Script: s.Scripts.Script, Retrieve: s.Knowledge.Retrieve, SendSMS: s.SMS.SendMessage, Watch: n.TestCalls().Watcher,
	})
}

// connectReports creates the services for campaigns, webhooks, jobs and reports.
func (s *Services) connectReports(cfg *Config, campaignReader record.CampaignReader) {
	n, store := s.Node, s.Node.Store()
	s.Usage = usage.New(store, s.Workspaces)
	s.Events = events.New(events.Config{Store: store, Call: s.Calls.Call})
	s.Webhooks = webhooks.New(webhooks.Config{
		Store: store, Settings: n, Actors: n, System: n.System(), URLs: n, Agents: s.Agents, Campaigns: campaignReader, Events: s.Events, QuarantineError: n.QuarantineError,
	})
	s.Quarantine = restorequarantine.New(restorequarantine.Config{Store: store, Restart: cfg.Restart, Log: cfg.Node.Log})
	s.Operator = operator.New(operator.Config{Workspaces: n, Actors: n, System: n.System(), Activity: store, Node: n, DialStop: n.DialStop(), Drain: n.NodeDrain()})
	s.Alerts = s.alertRules(cfg)
	s.Recordings = recordings.New(recordings.Config{Store: store, Workspaces: n, System: n.System(), Actors: n, Blobs: n.Blobs()})
	s.Bulk = bulk.New(bulk.Config{
		Store: store, Workspaces: n, Node: n, System: n.System(), Permits: n, Jobs: s.jobs, Campaigns: campaignReader, Contacts: s.Contacts,
		DNC: s.DNC, SMS: s.SMS, Scripts: s.Scripts, Zones: n.Zones(),
		PlaceCall: func(ctx context.Context, p domain.Principal, placement bulk.Placement) (*domain.Call, error) {
			return s.Calls.Place(ctx, p, calls.Placement(placement))
		},
		ImportDNC: func(ctx context.Context, p domain.Principal, listID string, rows iter.Seq2[domain.RawNumber, error]) error {
			_, err := s.DNC.ImportDNC(ctx, p, listID, rows)
			return err
		},
	})
	s.Exports = exports.New(exports.Config{
		Store: store, Blobs: n.Blobs(), Jobs: s.jobs, Campaigns: exportCampaigns{campaignReader, s.Contacts}, Usage: s.Usage.Usage, OffsetBefore: s.Events.OffsetBefore,
		Background: n.Context, OnCalls: s.hasLiveCalls, PublicURL: cfg.Node.PublicURL, Log: cfg.Node.Log,
	})
	s.Decisions = decisions.New(decisions.Config{Store: store, Campaigns: campaignReader, Country: s.DNC.DefaultCountry, ChainKey: cfg.Keys.DecisionLogKey})
	s.DataRequests = datarequests.New(datarequests.Config{
		Store: store, Blobs: n.Blobs(), Lists: n.DNC(), Keys: cfg.Keys, Jobs: s.jobs, Campaigns: campaignReader, Contacts: s.Contacts, Calls: s.Calls,
		Appointments: s.Appointments, Decisions: s.Decisions, Exports: s.Exports, Bulk: s.Bulk, OptOutKey: sms.OptOutKey, Country: s.DNC.DefaultCountry, Background: n.Context,
		Quarantined: n.Quarantined, OnCalls: s.hasLiveCalls,
	})
	s.Trunks = trunks.New(trunks.Config{
		Store: store, Workspaces: n, Router: n, SIP: cfg.Node.SIP, SIPURI: cfg.SIPURI, MayReach: cfg.MayReach, TestCarrier: cfg.Node.TestCarrierTarget, Log: cfg.Node.Log,
	})
	s.Campaigns = campaigns.New(campaigns.Config{
		Store: store, Workspaces: n, Outbox: n, URLs: n, System: n.System(), Actors: n, Webhooks: n, Background: n, Contacts: s.Contacts, DNC: s.DNC,
		Calls: s.Calls, Bulk: s.Bulk, Jobs: s.jobs, Blobs: n.Blobs(), Script: s.Scripts.Script, CallerIDs: s.Numbers.CallerIDs, Log: cfg.Node.Log,
	})
	s.Forecasts = forecast.New(forecast.Config{Store: store, Campaigns: s.Campaigns, Contacts: s.Contacts, DNC: s.DNC, Workspace: s.Workspaces.Workspace, Counters: func(ctx context.Context, workspaceID string, from, to time.Time) ([]*domain.Usage, error) {
		return ledger.Counters(ctx, store, workspaceID, from, to)
	}})
}

// retention creates the service that deletes data whose retention period has expired.
func (s *Services) retention(cfg *Config) *retention.Service {
	ignoreTime := func(sweep func(context.Context, string) error) func(context.Context, string, time.Time) error {
		return func(ctx context.Context, workspaceID string, _ time.Time) error { return sweep(ctx, workspaceID) }
	}
	return retention.New(retention.Config{
		Store: s.Node.Store(), Workspaces: s.Node, Blobs: s.Node.Blobs(), Calls: s.Calls, Appointments: s.Appointments, Events: s.Events, DecisionKey: cfg.Keys.DecisionLogKey, Log: cfg.Node.Log,
		Steps: []retention.Step{
			{Name: "received message ids", Sweep: s.SMS.DeleteSeenMessages},
			{Name: "attempt counts", Sweep: ignoreTime(s.Node.DeleteOldNumberDays)},
			{Name: "OAuth grants and revocations", Sweep: func(ctx context.Context, workspaceID string, now time.Time) error {
				return errors.Join(s.OAuth.SweepOAuth(ctx, workspaceID, now), s.Users.SweepSessions(ctx, workspaceID, now))
			}},
			{Name: "bulk jobs", Sweep: ignoreTime(s.Bulk.SweepBulks)},
			{Name: "exports", Sweep: s.Exports.SweepExports},
			{Name: "data requests", Sweep: s.DataRequests.SweepDataRequests},
			{Name: "idempotency keys", Sweep: ignoreTime(s.Idempotency.SweepReplies)},
		},
	})
}

// alertRules creates the service of alert rules.
func (s *Services) alertRules(cfg *Config) *alerts.Service {
	n := s.Node
	rules := alerts.Config{
		Store: n.Store(), Workspaces: n, Shards: n, Outbox: n, System: n.System(), Node: n, Mail: cfg.Node.Mail, RulesChanged: n.AlertRulesChanged, Log: cfg.Node.Log,
	}
	if !n.IsOnlyShard() {
		rules.ReadOtherShards = cfg.ReadOtherShards
	}
	return alerts.New(rules)
}

// exportCampaigns gives the exports access to campaigns and their contacts.
type exportCampaigns struct {
	record.CampaignReader
	*contacts.Service
}

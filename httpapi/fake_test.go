package httpapi_test

import (
	"context"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/cluster"
	"github.com/callboard/callboard/httpapi/live"
	"github.com/callboard/callboard/httpapi/middleware"
	"github.com/callboard/callboard/httpapi/oauth"
	"github.com/callboard/callboard/httpapi/v1/account"
	"github.com/callboard/callboard/httpapi/v1/agents"
	"github.com/callboard/callboard/httpapi/v1/calls"
	"github.com/callboard/callboard/httpapi/v1/campaigns"
	"github.com/callboard/callboard/httpapi/v1/events"
	"github.com/callboard/callboard/httpapi/v1/messaging"
	"github.com/callboard/callboard/httpapi/v1/operator"
	"github.com/callboard/callboard/httpapi/v1/telephony"
	callsservice "github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
	"github.com/callboard/callboard/service/trunks"
	"github.com/callboard/callboard/service/webhooks"
)

// fakeRecords stores the records of one kind, oldest first.
type fakeRecords[T interface{ Base() *domain.Meta }] struct {
	mu      sync.Mutex
	kind    domain.Prefix
	rows    []T
	created int
}

func ulidOf(n int) string { return fmt.Sprintf("01J0000000%016d", n) }

func (s *fakeRecords[T]) add(v T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.created++
	m := v.Base()
	m.ID, m.Object, m.WorkspaceID = string(s.kind)+"_"+ulidOf(s.created), string(s.kind), "ws_"+ulidOf(1)
	if m.Environment == "" {
		m.Environment = domain.Live
	}
	m.CreatedAt = time.Date(2026, 3, 1, 12, 0, s.created, 0, time.UTC)
	m.UpdatedAt = m.CreatedAt
	s.rows = append(s.rows, v)
	return v
}

// fakeMeta returns the metadata of a record that a fake service does not store but creates for each response.
func fakeMeta(kind string) domain.Meta {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return domain.Meta{ID: kind + "_" + ulidOf(1), Object: kind, WorkspaceID: "ws_" + ulidOf(1), Environment: domain.Live, CreatedAt: at, UpdatedAt: at}
}

func (s *fakeRecords[T]) get(id string) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.rows {
		if v.Base().ID == id {
			return v, nil
		}
	}
	var none T
	return none, domain.Errorf(domain.CodeNotFound, "There is no such %s.", s.kind)
}

func (s *fakeRecords[T]) list(q record.PageQuery) record.Page[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	var l record.Page[T]
	for _, v := range slices.Backward(s.rows) {
		if q.Cursor != "" && v.Base().ID >= q.Cursor {
			continue
		}
		if len(l.Data) == q.Limit {
			l.Next = l.Data[q.Limit-1].Base().ID
			break
		}
		l.Data = append(l.Data, v)
	}
	return l
}

func (s *fakeRecords[T]) remove(id string) error {
	if _, err := s.get(id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = slices.DeleteFunc(s.rows, func(v T) bool { return v.Base().ID == id })
	return nil
}

// updateRecord applies a change to a copy of a record and stores the copy, as the real services do.
func updateRecord[N any, T interface {
	*N
	Base() *domain.Meta
}](s *fakeRecords[T], id string, change func(T) error) (T, error) {
	v, err := s.get(id)
	if err != nil {
		return nil, err
	}
	c := *(*N)(v)
	if err := change(T(&c)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.rows {
		if s.rows[i].Base().ID == id {
			s.rows[i] = T(&c)
		}
	}
	return T(&c), nil
}

// fakeServices implements all services of the API in memory.
type fakeServices struct {
	restored        bool // the store is in quarantine
	windows         fakeRateWindows
	mu              sync.Mutex
	model           func(brief string, t pathway.ModelRequest) ([]string, pathway.ModelAnswered) // nil: no language model
	caller          func(brief string, spoken []pathway.Message) (string, error)                 // model that plays the caller of a pathway test
	keys            map[string]domain.Principal
	auditEntries    []string
	workspace       *domain.Workspace
	callerIDs       []string
	contacts        []domain.RawContact
	orders          []domain.NewCall
	transfers       []callsservice.Transfer
	spoken          []string // spoken texts and DTMF digits of live calls
	results         iter.Seq2[contactlist.ResultRow, error]
	ready           error
	draining        atomic.Bool
	campaignErr     error // returned by methods that read a campaign; nil: none
	onRow           func(domain.RawContact)
	replies         map[record.IdempotencyKey]*record.StoredReply
	running         map[record.IdempotencyKey]bool
	keysInUse       int    // number of following requests that get idempotency_conflict
	panicOnCancel   bool   // CancelCampaign panics
	releases        []bool // for each released idempotency key, the argument unknown of Release
	wav             []byte
	listeners       fakeListeners   // listeners of calls
	callers         fakeCallers     // browsers in a call with an agent
	eventTypes      []string        // requested types of the last read of events
	eventStream     fakeEventStream // the event log that event streams read
	signers         []*domain.SigningKey
	revokedKeys     map[string]bool // revoked keys of tokens
	receivedStrings []string        // strings that services received, which must outlive their request
	copiedStates    []string        // contact states of the last copied campaign

	dncLists   fakeRecords[*domain.DNCList]
	dncNumbers []string

	campaigns fakeRecords[*domain.Campaign]
	calls     fakeRecords[*domain.Call]
	agents    fakeRecords[*domain.Agent]
	pathways  fakeRecords[*domain.Pathway]
	trunks    fakeRecords[*domain.Trunk]
	phones    fakeRecords[*domain.Phone]
	numbers   fakeRecords[*domain.PhoneNumber]
	webhooks  fakeRecords[*domain.Webhook]
	apiKeys   fakeRecords[*domain.APIKey]
	fakeUsers
	fakeAppointments
	fakeJobs
	fakeAlerts
}

func newFakeServices() *fakeServices {
	f := &fakeServices{
		keys: map[string]domain.Principal{}, replies: map[record.IdempotencyKey]*record.StoredReply{}, running: map[record.IdempotencyKey]bool{},
		workspace: &domain.Workspace{
			Name: "default", Plan: domain.Enterprise, Limits: domain.DefaultEnterpriseLimits(), DefaultCountry: "US", Calling: domain.DestinationRules{Countries: []string{"US"}},
		},
		callerIDs: []string{"+12025550100"},
		wav:       []byte("RIFF0123456789WAVE"),
	}
	f.workspace.Meta = domain.Meta{ID: "ws_" + ulidOf(1), Object: "workspace", WorkspaceID: "ws_" + ulidOf(1), Environment: domain.Live}
	f.workspace.Limits.RequestsPerMinute = 1_000_000
	for name, rights := range map[string][]domain.Permission{
		"operator": {domain.AllRead, domain.AllWrite}, "all": {domain.AllRead, domain.AllWrite},
		"*:read": {domain.AllRead}, "*:write": {domain.AllWrite}, "calls:read": {domain.CallsRead}, "calls:write": {domain.CallsWrite},
		"agents:read": {domain.AgentsRead}, "agents:write": {domain.AgentsWrite}, "analytics:read": {domain.AnalyticsRead},
	} {
		f.keys[name] = domain.Principal{
			KeyID: "key_" + name, WorkspaceID: f.workspace.ID, Environment: domain.Live, Permissions: rights, Operator: name == "operator",
		}
	}
	f.campaigns.kind, f.calls.kind, f.agents.kind, f.pathways.kind = domain.PrefixCampaign, domain.PrefixCall, domain.PrefixAgent, domain.PrefixPathway
	f.phones.kind = domain.PrefixPhone
	f.dncLists.kind = domain.PrefixDNC
	f.trunks.kind, f.numbers.kind, f.webhooks.kind, f.apiKeys.kind = domain.PrefixTrunk, domain.PrefixNumber, domain.PrefixWebhook, domain.PrefixKey
	f.initUsers()
	f.initRecords()
	f.fakeAlerts.setKinds()
	f.setKinds()
	return f
}

func (f *fakeServices) services() httpapi.Services {
	return httpapi.Services{
		Account: account.Services{
			Workspaces: f, SpendWarnings: f, Keys: f, Users: f, OAuthClients: f, Usage: f, Exports: f, DataRequests: f, AuditLog: f,
		},
		Agents: agents.Services{
			Agents: f, Tools: f, Pathways: f, Models: f, Calls: f, Campaigns: f, Providers: f, Appointments: f, Knowledge: f,
		},
		Calls:     calls.Services{Calls: f, Actions: f, Events: f, Recordings: f},
		Campaigns: campaigns.Services{Campaigns: f, Forecasts: f, Contacts: f, DNCLists: f, Decisions: f, BulkJobs: f},
		Events:    events.Services{Events: f, Webhooks: f, Deliveries: f},
		Messaging: messaging.Services{Messages: f, Conversations: f, Gateways: f},
		Operator:  operator.Services{Workspaces: f, SpendWarnings: f, Numbers: f, Trunks: f, Alerts: f, Quarantine: f, Node: f},
		Telephony: telephony.Services{Numbers: f, TestCalls: f, Trunks: f, Phones: f},
		Live:      live.Services{Calls: f, Agents: f, CallAudio: f, BrowserCalls: f, Events: f},
		OAuth:     oauth.Services{Clients: f, Grants: f, Sessions: f, Audit: f},
		Access: middleware.Services{
			Keys: f, OAuth: f, Sessions: f, Origins: f, Workspaces: f, Audit: f, Drain: f, RateWindows: &f.windows,
		},
		SigningKeys: f, Numbers: f, Replies: f, Cluster: cluster.Services{Load: f, AlertSearch: f, Workspaces: f, Idempotency: f}, Health: f, Sessions: f,
	}
}

func (f *fakeServices) Authenticate(_ context.Context, key string, from netip.Addr) (domain.Principal, error) {
	f.mu.Lock()
	p, ok := f.keys[key]
	f.mu.Unlock()
	switch {
	case key == "revoked":
		return domain.Principal{KeyID: "key_old", WorkspaceID: f.workspace.ID}, domain.Errorf(domain.CodeExpiredAPIKey, "The key was revoked.")
	case key == "elsewhere":
		return domain.Principal{KeyID: "key_far", WorkspaceID: f.workspace.ID}, domain.Errorf(domain.CodeIPNotAllowed, "Not from %s.", from)
	case !ok:
		return domain.Principal{}, domain.Errorf(domain.CodeInvalidAPIKey, "There is no such key.")
	}
	return p, nil
}

func (f *fakeServices) PlaceCall(_ context.Context, _ domain.Principal, o domain.NewCall) (*domain.Call, error) {
	f.mu.Lock()
	f.orders = append(f.orders, o)
	f.mu.Unlock()
	if o.To == "+12025550199" {
		return nil, domain.Errorf(domain.CodeConcurrentLimit, "All lines are busy.").With("active_calls", 5).With("limit", 5)
	}
	return f.calls.add(&domain.Call{Direction: domain.Outbound, From: o.From, To: o.To, AgentID: o.AgentID, Status: domain.CallQueued}), nil
}

func (f *fakeServices) Call(_ context.Context, _ domain.Principal, id string) (*domain.Call, error) {
	return f.calls.get(id)
}

func (f *fakeServices) ListCalls(_ context.Context, _ domain.Principal, q callsservice.Query) (record.Page[*domain.Call], error) {
	return f.calls.list(q.PageQuery), nil
}

func (f *fakeServices) DeleteCall(_ context.Context, _ domain.Principal, id string) error {
	_, err := f.calls.get(id)
	return err
}

func (f *fakeServices) HangupCall(_ context.Context, _ domain.Principal, id string) (*domain.Call, error) {
	return f.calls.get(id)
}

func (f *fakeServices) Transcript(_ context.Context, _ domain.Principal, id string) (*domain.Transcript, error) {
	c, err := f.calls.get(id)
	if err != nil {
		return nil, err
	}
	if c.Processing {
		return nil, domain.Errorf(domain.CodeProcessing, "Still to come.")
	}
	return &domain.Transcript{CallID: id, Language: "en-US", Segments: []domain.Segment{{Speaker: "agent", Text: "Hello."}}, Text: "Hello."}, nil
}

func (f *fakeServices) CreateAgent(_ context.Context, _ domain.Principal, a *domain.Agent) (*domain.Agent, error) {
	f.agents.add(a)
	f.publish(a)
	return a, nil
}

func (f *fakeServices) Agent(_ context.Context, _ domain.Principal, id string) (*domain.Agent, error) {
	return f.agents.get(id)
}

func (f *fakeServices) ListAgents(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.Agent], error) {
	return f.agents.list(q), nil
}

func (f *fakeServices) UpdateAgent(_ context.Context, _ domain.Principal, id string, change func(*domain.Agent) error) (*domain.Agent, error) {
	return updateRecord(&f.agents, id, func(a *domain.Agent) error {
		a.Unpublished = []string{"first_message"}
		return change(a)
	})
}

func (f *fakeServices) DeleteAgent(_ context.Context, _ domain.Principal, id string) error {
	return f.agents.remove(id)
}

func (f *fakeServices) CreatePathway(_ context.Context, _ domain.Principal, w *domain.Pathway) (*domain.Pathway, error) {
	w.Version = 1
	return f.pathways.add(w), nil
}

func (f *fakeServices) Pathway(_ context.Context, _ domain.Principal, id string) (*domain.Pathway, error) {
	return f.pathways.get(id)
}

func (f *fakeServices) PathwayVersion(_ context.Context, _ domain.Principal, id string, number int) (*domain.Pathway, error) {
	w, err := f.pathways.get(id)
	if err == nil && number > w.Version {
		err = domain.Problems{{Param: "version", Code: domain.CodeValidation, Message: "there is none"}}.Err()
	}
	return w, err
}

func (f *fakeServices) ListPathways(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.Pathway], error) {
	return f.pathways.list(q), nil
}

func (f *fakeServices) UpdatePathway(_ context.Context, _ domain.Principal, id string, change func(*domain.Pathway) error) (*domain.Pathway, error) {
	return updateRecord(&f.pathways, id, func(w *domain.Pathway) error {
		if err := change(w); err != nil {
			return err
		}
		w.Version++
		return nil
	})
}

func (f *fakeServices) DeletePathway(_ context.Context, _ domain.Principal, id string) error {
	return f.pathways.remove(id)
}

func (f *fakeServices) CreateTrunk(_ context.Context, _ domain.Principal, t *domain.Trunk) (*domain.Trunk, error) {
	return f.trunks.add(t), nil
}

func (f *fakeServices) Trunk(_ context.Context, _ domain.Principal, id string) (*domain.Trunk, error) {
	return f.trunks.get(id)
}

func (f *fakeServices) ListTrunks(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.Trunk], error) {
	return f.trunks.list(q), nil
}

func (f *fakeServices) UpdateTrunk(_ context.Context, _ domain.Principal, id string, change func(*domain.Trunk) error) (*domain.Trunk, error) {
	return updateRecord(&f.trunks, id, change)
}

func (f *fakeServices) TestTrunk(_ context.Context, _ domain.Principal, id string) (trunks.TrunkTest, error) {
	if _, err := f.trunks.get(id); err != nil {
		return trunks.TrunkTest{}, err
	}
	return trunks.TrunkTest{TrunkID: id, OK: true, Targets: []trunks.TargetTest{{Target: "sip.example.com:5060;udp", Reachable: true, Code: 200, Reason: "OK", Millis: 3}}}, nil
}

func (f *fakeServices) TestInboundCall(_ context.Context, p domain.Principal, o callsservice.InboundTest) (*domain.Call, error) {
	if p.Environment != domain.Test {
		return nil, domain.Errorf(domain.CodeInvalidState, "the built-in carrier calls with a test key only")
	}
	c := &domain.Call{Direction: domain.Inbound, From: o.From, To: o.To, Status: domain.CallInitiated}
	c.ID, c.Object, c.Environment = "call_"+ulidOf(7), "call", p.Environment
	return c, nil
}

func (f *fakeServices) DeleteTrunk(_ context.Context, _ domain.Principal, id string) error {
	return f.trunks.remove(id)
}

func (f *fakeServices) CreatePhone(_ context.Context, _ domain.Principal, x *domain.Phone) (*domain.Phone, error) {
	if x.Password == "" {
		x.Password = "made-for-this-phone"
	}
	return f.phones.add(x), nil
}

func (f *fakeServices) Phone(_ context.Context, _ domain.Principal, id string) (*domain.Phone, error) {
	return f.phones.get(id)
}

func (f *fakeServices) ListPhones(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.Phone], error) {
	return f.phones.list(q), nil
}

func (f *fakeServices) UpdatePhone(_ context.Context, _ domain.Principal, id string, change func(*domain.Phone) error) (*domain.Phone, error) {
	return updateRecord(&f.phones, id, change)
}

func (f *fakeServices) DeletePhone(_ context.Context, _ domain.Principal, id string) error {
	return f.phones.remove(id)
}

func (f *fakeServices) CreateNumber(_ context.Context, _ domain.Principal, n *domain.PhoneNumber) (*domain.PhoneNumber, error) {
	n.Status = domain.NumberLive
	return f.numbers.add(n), nil
}

func (f *fakeServices) Number(_ context.Context, _ domain.Principal, id string) (*domain.PhoneNumber, error) {
	return f.numbers.get(id)
}

func (f *fakeServices) ListNumbers(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.PhoneNumber], error) {
	return f.numbers.list(q), nil
}

func (f *fakeServices) UpdateNumber(_ context.Context, _ domain.Principal, id string, change func(*domain.PhoneNumber) error) (*domain.PhoneNumber, error) {
	return updateRecord(&f.numbers, id, change)
}

func (f *fakeServices) DeleteNumber(_ context.Context, _ domain.Principal, id string) error {
	return f.numbers.remove(id)
}

func (f *fakeServices) CallerIDs(context.Context, domain.Principal) ([]string, error) {
	return f.callerIDs, nil
}

func (f *fakeServices) CreateWebhook(_ context.Context, _ domain.Principal, w *domain.Webhook) (*domain.Webhook, error) {
	w.SecretHint = "…cdef"
	if w.Secret == "" {
		w.Secret = "whsec_made"
	}
	return f.webhooks.add(w), nil
}

func (f *fakeServices) Webhook(_ context.Context, _ domain.Principal, id string) (*domain.Webhook, error) {
	return f.webhooks.get(id)
}

func (f *fakeServices) ListWebhooks(_ context.Context, _ domain.Principal, q webhooks.Query) (record.Page[*domain.Webhook], error) {
	return f.webhooks.list(q.PageQuery), nil
}

func (f *fakeServices) UpdateWebhook(_ context.Context, _ domain.Principal, id string, change func(*domain.Webhook) error) (*domain.Webhook, error) {
	return updateRecord(&f.webhooks, id, change)
}

func (f *fakeServices) RotateWebhook(ctx context.Context, p domain.Principal, id, secret string, overlap time.Duration, change func(*domain.Webhook) error) (*domain.Webhook, error) {
	if secret == "" {
		secret = "whsec_made"
	}
	w, err := f.UpdateWebhook(ctx, p, id, func(w *domain.Webhook) error {
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(overlap)
		w.RotateSecret(secret, "…", at)
		return change(w)
	})
	if err != nil {
		return nil, err
	}
	shown := *w.Public()
	shown.Secret = secret
	return &shown, nil
}

func (f *fakeServices) DeleteWebhook(_ context.Context, _ domain.Principal, id string) error {
	return f.webhooks.remove(id)
}

func (f *fakeServices) PauseWebhook(_ context.Context, _ domain.Principal, id string) (*domain.Webhook, error) {
	return updateRecord(&f.webhooks, id, func(w *domain.Webhook) error { w.Status = domain.WebhookPaused; return nil })
}

func (f *fakeServices) ResumeWebhook(_ context.Context, _ domain.Principal, id string) (*domain.Webhook, error) {
	return updateRecord(&f.webhooks, id, func(w *domain.Webhook) error { w.Status = domain.WebhookActive; return nil })
}

func (f *fakeServices) delivery() *domain.Delivery {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return &domain.Delivery{
		EventID: "evt_" + ulidOf(1), EventType: "call.ended", State: domain.DeliveryFailed, Attempts: 5, LastAttemptAt: &at,
		ResponseStatus: 503, ResponseTimeMs: 12, Error: "status 503", CreatedAt: at,
	}
}

func (f *fakeServices) WebhookLog(_ context.Context, _ domain.Principal, id string, _ record.PageQuery) (record.Page[*domain.Delivery], error) {
	_, err := f.webhooks.get(id)
	return record.Page[*domain.Delivery]{Data: []*domain.Delivery{f.delivery()}}, err
}

func (f *fakeServices) FailedDeliveries(_ context.Context, _ domain.Principal, id string, _ record.PageQuery) (record.Page[*domain.Delivery], error) {
	_, err := f.webhooks.get(id)
	return record.Page[*domain.Delivery]{Data: []*domain.Delivery{f.delivery()}}, err
}

func (f *fakeServices) TestWebhook(_ context.Context, _ domain.Principal, id string, t event.Type) (webhooks.TestResult, error) {
	_, err := f.webhooks.get(id)
	return webhooks.TestResult{EventID: "evt_" + ulidOf(1), Delivered: true, ResponseStatus: 200, ResponseTimeMs: 3, Error: string(t)}, err
}

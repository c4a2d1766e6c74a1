package httpapi

import (
	"context"
	"iter"
	"net/netip"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/pathway"
)

// Ports are what the front door needs of the service. One value may stand in
// all of them: no two methods share a name.
//
// Everywhere: the Principal says workspace, environment and rights, and a
// resource of another workspace or environment is not_found. What comes back
// is a noun, or a *domain.Error that the client may see; any other error is a
// fault of ours (500), except ends of the context (503). Requests
// come validated and with their defaults filled in; ids, times and secrets are
// made behind the port. Nouns that come back are the caller's: no one changes
// them any more. They may hold secrets; the front door never shows them.
type Ports struct {
	Auth        Authenticator
	Campaigns   Campaigns
	Contacts    Contacts
	Calls       Calls
	Recordings  Recordings
	Listening   Listening
	Talking     Talking
	Agents      Agents
	Pathways    Pathways
	Tools       Tools
	Trunks      Trunks
	Numbers     Numbers
	Phones      Phones
	DNC         DNC
	Webhooks    Webhooks
	Deliveries  Deliveries
	Keys        Keys
	Tokens      Tokens
	OAuth       OAuth
	Consents    Consents
	Users       Users
	Audit       Audit
	Workspaces  WorkspaceRecord
	Usages      Usages
	Bulks       Bulks
	Exports     Exports
	Data        DataRequests
	Tenants     Tenants
	Operators   Operators
	Quarantines Quarantines
	Alerts      Alerts
	Events      Events
	Health      Health
	Bookings    Bookings
	Messages    Messages
	Textings    Textings
	Gateways    SMSGateways
	Knowledge   Knowledge
	Windows     Windows // nil: what is used of the rate limits is forgotten at the end
	Once        Once    // nil: the Idempotency-Key header has no effect
}

// Authenticator knows API keys.
type Authenticator interface {
	// Authenticate checks the text of an API key and the client's address.
	// Errors: invalid_api_key, expired_api_key, ip_not_allowed. With an error
	// the Principal tells what is known of the key (nothing: WorkspaceID "").
	// It must be quick: it stands before every request.
	Authenticate(ctx context.Context, key string, from netip.Addr) (domain.Principal, error)
}

// Campaigns creates campaigns and drives them.
type Campaigns interface {
	// CreateCampaign keeps a campaign (Status draft or scheduled; everything
	// but Meta filled in) with its inline contacts, at most 10,000. Unknown
	// agent or pathway: 422 with param. Each distinct URL of Webhooks becomes
	// an endpoint of the campaign, whose deliveries the secret signs; "": one is
	// made.
	CreateCampaign(ctx context.Context, p domain.Principal, c *domain.Campaign, secret string, rows iter.Seq2[ask.RawContact, error]) (ask.CampaignCreated, error)
	// UpdateCampaign answers the secret of endpoints that are new, "" without.
	UpdateCampaign(ctx context.Context, p domain.Principal, id string, change func(*domain.Campaign) error) (c *domain.Campaign, secret string, err error)
	// DeleteCampaign: invalid_state unless it is a draft, or over with no call
	// going on.
	DeleteCampaign(ctx context.Context, p domain.Principal, id string) error
	// CopyCampaign makes a draft of another campaign, with its contacts in one of
	// the states. change makes it fit.
	CopyCampaign(ctx context.Context, p domain.Principal, id string, states []string, change func(*domain.Campaign) error) (ask.CampaignCreated, error)
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
	ListCampaigns(ctx context.Context, p domain.Principal, q ask.CampaignQuery) (ask.List[*domain.Campaign], error)
	// These four return the status object, also where the campaign is in the target
	// state already. Other errors: invalid_state with current_status, allowed_from.
	StartCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error)
	PauseCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error)
	ResumeCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error)
	CancelCampaign(ctx context.Context, p domain.Principal, id string, hangupActive bool) (domain.CampaignStatusObject, error)
	// CampaignStatus returns the status object of a campaign.
	CampaignStatus(ctx context.Context, p domain.Principal, id string) (*domain.CampaignStatusObject, error)
	// CampaignProgress answers how far a campaign was when, oldest first, 101
	// marks at most.
	CampaignProgress(ctx context.Context, p domain.Principal, id string) ([]domain.ProgressMark, error)
	// SimulateCampaign plays what is left of a campaign on a virtual clock;
	// unavailable while another simulation of the workspace runs, invalid_state
	// where the campaign is over. It ends with the context.
	SimulateCampaign(ctx context.Context, p domain.Principal, id string, o ask.SimulationOrder) (*ask.Simulation, error)
	// SimulateDraft plays a campaign as CreateCampaign gets it, and keeps nothing.
	SimulateDraft(ctx context.Context, p domain.Principal, c *domain.Campaign, rows iter.Seq2[ask.RawContact, error], o ask.SimulationOrder) (*ask.Simulation, error)
}

// Contacts are the people of a campaign.
type Contacts interface {
	// ContactVariables are the variables that the pathway of a campaign declares.
	ContactVariables(ctx context.Context, p domain.Principal, campaignID string) ([]string, error)
	// UploadContacts reads rows to their end, storing as it goes, in bounded
	// memory. An error among the rows (the client went away, a malformed
	// stream) ends the upload and is returned; RawContact.Problem only counts.
	UploadContacts(ctx context.Context, p domain.Principal, campaignID string, upload ask.ContactRows) (ask.UploadSummary, error)
	ListContacts(ctx context.Context, p domain.Principal, campaignID string, q ask.ContactQuery) (ask.List[ask.Contact], error)
	// ExportContacts walks the contacts in a state ("": all) in the order of
	// upload, as they are while it goes on.
	ExportContacts(ctx context.Context, p domain.Principal, campaignID, status string) (ask.ContactsExport, error)
	Contact(ctx context.Context, p domain.Principal, campaignID, contactID string) (ask.Contact, error)
	// UpdateContact and DeleteContact are for contacts that wait (pending,
	// retry_wait): else invalid_state with current_status. One that is deleted
	// counts as cancelled. A number that another contact has is already_exists.
	UpdateContact(ctx context.Context, p domain.Principal, campaignID, contactID string, change func(*domain.Contact) error) (ask.Contact, error)
	DeleteContact(ctx context.Context, p domain.Principal, campaignID, contactID string) error
	// ListUploads and Upload tell of uploads, also while they are received.
	ListUploads(ctx context.Context, p domain.Principal, campaignID string, page ask.Page) (ask.List[*domain.Upload], error)
	Upload(ctx context.Context, p domain.Principal, campaignID, id string) (*domain.Upload, error)
	// CampaignResults walks all contacts in the order of upload. The walk goes
	// on after the call returned, until the last row or until ctx ends.
	CampaignResults(ctx context.Context, p domain.Principal, campaignID string) (iter.Seq2[ask.ResultRow, error], error)
}

// Calls places calls and shows them.
type Calls interface {
	CallLine
	// PlaceCall answers the call as queued. Errors: concurrent_limit_exceeded
	// with active_calls and limit, dnc_blocked, destination_not_allowed,
	// outside_calling_hours, no_trunk, caller_id_required.
	PlaceCall(ctx context.Context, p domain.Principal, order ask.NewCall) (*domain.Call, error)
	Call(ctx context.Context, p domain.Principal, id string) (*domain.Call, error)
	ListCalls(ctx context.Context, p domain.Principal, q ask.CallQuery) (ask.List[*domain.Call], error)
	// DeleteCall removes a call that is over with its recording, transcript and
	// SIP messages; invalid_state with current_status while it is live.
	DeleteCall(ctx context.Context, p domain.Principal, id string) error
	// HangupCall answers the call; invalid_state where it is over.
	HangupCall(ctx context.Context, p domain.Principal, id string) (*domain.Call, error)
	// Transcript and Recording fail with processing while they are still to
	// come (202), with not_found where there is none and never will be.
	Transcript(ctx context.Context, p domain.Principal, callID string) (*domain.Transcript, error)
	Recording(ctx context.Context, p domain.Principal, callID string) (ask.Recording, error)
}

// DNC are the lists of numbers that are never called.
type DNC interface {
	CreateDNCList(ctx context.Context, p domain.Principal, l *domain.DNCList) (*domain.DNCList, error)
	DNCList(ctx context.Context, p domain.Principal, id string) (*domain.DNCList, error)
	ListDNCLists(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.DNCList], error)
	UpdateDNCList(ctx context.Context, p domain.Principal, id string, change func(*domain.DNCList) error) (*domain.DNCList, error)
	// DeleteDNCList: invalid_state for the default list and for one in use.
	DeleteDNCList(ctx context.Context, p domain.Principal, id string) error
	// ImportDNC reads rows to their end, storing as it goes, in bounded memory.
	// What was added before an error stays.
	ImportDNC(ctx context.Context, p domain.Principal, id string, rows iter.Seq2[ask.RawNumber, error]) (ask.DNCImport, error)
	ListDNCEntries(ctx context.Context, p domain.Principal, id string, q ask.Page) (ask.List[domain.DNCEntry], error)
	DeleteDNCEntry(ctx context.Context, p domain.Principal, id, phone string) (e164 string, err error)
	CheckDNC(ctx context.Context, p domain.Principal, phone string) (ask.DNCCheck, error)
	// ListDecisions reads a campaign's log, of one number ("": of all), in the
	// order in which it was written.
	ListDecisions(ctx context.Context, p domain.Principal, campaignID, phone string, q ask.Page) (ask.List[ask.Decision], error)
	// Decisions walks the whole log; the walk goes on after the call returned.
	Decisions(ctx context.Context, p domain.Principal, campaignID string) (iter.Seq2[ask.Decision, error], error)
	// VerifyDecisions says whether the log is as it was written.
	VerifyDecisions(ctx context.Context, p domain.Principal, campaignID string) (ask.DecisionsVerified, error)
}

// Agents are who speaks. In every Update here and below, change works on a
// fresh copy of the stored noun and may be called again after a conflict; its
// error ends the update and is returned.
type Agents interface {
	// CreateAgent publishes version 1. What the agent names and is not there is
	// 422 with param: pathway_id, tools[i], knowledge_base_ids[i].
	CreateAgent(ctx context.Context, p domain.Principal, a *domain.Agent) (*domain.Agent, error)
	Agent(ctx context.Context, p domain.Principal, id string) (*domain.Agent, error)
	ListAgents(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.Agent], error)
	// UpdateAgent changes the draft.
	UpdateAgent(ctx context.Context, p domain.Principal, id string, change func(*domain.Agent) error) (*domain.Agent, error)
	// DeleteAgent: invalid_state with used_by while a pathway names it.
	DeleteAgent(ctx context.Context, p domain.Principal, id string) error
	// PublishAgent makes a version of the draft; the newest one where nothing
	// has changed.
	PublishAgent(ctx context.Context, p domain.Principal, id string) (*domain.AgentVersion, error)
	AgentVersion(ctx context.Context, p domain.Principal, id string, number int) (*domain.AgentVersion, error)
	ListAgentVersions(ctx context.Context, p domain.Principal, id string, q ask.Page) (ask.List[*domain.AgentVersion], error)
	// SignOnInbound makes the secret that signs what on_inbound is asked.
	SignOnInbound(ctx context.Context, p domain.Principal, id string) (secret string, err error)
}

// Pathways are plans of conversations.
type Pathways interface {
	CreatePathway(ctx context.Context, p domain.Principal, w *domain.Pathway) (*domain.Pathway, error)
	Pathway(ctx context.Context, p domain.Principal, id string) (*domain.Pathway, error)
	// PathwayVersion is one as it was, 422 with param version where that is not
	// kept; 0: as it is.
	PathwayVersion(ctx context.Context, p domain.Principal, id string, number int) (*domain.Pathway, error)
	ListPathways(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.Pathway], error)
	UpdatePathway(ctx context.Context, p domain.Principal, id string, change func(*domain.Pathway) error) (*domain.Pathway, error)
	// DeletePathway: invalid_state with used_by while an agent names it.
	DeletePathway(ctx context.Context, p domain.Principal, id string) error
	// CheckPathway: 422 where a node names what is not the workspace's.
	CheckPathway(ctx context.Context, p domain.Principal, w *domain.Pathway) error
	// Thinks says whether there is a language model for such an agent; nil: for
	// one that names none.
	Thinks(ctx context.Context, p domain.Principal, l *domain.AgentLLM) bool
	// Think asks it. brief is what it is told of its part.
	Think(ctx context.Context, p domain.Principal, l *domain.AgentLLM, brief string, t pathway.Think) ([]string, pathway.Answered)
	// PlayCaller has the service's own model be the caller of a conversation. The
	// error is fit to be shown.
	PlayCaller(ctx context.Context, p domain.Principal, brief string, said []pathway.Message) (string, error)
}

// Trunks are ways to the telephone network.
type Trunks interface {
	CreateTrunk(ctx context.Context, p domain.Principal, t *domain.Trunk) (*domain.Trunk, error)
	Trunk(ctx context.Context, p domain.Principal, id string) (*domain.Trunk, error)
	ListTrunks(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.Trunk], error)
	UpdateTrunk(ctx context.Context, p domain.Principal, id string, change func(*domain.Trunk) error) (*domain.Trunk, error)
	DeleteTrunk(ctx context.Context, p domain.Principal, id string) error
	// TestTrunk asks each target by OPTIONS, for some seconds at most.
	TestTrunk(ctx context.Context, p domain.Principal, id string) (ask.TrunkTest, error)
}

// Phones are softphones that register here. What they answer carries Status
// and Contacts.
type Phones interface {
	// CreatePhone makes the password where it is empty. already_exists with
	// param extension or username where somebody has it.
	CreatePhone(ctx context.Context, p domain.Principal, x *domain.Phone) (*domain.Phone, error)
	Phone(ctx context.Context, p domain.Principal, id string) (*domain.Phone, error)
	ListPhones(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.Phone], error)
	// UpdatePhone: another password or username ends the phone's registrations.
	UpdatePhone(ctx context.Context, p domain.Principal, id string, change func(*domain.Phone) error) (*domain.Phone, error)
	DeletePhone(ctx context.Context, p domain.Principal, id string) error
}

// Numbers are the phone numbers of a workspace.
type Numbers interface {
	// CreateNumber: already_exists where any workspace has the number; unknown
	// agent or trunk: 422 with param.
	CreateNumber(ctx context.Context, p domain.Principal, n *domain.PhoneNumber) (*domain.PhoneNumber, error)
	Number(ctx context.Context, p domain.Principal, id string) (*domain.PhoneNumber, error)
	ListNumbers(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.PhoneNumber], error)
	UpdateNumber(ctx context.Context, p domain.Principal, id string, change func(*domain.PhoneNumber) error) (*domain.PhoneNumber, error)
	DeleteNumber(ctx context.Context, p domain.Principal, id string) error
	// TestInboundCall lets the built-in carrier call a number of the test
	// environment and answers the call that it became; validation_error with
	// param to where nobody answers the number.
	TestInboundCall(ctx context.Context, p domain.Principal, o ask.InboundTest) (*domain.Call, error)
	// CallerIDs are the numbers that may be shown: the workspace's own (never
	// "*"), oldest first, then those that its trunks list.
	CallerIDs(ctx context.Context, p domain.Principal) ([]string, error)
}

// Webhooks are endpoints.
type Webhooks interface {
	// CreateWebhook answers with Secret set (made where it was empty): shown
	// this once. A URL outside Egress: 422 invalid_url.
	CreateWebhook(ctx context.Context, p domain.Principal, w *domain.Webhook) (*domain.Webhook, error)
	Webhook(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error)
	ListWebhooks(ctx context.Context, p domain.Principal, q ask.WebhookQuery) (ask.List[*domain.Webhook], error)
	UpdateWebhook(ctx context.Context, p domain.Principal, id string, change func(*domain.Webhook) error) (*domain.Webhook, error)
	// RotateWebhook is UpdateWebhook with another secret, made where it is empty,
	// which takes over after overlap. The answer has Secret set to it.
	RotateWebhook(ctx context.Context, p domain.Principal, id, secret string, overlap time.Duration, change func(*domain.Webhook) error) (*domain.Webhook, error)
	DeleteWebhook(ctx context.Context, p domain.Principal, id string) error
}

// Deliveries are what became of events on their way to an endpoint.
type Deliveries interface {
	PauseWebhook(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error)
	ResumeWebhook(ctx context.Context, p domain.Principal, id string) (*domain.Webhook, error)
	WebhookLog(ctx context.Context, p domain.Principal, id string, q ask.Page) (ask.List[*domain.Delivery], error)
	FailedDeliveries(ctx context.Context, p domain.Principal, id string, q ask.Page) (ask.List[*domain.Delivery], error)
	// ReplayWebhook delivers events again, under their own ids and from the first
	// attempt on.
	ReplayWebhook(ctx context.Context, p domain.Principal, id string, o ask.ReplayOrder) (ask.Replay, error)
	// TestWebhook makes one attempt with webhook.test, or with a sample of the
	// event type (a canonical name), and waits for its end.
	TestWebhook(ctx context.Context, p domain.Principal, id string, t event.Type) (ask.TestResult, error)
}

// Keys are API keys. The front door has checked that a new key holds no more
// than its maker.
type Keys interface {
	// CreateKey answers the key and its text, which is never kept. That it was
	// made is audited in the same commit, as that it was revoked.
	CreateKey(ctx context.Context, p domain.Principal, by ask.Act, k *domain.APIKey) (made *domain.APIKey, text string, err error)
	APIKey(ctx context.Context, p domain.Principal, id string) (*domain.APIKey, error)
	// ListKeys: a live credential sees the keys of both environments, a test one
	// those of its own.
	ListKeys(ctx context.Context, p domain.Principal, q ask.KeyQuery) (ask.List[*domain.APIKey], error)
	UpdateKey(ctx context.Context, p domain.Principal, id string, change func(*domain.APIKey) error) (*domain.APIKey, error)
	// RevokeKey: from its return on the key is refused, and its children too. It
	// answers what became of the resources that they created.
	RevokeKey(ctx context.Context, p domain.Principal, by ask.Act, id string, o ask.RevokeKeyRequest) (ask.RevokeKeyResult, error)
}

// Tokens are what stands behind the JWTs of users.
type Tokens interface {
	// SigningKey is the key of a kid, nil where there is none whose tokens may
	// still hold. It must be quick: it stands before every request.
	SigningKey(ctx context.Context, kid string) (*domain.SigningKey, error)
	// SigningKeys are those whose tokens may hold, and which of them signs; fresh
	// makes another where one is due.
	SigningKeys(ctx context.Context, fresh func() (public, private string, err error)) (domain.Signing, error)
	// KeyAlive fails with expired_token where the API key no longer holds.
	KeyAlive(ctx context.Context, workspace, keyID string) error
	// OriginAllowed says whether any workspace lets pages of an origin in.
	OriginAllowed(origin string) bool
}

// Audit is the log of who did what.
type Audit interface {
	// Note keeps an act; it never waits for the store. Principal.WorkspaceID
	// "": the credential is unknown, and only the operator's log may tell.
	Note(ctx context.Context, p domain.Principal, act ask.Act)
	// Ride is a context for the question to another port: what is changed under
	// it is committed together with the act, or not at all.
	Ride(ctx context.Context, p domain.Principal, act ask.Act) context.Context
	// Record keeps an act before it returns, unless it rode under this context.
	Record(ctx context.Context, p domain.Principal, act ask.Act)
	ListAudit(ctx context.Context, p domain.Principal, q ask.AuditQuery) (ask.List[*domain.AuditEntry], error)
}

// WorkspaceRecord is the tenant's own record.
type WorkspaceRecord interface {
	// Workspace answers from memory: it stands before every request.
	Workspace(ctx context.Context, p domain.Principal) (*domain.Workspace, error)
	UpdateWorkspace(ctx context.Context, p domain.Principal, change func(*domain.Workspace) error) (*domain.Workspace, error)
	// SpendWarnings tell for which trunks the spend cap of a workspace does not hold.
	SpendWarnings(ctx context.Context, w *domain.Workspace) ([]domain.Detail, error)
}

// Usages are what a workspace used, and what that costs.
type Usages interface {
	// Usage tells days and months from one day to another.
	Usage(ctx context.Context, p domain.Principal, q ask.UsageQuery) (ask.Usage, error)
	// Ledger walks the rows behind it, in the order in which they were opened.
	Ledger(ctx context.Context, p domain.Principal, q ask.UsageQuery) (iter.Seq2[ask.LedgerLine, error], error)
}

// Events are read forwards in commit order.
type Events interface {
	// ListEvents answers events of the Principal's environment after the id;
	// cursor_expired where that is past retention, validation_error where it
	// is unknown.
	ListEvents(ctx context.Context, p domain.Principal, q ask.EventQuery) (ask.List[event.Event], error)
	// FollowEvents reads as ListEvents does (Limit has no meaning) and goes on
	// with the events that come. After may be ask.EventsFromNow. What it answers
	// is its reader's alone, keeps a bounded number of events and is dropped
	// without a word: next answers the events that follow, at most a hundred;
	// while there are none it waits until its ctx ends, and then answers none.
	// io.EOF: none will come any more.
	FollowEvents(ctx context.Context, p domain.Principal, q ask.EventQuery) (next func(ctx context.Context) ([]event.Event, error), err error)
	// Event is one event of the Principal's environment. Errors: not_found.
	Event(ctx context.Context, p domain.Principal, id string) (event.Event, error)
}

// Health says whether the service can serve.
type Health interface {
	// Ready is nil when the store is open, SIP listens and campaigns are
	// loaded; otherwise its text is the reason shown.
	Ready(ctx context.Context) error
	// Draining says whether the service is being stopped: live calls go on,
	// nothing new begins.
	Draining() bool
	// Quarantined says whether nothing leaves the service, because its store was restored from a backup.
	Quarantined() bool
}

// Once keeps the answers to requests with an Idempotency-Key for 24 hours.
type Once interface {
	// Reserve takes the key for a request. It answers the stored reply where
	// there is one, nil where the request may run, in the context that comes
	// back, and idempotency_conflict where it is still running. A request that
	// the end of the process cut off may run again: what it did is found and
	// done once. digest is that of the body, "" where it is not read yet.
	Reserve(ctx context.Context, p domain.Principal, k ask.OnceKey, digest string) (context.Context, *ask.OnceReply, error)
	// Keep stores the reply of a request that ran.
	Keep(ctx context.Context, p domain.Principal, k ask.OnceKey, r ask.OnceReply) error
	// Release ends a request that failed. It gives the key back where the
	// request had no effect; where that is unknown the same request may run
	// again like one that was cut off.
	Release(ctx context.Context, p domain.Principal, k ask.OnceKey, unknown bool) error
	// Turn writes down what makes a request that was let in here the same one
	// where another node does it, and InTurn reads it there.
	Turn(ctx context.Context) string
	InTurn(ctx context.Context, text string) (context.Context, error)
}

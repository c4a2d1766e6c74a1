// Package calls is the service for calls: it places, lists, controls and deletes them.
package calls

import (
	"context"
	"log/slog"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/registrar"
	"github.com/callboard/callboard/actors/testcalls"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/sip/testcarrier"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store           commit.Store
	Workspaces      record.Workspaces
	System          *actor.ActorSystem
	Actors          callActors
	Permits         permitActors
	Admission       admission
	Opener          callCommitter
	TransferTargets transferTargets
	Campaigns       campaigns
	Agents          agents
	Scripts         scripts
	Phones          phones
	CallerIDs       callerIDs
	DNC             dncLists
	Recordings      recordings
	Traces          traces
	SIP             leg.DialogOpener // prepares the first dialog of a call
	Zones           *calendar.SharedZones
	TestCalls       *testcalls.Registry
	// TestCall places a call from the test carrier to this service. It is nil if there is no test carrier.
	TestCall func(ctx context.Context, o testcarrier.CallRequest) error
	// BrowserCall places a call from the test carrier with the audio of a browser. It is nil if there is no test carrier.
	BrowserCall func(ctx context.Context, o testcarrier.CallRequest, audio func(frame []byte), notify func(testcarrier.Event)) (*testcarrier.Handset, error)
	Log         *slog.Logger
}

// callActors returns the actors of a workspace. The error is not_found or unavailable if the workspace has no actors
// on this node.
type callActors interface {
	CallsPID(workspaceID string) (*actor.PID, error)
	TrunksPID(workspaceID string) (*actor.PID, error)
	NumbersPID(workspaceID string) (*actor.PID, error)
}

// permitActors returns the actors that grant call permits in a workspace. The error is not_found or unavailable if the
// workspace has no actors on this node.
type permitActors interface {
	// OutboundLinesPID returns the actor that grants permits for outbound calls in an environment.
	OutboundLinesPID(workspaceID string, env domain.Environment) (*actor.PID, error)
	// InboundLinesPID returns the actor that grants permits for inbound calls.
	InboundLinesPID(workspaceID string) (*actor.PID, error)
}

// admission decides whether this node accepts new calls.
type admission interface {
	// CheckCallAdmission returns an error while the node starts no outbound calls.
	CheckCallAdmission() error
	// CheckInboundCallAdmission returns an error while the node accepts no inbound calls.
	CheckInboundCallAdmission() error
}

// callCommitter commits new calls.
type callCommitter interface {
	// OpenCall commits the database rows of a new call before its INVITE is sent.
	OpenCall(ctx context.Context, o call.OpeningCommit) error
}

// transferTargets finds the number or phone to which a call is transferred.
type transferTargets interface {
	// FindTransferTarget checks the number of a transfer destination, or finds its phone. Errors:
	// destination_not_allowed, spend_cap_reached, dnc_blocked, validation_failed.
	FindTransferTarget(ctx context.Context, c *domain.Call, t *domain.AgentTransfer, to call.TransferDestination) (transferleg.Target, error)
}

type campaigns interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
}

type agents interface {
	Agent(ctx context.Context, p domain.Principal, id string) (*domain.Agent, error)
}

// scripts reads the scripts of agents: versions, pathways and engine settings for a call.
type scripts interface {
	Script(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
	ScriptForCall(ctx context.Context, p domain.Principal, o *domain.NewCall) (domain.Script, error)
}

// phones finds registered phones.
type phones interface {
	// FindRegistered returns the phone with the extension or id to. If to is a telephone number, isPhone is false.
	FindRegistered(ctx context.Context, p domain.Principal, to string) (found registrar.PhoneFound, isPhone bool, err error)
}

// callerIDs returns and checks the numbers that a workspace may show as caller ID.
type callerIDs interface {
	CallerIDs(ctx context.Context, p domain.Principal) ([]string, error)
	// CheckCallerID returns caller_id_not_allowed if the workspace may not show the number.
	CheckCallerID(ctx context.Context, p domain.Principal, from string) error
}

type dncLists interface {
	// CheckNotListed returns dnc_blocked if the number is on a do-not-call list of the workspace.
	CheckNotListed(ctx context.Context, p domain.Principal, e164 string) error
}

// recordings deletes the recordings of calls.
type recordings interface {
	Delete(ctx context.Context, workspace, name string) error
}

// traces holds the SIP messages of live calls in memory.
type traces interface {
	// Trace returns the SIP messages of a live call so far, or nil if there are none.
	Trace(c *domain.Call) *domain.CallTrace
}

// Service places, reads, controls and deletes calls.
type Service struct {
	store    commit.Store
	cfg      Config
	searches sync.Map // ids of workspaces in which a transcript search runs
}

// New returns a Service.
func New(cfg Config) *Service { return &Service{store: cfg.Store, cfg: cfg} }

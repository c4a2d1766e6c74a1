// Package calls places, reads, controls and deletes calls.
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

// Config is what the service needs.
type Config struct {
	Store           commit.Store
	Workspaces      record.Workspaces
	System          *actor.ActorSystem
	Actors          callActors
	Permits         permitActors
	Admission       admission
	Opener          opener
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
	Zones           *calendar.Shared
	TestCalls       *testcalls.Registry
	// TestCall makes a call from the test carrier to this service; nil: there is no
	// test carrier.
	TestCall func(ctx context.Context, o testcarrier.Order) error
	// BrowserCall makes a call whose audio comes from and goes to a browser; nil: there
	// is no test carrier.
	BrowserCall func(ctx context.Context, o testcarrier.Order, audio func(frame []byte), notify func(testcarrier.Event)) (*testcarrier.Handset, error)
	Log         *slog.Logger
}

// callActors finds the actors of a workspace that calls need. Errors: as
// record.Workspaces.WorkspaceNotFound.
type callActors interface {
	CallsPID(workspaceID string) (*actor.PID, error)
	TrunksPID(workspaceID string) (*actor.PID, error)
	NumbersPID(workspaceID string) (*actor.PID, error)
}

// permitActors finds the actors that grant the permits of a workspace. Errors: as
// record.Workspaces.WorkspaceNotFound.
type permitActors interface {
	// OutboundLinesPID returns the actor that grants permits for outbound calls of an
	// environment.
	OutboundLinesPID(workspaceID string, env domain.Environment) (*actor.PID, error)
	// InboundLinesPID returns the actor that grants permits for inbound calls.
	InboundLinesPID(workspaceID string) (*actor.PID, error)
}

// admission says whether this node takes new calls.
type admission interface {
	// CheckCallAdmission returns an error while no outbound call may begin.
	CheckCallAdmission() error
	// CheckInboundCallAdmission returns an error while no inbound call may begin.
	CheckInboundCallAdmission() error
}

// opener commits the opening of calls.
type opener interface {
	// OpenCall commits the rows of a call before its INVITE.
	OpenCall(ctx context.Context, o call.OpeningCommit) error
}

// transferTargets finds to whom callers are transferred.
type transferTargets interface {
	// FindTransferTarget checks a number or finds a phone. Errors:
	// destination_not_allowed, spend_cap_reached, dnc_blocked, validation_failed.
	FindTransferTarget(ctx context.Context, c *domain.Call, t *domain.AgentTransfer, to call.TransferDestination) (transferleg.Target, error)
}

type campaigns interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
}

type agents interface {
	Agent(ctx context.Context, p domain.Principal, id string) (*domain.Agent, error)
}

// scripts resolves what agents say in calls.
type scripts interface {
	Script(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
	ScriptForCall(ctx context.Context, p domain.Principal, o *domain.NewCall) (domain.Script, error)
}

// phones finds the registered phones of workspaces.
type phones interface {
	// FindRegistered returns the phone that to names; isPhone is false for telephone
	// numbers.
	FindRegistered(ctx context.Context, p domain.Principal, to string) (found registrar.PhoneFound, isPhone bool, err error)
}

// callerIDs are the numbers that a workspace may show.
type callerIDs interface {
	CallerIDs(ctx context.Context, p domain.Principal) ([]string, error)
	// CheckCallerID returns caller_id_not_allowed for a number that the workspace may
	// not show.
	CheckCallerID(ctx context.Context, p domain.Principal, from string) error
}

type dncLists interface {
	// CheckNotListed returns dnc_blocked for a number on a list of the workspace.
	CheckNotListed(ctx context.Context, p domain.Principal, e164 string) error
}

// recordings deletes the recordings of calls.
type recordings interface {
	Delete(ctx context.Context, workspace, name string) error
}

// traces holds the SIP messages of live calls.
type traces interface {
	// Trace returns the messages of a live call so far; nil: none are held.
	Trace(c *domain.Call) *domain.CallTrace
}

// Service places, reads, controls and deletes calls.
type Service struct {
	store    commit.Store
	cfg      Config
	searches sync.Map // workspaces in which a search in transcripts runs
}

// New returns the service.
func New(cfg Config) *Service { return &Service{store: cfg.Store, cfg: cfg} }

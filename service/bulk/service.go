// Package bulk is the service for bulk jobs, which place many calls, queue many messages, or import contacts or
// do-not-call numbers. A job continues after a restart.
package bulk

import (
	"context"
	"iter"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// Placement is a request of a job to place one call.
type Placement struct {
	Order  domain.NewCall
	CallID string
	Permit func(ctx context.Context) (lines.Permit, error) // waits for the permit of the call
	More   func(*commit.Change, *domain.Call)              // adds changes to the commit that creates the call
}

// Config holds the dependencies of a Service.
type Config struct {
	Store      commit.Store
	Workspaces record.Workspaces
	Node       node
	System     *actor.ActorSystem
	Permits    permitActors
	Jobs       jobRunner
	Campaigns  campaigns
	Contacts   contactImports
	DNC        dncLists
	SMS        messages
	Scripts    scripts
	Zones      *calendar.SharedZones
	// PlaceCall places a call as soon as it has a call permit.
	PlaceCall func(ctx context.Context, p domain.Principal, placement Placement) (*domain.Call, error)
	// ImportDNC adds numbers to a do-not-call list.
	ImportDNC func(ctx context.Context, p domain.Principal, listID string, rows iter.Seq2[domain.RawNumber, error]) error
}

// node gives access to the state of the node that runs the jobs.
type node interface {
	// Context returns a context that ends when the node stops.
	Context() context.Context
	// Quarantined reports whether the store is in quarantine after a restore. No call or message is sent then.
	Quarantined() bool
}

// permitActors finds the actor that grants permits for outbound calls in a workspace.
type permitActors interface {
	OutboundLinesPID(workspaceID string, env domain.Environment) (*actor.PID, error)
}

// jobRunner runs one function per name in the background.
type jobRunner interface {
	Start(ctx context.Context, name string, work func(ctx context.Context) error) bool
	// StopAndWait cancels the function with this name and waits until the function has returned.
	StopAndWait(name string)
	// Stop cancels the function with this name without waiting.
	Stop(name string)
}

type campaigns interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
}

// contactImports adds contacts to campaigns.
type contactImports interface {
	// ImportContacts adds contacts in one commit. more adds changes to that commit and gets up to maxErrors errors of
	// refused contacts.
	ImportContacts(
		ctx context.Context, p domain.Principal, campaignID string, rows contactlist.ContactRows, maxErrors int, more func(*commit.Change, *contactlist.Import),
	) (contactlist.UploadSummary, error)
}

type dncLists interface {
	// ListExists returns a validation error for the field param if the do-not-call list does not exist.
	ListExists(ctx context.Context, p domain.Principal, param, id string) error
}

// messages queues SMS messages.
type messages interface {
	// CheckSMSRoutes returns an error if the workspace has no route for messages.
	CheckSMSRoutes(ctx context.Context, p domain.Principal) error
	// QueueMessage queues a message with this id. The functions in more add changes to the commit of the message.
	QueueMessage(ctx context.Context, p domain.Principal, o domain.NewMessage, id string, more ...func(*commit.Change)) (*domain.Message, error)
}

type scripts interface {
	ScriptForCall(ctx context.Context, p domain.Principal, o *domain.NewCall) (domain.Script, error)
}

// Service starts, shows, cancels and runs bulk jobs.
type Service struct {
	store   commit.Store
	cfg     Config
	running sync.Map // *waitState by job id, for each running job
}

// New returns a Service.
func New(cfg Config) *Service { return &Service{store: cfg.Store, cfg: cfg} }

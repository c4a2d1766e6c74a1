// Package bulk runs jobs of many calls, contacts, numbers or messages.
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

// Placement is a call that a job places.
type Placement struct {
	Order  domain.NewCall
	CallID string
	Permit func(ctx context.Context) (lines.Permit, error) // waits for the permit of the call
	More   func(*commit.Change, *domain.Call)              // adds to the commit that opens the call
}

// Config is what the service needs.
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
	Zones      *calendar.Shared
	// PlaceCall places a call; see calls.Service.Place.
	PlaceCall func(ctx context.Context, p domain.Principal, placement Placement) (*domain.Call, error)
	// ImportDNC adds numbers to a do-not-call list.
	ImportDNC func(ctx context.Context, p domain.Principal, listID string, rows iter.Seq2[domain.RawNumber, error]) error
}

// node is the node that runs the jobs.
type node interface {
	// Context ends with the node.
	Context() context.Context
	// Quarantined says that nothing may be sent to anybody.
	Quarantined() bool
}

// permitActors finds the actor that grants permits for outbound calls.
type permitActors interface {
	OutboundLinesPID(workspaceID string, env domain.Environment) (*actor.PID, error)
}

// jobRunner runs work in the background until it is done.
type jobRunner interface {
	Begin(ctx context.Context, name string, work func(ctx context.Context) error) bool
	// Stop ends work and waits for it.
	Stop(name string)
	// End ends work.
	End(name string)
}

type campaigns interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
}

// contactImports adds contacts to campaigns.
type contactImports interface {
	// ImportContacts adds contacts in one commit with more, which sees up to most of
	// the errors.
	ImportContacts(
		ctx context.Context, p domain.Principal, campaignID string, rows contactlist.ContactRows, most int, more func(*commit.Change, *contactlist.Import),
	) (contactlist.UploadSummary, error)
}

type dncLists interface {
	// ListExists returns a validation error for param if there is no such list.
	ListExists(ctx context.Context, p domain.Principal, param, id string) error
}

// messages queues SMS messages.
type messages interface {
	// CheckSMSRoutes returns an error if nothing carries messages of the workspace.
	CheckSMSRoutes(ctx context.Context, p domain.Principal) error
	// QueueMessage queues a message under an id, in one commit with more.
	QueueMessage(ctx context.Context, p domain.Principal, o domain.NewMessage, id string, more ...func(*commit.Change)) (*domain.Message, error)
}

type scripts interface {
	ScriptForCall(ctx context.Context, p domain.Principal, o *domain.NewCall) (domain.Script, error)
}

// Service starts, shows, cancels and runs bulk jobs.
type Service struct {
	store   commit.Store
	cfg     Config
	running sync.Map // *waitState of each job that runs, by its id
}

// New returns the service.
func New(cfg Config) *Service { return &Service{store: cfg.Store, cfg: cfg} }

// Package actors grows the supervision tree and stops it (node.go), and is the
// desk at which the front door asks (desk*.go). It knows every actor, no HTTP
// and no disk: the store and the wire are handed in.
package actors

import (
	"log/slog"
	"sync"

	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/service/agents"
	"github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/dnc"
	"github.com/callboard/callboard/service/jobs"
	"github.com/callboard/callboard/service/pathways"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
	"github.com/callboard/callboard/service/tools"
)

// Services that the desk passes on until the front door has each of them.
type (
	agentsService   = agents.Service
	contactService  = contacts.Service
	dncService      = dnc.Service
	pathwaysService = pathways.Service
	toolsService    = tools.Service
)

// Desk answers the front door. It commits plain records itself, guarded by
// the version it read, and asks the actors whatever they own.
type Desk struct {
	*record.Idempotency
	*agentsService
	*contactService
	*dncService
	*pathwaysService
	*toolsService
	node       *Node
	store      *counting
	keys       *Keyring
	guests     *guests
	signers    signers
	audit      *auditor
	log        *slog.Logger
	list       contactlist.Reader
	references *record.References
	revising   record.KeyedMutex // contacts
	booking    record.KeyedMutex // by provider
	searches   sync.Map          // in transcripts, by workspace: one at a time
	logs       sync.Map          // logEnd, by workspace
	scripts    record.Cache[domain.Script]
	called     record.Cache[*domain.PhoneNumber]
	inUse      record.Cache[[]*domain.PhoneNumber] // the live numbers
	callerIDs  record.Cache[[]string]
	zones      *calendar.Shared
	plays      rehearsals
	messages   record.WorkspaceTask // what is to be done with text messages
	carriage   *carriage
	gateways   *webhook.Client // gives text messages to gateways
	asked      asked
	shelves    shelves
	readings   record.WorkspaceTask // sources of knowledge bases that are to be read
	meanings   record.WorkspaceTask // passages of knowledge bases that have no meaning yet
	analyses   record.WorkspaceTask // of calls that are over
	reminders  record.WorkspaceTask // of appointments
	texting    record.WorkspaceTask // messages that agents answer
	writing    writing
	alarms     alarms
	jobs       *jobs.Runner
	waits      sync.Map   // *bulkStand of each bulk job that runs, by its id
	founding   sync.Mutex // of workspaces
	// environments of campaigns, by their ids.
	environments record.Cache[domain.Environment]
	// exporting has room for the exports that are written at once.
	exporting chan struct{}
	// dataSlots has room for the data requests that are carried out at once.
	dataSlots chan struct{}
}

// onCalls says whether there is a live call on this node.
func (d *Desk) onCalls() bool { return d.node.cfg.Media != nil && d.node.cfg.Media.Live() > 0 }

// Package contacts is the service for the contacts of campaigns and their uploads.
package contacts

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store      commit.Store
	Workspaces record.Workspaces
	Campaigns  campaigns
	Actors     campaignActors
	System     *actor.ActorSystem
	DNC        scrubbers
	// Script returns the script of an agent or pathway: the conversation of its calls.
	Script  func(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
	OnCalls func() bool // reports whether this node has live calls
	Log     *slog.Logger
}

type campaigns interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
}

// campaignActors finds and starts the actors of campaigns.
type campaignActors interface {
	StartIfDraft(ctx context.Context, c *domain.Campaign) bool
	CampaignPID(workspaceID, id string) *actor.PID
	AwaitContacts(ctx context.Context, c *domain.Campaign, total int)
}

type scrubbers interface {
	Scrubber(c *domain.Campaign) func(ctx context.Context, e164 string) (listed bool, err error)
}

// Service lists, changes, uploads and exports the contacts of campaigns.
type Service struct {
	store      commit.Store
	list       *contactlist.Reader
	uploads    uploads
	editLocks  record.KeyedMutex // by campaign id/contact id
	workspaces record.Workspaces
	campaigns  campaigns
	actors     campaignActors
	system     *actor.ActorSystem
	dnc        scrubbers
	script     func(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
	onCalls    func() bool
	log        *slog.Logger
}

// New returns a Service.
func New(c Config) *Service {
	list := contactlist.New(c.Store)
	return &Service{
		store: c.Store, list: &list, workspaces: c.Workspaces, campaigns: c.Campaigns, actors: c.Actors, system: c.System,
		dnc: c.DNC, script: c.Script, onCalls: c.OnCalls, log: c.Log,
	}
}

// ListContacts returns a page of contacts in the order of upload. The cursor is the position of the next contact in the
// upload order.
func (s *Service) ListContacts(ctx context.Context, p domain.Principal, campaignID string, q Query) (record.Page[contactlist.Contact], error) {
	out := record.Page[contactlist.Contact]{Data: []contactlist.Contact{}}
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return out, err
	}
	from := 0
	if q.Cursor != "" {
		if from, err = strconv.Atoi(q.Cursor); err != nil || from < 0 {
			return out, domain.FieldError("cursor", domain.CodeInvalidCursor, "cursor is not a cursor of this list")
		}
	}
	page, next, err := s.list.Page(ctx, c, from, q.Limit, q.Status, q.Created)
	out.Data = append(out.Data, page...)
	if next > 0 {
		out.Next = strconv.Itoa(next)
	}
	return out, err
}

// Contact returns one contact of a campaign. Errors: not_found.
func (s *Service) Contact(ctx context.Context, p domain.Principal, campaignID, contactID string) (contactlist.Contact, error) {
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return contactlist.Contact{}, err
	}
	entry, err := s.list.Find(ctx, c, contactID)
	return entry.APIContact(c), err
}

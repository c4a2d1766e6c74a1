// Package contacts manages the contacts of campaigns and their uploads.
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
	// Script returns what calls of an agent or pathway say.
	Script  func(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
	OnCalls func() bool // whether this node has live calls
	Log     *slog.Logger
}

type campaigns interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
}

// campaignActors reaches the actors of campaigns.
type campaignActors interface {
	StartIfDraft(ctx context.Context, c *domain.Campaign) bool
	CampaignPID(workspaceID, id string) *actor.PID
	AwaitContacts(ctx context.Context, c *domain.Campaign, total int)
}

type scrubbers interface {
	Scrubber(c *domain.Campaign) func(ctx context.Context, e164 string) (listed bool, err error)
}

// Service manages the contacts of campaigns.
type Service struct {
	store      commit.Store
	list       *contactlist.Reader
	uploads    uploads
	revising   record.KeyedMutex // by campaign and contact
	workspaces record.Workspaces
	campaigns  campaigns
	actors     campaignActors
	system     *actor.ActorSystem
	dnc        scrubbers
	script     func(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
	onCalls    func() bool
	log        *slog.Logger
}

// New returns a service.
func New(c Config) *Service {
	list := contactlist.New(c.Store)
	return &Service{
		store: c.Store, list: &list, workspaces: c.Workspaces, campaigns: c.Campaigns, actors: c.Actors, system: c.System,
		dnc: c.DNC, script: c.Script, onCalls: c.OnCalls, log: c.Log,
	}
}

// ListContacts reads a page of contacts in the order of upload; the cursor is
// the ordinal to go on from. A page costs the same wherever it stands.
func (s *Service) ListContacts(ctx context.Context, p domain.Principal, campaignID string, q Query) (record.Page[contactlist.Contact], error) {
	out := record.Page[contactlist.Contact]{Data: []contactlist.Contact{}}
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return out, err
	}
	from := 0
	if q.Cursor != "" {
		if from, err = strconv.Atoi(q.Cursor); err != nil || from < 0 {
			return out, domain.FieldError("cursor", domain.CodeInvalidCursor, "cursor is not one that a page before returned")
		}
	}
	page, next, err := s.list.Page(ctx, c, from, q.Limit, q.Status, q.Created)
	out.Data = append(out.Data, page...)
	if next > 0 {
		out.Next = strconv.Itoa(next)
	}
	return out, err
}

// Contact reads one contact of a campaign.
func (s *Service) Contact(ctx context.Context, p domain.Principal, campaignID, contactID string) (contactlist.Contact, error) {
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return contactlist.Contact{}, err
	}
	o, err := s.list.Find(ctx, c, contactID)
	return o.APIContact(c), err
}

// Package campaigns creates, changes, starts and deletes campaigns.
package campaigns

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store      commit.Store
	Workspaces record.Workspaces
	Outbox     record.Outbox
	URLs       record.URLChecker
	System     *actor.ActorSystem
	Actors     campaignActors
	Webhooks   webhookActors
	Background background
	Contacts   contactImports
	DNC        dncLists
	Calls      callDeleter
	Bulk       bulkJobs
	Jobs       jobStopper
	Blobs      blobDeleter
	// Script returns what calls of an agent or pathway say.
	Script func(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
	// CallerIDs returns the numbers that calls of the principal may show.
	CallerIDs func(ctx context.Context, p domain.Principal) ([]string, error)
	Log       *slog.Logger
}

// campaignActors reaches the actors of campaigns.
type campaignActors interface {
	CampaignPID(workspaceID, id string) *actor.PID
	IsRunning(pid *actor.PID) bool
	StartCampaignActor(ctx context.Context, c *domain.Campaign)
	StartIfDraft(ctx context.Context, c *domain.Campaign) bool
	CampaignChanged(c *domain.Campaign)
}

// webhookActors reaches outbox and webhooks of a workspace.
type webhookActors interface {
	LockSettings(workspaceID string) (unlock func(), err error)
	WebhookCreating(w *domain.Webhook)
	WebhookChanged(ctx context.Context, w *domain.Webhook)
	WebhookDeleted(w *domain.Webhook)
}

// background runs what outlives its request, until the node stops.
type background interface {
	Context() context.Context
	RunInBackground(f func())
}

type contactImports interface {
	NewImport(ctx context.Context, p domain.Principal, c *domain.Campaign, before *domain.Progress, at time.Time) (*contactlist.Import, error)
	AddContacts(ctx context.Context, p domain.Principal, campaignID string, rows iter.Seq2[domain.RawContact, error]) (contactlist.UploadSummary, error)
	LockUploads(c *domain.Campaign) (unlock func(), err error)
}

type dncLists interface {
	ListExists(ctx context.Context, p domain.Principal, param, id string) error
}

type callDeleter interface {
	DeleteCalls(ctx context.Context, workspaceID string, calls []*domain.Call) error
}

// jobStopper stops a background job.
type jobStopper interface {
	Stop(name string)
}

type bulkJobs interface {
	DropBulk(ctx context.Context, b *domain.Bulk) error
}

type blobDeleter interface {
	Delete(ctx context.Context, workspace, name string) error
}

// Service creates, changes and deletes campaigns; their actors run them.
type Service struct {
	store      commit.Store
	list       contactlist.Reader
	workspaces record.Workspaces
	outbox     record.Outbox
	urls       record.URLChecker
	system     *actor.ActorSystem
	actors     campaignActors
	webhooks   webhookActors
	background background
	contacts   contactImports
	dnc        dncLists
	calls      callDeleter
	bulk       bulkJobs
	jobs       jobStopper
	blobs      blobDeleter
	script     func(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
	callerIDs  func(ctx context.Context, p domain.Principal) ([]string, error)
	// environments of campaigns, by their ids.
	environments storecache.Cache[domain.Environment]
	log          *slog.Logger
}

// New returns a service.
func New(c Config) *Service {
	return &Service{
		store: c.Store, list: contactlist.New(c.Store), workspaces: c.Workspaces, outbox: c.Outbox, urls: c.URLs, system: c.System, actors: c.Actors,
		webhooks: c.Webhooks, background: c.Background, contacts: c.Contacts, dnc: c.DNC, calls: c.Calls, bulk: c.Bulk, jobs: c.Jobs, blobs: c.Blobs,
		script: c.Script, callerIDs: c.CallerIDs, log: c.Log,
	}
}

// CreateCampaign keeps a campaign with its inline contacts in one commit and
// grows its actor. Nothing rings before its start. The secret signs what goes
// to its webhooks; "": one is made.
func (s *Service) CreateCampaign(
	ctx context.Context, p domain.Principal, c *domain.Campaign, secret string, rows iter.Seq2[domain.RawContact, error],
) (Created, error) {
	var none Created
	if made, err := s.createdBySameRequest(ctx, p); made != nil || err != nil {
		return orEmpty(made), err
	}
	if err := s.CheckReferences(ctx, p, c); err != nil {
		return none, err
	}
	c.Init("campaign", p, record.RequestResourceID(ctx, domain.PrefixCampaign), record.Now())
	if c.Test != nil && c.Status == domain.CampaignScheduled {
		c.Test.Since = &c.CreatedAt
	}
	change := commit.Change{Workspace: p.WorkspaceID, Guards: []commit.Guard{commit.Absent(c.Key())}}
	in, err := s.contacts.NewImport(ctx, p, c, &domain.Progress{}, c.CreatedAt)
	if err != nil {
		return none, err
	}
	in.Keep = func(chunks []domain.Record) error { change.Puts = append(change.Puts, chunks...); return nil }
	if err = in.Read(rows); err != nil {
		return none, err
	}
	hooks, secret, err := s.newWebhooks(ctx, p, c, secret)
	if err == nil && len(hooks) > 0 {
		err = record.RefuseAccessToken(p, "webhooks")
	}
	if err != nil {
		return none, err
	}
	progress := &domain.Progress{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Total: in.Total, Screened: in.Screened.Total, Outcomes: map[domain.Outcome]int{}}
	change.Puts = append(change.Puts, c, progress)
	for _, w := range hooks {
		change.Puts = append(change.Puts, w)
	}
	upload := &domain.Upload{Errors: []domain.ContactError{}}
	if in.Summary.Received > 0 {
		upload = in.CompleteUpload(contactlist.NewUpload(p, c))
		change.Puts = append(change.Puts, upload)
	}
	change.Events = []event.Draft{outbox.NewEvent(&c.Meta, event.CampaignCreated, c.ID, domain.Unit(p.WorkspaceID), event.CampaignData{
		CampaignID: c.ID, Name: c.Name, Status: c.Status,
	})}
	for _, w := range hooks { // known to the outbox before campaign.created is
		s.webhooks.WebhookCreating(w)
	}
	if _, err := s.store.Apply(ctx, change); err != nil {
		if errors.Is(err, domain.ErrConflict) || errors.Is(err, domain.ErrFenced) { // otherwise it may have landed
			for _, w := range hooks {
				s.webhooks.WebhookDeleted(w)
			}
		}
		return none, commit.StoreError(err)
	}
	for _, w := range hooks { // whose actors can read their rows only now
		s.webhooks.WebhookChanged(ctx, w)
	}
	s.actors.StartCampaignActor(ctx, c)
	s.outbox.Committed(p.WorkspaceID)
	return Created{Campaign: c, Upload: contactlist.NewUploadSummary(upload), WebhookSecret: secret}, nil
}

// createdBySameRequest is the campaign that the same request has made before the
// process ended, as it was answered then; nil: none.
func (s *Service) createdBySameRequest(ctx context.Context, p domain.Principal) (*Created, error) {
	c, err := record.CreatedBySameRequest[domain.Campaign](ctx, s.store, p, domain.PrefixCampaign)
	if c == nil || err != nil {
		return nil, err
	}
	made := &Created{Campaign: c, Upload: contactlist.NewUploadSummary(&domain.Upload{Errors: []domain.ContactError{}})}
	if err = commit.Each(ctx, s.store, "upload", c.WorkspaceID, "campaign="+c.ID, func(u *domain.Upload) {
		if made.Upload.UploadID == "" { // the first came with it
			made.Upload = contactlist.NewUploadSummary(u)
		}
	}); err != nil {
		return nil, commit.StoreError(err)
	}
	err = commit.Each(ctx, s.store, "webhook", c.WorkspaceID, "campaign="+c.ID, func(w *domain.Webhook) {
		made.WebhookSecret = w.Secret
		s.webhooks.WebhookChanged(ctx, w) // the time before may have been cut off in front of this
	})
	return made, commit.StoreError(err)
}

func orEmpty(c *Created) Created {
	if c == nil {
		return Created{}
	}
	return *c
}

// CheckReferences returns an error for an agent, pathway or list that is unknown or
// cannot be used.
func (s *Service) CheckReferences(ctx context.Context, p domain.Principal, c *domain.Campaign) error {
	_, unspoken := s.script(ctx, p, c.AgentID, c.PathwayID) // where it is known, both are there
	if unspoken != nil {
		if err := record.CheckAgent(ctx, s.store, p, c.AgentID); err != nil {
			return err
		}
		if err := record.CheckPathway(ctx, s.store, p, c.PathwayID); err != nil {
			return err
		}
	}
	if err := s.dnc.ListExists(ctx, p, "compliance.dnc_list_id", c.Compliance.DNCListID); err != nil {
		return err
	}
	return unspoken
}

// newWebhooks makes an endpoint of each distinct URL in the webhooks map;
// they share one secret, which is "" where there is no URL.
func (s *Service) newWebhooks(ctx context.Context, p domain.Principal, c *domain.Campaign, given string) (hooks []*domain.Webhook, secret string, err error) {
	byURL := make(map[string][]string)
	for name, url := range c.Webhooks {
		if err = s.urls.CheckURL(ctx, "webhooks."+name, url); err != nil {
			return nil, "", err
		}
		byURL[url] = append(byURL[url], name)
	}
	if len(byURL) == 0 {
		return nil, "", nil
	}
	first, err := record.NextOffset(ctx, s.store, p.WorkspaceID)
	if err != nil {
		return nil, "", err
	}
	for _, url := range slices.Sorted(maps.Keys(byURL)) {
		if secret == "" {
			if secret = given; secret == "" {
				secret = record.NewSigningSecret()
			}
		}
		names := byURL[url]
		slices.Sort(names)
		w := &domain.Webhook{URL: url, Events: names, Secret: secret, SecretHint: webhook.Hint(secret), Status: domain.WebhookActive, CampaignID: c.ID, FirstOffset: first}
		w.Init("webhook", p, mailbox.NewID(domain.PrefixWebhook), record.Now())
		w.CreatedBy = p.Creator()
		hooks = append(hooks, w)
	}
	return hooks, secret, nil
}

// Campaign reads one campaign.
func (s *Service) Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error) {
	return record.NewCampaignReader(s.store).Campaign(ctx, p, id)
}

// ListCampaigns reads a page.
func (s *Service) ListCampaigns(ctx context.Context, p domain.Principal, q Query) (record.Page[*domain.Campaign], error) {
	index := record.EnvironmentIndex(p)
	if q.Status != "" {
		index = "status=" + string(p.Environment) + "/" + string(q.Status)
	}
	return record.List[domain.Campaign](ctx, s.store, p.WorkspaceID, index, domain.PrefixCampaign, q.PageQuery, nil)
}

// StartCampaign starts a draft. The answer warns of contacts that the workspace may
// no longer call.
func (s *Service) StartCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error) {
	c, err := s.Campaign(ctx, p, id)
	if err != nil {
		return domain.CampaignStatusObject{}, err
	}
	if err = s.needCallerID(ctx, p, c); err != nil {
		return domain.CampaignStatusObject{}, err
	}
	var warnings []domain.Detail
	if c.Status == domain.CampaignDraft {
		warnings = s.destinationWarnings(ctx, c)
	}
	st, err := s.ask(ctx, p, id, campaign.Start{Rider: commit.RiderOf(ctx)})
	st.Warnings = warnings
	return st, err
}

// needCallerID refuses to start a campaign without a caller ID in a workspace whose
// only numbers are those of the test carrier. Errors: caller_id_required.
func (s *Service) needCallerID(ctx context.Context, p domain.Principal, c *domain.Campaign) error {
	if c.Status != domain.CampaignDraft || c.CallerID.Number != "" || c.Environment == domain.Test {
		return nil
	}
	own, err := s.callerIDs(ctx, p)
	if err != nil || slices.ContainsFunc(own, func(number string) bool { return !domain.IsMagic(number) }) {
		return err
	}
	return domain.FieldError("caller_id.number", domain.CodeCallerIDRequired,
		"caller_id.number is required: the workspace has no number to show; set caller_ids of a trunk or register a number with POST /v1/phone-numbers")
}

// PauseCampaign stops new calls; live ones go on.
func (s *Service) PauseCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error) {
	return s.ask(ctx, p, id, campaign.Pause{Rider: commit.RiderOf(ctx)})
}

// ResumeCampaign goes on after a pause.
func (s *Service) ResumeCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error) {
	return s.ask(ctx, p, id, campaign.Resume{Rider: commit.RiderOf(ctx)})
}

// CancelCampaign ends a campaign.
func (s *Service) CancelCampaign(ctx context.Context, p domain.Principal, id string, hangupActive bool) (domain.CampaignStatusObject, error) {
	return s.ask(ctx, p, id, campaign.Cancel{HangupActive: hangupActive, Rider: commit.RiderOf(ctx)})
}

// CampaignStatus asks the campaign, or reads the store where it is over.
func (s *Service) CampaignStatus(ctx context.Context, p domain.Principal, id string) (*domain.CampaignStatusObject, error) {
	stands, err := s.visibleID(ctx, p, id)
	if err != nil {
		return nil, err
	}
	status, err := s.askByID(ctx, p, stands, campaign.GetStatus{})
	if err != nil {
		return nil, err
	}
	return &status, nil
}

// CampaignProgress reads how far a campaign was when, oldest first.
func (s *Service) CampaignProgress(ctx context.Context, p domain.Principal, id string) ([]domain.ProgressMark, error) {
	id, err := s.visibleID(ctx, p, id)
	if err != nil {
		return nil, err
	}
	const most = 101 // per cents
	all := make([]domain.ProgressMark, 0, most)
	err = s.store.Under(ctx, domain.Key{Kind: "progress_mark", Workspace: p.WorkspaceID, ID: id + "/"}, "", most,
		func() domain.Record { return &domain.ProgressMark{} },
		func(r domain.Record) error {
			if m, ok := r.(*domain.ProgressMark); ok {
				all = append(all, *m)
			}
			return nil
		})
	slices.SortStableFunc(all, func(a, b domain.ProgressMark) int { return a.At.Compare(b.At) }) // contacts that are added lower the per cent
	return all, commit.StoreError(err)
}

// campaignEnvironment is as much of a campaign's row as says whose it is: the rest of
// it is long and not read.
type campaignEnvironment struct {
	Environment domain.Environment `json:"environment"`
	key         domain.Key
}

// Key names the row.
func (h *campaignEnvironment) Key() domain.Key { return h.key }

// Indexes and Sort are those of the whole row, which alone is written.
func (h *campaignEnvironment) Indexes() []string { return nil }

// Sort is that of the whole row.
func (h *campaignEnvironment) Sort() string { return "" }

// visibleID answers the id of a campaign that the principal may see. It is
// read once: its environment never changes, and whoever deletes it forgets it.
func (s *Service) visibleID(ctx context.Context, p domain.Principal, id string) (string, error) {
	id, err := domain.ParseID(domain.PrefixCampaign, id)
	if err != nil {
		return "", domain.NotFound("campaign")
	}
	environment, err := s.environments.Permanent(p.WorkspaceID, id, func() (domain.Environment, error) {
		h := &campaignEnvironment{key: (&domain.Campaign{Meta: domain.Meta{ID: id, WorkspaceID: p.WorkspaceID}}).Key()}
		_, found := s.store.Get(ctx, h)
		return h.Environment, found
	})
	if errors.Is(err, domain.ErrNotFound) || err == nil && environment != p.Environment {
		return "", domain.NotFound("campaign")
	}
	return id, commit.StoreError(err)
}

func (s *Service) ask(ctx context.Context, p domain.Principal, id string, msg any) (domain.CampaignStatusObject, error) {
	id, err := s.visibleID(ctx, p, id)
	if err != nil {
		return domain.CampaignStatusObject{}, err
	}
	return s.askByID(ctx, p, id, msg)
}

// loadingLimit is how long a request waits for a campaign that the node, which has just started, has not loaded yet.
const loadingLimit = 3 * time.Second

// askByID sends a message to the actor of a campaign that exists and that the
// principal may see, and returns its answer. For a campaign that is over and has no
// actor any more, it answers from the store. Errors: unavailable while the campaign is loading.
func (s *Service) askByID(ctx context.Context, p domain.Principal, id string, msg any) (domain.CampaignStatusObject, error) {
	// One that is over may have live calls still, and then its actor lives.
	pid := s.actors.CampaignPID(p.WorkspaceID, id)
	loading, cancel := context.WithTimeout(ctx, loadingLimit)
	defer cancel()
	for grown := false; ; {
		lives := s.actors.IsRunning(pid)
		if lives {
			st, refused := mailbox.Ask[domain.CampaignStatusObject](ctx, s.system, pid, msg)
			if domain.CodeOf(refused) != domain.CodeUnavailable {
				return st, refused
			}
		}
		c, err := s.Campaign(ctx, p, id) // which may have been deleted meanwhile
		if err != nil {
			return domain.CampaignStatusObject{}, err
		}
		if pid == nil || c.Status.Final() {
			progress, err := s.list.Progress(ctx, c)
			if err != nil {
				return domain.CampaignStatusObject{}, err
			}
			return campaign.HandleEnded(c, progress, msg)
		}
		if grown = !lives && !grown && s.actors.StartIfDraft(ctx, c); grown {
			continue
		}
		if lives || record.Sleep(loading, 20*time.Millisecond) != nil {
			return domain.CampaignStatusObject{}, domain.Errorf(domain.CodeUnavailable, "the campaign is being loaded; try again").With("retry_after", 1)
		}
	}
}

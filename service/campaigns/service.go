// Package campaigns is the service for campaigns: it creates, changes, starts, pauses, copies and deletes them. The
// campaign actors do the dialing.
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
	// Script returns the script of an agent or pathway: the conversation of its calls.
	Script func(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
	// CallerIDs returns the numbers that calls of the principal may show as caller ID.
	CallerIDs func(ctx context.Context, p domain.Principal) ([]string, error)
	Log       *slog.Logger
}

// campaignActors finds and starts the actors of campaigns.
type campaignActors interface {
	CampaignPID(workspaceID, id string) *actor.PID
	IsRunning(pid *actor.PID) bool
	StartCampaignActor(ctx context.Context, c *domain.Campaign)
	StartIfDraft(ctx context.Context, c *domain.Campaign) bool
	CampaignChanged(c *domain.Campaign)
}

// webhookActors informs the webhook actors and the outbox of a workspace about changed webhook endpoints.
type webhookActors interface {
	LockSettings(workspaceID string) (unlock func(), err error)
	WebhookCreating(w *domain.Webhook)
	WebhookChanged(ctx context.Context, w *domain.Webhook)
	WebhookDeleted(w *domain.Webhook)
}

// background runs functions that continue after their request has ended, until the node stops.
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

// jobStopper stops background jobs and waits for their end.
type jobStopper interface {
	StopAndWait(name string)
}

type bulkJobs interface {
	DeleteBulk(ctx context.Context, b *domain.Bulk) error
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
	// environments caches the environment of each campaign by campaign id, because it never changes.
	environments storecache.Cache[domain.Environment]
	log          *slog.Logger
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{
		store: c.Store, list: contactlist.New(c.Store), workspaces: c.Workspaces, outbox: c.Outbox, urls: c.URLs, system: c.System, actors: c.Actors,
		webhooks: c.Webhooks, background: c.Background, contacts: c.Contacts, dnc: c.DNC, calls: c.Calls, bulk: c.Bulk, jobs: c.Jobs, blobs: c.Blobs,
		script: c.Script, callerIDs: c.CallerIDs, log: c.Log,
	}
}

// CreateCampaign commits a campaign with the contacts in rows, and starts its actor. The campaign dials only after
// StartCampaign. secret signs deliveries to its webhooks. If secret is empty, CreateCampaign generates one.
func (s *Service) CreateCampaign(
	ctx context.Context, p domain.Principal, c *domain.Campaign, secret string, rows iter.Seq2[domain.RawContact, error],
) (CreatedCampaign, error) {
	var empty CreatedCampaign
	if earlier, err := s.createdBySameRequest(ctx, p); earlier != nil || err != nil {
		return valueOrZero(earlier), err
	}
	if err := s.CheckReferences(ctx, p, c); err != nil {
		return empty, err
	}
	c.Init("campaign", p, record.RequestResourceID(ctx, domain.PrefixCampaign), record.Now())
	if c.Test != nil && c.Status == domain.CampaignScheduled {
		c.Test.Since = &c.CreatedAt
	}
	change := commit.Change{Workspace: p.WorkspaceID, Guards: []commit.Guard{commit.Absent(c.Key())}}
	in, err := s.contacts.NewImport(ctx, p, c, &domain.Progress{}, c.CreatedAt)
	if err != nil {
		return empty, err
	}
	in.Store = func(chunks []domain.Record) error { change.Puts = append(change.Puts, chunks...); return nil }
	if err = in.Read(rows); err != nil {
		return empty, err
	}
	hooks, secret, err := s.newWebhooks(ctx, p, c, secret)
	if err == nil && len(hooks) > 0 {
		err = record.RefuseAccessToken(p, "webhooks")
	}
	if err != nil {
		return empty, err
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
	change.Events = []event.Draft{outbox.NewEvent(&c.Meta, event.CampaignCreated, c.ID, domain.UnitID(p.WorkspaceID), event.CampaignData{
		CampaignID: c.ID, Name: c.Name, Status: c.Status,
	})}
	for _, w := range hooks { // the outbox must know the endpoints before the campaign.created event
		s.webhooks.WebhookCreating(w)
	}
	if _, err := s.store.Apply(ctx, change); err != nil {
		if errors.Is(err, domain.ErrConflict) || errors.Is(err, domain.ErrFenced) { // after any other error the commit may have succeeded
			for _, w := range hooks {
				s.webhooks.WebhookDeleted(w)
			}
		}
		return empty, commit.StoreError(err)
	}
	for _, w := range hooks { // webhook actors can read the endpoint rows only after the commit
		s.webhooks.WebhookChanged(ctx, w)
	}
	s.actors.StartCampaignActor(ctx, c)
	s.outbox.Committed(p.WorkspaceID)
	return CreatedCampaign{Campaign: c, Upload: contactlist.NewUploadSummary(upload), WebhookSecret: secret}, nil
}

// createdBySameRequest returns the campaign that an earlier run of the same request created before the process ended.
// It returns nil if there is no such campaign.
func (s *Service) createdBySameRequest(ctx context.Context, p domain.Principal) (*CreatedCampaign, error) {
	c, err := record.CreatedBySameRequest[domain.Campaign](ctx, s.store, p, domain.PrefixCampaign)
	if c == nil || err != nil {
		return nil, err
	}
	created := &CreatedCampaign{Campaign: c, Upload: contactlist.NewUploadSummary(&domain.Upload{Errors: []domain.ContactError{}})}
	if err = commit.ForEachRow(ctx, s.store, "upload", c.WorkspaceID, "campaign="+c.ID, func(u *domain.Upload) {
		if created.Upload.UploadID == "" { // the first upload has the inline contacts
			created.Upload = contactlist.NewUploadSummary(u)
		}
	}); err != nil {
		return nil, commit.StoreError(err)
	}
	err = commit.ForEachRow(ctx, s.store, "webhook", c.WorkspaceID, "campaign="+c.ID, func(w *domain.Webhook) {
		created.WebhookSecret = w.Secret
		s.webhooks.WebhookChanged(ctx, w) // the earlier run may have ended before this notification
	})
	return created, commit.StoreError(err)
}

func valueOrZero(c *CreatedCampaign) CreatedCampaign {
	if c == nil {
		return CreatedCampaign{}
	}
	return *c
}

// CheckReferences returns an error if the agent, pathway or do-not-call list of a campaign does not exist or cannot
// be used.
func (s *Service) CheckReferences(ctx context.Context, p domain.Principal, c *domain.Campaign) error {
	_, scriptErr := s.script(ctx, p, c.AgentID, c.PathwayID) // a valid script implies that agent and pathway exist
	if scriptErr != nil {
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
	return scriptErr
}

// newWebhooks returns one webhook endpoint for each distinct URL in the campaign's webhooks map. The endpoints
// share one secret, which is given or random. If the map has no URLs, secret is "".
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
		w := &domain.Webhook{URL: url, Events: names, Secret: secret, SecretHint: webhook.SecretHint(secret), Status: domain.WebhookActive, CampaignID: c.ID, FirstOffset: first}
		w.Init("webhook", p, mailbox.NewID(domain.PrefixWebhook), record.Now())
		w.CreatedBy = p.Creator()
		hooks = append(hooks, w)
	}
	return hooks, secret, nil
}

// Campaign returns one campaign. Errors: not_found.
func (s *Service) Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error) {
	return record.NewCampaignReader(s.store).Campaign(ctx, p, id)
}

// ListCampaigns returns a page of campaigns.
func (s *Service) ListCampaigns(ctx context.Context, p domain.Principal, q Query) (record.Page[*domain.Campaign], error) {
	index := record.EnvironmentIndex(p)
	if q.Status != "" {
		index = "status=" + string(p.Environment) + "/" + string(q.Status)
	}
	return record.List[domain.Campaign](ctx, s.store, p.WorkspaceID, index, domain.PrefixCampaign, q.PageQuery, nil)
}

// StartCampaign starts a draft. The result contains a warning if the workspace may not call some of the contacts.
func (s *Service) StartCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error) {
	c, err := s.Campaign(ctx, p, id)
	if err != nil {
		return domain.CampaignStatusObject{}, err
	}
	if err = s.checkHasCallerID(ctx, p, c); err != nil {
		return domain.CampaignStatusObject{}, err
	}
	var warnings []domain.Detail
	if c.Status == domain.CampaignDraft {
		warnings = s.destinationWarnings(ctx, c)
	}
	st, err := s.requestStatus(ctx, p, id, campaign.Start{Rider: commit.AuditFrom(ctx)})
	st.Warnings = warnings
	return st, err
}

// checkHasCallerID returns caller_id_required if a draft has no caller ID and its workspace has no number to show as
// caller ID. Test numbers do not count. Campaigns of the test environment need none.
func (s *Service) checkHasCallerID(ctx context.Context, p domain.Principal, c *domain.Campaign) error {
	if c.Status != domain.CampaignDraft || c.CallerID.Number != "" || c.Environment == domain.Test {
		return nil
	}
	own, err := s.callerIDs(ctx, p)
	if err != nil || slices.ContainsFunc(own, func(number string) bool { return !domain.IsTestCarrierNumber(number) }) {
		return err
	}
	return domain.FieldError("caller_id.number", domain.CodeCallerIDRequired,
		"caller_id.number is required: the workspace has no number to show; set caller_ids of a trunk or register a number with POST /v1/phone-numbers")
}

// PauseCampaign makes a campaign place no new calls. Live calls continue.
func (s *Service) PauseCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error) {
	return s.requestStatus(ctx, p, id, campaign.Pause{Rider: commit.AuditFrom(ctx)})
}

// ResumeCampaign resumes a paused campaign.
func (s *Service) ResumeCampaign(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error) {
	return s.requestStatus(ctx, p, id, campaign.Resume{Rider: commit.AuditFrom(ctx)})
}

// CancelCampaign ends a campaign. If hangupActive is set, it also hangs up the campaign's live calls.
func (s *Service) CancelCampaign(ctx context.Context, p domain.Principal, id string, hangupActive bool) (domain.CampaignStatusObject, error) {
	return s.requestStatus(ctx, p, id, campaign.Cancel{HangupActive: hangupActive, Rider: commit.AuditFrom(ctx)})
}

// CampaignStatus returns the status from the campaign's actor, or from the store if the campaign has ended.
func (s *Service) CampaignStatus(ctx context.Context, p domain.Principal, id string) (*domain.CampaignStatusObject, error) {
	campaignID, err := s.visibleID(ctx, p, id)
	if err != nil {
		return nil, err
	}
	status, err := s.requestStatusByID(ctx, p, campaignID, campaign.GetStatus{})
	if err != nil {
		return nil, err
	}
	return &status, nil
}

// CampaignProgress returns the times at which a campaign reached each percent of its contacts, oldest first.
func (s *Service) CampaignProgress(ctx context.Context, p domain.Principal, id string) ([]domain.ProgressMark, error) {
	id, err := s.visibleID(ctx, p, id)
	if err != nil {
		return nil, err
	}
	const maxMarks = 101 // 0 to 100 percent
	all := make([]domain.ProgressMark, 0, maxMarks)
	err = s.store.Under(ctx, domain.Key{Kind: "progress_mark", Workspace: p.WorkspaceID, ID: id + "/"}, "", maxMarks,
		func() domain.Record { return &domain.ProgressMark{} },
		func(r domain.Record) error {
			if m, ok := r.(*domain.ProgressMark); ok {
				all = append(all, *m)
			}
			return nil
		})
	slices.SortStableFunc(all, func(a, b domain.ProgressMark) int { return a.At.Compare(b.At) }) // an upload of contacts lowers the percentage, so the order by time differs from the order by id
	return all, commit.StoreError(err)
}

// campaignEnvironment decodes only the environment from the database row of a campaign, because decoding the whole row
// is expensive.
type campaignEnvironment struct {
	Environment domain.Environment `json:"environment"`
	key         domain.Key
}

// Key returns the key of the campaign's row.
func (e *campaignEnvironment) Key() domain.Key { return e.key }

// Indexes exists to implement domain.Record. The store does not call it, because campaignEnvironment is only read.
func (e *campaignEnvironment) Indexes() []string { return nil }

// Sort exists to implement domain.Record. The store does not call it, because campaignEnvironment is only read.
func (e *campaignEnvironment) Sort() string { return "" }

// visibleID parses the id of a campaign and checks that the principal may see the campaign. It caches the campaign's
// environment, which never changes, until the campaign is deleted. Errors: not_found.
func (s *Service) visibleID(ctx context.Context, p domain.Principal, id string) (string, error) {
	id, err := domain.ParseID(domain.PrefixCampaign, id)
	if err != nil {
		return "", domain.NotFound("campaign")
	}
	environment, err := s.environments.Permanent(p.WorkspaceID, id, func() (domain.Environment, error) {
		row := &campaignEnvironment{key: (&domain.Campaign{Meta: domain.Meta{ID: id, WorkspaceID: p.WorkspaceID}}).Key()}
		_, readErr := s.store.Get(ctx, row)
		return row.Environment, readErr
	})
	if errors.Is(err, domain.ErrNotFound) || err == nil && environment != p.Environment {
		return "", domain.NotFound("campaign")
	}
	return id, commit.StoreError(err)
}

func (s *Service) requestStatus(ctx context.Context, p domain.Principal, id string, msg any) (domain.CampaignStatusObject, error) {
	id, err := s.visibleID(ctx, p, id)
	if err != nil {
		return domain.CampaignStatusObject{}, err
	}
	return s.requestStatusByID(ctx, p, id, msg)
}

// loadingTimeout is how long a request waits for a campaign whose actor this node has not started yet after a restart.
const loadingTimeout = 3 * time.Second

// requestStatusByID sends a message to the actor of a campaign and returns the actor's response. For a campaign
// that has ended and has no actor, it returns the status from the store. The caller has checked that the principal may
// see the campaign. While the campaign is loading, the error is unavailable.
func (s *Service) requestStatusByID(ctx context.Context, p domain.Principal, id string, msg any) (domain.CampaignStatusObject, error) {
	// The actor of a campaign that has ended runs as long as the campaign has live calls.
	pid := s.actors.CampaignPID(p.WorkspaceID, id)
	loadingCtx, cancel := context.WithTimeout(ctx, loadingTimeout)
	defer cancel()
	for wasStarted := false; ; {
		isRunning := s.actors.IsRunning(pid)
		if isRunning {
			st, refused := mailbox.Ask[domain.CampaignStatusObject](ctx, s.system, pid, msg)
			if domain.CodeOf(refused) != domain.CodeUnavailable {
				return st, refused
			}
		}
		c, err := s.Campaign(ctx, p, id) // the campaign may have been deleted since
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
		if wasStarted = !isRunning && !wasStarted && s.actors.StartIfDraft(ctx, c); wasStarted {
			continue
		}
		if isRunning || record.Sleep(loadingCtx, 20*time.Millisecond) != nil {
			return domain.CampaignStatusObject{}, domain.Errorf(domain.CodeUnavailable, "the campaign is being loaded; try again").With("retry_after", 1)
		}
	}
}

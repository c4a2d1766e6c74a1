package domain

import (
	"strconv"
	"time"
)

// CampaignStatus is the state of a campaign.
type CampaignStatus string

// The campaign states. The states completed and cancelled are final.
const (
	CampaignDraft     CampaignStatus = "draft"
	CampaignScheduled CampaignStatus = "scheduled"
	CampaignRunning   CampaignStatus = "running"
	CampaignPaused    CampaignStatus = "paused"
	CampaignCompleted CampaignStatus = "completed"
	CampaignCancelled CampaignStatus = "cancelled"
)

// Values returns the states of a campaign.
func (CampaignStatus) Values() []string {
	return values(
		CampaignDraft, CampaignScheduled, CampaignRunning, CampaignPaused, CampaignCompleted, CampaignCancelled,
	)
}

// Final reports whether the status is final: the campaign is completed or cancelled.
func (s CampaignStatus) Final() bool { return s == CampaignCompleted || s == CampaignCancelled }

// PauseReasons returns the values of pause_reason, the reason why the service paused a campaign. A campaign that
// was paused through the API has no pause_reason.
func PauseReasons() []string {
	return []string{PausedByTrunkFailures, PausedWithoutScript, PausedByRestore}
}

// The values of pause_reason: why the service paused a campaign.
const (
	PausedByTrunkFailures = "trunk_failures"     // half of the latest calls failed in the trunk
	PausedWithoutScript   = "script_unavailable" // the agent or pathway cannot be read
	PausedByRestore       = "restored"           // the store was restored from a backup
)

// CompletionReasons returns the values of completion_reason, the reason why a campaign is completed.
func CompletionReasons() []string { return []string{CompletedExhausted, CompletedWindowEnded} }

// The values of completion_reason: why a campaign is completed.
const (
	CompletedExhausted   = "exhausted"    // every contact has a final state
	CompletedWindowEnded = "window_ended" // the end of the schedule was reached
)

// Schedule limits the days and the period in which a campaign calls.
type Schedule struct {
	Start         *time.Time `json:"start,omitempty"`
	End           *time.Time `json:"end,omitempty"`
	Timezone      string     `json:"timezone"`
	Days          []string   `json:"days"`           // monday … sunday
	ExcludedDates []string   `json:"excluded_dates"` // YYYY-MM-DD in Timezone
}

// PacingMode reports whether a campaign keeps a fixed pace or slows down when its calls fail.
type PacingMode string

// The pacing modes of a campaign.
const (
	PacingFixed    PacingMode = "fixed" // also the meaning of an empty mode
	PacingAdaptive PacingMode = "adaptive"
)

// Values returns the pacing modes of a campaign.
func (PacingMode) Values() []string {
	return values(PacingFixed, PacingAdaptive)
}

// Pacing limits the rate and the number of concurrent calls of a campaign.
type Pacing struct {
	CallsPerMinute int        `json:"calls_per_minute"`
	MaxConcurrent  int        `json:"max_concurrent"`
	Mode           PacingMode `json:"mode,omitempty"`
}

// Retry defines which call outcomes lead to another attempt. MaxAttempts includes the first attempt.
type Retry struct {
	Enabled       bool     `json:"enabled"`
	MaxAttempts   int      `json:"max_attempts"`
	IntervalHours float64  `json:"interval_hours"`
	RetryOn       []string `json:"retry_on"`
}

// CallerID is the number that is shown to the called party.
type CallerID struct {
	Number string `json:"number"`
	Name   string `json:"name,omitempty"`
}

// CallingHours is the daily calling window. Timezone "local" means the time zone of each contact.
type CallingHours struct {
	Start    string `json:"start"` // HH:MM
	End      string `json:"end"`   // HH:MM, up to 24:00
	Timezone string `json:"timezone"`
}

// OptOut lists the keywords by which a contact opts out, and the action that an opt-out triggers.
type OptOut struct {
	Keywords []string `json:"keywords"`
	Action   string   `json:"action"` // add_to_dnc
}

// Compliance holds the campaign's rules that protect the called party: do-not-call scrubbing, calling hours and opt-out.
type Compliance struct {
	DNCScrub     bool         `json:"dnc_scrub"`
	DNCListID    string       `json:"dnc_list_id,omitempty"`
	CallingHours CallingHours `json:"calling_hours"`
	OptOut       *OptOut      `json:"opt_out_handling,omitempty"`
}

// Campaign is the definition and the state of a campaign. Progress holds its counters.
type Campaign struct {
	Meta
	Name             string            `json:"name"`
	Status           CampaignStatus    `json:"status"`
	AgentID          string            `json:"agent_id,omitempty"`
	PathwayID        string            `json:"pathway_id,omitempty"`
	Schedule         Schedule          `json:"schedule"`
	Pacing           Pacing            `json:"pacing"`
	Retry            Retry             `json:"retry"`
	CallerID         CallerID          `json:"caller_id"`
	Webhooks         map[string]string `json:"webhooks,omitempty"`
	Compliance       Compliance        `json:"compliance"`
	DefaultCountry   string            `json:"default_country"`
	AutoComplete     bool              `json:"auto_complete"`
	FollowLatest     bool              `json:"follow_latest,omitempty"` // each call uses the newest published version of the agent
	Test             *TestMode         `json:"test,omitempty"`
	PauseReason      string            `json:"pause_reason,omitempty"`
	CompletionReason string            `json:"completion_reason,omitempty"` // exhausted or window_ended
	StartedAt        *time.Time        `json:"started_at,omitempty"`
	EndedAt          *time.Time        `json:"ended_at,omitempty"`
}

// Key returns the key of the campaign in the store.
func (c *Campaign) Key() Key { return Key{"campaign", c.WorkspaceID, c.ID} }

// Indexes returns the indexes by environment and by status, and the index "open" until the campaign ends.
func (c *Campaign) Indexes() []string {
	e := string(c.Environment)
	ix := []string{envIndex(c.Environment), "status=" + e + "/" + string(c.Status)}
	if !c.Status.Final() {
		ix = append(ix, "open")
	}
	return ix
}

// Sort returns the ID, which sorts by creation time.
func (c *Campaign) Sort() string { return c.ID }

// Skipped counts the contacts that the campaign did not call, by the rule that forbade the call.
type Skipped struct {
	DNC       int `json:"dnc"`
	Hours     int `json:"hours"`
	Frequency int `json:"frequency"`
	Invalid   int `json:"invalid"`
}

// Total returns the number of skipped contacts.
func (s Skipped) Total() int { return s.DNC + s.Hours + s.Frequency + s.Invalid }

// Progress holds the counters of a campaign. It changes in every commit that changes a contact, and its store
// version guards each of these commits.
type Progress struct {
	CampaignID      string          `json:"campaign_id"`
	WorkspaceID     string          `json:"workspace_id"`
	Total           int             `json:"total"`
	Attempted       int             `json:"attempted"`   // contacts with at least one attempt
	InProgress      int             `json:"in_progress"` // contacts with an open attempt
	Outcomes        map[Outcome]int `json:"outcomes"`    // contacts in a final state, by outcome
	Skipped         Skipped         `json:"skipped"`
	Expired         int             `json:"expired"`
	Attempts        int             `json:"attempts"`         // attempts of all contacts
	Cursor          int             `json:"cursor"`           // no contact before this position is pending
	LastOpenAt      time.Time       `json:"last_open_at"`     // pacing continues from this time after a restart
	ReportedPercent int             `json:"reported_percent"` // percent in the last campaign.progress event
	ReportedAt      time.Time       `json:"reported_at"`
	RetryWaiting    int             `json:"waits"` // contacts in retry_wait
	// DecisionPages is the number of pages in the decision log. DecisionHead is the hash of the last page.
	DecisionPages int    `json:"decision_pages,omitempty"`
	DecisionHead  string `json:"decision_head,omitempty"`
	Screened      int    `json:"screened,omitempty"` // rows of uploads that were screened out and appear in the results
	Edits         int    `json:"edits,omitempty"`    // number of ContactEdit rows; 0: none has to be looked up
}

// FinalContacts returns the number of contacts in a final state, including skipped and expired contacts.
func (p *Progress) FinalContacts() int {
	n := p.Skipped.Total() + p.Expired
	for _, v := range p.Outcomes {
		n += v
	}
	return n
}

// Remaining returns the number of contacts that wait for a call. They are neither in a final state nor in progress.
func (p *Progress) Remaining() int { return p.Total - p.FinalContacts() - p.InProgress }

// Percent returns the share of contacts in a final state, 0 to 100.
func (p *Progress) Percent() float64 {
	if p.Total == 0 {
		return 100
	}
	return float64(p.FinalContacts()) * 100 / float64(p.Total)
}

// Key returns the key of the campaign counters in the store.
func (p *Progress) Key() Key { return Key{"progress", p.WorkspaceID, p.CampaignID} }

// Indexes returns nil: the campaign counters are read by key or key prefix only.
func (p *Progress) Indexes() []string { return nil }

// Sort returns the campaign ID.
func (p *Progress) Sort() string { return p.CampaignID }

// Contact is one person in the contact list of a campaign. A stored Contact is never modified.
type Contact struct {
	Phone    string  `json:"phone"` // E.164
	Context  Context `json:"context,omitempty"`
	Timezone string  `json:"timezone,omitempty"`
	Country  string  `json:"country,omitempty"`
}

// Name returns the value of the context variable "name", or "".
func (c Contact) Name() string {
	s, _ := c.Context.Text("name")
	return s
}

// ChunkSize is the number of contacts in a ContactChunk. PageSize is the number of contact states in a ContactPage.
const (
	ChunkSize = 500
	PageSize  = 256
)

// ContactChunk is a part of a campaign's contact list and is never modified. Its first contact has the position
// Index*ChunkSize in the list.
type ContactChunk struct {
	CampaignID  string    `json:"campaign_id"`
	WorkspaceID string    `json:"workspace_id"`
	Index       int       `json:"index"`
	Contacts    []Contact `json:"contacts"`
	// Added lists the contacts that were added after the campaign was created.
	Added []ContactRun `json:"added,omitempty"`
}

// ContactRun describes adjacent contacts of a chunk that were added to the campaign together. First is the position
// of the first contact in the chunk.
type ContactRun struct {
	First int       `json:"first"`
	At    time.Time `json:"at"`
}

// ContactAddedAt returns the time at which the contact at index place of a chunk was added. Contacts before the first
// run were added with the campaign, at the time created.
func ContactAddedAt(runs []ContactRun, place int, created time.Time) time.Time {
	for _, r := range runs {
		if r.First > place {
			break
		}
		created = r.At
	}
	return created
}

// ContactTimes decodes only the times at which the contacts of a ContactChunk were added, not the contacts.
type ContactTimes struct {
	CampaignID  string       `json:"campaign_id"`
	WorkspaceID string       `json:"workspace_id"`
	Index       int          `json:"index"`
	Added       []ContactRun `json:"added"`
}

// Key returns the store key of the chunk.
func (c *ContactTimes) Key() Key {
	return Key{"chunk", c.WorkspaceID, c.CampaignID + "/" + sortableNumber(c.Index)}
}

// Indexes returns no indexes: chunks are listed by key prefix.
func (c *ContactTimes) Indexes() []string { return nil }

// Sort returns the index of the chunk as sortable text.
func (c *ContactTimes) Sort() string { return sortableNumber(c.Index) }

func sortableNumber(n int) string { // sorts like the number
	s := strconv.Itoa(n)
	return "00000000"[:max(0, 8-len(s))] + s
}

// Key returns the key of the chunk of contacts in the store.
func (c *ContactChunk) Key() Key {
	return Key{"chunk", c.WorkspaceID, c.CampaignID + "/" + sortableNumber(c.Index)}
}

// Indexes returns no indexes: chunks are listed by key prefix.
func (c *ContactChunk) Indexes() []string { return nil }

// Sort returns the index of the chunk as sortable text.
func (c *ContactChunk) Sort() string { return sortableNumber(c.Index) }

// ContactState is the state of a contact, stored as one byte.
type ContactState byte

// The contact states. The store contains the numeric values, so they must not change.
const (
	ContactPending ContactState = iota
	ContactOpen                 // dialing: an attempt row exists
	ContactRetryWait
	ContactCompleted
	ContactConfirmed
	ContactDeclined
	ContactVoicemail
	ContactNoAnswer
	ContactBusy
	ContactFailed
	ContactSkipped
	ContactExpired
	ContactCancelled
	ContactInCall // an open contact whose call was answered; never stored
)

var contactStateNames = [...]string{
	"pending", "dialing", "retry_wait", "completed", "confirmed", "declined", "voicemail",
	"no_answer", "busy", "failed", "skipped", "expired", "cancelled", "in_call",
}

// ContactStates returns the names of all contact states in numeric order.
func ContactStates() []string { return append([]string(nil), contactStateNames[:]...) }

func (s ContactState) String() string {
	if int(s) < len(contactStateNames) {
		return contactStateNames[s]
	}
	return "unknown"
}

// Final reports whether the state is final, so that the campaign does not call the contact again.
func (s ContactState) Final() bool { return s >= ContactCompleted && s <= ContactCancelled }

// ContactStateOf returns the final contact state for the outcome of the contact's last call.
func ContactStateOf(o Outcome) ContactState {
	for i, w := range contactStateNames {
		if w == string(o) && ContactState(i).Final() {
			return ContactState(i)
		}
	}
	return ContactFailed
}

// ContactPage stores the states and the numbers of attempts of PageSize contacts, two bytes for each contact.
type ContactPage struct {
	CampaignID  string `json:"campaign_id"`
	WorkspaceID string `json:"workspace_id"`
	Index       int    `json:"index"`
	States      []byte `json:"states"`   // one ContactState for each contact
	Attempts    []byte `json:"attempts"` // number of attempts of each contact
}

// Key returns the key of the page of contact states in the store.
func (p *ContactPage) Key() Key {
	return Key{"page", p.WorkspaceID, p.CampaignID + "/" + sortableNumber(p.Index)}
}

// Indexes returns no indexes: pages are listed by key prefix.
func (p *ContactPage) Indexes() []string { return nil }

// Sort returns the index of the page as sortable text.
func (p *ContactPage) Sort() string { return sortableNumber(p.Index) }

// ContactResult is the result of the last attempt to reach a contact and, while the contact waits, the time of the
// next attempt.
type ContactResult struct {
	CampaignID  string     `json:"campaign_id"`
	WorkspaceID string     `json:"workspace_id"`
	Ordinal     int        `json:"ordinal"`
	State       string     `json:"state"`
	Outcome     Outcome    `json:"outcome,omitempty"`
	Reason      Reason     `json:"reason,omitempty"`
	Attempts    int        `json:"attempts"`
	CallID      string     `json:"call_id,omitempty"`
	Duration    int        `json:"duration"` // seconds of the last answered attempt
	Notes       string     `json:"notes,omitempty"`
	Intent      string     `json:"intent,omitempty"`
	EndedAt     *time.Time `json:"ended_at,omitempty"`
	RetryAt     *time.Time `json:"retry_at,omitempty"`
}

// Key returns the key of the contact result in the store.
func (r *ContactResult) Key() Key {
	return Key{"result", r.WorkspaceID, r.CampaignID + "/" + sortableNumber(r.Ordinal)}
}

// Indexes returns the index of contacts that wait for a retry, or nil if this contact does not wait.
func (r *ContactResult) Indexes() []string {
	if r.RetryAt != nil {
		return []string{"retry=" + r.CampaignID}
	}
	return nil
}

// Sort returns the position of the contact in the campaign as sortable text.
func (r *ContactResult) Sort() string { return sortableNumber(r.Ordinal) }

// AttemptID returns the ID of attempt number to reach a contact. ordinal is the position of the contact in the contact
// list. The ID is deterministic, so that the store rejects a second commit that opens the same attempt.
func AttemptID(campaignID string, ordinal, number int) string {
	return campaignID + "/" + sortableNumber(ordinal) + "/" + strconv.Itoa(number)
}

// CampaignStatusObject is the status of a campaign in API responses, as API.md specifies.
type CampaignStatusObject struct {
	CampaignID       string                 `json:"campaign_id"`
	Status           CampaignStatus         `json:"status"`
	PauseReason      string                 `json:"pause_reason,omitempty"`
	CompletionReason string                 `json:"completion_reason,omitempty"`
	Progress         CampaignStatusProgress `json:"progress"`
	Outcomes         map[Outcome]int        `json:"outcomes"`
	Skipped          Skipped                `json:"skipped"`
	Expired          int                    `json:"expired"`
	Timing           CampaignStatusTiming   `json:"timing"`
	Waiting          *Waiting               `json:"waiting"`
	Warnings         []Detail               `json:"warnings,omitempty"` // only in the response to a start
}

// CampaignStatusProgress counts the contacts of a campaign: all, attempted, remaining and in progress.
type CampaignStatusProgress struct {
	Total      int `json:"total"`
	Attempted  int `json:"attempted"`
	Remaining  int `json:"remaining"`
	InProgress int `json:"in_progress"`
}

// CampaignStatusTiming is the start and the estimated end of a campaign.
type CampaignStatusTiming struct {
	StartedAt           *time.Time `json:"started_at"`
	EstimatedCompletion *time.Time `json:"estimated_completion"`
}

// CampaignProgressSummary is the progress of a campaign in the events about the campaign's calls.
type CampaignProgressSummary struct {
	Completed       int     `json:"completed"` // contacts in a final state
	Remaining       int     `json:"remaining"`
	PercentComplete float64 `json:"percent_complete"` // 0 to 100
}

// Waiting is the reason why a campaign makes no calls, and the end of the wait if known.
type Waiting struct {
	Reason string     `json:"reason"` // calling_hours | schedule | line | pacing | trunk | spend_cap | engine | retry | frequency_cap | no_contacts | store | dialling_stopped | draining | quarantine
	Until  *time.Time `json:"until"`
}

// StatusOutcomes returns the outcomes that a campaign status object always counts, even if the count is 0.
func StatusOutcomes() []Outcome {
	return []Outcome{
		OutcomeCompleted, OutcomeConfirmed, OutcomeDeclined, OutcomeVoicemail,
		OutcomeNoAnswer, OutcomeBusy, OutcomeFailed,
	}
}

// NewStatusObject returns the status object of the campaign c with the counters p.
func NewStatusObject(c *Campaign, p *Progress) CampaignStatusObject {
	s := CampaignStatusObject{
		CampaignID: c.ID, Status: c.Status, PauseReason: c.PauseReason, CompletionReason: c.CompletionReason,
		Outcomes: make(map[Outcome]int), Skipped: p.Skipped, Expired: p.Expired,
	}
	s.Progress.Total, s.Progress.Attempted = p.Total, p.Attempted
	s.Progress.Remaining, s.Progress.InProgress = p.Remaining(), p.InProgress
	for _, o := range StatusOutcomes() {
		s.Outcomes[o] = p.Outcomes[o]
	}
	if n := p.Outcomes[OutcomeCancelled]; n > 0 {
		s.Outcomes[OutcomeCancelled] = n
	}
	s.Timing.StartedAt = c.StartedAt
	return s
}

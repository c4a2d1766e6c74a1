package domain

import (
	"strconv"
	"time"
)

// CampaignStatus is a campaign's state.
type CampaignStatus string

// The campaign states of the specification. The last two are final.
const (
	CampaignDraft     CampaignStatus = "draft"
	CampaignScheduled CampaignStatus = "scheduled"
	CampaignRunning   CampaignStatus = "running"
	CampaignPaused    CampaignStatus = "paused"
	CampaignCompleted CampaignStatus = "completed"
	CampaignCancelled CampaignStatus = "cancelled"
)

// Values are the states of a campaign.
func (CampaignStatus) Values() []string {
	return values(
		CampaignDraft, CampaignScheduled, CampaignRunning, CampaignPaused, CampaignCompleted, CampaignCancelled,
	)
}

// Final says whether nothing follows.
func (s CampaignStatus) Final() bool { return s == CampaignCompleted || s == CampaignCancelled }

// PauseReasons are the values of pause_reason: why the service paused a
// campaign. A campaign that the API paused has none.
func PauseReasons() []string {
	return []string{PausedByTrunkFailures, PausedWithoutScript, PausedByRestore}
}

// The values of pause_reason.
const (
	PausedByTrunkFailures = "trunk_failures"     // half of the latest calls failed in the trunk
	PausedWithoutScript   = "script_unavailable" // the agent or pathway cannot be read
	PausedByRestore       = "restored"           // the store was restored from a backup
)

// CompletionReasons are the values of completion_reason.
func CompletionReasons() []string { return []string{CompletedExhausted, CompletedWindowEnded} }

// The values of completion_reason.
const (
	CompletedExhausted   = "exhausted"    // every contact has a final state
	CompletedWindowEnded = "window_ended" // the end of the schedule came first
)

// Schedule says when a campaign may ring.
type Schedule struct {
	Start         *time.Time `json:"start,omitempty"`
	End           *time.Time `json:"end,omitempty"`
	Timezone      string     `json:"timezone"`
	Days          []string   `json:"days"`           // monday … sunday
	ExcludedDates []string   `json:"excluded_dates"` // YYYY-MM-DD in Timezone
}

// PacingMode says whether a campaign keeps its pace or goes slower where its
// calls go badly.
type PacingMode string

// The modes.
const (
	PacingFixed    PacingMode = "fixed" // so is "", of campaigns that are older
	PacingAdaptive PacingMode = "adaptive"
)

// Values are the pacing modes of a campaign.
func (PacingMode) Values() []string {
	return values(PacingFixed, PacingAdaptive)
}

// Pacing bounds how fast and how wide a campaign rings.
type Pacing struct {
	CallsPerMinute int        `json:"calls_per_minute"`
	MaxConcurrent  int        `json:"max_concurrent"`
	Mode           PacingMode `json:"mode,omitempty"`
}

// Retry says what is tried again. MaxAttempts counts the first.
type Retry struct {
	Enabled       bool     `json:"enabled"`
	MaxAttempts   int      `json:"max_attempts"`
	IntervalHours float64  `json:"interval_hours"`
	RetryOn       []string `json:"retry_on"`
}

// CallerID is the number shown to the called.
type CallerID struct {
	Number string `json:"number"`
	Name   string `json:"name,omitempty"`
}

// CallingHours is the daily window; Timezone may be "local": the contact's.
type CallingHours struct {
	Start    string `json:"start"` // HH:MM
	End      string `json:"end"`   // HH:MM, up to 24:00
	Timezone string `json:"timezone"`
}

// OptOut says which words opt a contact out, and what happens then.
type OptOut struct {
	Keywords []string `json:"keywords"`
	Action   string   `json:"action"` // add_to_dnc
}

// Compliance are the rules that protect the called.
type Compliance struct {
	DNCScrub     bool         `json:"dnc_scrub"`
	DNCListID    string       `json:"dnc_list_id,omitempty"`
	CallingHours CallingHours `json:"calling_hours"`
	OptOut       *OptOut      `json:"opt_out_handling,omitempty"`
}

// Campaign is the definition and the state of one; its counters stand in
// Progress.
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
	FollowLatest     bool              `json:"follow_latest,omitempty"` // each call speaks what is published when it begins
	Test             *TestMode         `json:"test,omitempty"`
	PauseReason      string            `json:"pause_reason,omitempty"`
	CompletionReason string            `json:"completion_reason,omitempty"` // exhausted | window_ended
	StartedAt        *time.Time        `json:"started_at,omitempty"`
	EndedAt          *time.Time        `json:"ended_at,omitempty"`
}

// Key names the row.
func (c *Campaign) Key() Key { return Key{"campaign", c.WorkspaceID, c.ID} }

// Indexes: by environment and status; "open" while it is not final.
func (c *Campaign) Indexes() []string {
	e := string(c.Environment)
	ix := []string{envIndex(c.Environment), "status=" + e + "/" + string(c.Status)}
	if !c.Status.Final() {
		ix = append(ix, "open")
	}
	return ix
}

// Sort is by age.
func (c *Campaign) Sort() string { return c.ID }

// Skipped counts contacts that were never rung, by rule.
type Skipped struct {
	DNC       int `json:"dnc"`
	Hours     int `json:"hours"`
	Frequency int `json:"frequency"`
	Invalid   int `json:"invalid"`
}

// Total of the skipped.
func (s Skipped) Total() int { return s.DNC + s.Hours + s.Frequency + s.Invalid }

// Progress is a campaign's counters. It changes in the commit that changes a
// contact; its store version is the guard of every such commit.
type Progress struct {
	CampaignID      string          `json:"campaign_id"`
	WorkspaceID     string          `json:"workspace_id"`
	Total           int             `json:"total"`
	Attempted       int             `json:"attempted"`   // contacts with at least one attempt
	InProgress      int             `json:"in_progress"` // contacts with an open attempt
	Outcomes        map[Outcome]int `json:"outcomes"`    // contacts in a final state, by outcome
	Skipped         Skipped         `json:"skipped"`
	Expired         int             `json:"expired"`
	Attempts        int             `json:"attempts"`         // attempts spent, all contacts together
	Cursor          int             `json:"cursor"`           // every contact below has left pending
	LastOpenAt      time.Time       `json:"last_open_at"`     // pacing starts from here after a restart
	ReportedPercent int             `json:"reported_percent"` // campaign.progress was sent for
	ReportedAt      time.Time       `json:"reported_at"`
	RetryWaiting    int             `json:"waits"` // contacts in retry_wait
	// The log of decisions has so many rows; the last one has this hash.
	DecisionPages int    `json:"decision_pages,omitempty"`
	DecisionHead  string `json:"decision_head,omitempty"`
	Screened      int    `json:"screened,omitempty"` // rows of uploads that did not become contacts and have a row in the results
	Edits         int    `json:"edits,omitempty"`    // changes made to contacts: 0, and no ContactEdit needs to be looked for
}

// FinalContacts is the number of contacts to which nothing more happens.
func (p *Progress) FinalContacts() int {
	n := p.Skipped.Total() + p.Expired
	for _, v := range p.Outcomes {
		n += v
	}
	return n
}

// Remaining is the number of contacts that wait: total less final less open.
func (p *Progress) Remaining() int { return p.Total - p.FinalContacts() - p.InProgress }

// Percent is the share of final contacts, 0 to 100.
func (p *Progress) Percent() float64 {
	if p.Total == 0 {
		return 100
	}
	return float64(p.FinalContacts()) * 100 / float64(p.Total)
}

// Key names the row.
func (p *Progress) Key() Key { return Key{"progress", p.WorkspaceID, p.CampaignID} }

// Indexes: none.
func (p *Progress) Indexes() []string { return nil }

// Sort is by campaign.
func (p *Progress) Sort() string { return p.CampaignID }

// Contact is one person of a campaign's list, immutable.
type Contact struct {
	Phone    string  `json:"phone"` // E.164
	Context  Context `json:"context,omitempty"`
	Timezone string  `json:"timezone,omitempty"`
	Country  string  `json:"country,omitempty"`
}

// Name is the contact's context.name.
func (c Contact) Name() string {
	s, _ := c.Context.Text("name")
	return s
}

// ChunkSize is the number of contacts in a chunk, PageSize that of states in
// a page.
const (
	ChunkSize = 500
	PageSize  = 256
)

// ContactChunk is an immutable run of contacts: ordinals Index*ChunkSize and
// the following.
type ContactChunk struct {
	CampaignID  string    `json:"campaign_id"`
	WorkspaceID string    `json:"workspace_id"`
	Index       int       `json:"index"`
	Contacts    []Contact `json:"contacts"`
	// Added are the runs of contacts that came later than the campaign was made.
	Added []ContactRun `json:"added,omitempty"`
}

// ContactRun is a run of contacts of a chunk that were taken in together: from
// the place First in the chunk on.
type ContactRun struct {
	First int       `json:"first"`
	At    time.Time `json:"at"`
}

// ContactAddedAt is when the contact at a place of a chunk was taken in; without runs:
// when the campaign was made.
func ContactAddedAt(runs []ContactRun, place int, made time.Time) time.Time {
	for _, r := range runs {
		if r.First > place {
			break
		}
		made = r.At
	}
	return made
}

// ContactTimes is a ContactChunk of which only the times are read.
type ContactTimes struct {
	CampaignID  string       `json:"campaign_id"`
	WorkspaceID string       `json:"workspace_id"`
	Index       int          `json:"index"`
	Added       []ContactRun `json:"added"`
}

// Key names the row: the chunk's.
func (c *ContactTimes) Key() Key {
	return Key{"chunk", c.WorkspaceID, c.CampaignID + "/" + sortableNumber(c.Index)}
}

// Indexes: none, as of the chunk.
func (c *ContactTimes) Indexes() []string { return nil }

// Sort is the chunk's.
func (c *ContactTimes) Sort() string { return sortableNumber(c.Index) }

func sortableNumber(n int) string { // sorts like the number
	s := strconv.Itoa(n)
	return "00000000"[:max(0, 8-len(s))] + s
}

// Key names the row.
func (c *ContactChunk) Key() Key {
	return Key{"chunk", c.WorkspaceID, c.CampaignID + "/" + sortableNumber(c.Index)}
}

// Indexes: none; chunks are listed by the key's beginning.
func (c *ContactChunk) Indexes() []string { return nil }

// Sort is by index.
func (c *ContactChunk) Sort() string { return sortableNumber(c.Index) }

// ContactState is where a contact stands, one byte at rest.
type ContactState byte

// The contact states. The order is stored: never change it.
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
	ContactInCall // an open one whose call was answered: shown, never stored
)

var contactStateNames = [...]string{
	"pending", "dialing", "retry_wait", "completed", "confirmed", "declined", "voicemail",
	"no_answer", "busy", "failed", "skipped", "expired", "cancelled", "in_call",
}

// ContactStates are the values of a contact's status, in the order of ContactState.
func ContactStates() []string { return append([]string(nil), contactStateNames[:]...) }

func (s ContactState) String() string {
	if int(s) < len(contactStateNames) {
		return contactStateNames[s]
	}
	return "unknown"
}

// Final says whether nothing follows.
func (s ContactState) Final() bool { return s >= ContactCompleted && s <= ContactCancelled }

// ContactStateOf is the final contact state of an outcome.
func ContactStateOf(o Outcome) ContactState {
	for i, w := range contactStateNames {
		if w == string(o) && ContactState(i).Final() {
			return ContactState(i)
		}
	}
	return ContactFailed
}

// ContactPage is the mutable state of PageSize contacts, two bytes each.
type ContactPage struct {
	CampaignID  string `json:"campaign_id"`
	WorkspaceID string `json:"workspace_id"`
	Index       int    `json:"index"`
	States      []byte `json:"states"`   // ContactState
	Attempts    []byte `json:"attempts"` // attempts spent
}

// Key names the row.
func (p *ContactPage) Key() Key {
	return Key{"page", p.WorkspaceID, p.CampaignID + "/" + sortableNumber(p.Index)}
}

// Indexes: none; pages are listed by the key's beginning.
func (p *ContactPage) Indexes() []string { return nil }

// Sort is by index.
func (p *ContactPage) Sort() string { return sortableNumber(p.Index) }

// ContactResult is what is known of a contact that is not idle: its last
// attempt's result and, while it waits for a retry, when that is due.
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

// Key names the row.
func (r *ContactResult) Key() Key {
	return Key{"result", r.WorkspaceID, r.CampaignID + "/" + sortableNumber(r.Ordinal)}
}

// Indexes: "retry" while a retry is due.
func (r *ContactResult) Indexes() []string {
	if r.RetryAt != nil {
		return []string{"retry=" + r.CampaignID}
	}
	return nil
}

// Sort is by ordinal.
func (r *ContactResult) Sort() string { return sortableNumber(r.Ordinal) }

// AttemptID names the n-th attempt of a contact; it never changes, so that a
// second opening of the same attempt is refused by its guard.
func AttemptID(campaignID string, ordinal, number int) string {
	return campaignID + "/" + sortableNumber(ordinal) + "/" + strconv.Itoa(number)
}

// CampaignStatusObject is the campaign status object of the specification,
// with what API.md adds.
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
	Warnings         []Detail               `json:"warnings,omitempty"` // of the answer to a start
}

// CampaignStatusProgress counts the contacts of a campaign.
type CampaignStatusProgress struct {
	Total      int `json:"total"`
	Attempted  int `json:"attempted"`
	Remaining  int `json:"remaining"`
	InProgress int `json:"in_progress"`
}

// CampaignStatusTiming is when a campaign began, and when it is expected to end.
type CampaignStatusTiming struct {
	StartedAt           *time.Time `json:"started_at"`
	EstimatedCompletion *time.Time `json:"estimated_completion"`
}

// CampaignProgressSummary is the progress of a campaign in the events of its calls.
type CampaignProgressSummary struct {
	Completed       int     `json:"completed"` // contacts in a final state
	Remaining       int     `json:"remaining"`
	PercentComplete float64 `json:"percent_complete"` // 0 to 100
}

// Waiting tells why nothing rings, and until when if that is known.
type Waiting struct {
	Reason string     `json:"reason"` // calling_hours | schedule | line | pacing | trunk | spend_cap | engine | retry | frequency_cap | no_contacts | store | dialling_stopped | draining | quarantine
	Until  *time.Time `json:"until"`
}

// StatusOutcomes are the outcomes that a status object always shows.
func StatusOutcomes() []Outcome {
	return []Outcome{
		OutcomeCompleted, OutcomeConfirmed, OutcomeDeclined, OutcomeVoicemail,
		OutcomeNoAnswer, OutcomeBusy, OutcomeFailed,
	}
}

// NewStatusObject is the status object of a campaign and its counters.
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

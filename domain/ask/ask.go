// Package ask holds what the front door asks of the service and what it gets
// back, where that is no noun of its own: pages of lists, raw contacts, orders
// for calls, summaries of uploads. It knows no HTTP, no store and no actor.
package ask

import (
	"io"
	"iter"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// Codes that only requests meet.
const (
	CodeCursorExpired domain.Code = "cursor_expired" // 410: an event past retention
	CodeInvalidCursor domain.Code = "invalid_cursor" // 422: not a cursor of this list
	CodeExportExpired domain.Code = "export_expired" // 410: the file of an export is deleted
)

// Page is the part of a list that is wanted: newest first, at most Limit rows
// (1 to 100) after the opaque Cursor of the page before.
type Page struct {
	Limit         int
	Cursor        string
	CreatedAfter  time.Time // zero: open; exclusive
	CreatedBefore time.Time // zero: open; exclusive
}

// Created is when what the page shows may have been made.
func (p Page) Created() Span { return Span{After: p.CreatedAfter, Before: p.CreatedBefore} }

// Span is a stretch of time without its ends; where one is zero it is open.
type Span struct{ After, Before time.Time }

// Holds says whether a time lies in the span.
func (s Span) Holds(t time.Time) bool {
	return (s.After.IsZero() || t.After(s.After)) && (s.Before.IsZero() || t.Before(s.Before))
}

// List is one page. Next is the cursor of the following one, "" at the end.
type List[T any] struct {
	Data []T
	Next string
}

// CampaignQuery filters campaigns.
type CampaignQuery struct {
	Page
	Status domain.CampaignStatus // "": any
}

// ContactQuery filters a campaign's contacts; they stand in the order of
// upload.
type ContactQuery struct {
	Limit   int
	Cursor  string
	Status  string // a contact state's word; "": any
	Created Span   // when they were taken in
}

// CallQuery filters calls. Status may be "active": any that is not final.
type CallQuery struct {
	Page
	Status     string
	CampaignID string
	ContactID  string
	AgentID    string
	Direction  domain.Direction
	Said       domain.Spoken // in its transcript; nil: anything
}

// WebhookQuery filters endpoints.
type WebhookQuery struct {
	Page
	CampaignID string
	Status     domain.WebhookStatus // "": any
	Event      event.Type           // one that they are subscribed to; "": any
}

// EventQuery reads events forwards, oldest first, after the id given.
type EventQuery struct {
	After   string   // an event id; "": from the oldest kept
	Types   []string // names, twins or wildcards; empty: all
	Limit   int
	Created Span
}

// EventsFromNow stands in EventQuery.After for the end of the log.
const EventsFromNow = "now"

// RawContact is one contact as it was sent. A row that could not be read has
// a Problem and counts as invalid.
type RawContact struct {
	Line     int // 1 for the first line of a file or the first item of a list
	Phone    string
	Context  domain.Context
	Timezone string
	Country  string
	Problem  string
}

// ContactRows are the rows of an upload.
type ContactRows struct {
	Rows    iter.Seq2[RawContact, error]
	Columns *domain.ColumnMapping // complete once the rows were read; nil: no columns
}

// ContactError tells what was wrong with one row.
type ContactError = domain.ContactError

// ContactsSummary counts the rows of one upload.
type ContactsSummary = domain.ContactsSummary

// MaxContactErrors is how many errors an upload tells.
const MaxContactErrors = 100

// UploadSummary is the answer to an upload of contacts.
type UploadSummary struct {
	UploadID string          `json:"upload_id"`
	Summary  ContactsSummary `json:"contacts_summary"`
	Errors   []ContactError  `json:"contact_errors"` // the first MaxContactErrors
	domain.ColumnMapping
}

// CampaignCreated is a new campaign, what became of its inline contacts, and
// the secret of the endpoints made from its webhooks map ("" without one).
type CampaignCreated struct {
	Campaign      *domain.Campaign
	Upload        UploadSummary
	WebhookSecret string
}

// Contact is a contact of a campaign with its state, as the API shows it.
type Contact struct {
	domain.Meta
	CampaignID    string         `json:"campaign_id"`
	Phone         string         `json:"phone"`
	Context       domain.Context `json:"context,omitempty"`
	Timezone      string         `json:"timezone,omitempty"`
	Country       string         `json:"country,omitempty"`
	Status        string         `json:"status"`
	Outcome       domain.Outcome `json:"outcome,omitempty"`
	Reason        domain.Reason  `json:"reason,omitempty"`
	Attempts      int            `json:"attempts"`
	LastCallID    string         `json:"last_call_id,omitempty"`
	NextAttemptAt *time.Time     `json:"next_attempt_at"`
	CompletedAt   *time.Time     `json:"completed_at"`
}

// ContactsExport is a campaign's contacts in the order of upload. Fields are
// the names in their contexts, sorted; of very many only the first.
type ContactsExport struct {
	Fields []string
	Rows   iter.Seq2[Contact, error]
}

// ResultRow is one contact in a campaign's results.
type ResultRow struct {
	Phone       string
	Name        string
	Outcome     string // the contact's state where there is no outcome yet
	Duration    int    // seconds of the last answered attempt
	Confirmed   bool
	Notes       string
	CompletedAt *time.Time
	Reason      domain.Reason // of the last attempt, or why the contact was skipped
}

// NewCall orders one outbound call. All defaults are filled in.
type NewCall struct {
	To           string // E.164, or national in the workspace's default country
	From         string // E.164; "": the desk chooses
	AgentID      string
	PathwayID    string
	Context      domain.Context
	Metadata     map[string]string
	RingTimeout  time.Duration
	MaxDuration  time.Duration // 0: the agent's, or 30 minutes
	Record       bool
	Overrides    *domain.CallOverrides // nil: none
	AMD          *domain.CallAMD       // nil: as the agent
	CallingHours *domain.CallingHours  // nil: not limited
}

// Transfer hands the caller of a live call on: exactly one of To, Phone and
// Destination says to whom.
type Transfer struct {
	To          string              // E.164, or national in the workspace's default country
	Phone       string              // extension or id
	Destination string              // a name of the agent's destinations
	Mode        domain.TransferMode // "": as the destination says, else bridge
	Summary     string              // told to whoever answers, before the caller is heard
}

// Recording is the stereo WAV of a call. Whoever gets it closes Body.
type Recording struct {
	Size    int64
	Created time.Time
	Body    io.ReadSeekCloser
}

// ListenMode is what somebody who listens to a call may do besides.
type ListenMode string

// The modes.
const (
	Listen  ListenMode = "listen"  // hears both sides, is heard by nobody
	Whisper ListenMode = "whisper" // is heard by the agent's side only
	Barge   ListenMode = "barge"   // is heard by both
)

// ListenRate is the sampling rate of what is heard and said: µ-law, one
// channel. ListenFrame is the length of a frame in bytes, 20 ms.
const (
	ListenRate  = 8000
	ListenFrame = 160
)

// Seat is that of one who listens to a call.
type Seat struct {
	Say   func(mu []byte) // of any length, at the pace at which it shall be heard; ignored where the mode is listen
	Leave func()          // as often as one likes
}

// TestResult is what one test delivery brought.
type TestResult struct {
	EventID        string `json:"event_id"`
	Delivered      bool   `json:"delivered"`
	ResponseStatus int    `json:"response_status"`
	ResponseTimeMs int64  `json:"response_time_ms"`
	Error          string `json:"error,omitempty"`
}

// TrunkTest is what the targets of a trunk answered to OPTIONS.
type TrunkTest struct {
	TrunkID string       `json:"trunk_id"`
	OK      bool         `json:"ok"` // at least one answered
	Targets []TargetTest `json:"targets"`
}

// TargetTest is one target of a TrunkTest.
type TargetTest struct {
	Target    string `json:"target"` // host:port;transport
	Reachable bool   `json:"reachable"`
	Code      int    `json:"code"` // of its answer; 0 without one
	Reason    string `json:"reason"`
	Server    string `json:"server,omitempty"`
	Allow     string `json:"allow,omitempty"`
	Millis    int64  `json:"response_time_ms"`
	Error     string `json:"error,omitempty"`
}

// InboundTest orders a call from the built-in carrier to a number of the
// workspace.
type InboundTest struct {
	To     string        // E.164
	From   string        // E.164 or anonymous
	Name   string        // shown beside it
	Digits string        // pressed one by one as the agent pauses
	Says   string        // once the agent pauses
	HangUp time.Duration // after so long; 0: when the agent does
}

// OnceKey is the scope of an Idempotency-Key: credential, environment (both in
// the Principal), method and path.
type OnceKey struct {
	Key    string // hex SHA-256 of the header: the header itself unlocks the reply
	Method string
	Path   string
}

// OnceReply is a stored answer. Sealed is opaque: it is encrypted under a key
// that only the client's header gives.
type OnceReply struct {
	Digest string // hex SHA-256 of the request's body
	Sealed []byte
}

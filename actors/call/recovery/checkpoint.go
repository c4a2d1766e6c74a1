// Package recovery holds the checkpoint of a live call: the state that another process needs to resume the call
// after a crash or a hand-over.
package recovery

import (
	"encoding/json"
	"time"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/media"
)

const (
	// MaxAge is the maximum age of a checkpoint from which a call is resumed. After a longer silence the peer has hung up.
	MaxAge = 60 * time.Second
	// maxResumptions limits how often one call is resumed, because that call may be the reason why the processes crash.
	maxResumptions = 3
)

// Checkpoint is the state of a live call from which another process resumes the call. The row of the call attempt stores
// it in domain.Attempt.ResumeState. The SIP dialog is stored in the leg entry of that row.
type Checkpoint struct {
	At           time.Time                `json:"at"`
	Leg          int                      `json:"leg"`
	Media        media.SessionState       `json:"sound"`
	Conversation *conversation.SavedState `json:"talk"`
	Script       json.RawMessage          `json:"script"`
	Variables    map[string]string        `json:"variables,omitempty"`
	CallerName   string                   `json:"caller_name,omitempty"`
	OptOut       []string                 `json:"opt_out,omitempty"`
	Scrub        dnc.ScrubRules           `json:"scrub,omitzero"`
	Networks     []string                 `json:"networks,omitempty"`
	MaxDuration  time.Duration            `json:"max_duration"`
	RingTimeout  time.Duration            `json:"ring_timeout,omitempty"`
	PerMinute    *domain.Amount           `json:"per_minute,omitempty"` // price of a minute; nil: the trunk defines none
	Appointments booking.CallAppointments `json:"appointments,omitempty"`
	Confidential bool                     `json:"confidential,omitempty"`
	Paused       bool                     `json:"paused,omitempty"` // the recording is paused
	Resumptions  int                      `json:"times,omitempty"`
	HandedOver   bool                     `json:"handed,omitempty"` // the former process stopped in order, so the resumption is not counted
}

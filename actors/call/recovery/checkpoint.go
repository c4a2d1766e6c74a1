// Package recovery is the checkpoint of a live call: the state that another process
// needs to resume it after a crash or a hand-over.
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
	// MaxAge is the age up to which a checkpoint is resumed: a peer that has heard
	// nothing for longer has hung up.
	MaxAge = 60 * time.Second
	// maxResumptions limits how often one call is resumed: the call itself may be
	// what ends a process.
	maxResumptions = 3
)

// Checkpoint is the state of a live call for another process. It is stored in the
// row of the attempt (domain.Attempt.Kept); the dialog is in the row's leg.
type Checkpoint struct {
	At           time.Time                `json:"at"`
	Leg          int                      `json:"leg"`
	Media        media.Memo               `json:"sound"`
	Conversation *conversation.SavedState `json:"talk"`
	Script       json.RawMessage          `json:"script"`
	Variables    map[string]string        `json:"variables,omitempty"`
	CallerName   string                   `json:"caller_name,omitempty"`
	OptOut       []string                 `json:"opt_out,omitempty"`
	Scrub        dnc.ScrubRules           `json:"scrub,omitzero"`
	Networks     []string                 `json:"networks,omitempty"`
	MaxDuration  time.Duration            `json:"max_duration"`
	RingTimeout  time.Duration            `json:"ring_timeout,omitempty"`
	PerMinute    *domain.Amount           `json:"per_minute,omitempty"` // price of a minute; nil: the trunk names none
	Appointments booking.CallAppointments `json:"appointments,omitempty"`
	Confidential bool                     `json:"confidential,omitempty"`
	Paused       bool                     `json:"paused,omitempty"` // the recording
	Resumptions  int                      `json:"times,omitempty"`
	HandedOver   bool                     `json:"handed,omitempty"` // its process stopped in order: the resumption is not counted
}

package domain

import (
	"errors"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// TransferMode is how a caller is handed on.
type TransferMode string

// The modes of a transfer.
const (
	TransferBlind    TransferMode = "blind"    // the far end is asked to call somebody else (REFER)
	TransferAttended TransferMode = "attended" // we call first; the far end then takes that call over (Replaces)
	TransferBridge   TransferMode = "bridge"   // we call, and join both through us
)

// Values are the modes of a transfer.
func (TransferMode) Values() []string {
	return values(TransferBlind, TransferAttended, TransferBridge)
}

// TransferStatus is where a transfer stands.
type TransferStatus string

// The states of a transfer. The last three are final.
const (
	TransferStarted   TransferStatus = "in_progress" // being asked for, or ringing
	TransferConnected TransferStatus = "connected"   // bridge: the caller speaks with somebody
	TransferCompleted TransferStatus = "completed"   // the caller has gone on, or has spoken until the end
	TransferReturned  TransferStatus = "returned"    // bridge: the other side has left, and the caller is the agent's again
	TransferFailed    TransferStatus = "failed"      // nobody was reached; the caller stayed with the agent
)

// Values are the states of a transfer.
func (TransferStatus) Values() []string {
	return values(TransferStarted, TransferConnected, TransferCompleted, TransferReturned, TransferFailed)
}

// Transfer is one attempt to hand a caller on, as the call's record keeps it.
type Transfer struct {
	To         string         `json:"to"`             // a number, an extension or a SIP URI
	Name       string         `json:"name,omitempty"` // of the agent's destination
	Mode       TransferMode   `json:"mode"`
	Status     TransferStatus `json:"status"`
	By         string         `json:"by"` // api | agent | remote
	Summary    string         `json:"summary,omitempty"`
	Reason     string         `json:"reason,omitempty"` // why it failed
	Legs       []int          `json:"legs,omitempty"`   // numbers of the call's legs that it dialled, from 1
	SIP        []SIPStep      `json:"sip,omitempty"`    // what the far end answered, at most MaxSIPSteps
	StartedAt  time.Time      `json:"started_at"`
	AnsweredAt *time.Time     `json:"answered_at,omitempty"`
	EndedAt    *time.Time     `json:"ended_at,omitempty"`
}

// SIPStep is one answer in the course of a transfer.
type SIPStep struct {
	At     time.Time `json:"at"`
	Method string    `json:"method"` // REFER, NOTIFY or INVITE
	Code   int       `json:"code"`   // 0 where nothing came
	Phrase string    `json:"phrase,omitempty"`
}

// Bounds of what a call's record keeps of its transfers.
const (
	MaxSIPSteps  = 16
	MaxTransfers = 16
)

// Destination is somebody whom an agent may hand its callers to.
type Destination struct {
	Name  string       `json:"name"`
	Phone string       `json:"phone,omitempty"` // extension or id of a phone
	To    string       `json:"to,omitempty"`    // E.164, or national in the workspace's default country
	Mode  TransferMode `json:"mode,omitempty"`  // "": as the transfer says
}

// AgentTransfer is what an agent may do with its callers.
type AgentTransfer struct {
	Destinations []Destination `json:"destinations,omitempty"`
	AcceptRefer  bool          `json:"accept_refer,omitempty"` // the far end may send the call elsewhere
	Ringback     *bool         `json:"ringback,omitempty"`     // the caller hears it ring; true unless said
	// HoldMusic is what a party hears that waits: HoldSilence (or ""), HoldTone, or "wav:NAME.wav" of the prompts.
	HoldMusic string `json:"hold_music,omitempty"`
}

// What a party may hear that waits, besides a recording.
const (
	HoldSilence = "silence"
	HoldTone    = "tone" // two soft notes every five seconds
)

// Find is the destination of a name, letters of both cases alike.
func (t *AgentTransfer) Find(name string) (Destination, bool) {
	for _, d := range t.Destinations {
		if strings.EqualFold(d.Name, name) {
			return d, true
		}
	}
	return Destination{}, false
}

// ErrReferTo says that the far end asks for something that is no telephone number.
var ErrReferTo = errors.New("the target of a REFER is no number")

// ParseReferTo is the number or extension that a SIP or tel URI names.
func ParseReferTo(uri string) (string, error) {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok {
		return "", ErrReferTo
	}
	switch strings.ToLower(scheme) {
	case "sip", "sips":
		user, _, found := strings.Cut(rest, "@")
		if !found {
			return "", ErrReferTo
		}
		rest = user
	case "tel":
	default:
		return "", ErrReferTo
	}
	rest, _, _ = strings.Cut(rest, ";")
	rest, _, _ = strings.Cut(rest, ":")
	user, err := url.PathUnescape(rest)
	if err != nil || user == "" || len(user) > 64 || !utf8.ValidString(user) || strings.ContainsFunc(user, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r)
	}) {
		return "", ErrReferTo
	}
	return user, nil
}

package domain

import (
	"errors"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// TransferMode is the way in which a caller is transferred.
type TransferMode string

// The modes of a transfer.
const (
	TransferBlind    TransferMode = "blind"    // REFER: the remote party calls the destination
	TransferAttended TransferMode = "attended" // the service calls the destination first; the remote party takes over with Replaces
	TransferBridge   TransferMode = "bridge"   // the service calls the destination and bridges both calls
)

// Values returns the modes of a transfer.
func (TransferMode) Values() []string {
	return values(TransferBlind, TransferAttended, TransferBridge)
}

// TransferStatus is the state of a transfer.
type TransferStatus string

// The states of a transfer. TransferCompleted, TransferReturned and TransferFailed are final.
const (
	TransferStarted   TransferStatus = "in_progress" // requested or ringing
	TransferConnected TransferStatus = "connected"   // bridge: the caller speaks with the destination
	TransferCompleted TransferStatus = "completed"   // the caller left, or spoke with the destination until the end
	TransferReturned  TransferStatus = "returned"    // bridge: the destination hung up, and the caller is back with the agent
	TransferFailed    TransferStatus = "failed"      // the destination was not reached; the caller stayed with the agent
)

// Values returns the states of a transfer.
func (TransferStatus) Values() []string {
	return values(TransferStarted, TransferConnected, TransferCompleted, TransferReturned, TransferFailed)
}

// Transfer is one attempt to transfer a caller, as recorded in the call.
type Transfer struct {
	To         string         `json:"to"`             // number, extension or SIP URI
	Name       string         `json:"name,omitempty"` // name of the agent's destination
	Mode       TransferMode   `json:"mode"`
	Status     TransferStatus `json:"status"`
	By         string         `json:"by"` // api, agent or remote
	Summary    string         `json:"summary,omitempty"`
	Reason     string         `json:"reason,omitempty"` // why the transfer failed
	Legs       []int          `json:"legs,omitempty"`   // numbers of the legs that the transfer dialed, from 1
	SIP        []SIPStep      `json:"sip,omitempty"`    // responses of the remote party, at most MaxSIPSteps
	StartedAt  time.Time      `json:"started_at"`
	AnsweredAt *time.Time     `json:"answered_at,omitempty"`
	EndedAt    *time.Time     `json:"ended_at,omitempty"`
}

// SIPStep is one SIP response or notification during a transfer.
type SIPStep struct {
	At     time.Time `json:"at"`
	Method string    `json:"method"` // REFER, NOTIFY or INVITE
	Code   int       `json:"code"`   // 0: no response
	Phrase string    `json:"phrase,omitempty"`
}

// Limits of the transfers and SIP responses that a call records.
const (
	MaxSIPSteps  = 16
	MaxTransfers = 16
)

// Destination is a person or number to which an agent may transfer callers.
type Destination struct {
	Name  string       `json:"name"`
	Phone string       `json:"phone,omitempty"` // extension or ID of a phone
	To    string       `json:"to,omitempty"`    // E.164, or national in the workspace's default country
	Mode  TransferMode `json:"mode,omitempty"`  // Default: the mode of the transfer.
}

// AgentTransfer holds the transfer settings of an agent.
type AgentTransfer struct {
	Destinations []Destination `json:"destinations,omitempty"`
	AcceptRefer  bool          `json:"accept_refer,omitempty"` // the remote party may redirect the call with REFER
	Ringback     *bool         `json:"ringback,omitempty"`     // the caller hears a ringback tone. Default: true.
	// HoldMusic is the audio that a waiting party hears: HoldSilence (or ""), HoldTone, or "wav:NAME.wav" for a file in the
	// prompt folder.
	HoldMusic string `json:"hold_music,omitempty"`
}

// The values of HoldMusic that do not name a file.
const (
	HoldSilence = "silence"
	HoldTone    = "tone" // two soft notes every five seconds
)

// Find returns the destination with the given name, ignoring case.
func (t *AgentTransfer) Find(name string) (Destination, bool) {
	for _, d := range t.Destinations {
		if strings.EqualFold(d.Name, name) {
			return d, true
		}
	}
	return Destination{}, false
}

// ErrReferTo is the error for a Refer-To target that is not a phone number.
var ErrReferTo = errors.New("the target of a REFER is no number")

// ParseReferTo returns the number or extension in a SIP or tel URI.
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

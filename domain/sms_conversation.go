package domain

import (
	"slices"
	"time"
)

// AgentSMS defines how an agent answers text messages to its numbers.
type AgentSMS struct {
	Enabled        bool `json:"enabled"`
	TimeoutMinutes int  `json:"timeout_minutes,omitempty"` // minutes without a message after which a conversation ends
	MaxReplies     int  `json:"max_replies,omitempty"`     // maximum number of replies in one conversation
}

// SMSConversationStatus is the state of an SMS conversation.
type SMSConversationStatus string

// The states of an SMS conversation. All states except open are final.
const (
	SMSConversationOpen      SMSConversationStatus = "open"
	SMSConversationCompleted SMSConversationStatus = "completed" // the pathway ended
	SMSConversationTimedOut  SMSConversationStatus = "timed_out" // no message for TimeoutMinutes
	SMSConversationClosed    SMSConversationStatus = "closed"    // by the API, an opt-out or the maximum number of replies
	SMSConversationFailed    SMSConversationStatus = "failed"    // no answer could be produced
)

// Values returns the states of an SMS conversation.
func (SMSConversationStatus) Values() []string {
	return values(SMSConversationOpen, SMSConversationCompleted, SMSConversationTimedOut, SMSConversationClosed, SMSConversationFailed)
}

// SMSConversation is an SMS conversation between an agent and a person who sent a message to a number of the agent.
type SMSConversation struct {
	Meta
	AgentID      string                `json:"agent_id"`
	AgentVersion int                   `json:"agent_version,omitempty"` // version of the agent that the conversation uses
	PathwayID    string                `json:"pathway_id,omitempty"`
	Number       string                `json:"number"` // number of the workspace
	Contact      string                `json:"contact"`
	Status       SMSConversationStatus `json:"status"`
	Reason       string                `json:"reason,omitempty"` // why the conversation was closed or failed
	Outcome      Outcome               `json:"outcome,omitempty"`
	Intent       string                `json:"intent,omitempty"`
	Notes        string                `json:"notes,omitempty"`
	Variables    map[string]string     `json:"variables"`
	Replies      int                   `json:"replies"`
	LastAt       time.Time             `json:"last_message_at"`
	ExpiresAt    time.Time             `json:"expires_at"` // end of the conversation without further messages
	EndedAt      *time.Time            `json:"ended_at"`
	// Script is the agent's script. Turns holds all inputs of the conversation so far, because the pathway is replayed from
	// its start for each message.
	Script *Script               `json:"script,omitempty" hidden:"true"`
	Turns  []SMSConversationTurn `json:"turns,omitempty" hidden:"true"`
	// SealedTurns is the encrypted form of Turns, Variables and Notes.
	SealedTurns string `json:"sealed_turns,omitempty" hidden:"true"`
}

// SMSConversationTurn is one message of the contact, with the model answers and actions that the message caused.
type SMSConversationTurn struct {
	MessageID string                       `json:"message_id"`
	Text      string                       `json:"text"`
	Models    []SMSConversationModelAnswer `json:"models,omitempty"`
	Acts      []SMSConversationAction      `json:"acts,omitempty"`
}

// SMSConversationModelAnswer is the recorded answer of a language model in a turn.
type SMSConversationModelAnswer struct {
	Sentences []string                  `json:"sentences,omitempty"`
	Calls     []SMSConversationToolCall `json:"calls,omitempty"`
	Failed    string                    `json:"failed,omitempty"`
}

// SMSConversationToolCall is a recorded tool call of a language model.
type SMSConversationToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Tool      string `json:"tool,omitempty"`
}

// SMSConversationAction is the state of an action other than a reply by text message. It is stored before the action starts
// and again with its result.
type SMSConversationAction struct {
	Over   bool   `json:"over"`
	OK     bool   `json:"ok,omitempty"`
	Result string `json:"result,omitempty"`
}

// StatusAt returns the status of the conversation at a time. An open conversation past ExpiresAt has timed out.
func (t *SMSConversation) StatusAt(now time.Time) SMSConversationStatus {
	if t.Status == SMSConversationOpen && !now.Before(t.ExpiresAt) {
		return SMSConversationTimedOut
	}
	return t.Status
}

// HasLastMessage reports whether the message with this ID caused the last turn.
func (t *SMSConversation) HasLastMessage(messageID string) bool {
	return len(t.Turns) > 0 && t.Turns[len(t.Turns)-1].MessageID == messageID
}

// End sets the final status of the conversation, its reason and its end.
func (t *SMSConversation) End(status SMSConversationStatus, reason string, at time.Time) {
	t.Status, t.Reason, t.EndedAt, t.UpdatedAt = status, reason, &at, at
}

// Key returns the key of the conversation in the store.
func (t *SMSConversation) Key() Key { return Key{"sms_conversation", t.WorkspaceID, t.ID} }

// OpenSMSConversationIndex returns the name of the index of the open conversation between a workspace's number and a contact.
func OpenSMSConversationIndex(env Environment, number, contact string) string {
	return "open=" + string(env) + "/" + number + "/" + contact
}

// ContactSMSConversationIndex returns the name of the index of all conversations with a contact.
func ContactSMSConversationIndex(env Environment, contact string) string {
	return "contact=" + string(env) + "/" + contact
}

// Indexes returns the indexes by environment and by contact, and for an open conversation also by number and contact.
func (t *SMSConversation) Indexes() []string {
	ix := []string{envIndex(t.Environment), ContactSMSConversationIndex(t.Environment, t.Contact)}
	if t.Status == SMSConversationOpen {
		ix = append(ix, OpenSMSConversationIndex(t.Environment, t.Number, t.Contact))
	}
	return ix
}

// Sort returns the ID, which sorts by creation time.
func (t *SMSConversation) Sort() string { return t.ID }

// sealedSMSConversation holds the fields of an SMSConversation that are encrypted together.
type sealedSMSConversation struct {
	Turns     []SMSConversationTurn `json:"turns"`
	Variables map[string]string     `json:"variables"`
	Notes     string                `json:"notes"`
}

// Sealed returns a copy whose turns, variables and notes are encrypted by f as one value.
func (t *SMSConversation) Sealed(f func(field, text string) (string, error)) (Record, error) {
	words, err := AppendRow(nil, sealedSMSConversation{t.Turns, t.Variables, t.Notes})
	if err != nil {
		return nil, err
	}
	c := *t
	c.Turns, c.Variables, c.Notes = nil, nil, ""
	c.SealedTurns, err = f("turns", string(words))
	return &c, err
}

// Unseal decrypts turns, variables and notes with f.
func (t *SMSConversation) Unseal(f func(field, text string) (string, error)) error {
	text, err := f("turns", t.SealedTurns)
	if err != nil {
		return err
	}
	var words sealedSMSConversation
	t.SealedTurns = ""
	err = ReadRow([]byte(text), &words)
	t.Turns, t.Variables, t.Notes = words.Turns, words.Variables, words.Notes
	return err
}

// Public returns a copy with the fields that the API shows, and with the status at now.
func (t *SMSConversation) Public(now time.Time) *SMSConversation {
	c := *t
	c.Script, c.Turns = nil, nil
	if c.Status = t.StatusAt(now); c.Status == SMSConversationTimedOut && c.EndedAt == nil {
		c.EndedAt = &c.ExpiresAt
	}
	if c.Variables == nil {
		c.Variables = map[string]string{}
	}
	return &c
}

// Clone returns a copy whose last turn can be changed without changing the original.
func (t *SMSConversation) Clone() *SMSConversation {
	c := *t
	c.Turns = slices.Clone(t.Turns)
	if n := len(c.Turns); n > 0 {
		last := &c.Turns[n-1]
		last.Models, last.Acts = slices.Clone(last.Models), slices.Clone(last.Acts)
	}
	return &c
}

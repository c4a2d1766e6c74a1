package domain

import (
	"slices"
	"time"
)

// AgentSMS is how an agent answers text messages to its numbers.
type AgentSMS struct {
	Enabled        bool `json:"enabled"`
	TimeoutMinutes int  `json:"timeout_minutes,omitempty"` // without a message ends a conversation
	MaxReplies     int  `json:"max_replies,omitempty"`     // of one conversation
}

// TextingStatus is where a conversation by text message stands.
type TextingStatus string

// The states of a conversation by text message. All but the first are final.
const (
	TextingOpen      TextingStatus = "open"
	TextingCompleted TextingStatus = "completed" // the pathway came to its end
	TextingTimedOut  TextingStatus = "timed_out" // nobody wrote any more
	TextingClosed    TextingStatus = "closed"    // by the API, an opt-out or the most replies
	TextingFailed    TextingStatus = "failed"    // it could not be answered
)

// Values are the states of texting with a number.
func (TextingStatus) Values() []string {
	return values(TextingOpen, TextingCompleted, TextingTimedOut, TextingClosed, TextingFailed)
}

// Texting is a conversation by text message: an agent with whoever wrote to one
// of its numbers.
type Texting struct {
	Meta
	AgentID      string            `json:"agent_id"`
	AgentVersion int               `json:"agent_version,omitempty"` // which was pinned
	PathwayID    string            `json:"pathway_id,omitempty"`
	Number       string            `json:"number"` // the workspace's
	Contact      string            `json:"contact"`
	Status       TextingStatus     `json:"status"`
	Reason       string            `json:"reason,omitempty"` // why it was closed or failed
	Outcome      Outcome           `json:"outcome,omitempty"`
	Intent       string            `json:"intent,omitempty"`
	Notes        string            `json:"notes,omitempty"`
	Variables    map[string]string `json:"variables"`
	Replies      int               `json:"replies"`
	LastAt       time.Time         `json:"last_message_at"`
	ExpiresAt    time.Time         `json:"expires_at"` // where nobody writes
	EndedAt      *time.Time        `json:"ended_at"`
	// Script is what it speaks, and Turns all that it was told: it is walked from
	// its beginning at each message.
	Script *Script       `json:"script,omitempty" hidden:"true"`
	Turns  []TextingTurn `json:"turns,omitempty" hidden:"true"`
	// SealedTurns are Turns, Variables and Notes as they are kept.
	SealedTurns string `json:"sealed_turns,omitempty" hidden:"true"`
}

// TextingTurn is one message of the contact, with what the model answered to it
// and what was done.
type TextingTurn struct {
	MessageID string               `json:"message_id"`
	Text      string               `json:"text"`
	Models    []TextingModelAnswer `json:"models,omitempty"`
	Acts      []TextingAction      `json:"acts,omitempty"`
}

// TextingModelAnswer is one answer of a model.
type TextingModelAnswer struct {
	Sentences []string          `json:"sentences,omitempty"`
	Calls     []TextingToolCall `json:"calls,omitempty"`
	Failed    string            `json:"failed,omitempty"`
}

// TextingToolCall is what a model wants done.
type TextingToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Tool      string `json:"tool,omitempty"`
}

// TextingAction is what came of something that was done besides writing. It is
// stored before that is begun, and once more when it is over.
type TextingAction struct {
	Over   bool   `json:"over"`
	OK     bool   `json:"ok,omitempty"`
	Result string `json:"result,omitempty"`
}

// StatusAt is the conversation as it stands at a time.
func (t *Texting) StatusAt(now time.Time) TextingStatus {
	if t.Status == TextingOpen && !now.Before(t.ExpiresAt) {
		return TextingTimedOut
	}
	return t.Status
}

// HasLastMessage says whether a message is the last one that it was told.
func (t *Texting) HasLastMessage(messageID string) bool {
	return len(t.Turns) > 0 && t.Turns[len(t.Turns)-1].MessageID == messageID
}

// End ends it.
func (t *Texting) End(status TextingStatus, reason string, at time.Time) {
	t.Status, t.Reason, t.EndedAt, t.UpdatedAt = status, reason, &at, at
}

// Key names the row.
func (t *Texting) Key() Key { return Key{"sms_conversation", t.WorkspaceID, t.ID} }

// OpenTextingIndex is the index of the open conversation of a number with a contact.
func OpenTextingIndex(env Environment, number, contact string) string {
	return "open=" + string(env) + "/" + number + "/" + contact
}

// ContactTextingIndex is the index of the conversations with a contact.
func ContactTextingIndex(env Environment, contact string) string {
	return "contact=" + string(env) + "/" + contact
}

// Indexes: by environment, contact and, while it is open, number and contact.
func (t *Texting) Indexes() []string {
	ix := []string{envIndex(t.Environment), ContactTextingIndex(t.Environment, t.Contact)}
	if t.Status == TextingOpen {
		ix = append(ix, OpenTextingIndex(t.Environment, t.Number, t.Contact))
	}
	return ix
}

// Sort is by age.
func (t *Texting) Sort() string { return t.ID }

// sealedTexting are what is sealed.
type sealedTexting struct {
	Turns     []TextingTurn     `json:"turns"`
	Variables map[string]string `json:"variables"`
	Notes     string            `json:"notes"`
}

// Sealed returns a copy whose words are one sealed text.
func (t *Texting) Sealed(f func(field, text string) (string, error)) (Record, error) {
	words, err := AppendRow(nil, sealedTexting{t.Turns, t.Variables, t.Notes})
	if err != nil {
		return nil, err
	}
	c := *t
	c.Turns, c.Variables, c.Notes = nil, nil, ""
	c.SealedTurns, err = f("turns", string(words))
	return &c, err
}

// Unseal restores the words.
func (t *Texting) Unseal(f func(field, text string) (string, error)) error {
	text, err := f("turns", t.SealedTurns)
	if err != nil {
		return err
	}
	var words sealedTexting
	t.SealedTurns = ""
	err = ReadRow([]byte(text), &words)
	t.Turns, t.Variables, t.Notes = words.Turns, words.Variables, words.Notes
	return err
}

// Public is the conversation as the API shows it at a time.
func (t *Texting) Public(now time.Time) *Texting {
	c := *t
	c.Script, c.Turns = nil, nil
	if c.Status = t.StatusAt(now); c.Status == TextingTimedOut && c.EndedAt == nil {
		c.EndedAt = &c.ExpiresAt
	}
	if c.Variables == nil {
		c.Variables = map[string]string{}
	}
	return &c
}

// Clone shares nothing of the turns that may still change.
func (t *Texting) Clone() *Texting {
	c := *t
	c.Turns = slices.Clone(t.Turns)
	if n := len(c.Turns); n > 0 {
		last := &c.Turns[n-1]
		last.Models, last.Acts = slices.Clone(last.Models), slices.Clone(last.Acts)
	}
	return &c
}

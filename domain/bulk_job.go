package domain

import (
	"encoding/json"
	"time"
)

// BulkType is the kind of item in a bulk job.
type BulkType string

// The types of bulk jobs.
const (
	BulkCalls    BulkType = "calls"
	BulkSMS      BulkType = "sms"
	BulkContacts BulkType = "contacts"
	BulkDNC      BulkType = "dnc"
)

// Values returns the types of a bulk job.
func (BulkType) Values() []string {
	return values(BulkCalls, BulkSMS, BulkContacts, BulkDNC)
}

// BulkStatus is the state of a bulk job.
type BulkStatus string

// States of a bulk job. BulkCompleted and BulkCancelled are final.
const (
	BulkQueued    BulkStatus = "queued"
	BulkRunning   BulkStatus = "running"
	BulkCompleted BulkStatus = "completed"
	BulkCancelled BulkStatus = "cancelled"
)

// Values returns the states of a bulk job.
func (BulkStatus) Values() []string {
	return values(BulkQueued, BulkRunning, BulkCompleted, BulkCancelled)
}

// MaxBulkItems is the maximum number of items of a bulk job. MaxBulkErrors is the maximum number of errors that the job
// lists. Further errors are stored only with their items.
const (
	MaxBulkItems  = 10_000
	MaxBulkErrors = 1000
)

// BulkError describes why an item of a bulk job was rejected or failed. Index is the index of the item, from 0.
type BulkError struct {
	Index   int    `json:"index"`
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Param   string `json:"param"`
}

// Bulk is a job with many items, which the service executes one after the other, each exactly once. Accepted is the sum
// of Pending, Done, Failed and Cancelled.
type Bulk struct {
	Meta
	RequestTrace

	Type      BulkType    `json:"type"`
	Status    BulkStatus  `json:"status"`
	TargetID  string      `json:"target_id,omitempty"` // campaign of the contacts, or do-not-call list of the numbers
	Total     int         `json:"total"`
	Accepted  int         `json:"accepted"`
	Rejected  int         `json:"rejected"`
	Pending   int         `json:"pending"`
	Done      int         `json:"done"`
	Failed    int         `json:"failed"`
	Cancelled int         `json:"cancelled"`
	Errors    []BulkError `json:"errors"` // stored in a separate record, BulkErrors
	// Waiting is the reason for which the next item waits: line (concurrency limit) or trunk. It is calling_hours if all
	// pending items wait for their calling hours. WaitingUntil is the first time at which these open. Neither field is stored.
	Waiting      string     `json:"waiting,omitempty"`
	WaitingUntil *time.Time `json:"waiting_until,omitempty"`
	CompletedAt  *time.Time `json:"completed_at"`
	Next         int        `json:"next,omitempty"`     // lowest index of an item that may be pending
	Operator     bool       `json:"operator,omitempty"` // the job was created with an operator key
	KeyID        string     `json:"key_id,omitempty"`
}

// Final reports whether the job has ended.
func (b *Bulk) Final() bool { return b.Status == BulkCompleted || b.Status == BulkCancelled }

// IsOutbound reports whether the job makes calls or sends messages.
func (b *Bulk) IsOutbound() bool { return b.Type == BulkCalls || b.Type == BulkSMS }

// Cancel ends the job and cancels all pending items.
func (b *Bulk) Cancel(now time.Time) {
	b.Status, b.CompletedAt = BulkCancelled, &now
	b.Cancelled, b.Pending = b.Cancelled+b.Pending, 0
}

// AddError adds the error of an item to the errors that the job lists, unless it already lists MaxBulkErrors.
func (b *Bulk) AddError(e BulkError) {
	if len(b.Errors) < MaxBulkErrors {
		b.Errors = append(b.Errors, e)
	}
}

// Key returns the key of the bulk job in the store.
func (b *Bulk) Key() Key { return Key{"bulk", b.WorkspaceID, b.ID} }

// Indexes returns the indexes by environment and by target. They also include "open" until the job ends, and then "over".
func (b *Bulk) Indexes() []string {
	ix := []string{envIndex(b.Environment), "open"}
	if b.Final() {
		ix[1] = "over"
	}
	if b.TargetID != "" {
		ix = append(ix, "target="+b.TargetID)
	}
	return ix
}

// Records returns the records to store for a changed bulk job. kept is the number of errors that are already stored. The
// record of the errors is included only if there are more.
func (b *Bulk) Records(kept int) []Record {
	row := *b
	row.Errors = nil
	if len(b.Errors) == kept {
		return []Record{&row}
	}
	return []Record{&row, &BulkErrors{BulkID: b.ID, WorkspaceID: b.WorkspaceID, Errors: b.Errors}}
}

// BulkErrors stores the errors of a bulk job. It is separate from Bulk, because every executed item changes the record
// of the job.
type BulkErrors struct {
	BulkID      string      `json:"bulk_id"`
	WorkspaceID string      `json:"workspace_id"`
	Errors      []BulkError `json:"errors"`
}

// Key returns the key of the errors in the store.
func (e *BulkErrors) Key() Key { return Key{"bulk_errors", e.WorkspaceID, e.BulkID} }

// Indexes returns nil: the errors of a job are read by key only.
func (e *BulkErrors) Indexes() []string { return nil }

// Sort returns a sort key that is unused, because the errors have no index.
func (e *BulkErrors) Sort() string { return "" }

// Sort returns the ID, which sorts by creation time.
func (b *Bulk) Sort() string { return b.ID }

// BulkItemStatus is the state of an item of a bulk job.
type BulkItemStatus string

// States of an item of a bulk job. All except ItemPending and ItemWaiting are final.
const (
	ItemPending   BulkItemStatus = "pending"
	ItemWaiting   BulkItemStatus = "waiting" // until its calling hours open; never stored
	ItemDone      BulkItemStatus = "done"
	ItemFailed    BulkItemStatus = "failed"
	ItemRejected  BulkItemStatus = "rejected"
	ItemCancelled BulkItemStatus = "cancelled"
)

// Values returns the states of an item of a bulk job.
func (BulkItemStatus) Values() []string {
	return values(ItemPending, ItemWaiting, ItemDone, ItemFailed, ItemRejected, ItemCancelled)
}

// BulkItem is the result of one item of a bulk job. The commit that executes the item stores it. An item without a stored
// result is pending.
type BulkItem struct {
	BulkID      string         `json:"bulk_id"`
	WorkspaceID string         `json:"workspace_id"`
	Index       int            `json:"index"`
	Status      BulkItemStatus `json:"status"`
	ResultID    string         `json:"result_id,omitempty"`
	Code        Code           `json:"code,omitempty"`
	Message     string         `json:"message,omitempty"`
	Param       string         `json:"param,omitempty"`
	Until       *time.Time     `json:"until,omitempty"` // waiting: when its calling hours open
	CreatedAt   time.Time      `json:"-"`               // creation time of the job; not stored
}

// Key returns the key of the item's result in the store. It contains the job and the index of the item.
func (i *BulkItem) Key() Key {
	return Key{"bulk_item", i.WorkspaceID, i.BulkID + "/" + sortableNumber(i.Index)}
}

// Indexes returns no indexes: items are listed by key prefix.
func (i *BulkItem) Indexes() []string { return nil }

// Sort returns the index of the item as sortable text.
func (i *BulkItem) Sort() string { return sortableNumber(i.Index) }

// BulkChunkSize is the number of items in one BulkChunk.
const BulkChunkSize = 500

// BulkChunk stores items of a bulk job as they were submitted, until the job ends.
type BulkChunk struct {
	BulkID      string      `json:"bulk_id"`
	WorkspaceID string      `json:"workspace_id"`
	Index       int         `json:"index"`
	Entries     []BulkEntry `json:"entries"`
}

// ClearOrders removes the submitted items from the chunk after the end of the job, and leaves the errors.
func (c *BulkChunk) ClearOrders() {
	for i := range c.Entries {
		c.Entries[i].Order = nil
	}
}

// BulkEntry is a submitted item, or the error for which it was rejected.
type BulkEntry struct {
	Order json.RawMessage `json:"order,omitempty"`
	Error *BulkError      `json:"error,omitempty"`
}

// Key returns the key of the chunk in the store. It contains the job and the index of the chunk.
func (c *BulkChunk) Key() Key {
	return Key{"bulk_chunk", c.WorkspaceID, c.BulkID + "/" + sortableNumber(c.Index)}
}

// Indexes returns no indexes: chunks are listed by key prefix.
func (c *BulkChunk) Indexes() []string { return nil }

// Sort returns the index of the chunk as sortable text.
func (c *BulkChunk) Sort() string { return sortableNumber(c.Index) }

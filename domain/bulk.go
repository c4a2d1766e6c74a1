package domain

import (
	"encoding/json"
	"time"
)

// BulkType is what the items of a bulk job become.
type BulkType string

// The types of bulk jobs.
const (
	BulkCalls    BulkType = "calls"
	BulkSMS      BulkType = "sms"
	BulkContacts BulkType = "contacts"
	BulkDNC      BulkType = "dnc"
)

// Values are the types of a bulk job.
func (BulkType) Values() []string {
	return values(BulkCalls, BulkSMS, BulkContacts, BulkDNC)
}

// BulkStatus is a state of a bulk job.
type BulkStatus string

// The states of a bulk job. The last two are final.
const (
	BulkQueued    BulkStatus = "queued"
	BulkRunning   BulkStatus = "running"
	BulkCompleted BulkStatus = "completed"
	BulkCancelled BulkStatus = "cancelled"
)

// Values are the states of a bulk job.
func (BulkStatus) Values() []string {
	return values(BulkQueued, BulkRunning, BulkCompleted, BulkCancelled)
}

// Bounds of bulk jobs: the items of one, and the errors that it tells by
// itself; the rest of them stand with their items.
const (
	MaxBulkItems  = 10_000
	MaxBulkErrors = 1000
)

// BulkError tells what was wrong with one item. Index counts from 0.
type BulkError struct {
	Index   int    `json:"index"`
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Param   string `json:"param"`
}

// Bulk is a job of many orders that are carried out one after another, each
// once. Accepted is the sum of Pending, Done, Failed and Cancelled.
type Bulk struct {
	Meta
	RequestTrace

	Type      BulkType    `json:"type"`
	Status    BulkStatus  `json:"status"`
	TargetID  string      `json:"target_id,omitempty"` // the campaign of contacts, the list of numbers
	Total     int         `json:"total"`
	Accepted  int         `json:"accepted"`
	Rejected  int         `json:"rejected"`
	Pending   int         `json:"pending"`
	Done      int         `json:"done"`
	Failed    int         `json:"failed"`
	Cancelled int         `json:"cancelled"`
	Errors    []BulkError `json:"errors"` // kept in a row of their own
	// Waiting is what the next item waits for: line or trunk; calling_hours
	// where every item that is left does, the first of them until WaitingUntil.
	// Neither is stored.
	Waiting      string     `json:"waiting,omitempty"`
	WaitingUntil *time.Time `json:"waiting_until,omitempty"`
	CompletedAt  *time.Time `json:"completed_at"`
	Next         int        `json:"next,omitempty"`     // the index from which on items may be pending
	Operator     bool       `json:"operator,omitempty"` // an operator's key ordered it
	KeyID        string     `json:"key_id,omitempty"`
}

// Final says whether nothing more will happen.
func (b *Bulk) Final() bool { return b.Status == BulkCompleted || b.Status == BulkCancelled }

// IsOutbound reports whether the job calls people or sends them messages.
func (b *Bulk) IsOutbound() bool { return b.Type == BulkCalls || b.Type == BulkSMS }

// Cancel ends the job: what was pending is not done.
func (b *Bulk) Cancel(now time.Time) {
	b.Status, b.CompletedAt = BulkCancelled, &now
	b.Cancelled, b.Pending = b.Cancelled+b.Pending, 0
}

// AddError keeps what was wrong with an item, within the bound.
func (b *Bulk) AddError(e BulkError) {
	if len(b.Errors) < MaxBulkErrors {
		b.Errors = append(b.Errors, e)
	}
}

// Key names the row.
func (b *Bulk) Key() Key { return Key{"bulk", b.WorkspaceID, b.ID} }

// Indexes: by environment and target; "open" until it is final, "over" from then
// on.
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

// Records are the records that keep a job of whose errors the first kept are
// stored already: that of its errors is written where there are more.
func (b *Bulk) Records(kept int) []Record {
	row := *b
	row.Errors = nil
	if len(b.Errors) == kept {
		return []Record{&row}
	}
	return []Record{&row, &BulkErrors{BulkID: b.ID, WorkspaceID: b.WorkspaceID, Errors: b.Errors}}
}

// BulkErrors are the errors that a bulk job tells by itself: apart from its row,
// which each of its items changes.
type BulkErrors struct {
	BulkID      string      `json:"bulk_id"`
	WorkspaceID string      `json:"workspace_id"`
	Errors      []BulkError `json:"errors"`
}

// Key names the row.
func (e *BulkErrors) Key() Key { return Key{"bulk_errors", e.WorkspaceID, e.BulkID} }

// Indexes: none.
func (e *BulkErrors) Indexes() []string { return nil }

// Sort is of no use.
func (e *BulkErrors) Sort() string { return "" }

// Sort is by age.
func (b *Bulk) Sort() string { return b.ID }

// BulkItemStatus is a state of an item.
type BulkItemStatus string

// The states of an item. All but the first two are final.
const (
	ItemPending   BulkItemStatus = "pending"
	ItemWaiting   BulkItemStatus = "waiting" // until its calling hours open; never stored
	ItemDone      BulkItemStatus = "done"
	ItemFailed    BulkItemStatus = "failed"
	ItemRejected  BulkItemStatus = "rejected"
	ItemCancelled BulkItemStatus = "cancelled"
)

// Values are the states of an item of a bulk job.
func (BulkItemStatus) Values() []string {
	return values(ItemPending, ItemWaiting, ItemDone, ItemFailed, ItemRejected, ItemCancelled)
}

// BulkItem is what became of one item of a bulk job. Its row is written once,
// in the commit of what the item orders; without a row it is still to come.
type BulkItem struct {
	BulkID      string         `json:"bulk_id"`
	WorkspaceID string         `json:"workspace_id"`
	Index       int            `json:"index"`
	Status      BulkItemStatus `json:"status"`
	ResultID    string         `json:"result_id,omitempty"`
	Code        Code           `json:"code,omitempty"`
	Message     string         `json:"message,omitempty"`
	Param       string         `json:"param,omitempty"`
	Until       *time.Time     `json:"until,omitempty"` // of one that waits
	CreatedAt   time.Time      `json:"-"`               // the job's; not stored
}

// Key names the row.
func (i *BulkItem) Key() Key {
	return Key{"bulk_item", i.WorkspaceID, i.BulkID + "/" + sortableNumber(i.Index)}
}

// Indexes: none; items are listed by the key's beginning.
func (i *BulkItem) Indexes() []string { return nil }

// Sort is by index.
func (i *BulkItem) Sort() string { return sortableNumber(i.Index) }

// BulkChunkSize is how many orders stand in one row.
const BulkChunkSize = 500

// BulkChunk holds orders of a bulk job as they came, until it is over.
type BulkChunk struct {
	BulkID      string      `json:"bulk_id"`
	WorkspaceID string      `json:"workspace_id"`
	Index       int         `json:"index"`
	Entries     []BulkEntry `json:"entries"`
}

// ClearOrders forgets the orders: what was wrong with some stays.
func (c *BulkChunk) ClearOrders() {
	for i := range c.Entries {
		c.Entries[i].Order = nil
	}
}

// BulkEntry is an order, or what was wrong with it.
type BulkEntry struct {
	Order json.RawMessage `json:"order,omitempty"`
	Error *BulkError      `json:"error,omitempty"`
}

// Key names the row.
func (c *BulkChunk) Key() Key {
	return Key{"bulk_chunk", c.WorkspaceID, c.BulkID + "/" + sortableNumber(c.Index)}
}

// Indexes: none; chunks are listed by the key's beginning.
func (c *BulkChunk) Indexes() []string { return nil }

// Sort is by index.
func (c *BulkChunk) Sort() string { return sortableNumber(c.Index) }

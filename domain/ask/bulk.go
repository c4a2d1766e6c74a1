package ask

import "github.com/callboard/callboard/domain"

// NewBulk orders many things at once. Items are of the one kind that Type
// says, each with its defaults filled in.
type NewBulk struct {
	Type     domain.BulkType
	Target   string // the campaign of contacts, the list of numbers ("": the default list)
	Metadata map[string]string
	Items    []BulkOrder
}

// BulkOrder is one item: what its kind orders, or why it cannot be done.
type BulkOrder struct {
	Call    *NewCall          `json:"call,omitempty"`
	Contact *RawContact       `json:"contact,omitempty"`
	Number  *RawNumber        `json:"number,omitempty"`
	Message *NewMessage       `json:"message,omitempty"`
	Error   *domain.BulkError `json:"-"`
}

// BulkItemQuery reads the items of a job in their order.
type BulkItemQuery struct {
	Limit   int
	Cursor  string
	Status  domain.BulkItemStatus // "": any
	Created Span                  // of the job, with which its items are made
}

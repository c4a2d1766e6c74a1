package bulk

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// NewJob orders many things at once. Items are of the one kind that Type
// says, each with its defaults filled in.
type NewJob struct {
	Type     domain.BulkType
	Target   string // the campaign of contacts, the list of numbers ("": the default list)
	Metadata map[string]string
	Items    []NewItem
}

// NewItem is one item: what its kind orders, or why it cannot be done.
type NewItem struct {
	Call    *domain.NewCall    `json:"call,omitempty"`
	Contact *domain.RawContact `json:"contact,omitempty"`
	Number  *domain.RawNumber  `json:"number,omitempty"`
	Message *domain.NewMessage `json:"message,omitempty"`
	Error   *domain.BulkError  `json:"-"`
}

// ItemQuery reads the items of a job in their order.
type ItemQuery struct {
	Limit   int
	Cursor  string
	Status  domain.BulkItemStatus // "": any
	Created record.TimeRange      // of the job, with which its items are made
}

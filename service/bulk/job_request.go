package bulk

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// NewJob is a request for a bulk job. All items are of the kind Type; their default values are filled in.
type NewJob struct {
	Type     domain.BulkType
	Target   string // campaign id for contacts; list id for numbers, "": the default list
	Metadata map[string]string
	Items    []NewItem
}

// NewItem is one item of a job: the request of its kind, or the error that refuses the item.
type NewItem struct {
	Call    *domain.NewCall    `json:"call,omitempty"`
	Contact *domain.RawContact `json:"contact,omitempty"`
	Number  *domain.RawNumber  `json:"number,omitempty"`
	Message *domain.NewMessage `json:"message,omitempty"`
	Error   *domain.BulkError  `json:"-"`
}

// ItemQuery selects items of a job in their order.
type ItemQuery struct {
	Limit   int
	Cursor  string
	Status  domain.BulkItemStatus // "": any
	Created record.TimeRange      // creation time of the job, which is also that of its items
}

package bulk

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// NewJob is a request for a bulk job. All items are of the kind Type, and their fields have default values already.
type NewJob struct {
	Type     domain.BulkType
	Target   string // campaign id for contacts; list id for numbers, "": the default list
	Metadata map[string]string
	Items    []NewItem
}

// NewItem is one item of a bulk job. The field for the job's type is set, or Error if the item is refused.
type NewItem struct {
	Call    *domain.NewCall    `json:"call,omitempty"`
	Contact *domain.RawContact `json:"contact,omitempty"`
	Number  *domain.RawNumber  `json:"number,omitempty"`
	Message *domain.NewMessage `json:"message,omitempty"`
	Error   *domain.BulkError  `json:"-"`
}

// ItemQuery selects a page of a job's items. The page is in the order of the items in the job.
type ItemQuery struct {
	Limit   int
	Cursor  string
	Status  domain.BulkItemStatus // "": any
	Created record.TimeRange      // creation time of the job, which is also that of its items
}

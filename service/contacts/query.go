package contacts

import (
	"github.com/callboard/callboard/service/record"
)

// Query filters a campaign's contacts; they stand in the order of
// upload.
type Query struct {
	Limit   int
	Cursor  string
	Status  string           // a contact state's word; "": any
	Created record.TimeRange // when they were taken in
}

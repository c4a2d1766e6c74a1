package contacts

import (
	"github.com/callboard/callboard/service/record"
)

// Query filters the contacts of a campaign. The contacts come in the order of upload.
type Query struct {
	Limit   int
	Cursor  string
	Status  string           // contact state as the API shows it; "": any
	Created record.TimeRange // time of addition
}

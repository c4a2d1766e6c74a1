package domain

// RawContact is a contact as the client sent it, before it is validated.
type RawContact struct {
	Line     int // number of the line in a file or of the item in a list, from 1
	Phone    string
	Context  Context
	Timezone string
	Country  string
	Problem  string // why the row could not be read; the row counts as invalid
}

// MaxContactErrors limits the errors in the summary of an upload.
const MaxContactErrors = 100

// RawNumber is an entry of a do-not-call import as the client sent it, before it is validated.
type RawNumber struct {
	Line    int
	Phone   string
	Country string
	Problem string // why the row could not be read
}

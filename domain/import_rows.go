package domain

// RawContact is a contact as the client sent it, before it is validated.
type RawContact struct {
	Line     int // 1 for the first line of a file or the first item of a list
	Phone    string
	Context  Context
	Timezone string
	Country  string
	Problem  string // why the row could not be read; it counts as invalid
}

// MaxContactErrors is how many errors the summary of an upload lists.
const MaxContactErrors = 100

// RawNumber is a row of an import of do-not-call numbers as the client sent it.
type RawNumber struct {
	Line    int
	Phone   string
	Country string
	Problem string // why the row could not be read
}

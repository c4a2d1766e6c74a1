package router

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

const defaultPage = 20

// Paging are the query parameters of every list.
type Paging struct {
	Limit         int       `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Rows per page."`
	Cursor        string    `query:"cursor" maxLength:"512" doc:"next_cursor of the page before."`
	CreatedAfter  time.Time `query:"created_after" doc:"Only what was created after this time."`
	CreatedBefore time.Time `query:"created_before" doc:"Only what was created before this time."`
}

// Query returns the page that is asked for.
func (p Paging) Query() record.PageQuery {
	if p.Limit == 0 {
		p.Limit = defaultPage
	}
	return record.PageQuery{Limit: p.Limit, Cursor: p.Cursor, CreatedAfter: p.CreatedAfter, CreatedBefore: p.CreatedBefore}
}

// CreatedBetween is when what the list shows may have been made.
func (p Paging) CreatedBetween() record.TimeRange { return p.Query().Created() }

// List is a page as the API shows it.
type List[T any] struct {
	Object     string  `json:"object" enum:"list"`
	Data       []T     `json:"data"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor" doc:"Send it as cursor for the next page; null at the end."`
}

// Page shows one page, each row as show makes it.
func Page[In, Out any](l record.Page[In], err error, show func(In) Out) (*Response[List[Out]], error) {
	if err != nil {
		return nil, err
	}
	out := List[Out]{Object: "list", Data: make([]Out, len(l.Data)), HasMore: l.Next != ""}
	for i, row := range l.Data {
		out.Data[i] = show(row)
	}
	if l.Next != "" {
		out.NextCursor = &l.Next
	}
	return &Response[List[Out]]{Body: out}, nil
}

// Deleted is the answer to a DELETE.
type Deleted struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

// RespondDeleted answers a DELETE.
func RespondDeleted(id, object string, err error) (*Response[Deleted], error) {
	return Respond(Deleted{ID: id, Object: object, Deleted: true}, err)
}

// OptionalID checks an id that a query filters by: what cannot be one matches
// nothing, so the answer is an error that names it.
func OptionalID(param string, kind domain.Prefix, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	good, err := domain.ParseID(kind, id)
	if err != nil {
		var p domain.Problems
		p.Add(param, domain.CodeValidation, "is no id of a %s", kind)
		return "", p.Err()
	}
	return good, nil
}
